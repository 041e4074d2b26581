package lakeport.spark;

import java.util.function.BiPredicate;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;

/**
 * Has the Thrift server ask Python for users and passwords.
 *
 * <p>Hive makes one for each connection, by the name of the class. Janino compiles this file at run time; see
 * docs/adr/0016-server.md.
 */
public class PasswordCheck implements PasswdAuthenticationProvider {
  private static volatile BiPredicate check;

  /** Whom to ask: whether a user has a password. */
  public static void use(BiPredicate given) {
    check = given;
  }

  public void Authenticate(String user, String password) throws AuthenticationException {
    BiPredicate asked = check;
    boolean right = false;
    try {
      right = asked != null && asked.test(user, password);
    } catch (RuntimeException error) {
      // Python's, which may be about its input.
      throw new AuthenticationException("the password cannot be checked");
    }
    if (!right) {
      throw new AuthenticationException("user or password is wrong");
    }
  }
}
