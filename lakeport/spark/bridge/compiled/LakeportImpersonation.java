package org.apache.hadoop.security.authorize;

import java.net.InetAddress;
import java.util.function.BiPredicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Has Hive ask Python whether a client may act as another user.
 *
 * <p>Hadoop makes one for each such login, by the name of the class. So this class goes beside the interface. Janino
 * compiles this file at run time; see docs/adr/0029-users-who-act-as-others.md.
 */
public class LakeportImpersonation implements ImpersonationProvider {
  private static volatile BiPredicate may;

  private Configuration configuration;

  /** @param given Whether a user may act as another. */
  public static void use(BiPredicate given) {
    may = given;
  }

  public void init(String prefix) {}

  public void setConf(Configuration given) {
    configuration = given;
  }

  public Configuration getConf() {
    return configuration;
  }

  public void authorize(UserGroupInformation user, String address) throws AuthorizationException {
    check(user);
  }

  public void authorize(UserGroupInformation user, InetAddress address) throws AuthorizationException {
    check(user);
  }

  private static void check(UserGroupInformation user) throws AuthorizationException {
    BiPredicate asked = may;
    UserGroupInformation real = user.getRealUser();
    if (asked == null || real == null || !asked.test(real.getUserName(), user.getUserName())) {
      throw new AuthorizationException("the user cannot impersonate user " + user.getUserName());
    }
  }
}
