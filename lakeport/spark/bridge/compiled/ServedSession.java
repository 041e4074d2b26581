package lakeport.spark;

import java.util.function.Consumer;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.collection.immutable.Map;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * The session that Spark's servers make the sessions of their clients from.
 *
 * <p>Each client has a session of its own, made by {@code newSession()} in Java, where Python cannot see it. Here Python
 * is given each of them before its client has it. Janino compiles this file at run time; it is an adapter and nothing
 * else; see docs/adr/0016-server.md.
 */
public class ServedSession extends SparkSession {
  private static final long serialVersionUID = 1L;

  private final SparkSession parent;
  private final Consumer onNewSession;
  private final Admission admission = new Admission();

  /**
   * @param parent Its new sessions are given to the clients.
   * @param none An empty map.
   * @param onNewSession Is given each new session.
   */
  public ServedSession(SparkSession parent, Map none, Consumer onNewSession) {
    super(parent.sparkContext(), Option.apply(parent.sharedState()), Option.empty(), parent.extensions(), none, none);
    this.parent = parent;
    this.onNewSession = onNewSession;
    // Before any session of a client has an analyzer, which is made with the rules of that moment.
    parent.extensions().injectCheckRule(admission);
  }

  public SparkSession newSession() {
    SparkSession made = parent.newSession();
    onNewSession.accept(made);
    return made;
  }

  /** From now on each statement is refused, with this message. */
  public void refuseStatements(String message) {
    admission.refusal = message;
  }

  /** What Spark Connect asks for its base session. */
  public Object supplier() {
    return new Supplier(this);
  }

  /** Makes the check that the analyzer of each session does. */
  private static class Admission extends AbstractFunction1 {
    volatile String refusal;

    public Object apply(Object session) {
      return new Check(this);
    }
  }

  private static class Check extends AbstractFunction1 {
    private final Admission admission;

    Check(Admission admission) {
      this.admission = admission;
    }

    public Object apply(Object plan) {
      String refusal = admission.refusal;
      if (refusal != null) {
        throw new IllegalStateException(refusal);
      }
      return BoxedUnit.UNIT;
    }
  }

  private static class Supplier extends AbstractFunction0 {
    private final SparkSession session;

    Supplier(SparkSession session) {
      this.session = session;
    }

    public Object apply() {
      return session;
    }
  }
}
