package org.apache.hive.service.auth;

import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.regex.Pattern;
import javax.security.sasl.AuthenticationException;

/**
 * Has the Thrift server ask for signed tokens here, and for passwords in Python.
 *
 * <p>Hive makes one for each connection, by the name of the class, in a thread that has served others: statements and
 * sessions have changed its class loader. So this class goes beside the interface. Janino compiles this file at run
 * time; see docs/adr/0016-server.md.
 */
public class LakeportPasswordCheck implements PasswdAuthenticationProvider {
  /** Of a signed token: a JSON object and two more parts, in Base64 (RFC 7515, section 7.1). */
  private static final Pattern TOKEN = Pattern.compile("eyJ[A-Za-z0-9_-]*\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*");

  private static volatile BiPredicate check;
  private static volatile Function tokens;

  /**
   * Whom to ask.
   *
   * @param given Whether a user has a password.
   * @param users Gives the user of a signed token; null where tokens are no passwords.
   */
  public static void use(BiPredicate given, Function users) {
    check = given;
    tokens = users;
  }

  public void Authenticate(String user, String password) throws AuthenticationException {
    boolean right = false;
    try {
      right = isName(user) && password != null && password.length() > 0 && isRight(user, password);
    } catch (RuntimeException error) {
      // Python's, which may be about its input.
      throw new AuthenticationException("the password cannot be checked");
    }
    if (!right) {
      throw new AuthenticationException("user or password is wrong");
    }
  }

  /** Hive cuts names at these signs after the check, so "alice@other" would come in as "alice". */
  private static boolean isName(String user) {
    return user != null && user.length() > 0 && user.indexOf('@') < 0 && user.indexOf('/') < 0;
  }

  private static boolean isRight(String user, String password) {
    Function users = tokens;
    if (users != null && TOKEN.matcher(password).matches()) {
      // A token is for us, and for no directory.
      return user.equals(users.apply(password));
    }
    BiPredicate asked = check;
    return asked != null && asked.test(user, password);
  }
}
