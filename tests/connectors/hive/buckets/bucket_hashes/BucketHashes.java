import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.hadoop.hive.common.type.HiveChar;
import org.apache.hadoop.hive.common.type.HiveDecimal;
import org.apache.hadoop.hive.common.type.HiveVarchar;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.typeinfo.PrimitiveTypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;

/**
 * Prints Hive's own hashes of both bucketing versions: type, value, version 1, version 2, tab-separated.
 *
 * <p>hashes.tsv is its output with hive-exec 4.0.1; that with hive-exec 3.1.3 is the same, and so are those of version 1
 * with hive-exec 2.3.10, but for dates before 1582. It wants hive-exec and the Hadoop client on the class path (Hive 2
 * also hive-serde, hive-common and hive-storage-api): javac -cp JARS BucketHashes.java, java -cp JARS:. BucketHashes.
 */
public final class BucketHashes {
  private static final String[][] VALUES = {
    {"boolean", "true", "false"},
    {"tinyint", "0", "1", "-1", "127", "-128", "42"},
    {"smallint", "0", "1", "-1", "32767", "-32768", "4242"},
    {"int", "0", "1", "-1", "2147483647", "-2147483648", "42", "-123456789"},
    {"bigint", "0", "1", "-1", "9223372036854775807", "-9223372036854775808", "42", "4294967296", "-4294967297"},
    {"float", "0.0", "-0.0", "1.5", "-1.5", "3.4028235E38", "1.4E-45", "NaN", "Infinity", "-Infinity", "0.1"},
    {"double", "0.0", "-0.0", "1.5", "-1.5", "1.7976931348623157E308", "4.9E-324", "NaN", "Infinity", "-Infinity", "0.1"},
    {"string", "", "a", "ab", "abc", "abcd", "abcde", "a ", " a", "\u00e4", "a\u00e4", "ab\u00e4", "\u20ac", "\ud83d\ude00",
      "\ud83d\ude00\u00e4xyz", "the quick brown fox jumps over the lazy dog"},
    {"char(6)", "", "a", "ab", "abc   ", "abcdef", "\u00e4"},
    {"varchar(6)", "", "a", "ab", "abc   ", "abcdef", "\u00e4"},
    {"binary", "", "a", "ab", "abcd", "abcde", "\u00e4"},
    {"date", "1970-01-01", "1970-01-02", "1969-12-31", "2024-02-29", "0001-01-01", "9999-12-31", "1500-06-15"},
    {"decimal(38,10)", "0", "1", "-1", "1.5", "1.50", "-1.5", "100", "0.01", "0.0000000001", "123456789.123456789",
      "9999999999999999999999999999", "-9999999999999999999999999999.9999999999", "128", "-128", "255", "-129", "32768",
      "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616", "3E5"},
  };

  private BucketHashes() {}

  public static void main(String[] args) throws Exception {
    java.io.PrintStream out = new java.io.PrintStream(System.out, true, "UTF-8");
    for (String[] row : VALUES) {
      PrimitiveTypeInfo type = (PrimitiveTypeInfo) TypeInfoUtils.getTypeInfoFromTypeString(row[0]);
      ObjectInspector inspector = PrimitiveObjectInspectorFactory.getPrimitiveJavaObjectInspector(type);
      print(out, row[0], "NULL", null, inspector);
      for (int at = 1; at < row.length; at++) {
        print(out, row[0], row[at], parse(row[0], row[at]), inspector);
      }
    }
    Object[] pair = {42, "ab\u00e4"};
    ObjectInspector[] both = {
      PrimitiveObjectInspectorFactory.javaIntObjectInspector, PrimitiveObjectInspectorFactory.javaStringObjectInspector
    };
    printHashes(out, "int,string", "42,ab\u00e4", pair, both);
    printHashes(out, "int,string", "NULL,ab\u00e4", new Object[] {null, "ab\u00e4"}, both);
    printHashes(out, "int,string", "-7,", new Object[] {-7, ""}, both);
  }

  private static void print(java.io.PrintStream out, String type, String text, Object value, ObjectInspector inspector)
      throws Exception {
    printHashes(out, type, text, new Object[] {value}, new ObjectInspector[] {inspector});
  }

  private static void printHashes(
      java.io.PrintStream out, String type, String text, Object[] values, ObjectInspector[] inspectors)
      throws Exception {
    out.println(type + "\t" + text + "\t" + hash("getBucketHashCodeOld", values, inspectors) + "\t"
        + hash("getBucketHashCode", values, inspectors));
  }

  /** Hive 2 has version 1 only, and calls it getBucketHashCode. */
  private static Object hash(String method, Object[] values, ObjectInspector[] inspectors) throws Exception {
    for (String name : new String[] {method, "getBucketHashCode"}) {
      try {
        return ObjectInspectorUtils.class.getMethod(name, Object[].class, ObjectInspector[].class)
            .invoke(null, values, inspectors);
      } catch (NoSuchMethodException next) {
        // Asked by its other name.
      }
    }
    return "";
  }

  private static Object parse(String type, String text) throws Exception {
    switch (type.replaceAll("\\(.*", "")) {
      case "boolean": return Boolean.valueOf(text);
      case "tinyint": return Byte.valueOf(text);
      case "smallint": return Short.valueOf(text);
      case "int": return Integer.valueOf(text);
      case "bigint": return Long.valueOf(text);
      case "float": return Float.valueOf(text);
      case "double": return Double.valueOf(text);
      case "string": return text;
      case "char": return new HiveChar(text, 6);
      case "varchar": return new HiveVarchar(text, 6);
      case "binary": return text.getBytes(StandardCharsets.UTF_8);
      case "decimal": return HiveDecimal.create(new BigDecimal(text));
      case "date": return date(text);
      default: throw new IllegalArgumentException(type);
    }
  }

  /** Hive 2 has java.sql.Date, later ones a class of their own. */
  private static Object date(String text) throws Exception {
    try {
      return Class.forName("org.apache.hadoop.hive.common.type.Date").getMethod("valueOf", String.class)
          .invoke(null, text);
    } catch (ClassNotFoundException old) {
      return java.sql.Date.valueOf(text);
    }
  }
}
