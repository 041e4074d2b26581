package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Constructor;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.v2.python.PythonInputPartition;
import org.apache.spark.sql.types.DataType;

/**
 * Makes what Spark needs to run the Python tasks of a scan: its partitions, and its reader factory.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class TaskParts {
  /** @param payloads Of each task what its Python gets: a list of texts in base 64. */
  public Object partitions(String payloads) throws Exception {
    List texts = (List) new ObjectMapper().readValue(payloads, List.class);
    InputPartition[] made = new InputPartition[texts.size()];
    for (int i = 0; i < made.length; i++) {
      made[i] = new PythonInputPartition(i, Base64.getDecoder().decode((String) texts.get(i)));
    }
    return made;
  }

  /**
   * @param constructor Of ColumnarReaderFactory, from the jar that executors have.
   * @param source Its UserDefinedPythonDataSource.
   * @param function Its pickled function.
   * @param schema Its columns, as the JSON text of a StructType.
   */
  public Object factory(Object constructor, Object source, byte[] function, String schema) throws Exception {
    return ((Constructor) constructor).newInstance(new Object[] {source, function, DataType.fromJson(schema)});
  }
}
