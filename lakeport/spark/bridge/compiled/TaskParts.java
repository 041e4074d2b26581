package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Constructor;
import java.util.Base64;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.v2.python.PythonInputPartition;
import org.apache.spark.sql.types.DataType;

/**
 * Makes what Spark needs to run the Python tasks of a scan: its partitions, and its reader factory.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class TaskParts implements BiFunction {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Object constructor;
  private Object source;

  /**
   * @param constructor Of PythonTasks.ReaderFactory, from the jar that executors have.
   * @param source Its UserDefinedPythonDataSource.
   */
  public void use(Object constructor, Object source) {
    this.constructor = constructor;
    this.source = source;
  }

  /** As of the methods below, for other classes of ours. */
  public Object apply(Object kind, Object given) {
    try {
      if (kind.equals("partitions")) {
        return partitions((String) given);
      }
      Object[] words = (Object[]) given;
      return factory(constructor, source, Base64.getDecoder().decode((String) words[0]), (String) words[1]);
    } catch (Exception e) {
      throw new IllegalStateException("tasks of Python cannot be handed to Spark: " + e, e);
    }
  }

  /** @param payloads Of each task what its Python gets: a list of texts in base 64. */
  public Object partitions(String payloads) throws Exception {
    List texts = (List) JSON.readValue(payloads, List.class);
    InputPartition[] made = new InputPartition[texts.size()];
    for (int i = 0; i < made.length; i++) {
      made[i] = new PythonInputPartition(i, Base64.getDecoder().decode((String) texts.get(i)));
    }
    return made;
  }

  /**
   * @param constructor Of PythonTasks.ReaderFactory, from the jar that executors have.
   * @param source Its UserDefinedPythonDataSource.
   * @param function Its pickled function.
   * @param schema Its columns, as the JSON text of a StructType.
   */
  public Object factory(Object constructor, Object source, byte[] function, String schema) throws Exception {
    return ((Constructor) constructor).newInstance(new Object[] {source, function, DataType.fromJson(schema)});
  }
}
