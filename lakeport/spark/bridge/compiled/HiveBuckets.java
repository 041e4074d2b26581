package lakeport.spark;

import java.io.Serializable;
import java.math.BigDecimal;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.Reducer;
import org.apache.spark.sql.connector.catalog.functions.ReducibleFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The bucket of a row of a Hive table, by which Spark sends the rows of one bucket to one task.
 *
 * <p>Where rows are written it only spares files: each writing task computes the buckets of its rows by itself
 * (connectors/hive/buckets). Where tables are joined, Spark takes tables for bucketed alike whose functions have equal
 * canonical names, and may send rows of other tables to the tasks of their buckets.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has; see docs/adr/0011.
 */
public class HiveBuckets implements UnboundFunction, ScalarFunction, ReducibleFunction {
  private static final long serialVersionUID = 1L;
  private static final int SEED = 104729;

  private final String name;
  private final int version;
  private final int count;
  private final String kinds;
  private final DataType[] types;

  /**
   * @param name The function's name.
   * @param version 1 or 2, Hive's bucketing_version.
   * @param count Number of buckets.
   * @param kinds For each argument "c" for char, "v" for varchar, "-" for others.
   */
  public HiveBuckets(String name, Integer version, Integer count, String kinds) {
    this(name, version.intValue(), count.intValue(), kinds, new DataType[0]);
  }

  private HiveBuckets(String name, int version, int count, String kinds, DataType[] types) {
    this.name = name;
    this.version = version;
    this.count = count;
    this.kinds = kinds;
    this.types = types;
  }

  public String name() {
    return name;
  }

  /** Values of other types have other hashes. */
  public String canonicalName() {
    return family() + " " + count;
  }

  private String family() {
    StringBuilder found = new StringBuilder("lakeport.hive_bucket ").append(version).append(' ').append(kinds);
    for (int i = 0; i < types.length; i++) {
      found.append(' ').append(types[i].catalogString());
    }
    return found.toString();
  }

  /** From the bucket among these to the one among fewer: of tables with 8 and 12 buckets, both become one of 4. */
  public Reducer reducer(ReducibleFunction other) {
    if (!(other instanceof HiveBuckets) || !((HiveBuckets) other).family().equals(family())) {
      return null;
    }
    int common = count;
    int rest = ((HiveBuckets) other).count;
    while (rest != 0) {
      int next = common % rest;
      common = rest;
      rest = next;
    }
    return common == 1 || common == count ? null : new Fewer(common);
  }

  public String description() {
    return "the bucket of a row of a Hive table";
  }

  public BoundFunction bind(StructType input) {
    DataType[] found = new DataType[input.length()];
    for (int i = 0; i < found.length; i++) {
      found[i] = input.apply(i).dataType();
    }
    return new HiveBuckets(name, version, count, kinds, found);
  }

  public DataType[] inputTypes() {
    return types;
  }

  public DataType resultType() {
    return DataTypes.IntegerType;
  }

  public boolean isResultNullable() {
    return false;
  }

  public Object produceResult(InternalRow row) {
    int joined = 0;
    for (int i = 0; i < types.length; i++) {
      int hash = row.isNullAt(i) ? 0 : hash(row.get(i, types[i]), kinds.charAt(i));
      joined = joined * 31 + hash;
    }
    return Integer.valueOf((joined & Integer.MAX_VALUE) % count);
  }

  private int hash(Object value, char kind) {
    if (value instanceof Boolean) {
      return ((Boolean) value).booleanValue() ? 1 : 0;
    }
    if (value instanceof UTF8String) {
      byte[] bytes = ((UTF8String) value).getBytes();
      int length = bytes.length;
      while (kind == 'c' && length > 0 && bytes[length - 1] == ' ') {
        length--;
      }
      return version == 2 ? murmur(bytes, length) : javaHash(bytes, length, kind == '-' ? 0 : 1);
    }
    if (value instanceof byte[]) {
      return javaHash((byte[]) value, ((byte[]) value).length, 1);
    }
    if (value instanceof Decimal) {
      BigDecimal plain = ((Decimal) value).toJavaBigDecimal();
      plain = plain.signum() == 0 ? BigDecimal.ZERO : plain.stripTrailingZeros();
      plain = plain.scale() < 0 ? plain.setScale(0) : plain;
      byte[] digits = plain.unscaledValue().toByteArray();
      return version == 2 ? murmur(digits, digits.length) : plain.hashCode();
    }
    if (value instanceof Float) {
      int bits = Float.floatToIntBits(((Float) value).floatValue());
      return version == 2 ? murmur(Float.floatToIntBits((float) bits), 4) : bits;
    }
    if (value instanceof Double) {
      long bits = Double.doubleToLongBits(((Double) value).doubleValue());
      return version == 2 ? murmur(Double.doubleToLongBits((double) bits), 8) : (int) (bits ^ (bits >>> 32));
    }
    long number = ((Number) value).longValue();
    if (value instanceof Long) {
      return version == 2 ? murmur(number, 8) : (int) (number ^ (number >>> 32));
    }
    if (version == 2 && !(value instanceof Byte)) {
      return murmur(number, value instanceof Short ? 2 : 4);
    }
    return (int) number;
  }

  private static int javaHash(byte[] bytes, int length, int first) {
    int hash = first;
    for (int i = 0; i < length; i++) {
      hash = hash * 31 + bytes[i];
    }
    return hash;
  }

  /** Of a number as Java writes it, the highest byte first. */
  private static int murmur(long number, int width) {
    byte[] bytes = new byte[width];
    for (int i = 0; i < width; i++) {
      bytes[i] = (byte) (number >>> (8 * (width - 1 - i)));
    }
    return murmur(bytes, width);
  }

  private static int murmur(byte[] bytes, int length) {
    int hash = SEED;
    int whole = length / 4 * 4;
    for (int i = 0; i < whole; i += 4) {
      int word = (bytes[i] & 255) | (bytes[i + 1] & 255) << 8 | (bytes[i + 2] & 255) << 16 | (bytes[i + 3] & 255) << 24;
      hash ^= mixed(word);
      hash = Integer.rotateLeft(hash, 13) * 5 + 0xE6546B64;
    }
    int rest = 0;
    for (int i = length - 1; i >= whole; i--) {
      rest ^= bytes[i] << (8 * (i - whole));
    }
    if (length > whole) {
      hash ^= mixed(rest);
    }
    hash ^= length;
    hash = (hash ^ (hash >>> 16)) * 0x85EBCA6B;
    hash = (hash ^ (hash >>> 13)) * 0xC2B2AE35;
    return hash ^ (hash >>> 16);
  }

  private static int mixed(int word) {
    return Integer.rotateLeft(word * 0xCC9E2D51, 15) * 0x1B873593;
  }

  /** The bucket among fewer, whose number divides the number of buckets. */
  public static class Fewer implements Reducer, Serializable {
    private static final long serialVersionUID = 1L;

    private final int count;

    public Fewer(int count) {
      this.count = count;
    }

    public Object reduce(Object bucket) {
      return Integer.valueOf(((Integer) bucket).intValue() % count);
    }

    public DataType resultType() {
      return DataTypes.IntegerType;
    }

    public String displayName() {
      return "bucket % " + count;
    }
  }
}
