package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.v2.orc.OrcPartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.orc.OrcScan;
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetScan;
import org.apache.spark.sql.internal.connector.PredicateUtils;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.Product;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * Makes the reader factory of Spark's own Parquet or ORC scan, for files that are chosen elsewhere.
 *
 * <p>Python does the same where this class is missing (native.py, versions.py), in a dozen round trips.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class NativeScan implements BiFunction {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MOST_KEPT = 64;
  private static final boolean ORC_KEEPS_FILTERS = orcKeepsFilters();

  /** In the order of their last use. */
  private final Map kept = new LinkedHashMap(MOST_KEPT, 0.75f, true);
  private Map keptFor = new HashMap();

  /** As of factory, for other classes of ours. */
  public Object apply(Object predicates, Object text) {
    try {
      return factory(predicates, (String) text);
    } catch (Exception e) {
      throw new IllegalStateException("Spark's own reader cannot be made: " + e, e);
    }
  }

  /**
   * The factory for a text is kept: to make one, Spark sends Hadoop's settings to all executors, and that costs more
   * than anything else here. It is made anew where a setting of the session or of Hadoop's has changed. Each scan has a
   * copy: one that reads Parquet closes the file that it has open when it opens another (ParquetReaderCallback), and a
   * task that merges two scans in order has two open. Before Spark 4.3 tasks set the filters of ORC in Hadoop's settings
   * that all of these have in common, where a scan without filters would find them: there each has a factory of its own.
   *
   * @param predicates By which the reader may skip parts of files, a Predicate[].
   * @param text The format; the columns of the files and the constants behind them, as the JSON of structs; options of
   *     the format and settings of Hadoop's, by name.
   */
  public Object factory(Object predicates, String text) throws Exception {
    SparkSession session = (SparkSession) SparkSession.active();
    Filter[] filters = PredicateUtils.toV1((Predicate[]) predicates);
    boolean apart = ORC_KEEPS_FILTERS && JSON.readTree(text).get("format").asText().equals("orc");
    Object made = kept(session, text, apart ? Arrays.asList(filters) : null);
    return withFilters((Product) made, filters);
  }

  private Object kept(SparkSession session, String text, Object filters) throws Exception {
    Map hadoop = hadoopSettings(session);
    Object key = Arrays.asList(new Object[] {text, session.sessionUUID(), settings(session), filters});
    Object found;
    synchronized (kept) {
      if (!hadoop.equals(keptFor)) {
        kept.clear();
        keptFor = hadoop;
      }
      found = kept.get(key);
    }
    if (found == null) {
      found = made(session, text);
      synchronized (kept) {
        if (hadoop.equals(keptFor)) {
          kept.put(key, found);
          if (kept.size() > MOST_KEPT) {
            kept.remove(kept.keySet().iterator().next());
          }
        }
      }
    }
    return found;
  }

  /** Whether tasks hand filters on in Hadoop's settings, which they are given, and not as what a method returns. */
  private static boolean orcKeepsFilters() {
    Method[] methods = OrcPartitionReaderFactory.class.getDeclaredMethods();
    for (int i = 0; i < methods.length; i++) {
      if (methods[i].getName().equals("pushDownPredicates") && methods[i].getReturnType() == Option.class) {
        return false;
      }
    }
    return true;
  }

  private static Map settings(SparkSession session) {
    Map all = session.sessionState().conf().settings();
    synchronized (all) {
      return new HashMap(all);
    }
  }

  private static Map hadoopSettings(SparkSession session) {
    Map found = new HashMap();
    for (Iterator entries = session.sparkContext().hadoopConfiguration().iterator(); entries.hasNext(); ) {
      Map.Entry entry = (Map.Entry) entries.next();
      found.put(entry.getKey(), entry.getValue());
    }
    return found;
  }

  /** The same factory with other filters; it is a case class, whose fields are the parameters of its constructor. */
  private static Object withFilters(Product made, Filter[] filters) throws Exception {
    Object[] values = new Object[made.productArity()];
    for (int i = 0; i < values.length; i++) {
      Object value = made.productElement(i);
      values[i] = value instanceof Filter[] ? filters : value;
    }
    return made.getClass().getConstructors()[0].newInstance(values);
  }

  private static Object made(SparkSession session, String text) throws Exception {
    Map words = (Map) JSON.readValue(text, Map.class);
    Configuration conf = session.sessionState().newHadoopConf();
    for (Iterator entries = ((Map) words.get("hadoop")).entrySet().iterator(); entries.hasNext(); ) {
      Map.Entry entry = (Map.Entry) entries.next();
      conf.set((String) entry.getKey(), (String) entry.getValue());
    }
    DataType data = DataType.fromJson((String) words.get("columns"));
    Object[] known = {
      session,
      conf,
      index(session, data),
      new Filter[0],
      new CaseInsensitiveStringMap((Map) words.get("options")),
      Option.empty(),
      Nil$.MODULE$
    };
    Object[] structs = {data, data, DataType.fromJson((String) words.get("constants"))};
    Class kind = words.get("format").equals("parquet") ? ParquetScan.class : OrcScan.class;
    return ((Batch) made(kind.getConstructors()[0], known, structs)).createReaderFactory();
  }

  /** Spark's versions differ in the number of parameters, so each is found by its type. */
  private static Object made(Constructor constructor, Object[] known, Object[] structs) throws Exception {
    Class[] types = constructor.getParameterTypes();
    Object[] values = new Object[types.length];
    int struct = 0;
    for (int i = 0; i < types.length; i++) {
      if (types[i] == StructType.class) {
        values[i] = structs[struct++];
        continue;
      }
      for (int j = 0; j < known.length && values[i] == null; j++) {
        if (types[i].isInstance(known[j])) {
          values[i] = known[j];
        }
      }
      if (values[i] == null && types[i].isArray()) {
        values[i] = Array.newInstance(types[i].getComponentType(), 0);
      } else if (values[i] == null) {
        throw new IllegalStateException(constructor + " has a parameter of an unknown type: " + types[i].getName());
      }
    }
    return constructor.newInstance(values);
  }

  /** An index of no files: the scan plans nothing here. */
  private static InMemoryFileIndex index(SparkSession session, DataType data) {
    Seq none = (Seq) (Object) Nil$.MODULE$;
    scala.collection.immutable.Map empty = (scala.collection.immutable.Map) Map$.MODULE$.empty();
    return new InMemoryFileIndex(
        session, none, empty, Option.apply(data), NoopCache$.MODULE$, Option.empty(), Option.empty());
  }
}
