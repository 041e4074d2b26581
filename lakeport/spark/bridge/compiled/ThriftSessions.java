package lakeport.spark;

import java.lang.reflect.Field;
import java.util.function.BiPredicate;
import org.apache.hive.service.auth.HiveAuthFactory;
import org.apache.hive.service.auth.TSetIpAddressProcessor;
import org.apache.hive.service.cli.thrift.ThriftCLIService;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.apache.spark.sql.hive.thriftserver.ui.HiveThriftServer2EventManager;

/**
 * Is there when the Thrift server opens a session, before Spark makes its own session for it.
 *
 * <p>Spark runs the {@code USE} of a client's URL then, and does not say whose it is. Hive lets a client in as a user
 * whose name differs from its own in case alone, without a question. Janino compiles this file at run time; see
 * docs/adr/0029-users-who-act-as-others.md.
 */
public class ThriftSessions extends HiveThriftServer2EventManager {
  private final BiPredicate may;

  /**
   * @param context Of Spark.
   * @param may Whether a user may act as another; null where clients are whoever they say.
   */
  public ThriftSessions(SparkContext context, BiPredicate may) {
    super(context);
    this.may = may;
  }

  public void onSessionCreated(String address, String session, String user) {
    if (may != null) {
      String real = connected();
      if (real == null || (!real.equals(user) && !may.test(real, user))) {
        throw new IllegalStateException(
            "[PERMISSION_DENIED] Access Denied: User " + real + " cannot impersonate user " + user);
      }
    }
    CurrentUserContext.CURRENT_USER().set(user);
    super.onSessionCreated(address, session, user);
  }

  /** The user who has logged in on the connection of this thread, as Hive finds it. */
  private static String connected() {
    try {
      Field field = ThriftCLIService.class.getDeclaredField("hiveAuthFactory");
      field.setAccessible(true);
      HiveAuthFactory factory = (HiveAuthFactory) field.get(null);
      String ticket = factory == null ? null : factory.getRemoteUser();
      return ticket == null ? TSetIpAddressProcessor.getUserName() : ticket;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
