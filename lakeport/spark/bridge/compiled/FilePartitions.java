package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.PartitionedFile;

/**
 * Makes the partitions that Spark's own readers of files take, from one text.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class FilePartitions implements BiFunction {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * @param rows Constants of files, a list of InternalRow; null where files have none.
   * @param text For each task the list of its files: number of the row, path, start, length, modification time, size.
   */
  public Object apply(Object rows, Object text) {
    try {
      List tasks = (List) JSON.readValue((String) text, List.class);
      InputPartition[] made = new InputPartition[tasks.size()];
      for (int i = 0; i < made.length; i++) {
        List files = (List) tasks.get(i);
        PartitionedFile[] parts = new PartitionedFile[files.size()];
        for (int j = 0; j < parts.length; j++) {
          parts[j] = file((List) rows, (List) files.get(j));
        }
        made[i] = new FilePartition(i, parts);
      }
      return made;
    } catch (Exception e) {
      throw new IllegalStateException("the files of a scan cannot be handed to Spark: " + e, e);
    }
  }

  private static PartitionedFile file(List rows, List words) {
    InternalRow row =
        rows == null ? new GenericInternalRow(new Object[0]) : (InternalRow) rows.get(((Number) words.get(0)).intValue());
    return new PartitionedFile(
        row,
        SparkPath.fromPathString((String) words.get(1)),
        whole(words, 2),
        whole(words, 3),
        new String[0],
        whole(words, 4),
        whole(words, 5),
        (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty());
  }

  private static long whole(List words, int at) {
    return ((Number) words.get(at)).longValue();
  }
}
