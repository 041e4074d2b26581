package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;

/**
 * Tells in one text what a statement, or a scan, goes by in a Spark session.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class SessionSettings implements Supplier {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String[] PARALLELISM = {
    "spark.sql.files.minPartitionNum", "spark.sql.leafNodeDefaultParallelism"
  };
  private static final String COMPATIBLE_BUCKETS =
      "spark.sql.sources.v2.bucketing.allowCompatibleTransforms.enabled";

  /**
   * @param session Becomes the active session of this thread; null leaves it as it is.
   * @param prefix Of names of settings.
   * @return The time zone, all settings that begin with the prefix, and of this thread the user whom Spark knows, and
   *     the group and the tags of its jobs.
   */
  public String settings(Object session, String prefix) throws Exception {
    return JSON.writeValueAsString(found(session, prefix));
  }

  private static Map found(Object session, String prefix) {
    if (session != null) {
      SparkSession.setActiveSession((SparkSession) session);
    }
    SQLConf conf = SQLConf.get();
    Map all = conf.settings();
    Map given = new HashMap();
    synchronized (all) {
      for (Iterator entries = all.entrySet().iterator(); entries.hasNext(); ) {
        Map.Entry entry = (Map.Entry) entries.next();
        if (((String) entry.getKey()).startsWith(prefix)) {
          given.put(entry.getKey(), entry.getValue());
        }
      }
    }
    Map found = new HashMap();
    found.put("zone", conf.sessionLocalTimeZone());
    found.put("settings", given);
    SparkContext context = (SparkContext) SparkContext$.MODULE$.getActive().get();
    found.put("group", context.getLocalProperty("spark.jobGroup.id"));
    found.put("tags", context.getLocalProperty("spark.job.tags"));
    found.put("user", CurrentUserContext.CURRENT_USER().get());
    return found;
  }

  /**
   * As above; and sets a local property of this thread. The text also has what it was before.
   *
   * @param property Its name.
   * @param value Its value.
   */
  public String settings(Object session, String prefix, String property, String value) throws Exception {
    Map found = found(session, prefix);
    found.put("before", exchange(property, value));
    return JSON.writeValueAsString(found);
  }

  /** As of files(), for other classes of ours. */
  public Object get() {
    try {
      return files();
    } catch (Exception e) {
      throw new IllegalStateException("Spark's settings cannot be read: " + e, e);
    }
  }

  /** Sets a local property of this thread; null takes it away. Gives what it was. */
  public String exchange(String property, String value) {
    SparkContext context = (SparkContext) SparkContext$.MODULE$.getActive().get();
    String before = context.getLocalProperty(property);
    context.setLocalProperty(property, value);
    return before;
  }

  /** What Spark's own readers of files go by (FilePartition.maxSplitBytes), and how names are compared. */
  public String files() throws Exception {
    SQLConf conf = SQLConf.get();
    int tasks = ((SparkContext) SparkContext$.MODULE$.getActive().get()).defaultParallelism();
    for (int i = PARALLELISM.length - 1; i >= 0; i--) {
      if (conf.contains(PARALLELISM[i])) {
        tasks = Integer.parseInt(conf.getConfString(PARALLELISM[i]));
      }
    }
    Map found = new HashMap();
    found.put("tasks", Integer.valueOf(tasks));
    found.put("most", Long.valueOf(conf.filesMaxPartitionBytes()));
    found.put("open", Long.valueOf(conf.filesOpenCostInBytes()));
    found.put("exact names", Boolean.valueOf(conf.caseSensitiveAnalysis()));
    found.put("column statistics", Boolean.valueOf(conf.cboEnabled() || conf.planStatsEnabled()));
    found.put("partitioning", Boolean.valueOf(conf.v2BucketingEnabled()));
    found.put("compatible buckets", Boolean.valueOf(conf.getConfString(COMPATIBLE_BUCKETS, "false")));
    return JSON.writeValueAsString(found);
  }
}
