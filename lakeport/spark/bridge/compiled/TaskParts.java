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
 * Makes what Spark needs to run Python tasks: the partitions and reader factories of scans, writer factories of inserts.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class TaskParts implements BiFunction {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Object readers;
  private Object writers;
  private Object source;

  /**
   * @param readers Constructor of PythonTasks.ReaderFactory, from the jar that executors have.
   * @param writers Constructor of PythonTasks.WriterFactory.
   * @param source Their UserDefinedPythonDataSource.
   */
  public void use(Object readers, Object writers, Object source) {
    this.readers = readers;
    this.writers = writers;
    this.source = source;
  }

  /** As of the methods below, for other classes of ours. */
  public Object apply(Object kind, Object given) {
    try {
      if (kind.equals("partitions")) {
        return partitions((String) given);
      }
      Object[] words = (Object[]) given;
      byte[] function = Base64.getDecoder().decode((String) words[0]);
      if (kind.equals("writers")) {
        return writers(writers, source, function, (String) words[1], (String) words[2], ((Integer) words[3]).intValue());
      }
      return factory(readers, source, function, (String) words[1]);
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

  /**
   * @param constructor Of PythonTasks.WriterFactory, from the jar that executors have.
   * @param source Its UserDefinedPythonDataSource.
   * @param function Its pickled function.
   * @param schema The columns of the rows, as the JSON text of a StructType.
   * @param given The columns of the batches.
   * @param few So many rows of a task may be its message.
   */
  public Object writers(
      Object constructor, Object source, byte[] function, String schema, String given, int few) throws Exception {
    Object[] values = {
      source, function, DataType.fromJson(schema), DataType.fromJson(given), Integer.valueOf(few)
    };
    return ((Constructor) constructor).newInstance(values);
  }
}
