package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.HasPartitionKey;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.v2.python.PythonInputPartition;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Gives the partitions of a scan the keys that their rows have in common, by which Spark joins without a shuffle.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. It decides
 * nothing; see docs/adr/0011-columns-from-python-tasks.md and 0026-storage-partitioned-joins.md.
 */
public class KeyedParts implements BiFunction {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * @param partitions Of Spark's own readers or of Python tasks, an InputPartition[].
   * @param text The types of keys, as the JSON of a struct, and the key of each partition, as Catalyst has it.
   */
  public Object apply(Object partitions, Object text) {
    try {
      Map words = (Map) JSON.readValue((String) text, Map.class);
      StructType types = (StructType) DataType.fromJson((String) words.get("types"));
      List keys = (List) words.get("keys");
      InputPartition[] given = (InputPartition[]) partitions;
      InputPartition[] made = new InputPartition[given.length];
      for (int i = 0; i < made.length; i++) {
        made[i] = keyed(given[i], key(types, (List) keys.get(i)));
      }
      return made;
    } catch (Exception e) {
      throw new IllegalStateException("the partitions of a scan cannot be given keys: " + e, e);
    }
  }

  private static InputPartition keyed(InputPartition given, InternalRow key) {
    if (given instanceof FilePartition) {
      FilePartition files = (FilePartition) given;
      return new OfFiles(files.index(), files.files(), key);
    }
    PythonInputPartition task = (PythonInputPartition) given;
    return new OfTask(task.index(), task.pickedPartition(), key);
  }

  private static InternalRow key(StructType types, List values) {
    Object[] found = new Object[types.length()];
    for (int i = 0; i < found.length; i++) {
      found[i] = values.get(i) == null ? null : value(types.apply(i).dataType(), values.get(i));
    }
    return new GenericInternalRow(found);
  }

  private static Object value(DataType type, Object given) {
    if (type instanceof DecimalType) {
      DecimalType decimal = (DecimalType) type;
      return Decimal.apply(new BigDecimal((String) given), decimal.precision(), decimal.scale());
    } else if (given instanceof String) {
      return UTF8String.fromString((String) given);
    } else if (given instanceof Boolean) {
      return given;
    }
    long number = ((Number) given).longValue();
    if (type instanceof IntegerType || type instanceof DateType) {
      return Integer.valueOf((int) number);
    } else if (type instanceof ShortType) {
      return Short.valueOf((short) number);
    } else if (type instanceof ByteType) {
      return Byte.valueOf((byte) number);
    }
    return Long.valueOf(number);
  }

  /** Files that Spark's own reader reads. */
  public static class OfFiles extends FilePartition implements HasPartitionKey {
    private static final long serialVersionUID = 1L;

    private final InternalRow key;

    public OfFiles(int index, PartitionedFile[] files, InternalRow key) {
      super(index, files);
      this.key = key;
    }

    public InternalRow partitionKey() {
      return key;
    }
  }

  /** Splits that a Python task reads. */
  public static class OfTask extends PythonInputPartition implements HasPartitionKey {
    private static final long serialVersionUID = 1L;

    private final InternalRow key;

    public OfTask(int index, byte[] splits, InternalRow key) {
      super(index, splits);
      this.key = key;
    }

    public InternalRow partitionKey() {
      return key;
    }
  }
}
