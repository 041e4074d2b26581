package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.NoopCache$;
import org.apache.spark.sql.execution.datasources.v2.orc.OrcScan;
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetScan;
import org.apache.spark.sql.internal.connector.PredicateUtils;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
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
public class NativeScan {
  /**
   * @param predicates By which the reader may skip parts of files, a Predicate[].
   * @param text The format; the columns of the files and the constants behind them, as the JSON of structs; options of
   *     the format and settings of Hadoop's, by name.
   */
  public Object factory(Object predicates, String text) throws Exception {
    Map words = (Map) new ObjectMapper().readValue(text, Map.class);
    SparkSession session = (SparkSession) SparkSession.active();
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
      PredicateUtils.toV1((Predicate[]) predicates),
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
