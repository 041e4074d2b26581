package lakeport.spark;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.ResolvedNamespace;
import org.apache.spark.sql.catalyst.analysis.ResolvedProcedure;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.execution.command.CreateViewCommand;
import org.apache.spark.sql.execution.command.ResetCommand;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.execution.command.ShowCatalogsCommand;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.jdk.javaapi.CollectionConverters;
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
   * @param shown Of names of catalogs, one a line, those that the client of the thread may see.
   */
  public ServedSession(SparkSession parent, Map none, Consumer onNewSession, BiFunction shown) {
    super(parent.sparkContext(), Option.apply(parent.sharedState()), Option.empty(), parent.extensions(), none, none);
    this.parent = parent;
    this.onNewSession = onNewSession;
    // Before any session of a client has an analyzer, which is made with the rules of that moment.
    parent.extensions().injectCheckRule(admission);
    parent.extensions().injectPostHocResolutionRule(new ShownCatalogs(shown));
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

  /**
   * From now on each statement may do only what these classes of plans do, over the catalogs that Python has made.
   *
   * @param commands Simple names of the commands, with a blank before and after each.
   * @param settings Names of the settings that may be set, with a blank before and after each.
   */
  public void restrict(String commands, String settings) {
    admission.restriction = new Restriction(commands, settings);
  }

  /** What Spark Connect asks for its base session. */
  public Object supplier() {
    return new Supplier(this);
  }

  /** Makes the rule of each session's analyzer by which SHOW CATALOGS lists what its client may see. */
  private static class ShownCatalogs extends AbstractFunction1 {
    private final BiFunction shown;

    ShownCatalogs(BiFunction shown) {
      this.shown = shown;
    }

    public Object apply(Object session) {
      return new ListsShown((SparkSession) session, shown);
    }
  }

  private static class ListsShown extends Rule {
    private final SparkSession session;
    private final BiFunction shown;

    ListsShown(SparkSession session, BiFunction shown) {
      this.session = session;
      this.shown = shown;
    }

    public TreeNode apply(TreeNode plan) {
      if (!(plan instanceof ShowCatalogsCommand)) {
        return plan;
      }
      ShowCatalogsCommand asked = (ShowCatalogsCommand) plan;
      String names = session.sessionState().catalogManager().listCatalogs(asked.pattern()).mkString("\n");
      ArrayList rows = new ArrayList();
      String[] found = ((String) shown.apply("shown", names)).split("\n");
      for (int index = 0; index < found.length; index++) {
        if (!found[index].isEmpty()) {
          rows.add(new GenericInternalRow(new Object[] {UTF8String.fromString(found[index])}));
        }
      }
      return new LocalRelation(asked.output(), CollectionConverters.asScala(rows).toList(), false, Option.empty());
    }
  }

  /** Makes the check that the analyzer of each session does. */
  private static class Admission extends AbstractFunction1 {
    volatile String refusal;
    volatile Restriction restriction;

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
      Restriction restriction = admission.restriction;
      if (restriction != null) {
        restriction.check((LogicalPlan) plan);
      }
      return BoxedUnit.UNIT;
    }
  }

  /** What statements of a restricted server may be made of; all else is refused by its name. */
  private static class Restriction {
    private static final String LEAVES = " LocalRelation OneRowRelation Range CTERelationRef EmptyRelation CommandResult ";
    private static final String[] CODE = {
      "Python", "Pandas", "InArrow", "ScriptTransformation", "MapPartitions", "MapElements", "MapGroups", "CoGroup",
      "AppendColumns", "TypedFilter", "InsertIntoDir", "WriteToStream", "ScalaUD", "ScalaAggregator", "Hive",
      "CallMethodViaReflection"
    };

    private final String commands;
    private final String settings;

    Restriction(String commands, String settings) {
      this.commands = commands;
      this.settings = settings;
    }

    void check(LogicalPlan plan) {
      String name = plan.getClass().getSimpleName();
      refuseCode(name);
      if (plan instanceof SetCommand) {
        Option given = ((SetCommand) plan).kv();
        checkSetting(given.isEmpty() ? "" : (String) ((scala.Tuple2) given.get())._1());
      } else if (plan instanceof ResetCommand) {
        Option given = ((ResetCommand) plan).config();
        checkSetting(given.isEmpty() ? "" : (String) given.get());
      } else if (plan instanceof CreateViewCommand) {
        if (!(((CreateViewCommand) plan).viewType().toString().equals("LocalTempView"))) {
          throw refused("a view that is not temporary");
        }
      } else if (plan instanceof Command) {
        if (commands.indexOf(" " + name + " ") < 0) {
          throw refused(name);
        }
      } else if (plan.children().isEmpty() && LEAVES.indexOf(" " + name + " ") < 0) {
        checkLeaf(plan, name);
      }
      each(plan.children());
      each(plan.innerChildren());
      for (Iterator all = plan.expressions().iterator(); all.hasNext();) {
        checkExpression((Expression) all.next());
      }
    }

    private void each(scala.collection.Seq plans) {
      for (Iterator all = plans.iterator(); all.hasNext();) {
        Object one = all.next();
        // What a command has not resolved yet, such as EXPLAIN, is analysed when it runs, and checked then.
        if (one instanceof LogicalPlan && ((LogicalPlan) one).resolved()) {
          check((LogicalPlan) one);
        }
      }
    }

    private void checkExpression(Expression expression) {
      refuseCode(expression.getClass().getSimpleName());
      if (expression instanceof SubqueryExpression) {
        check((LogicalPlan) ((SubqueryExpression) expression).plan());
      }
      for (Iterator all = expression.children().iterator(); all.hasNext();) {
        checkExpression((Expression) all.next());
      }
    }

    private void checkLeaf(LogicalPlan plan, String name) {
      CatalogPlugin catalog = null;
      if (plan instanceof DataSourceV2Relation) {
        Option given = ((DataSourceV2Relation) plan).catalog();
        catalog = given.isEmpty() ? null : (CatalogPlugin) given.get();
      } else if (plan instanceof ResolvedNamespace) {
        catalog = ((ResolvedNamespace) plan).catalog();
        if (catalog.name().equals("spark_catalog")) {
          return;  // names alone
        }
      } else if (plan instanceof ResolvedTable) {
        catalog = ((ResolvedTable) plan).catalog();
      } else if (plan instanceof ResolvedIdentifier) {
        catalog = ((ResolvedIdentifier) plan).catalog();
      } else if (plan instanceof ResolvedProcedure) {
        catalog = ((ResolvedProcedure) plan).catalog();
      }
      if (catalog == null || !isOurs(catalog)) {
        throw refused("what is in no catalog of this server (" + name + ")");
      }
    }

    private static boolean isOurs(CatalogPlugin catalog) {
      String name = catalog.getClass().getName();
      return Proxy.isProxyClass(catalog.getClass()) || name.startsWith("lakeport.");
    }

    private void checkSetting(String name) {
      if (!name.startsWith("spark.lakeport.") && settings.indexOf(" " + name + " ") < 0) {
        throw refused(name.isEmpty() ? "all settings" : "the setting " + name);
      }
    }

    private static void refuseCode(String name) {
      for (int index = 0; index < CODE.length; index++) {
        if (name.indexOf(CODE[index]) >= 0) {
          throw refused(name);
        }
      }
    }

    private static IllegalStateException refused(String what) {
      return new IllegalStateException(
          "[PERMISSION_DENIED] Access Denied: this server is restricted to the tables of its catalogs, and this "
              + "statement has " + what);
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
