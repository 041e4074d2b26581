import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.serde2.AbstractSerDe;
import org.apache.hadoop.hive.serde2.columnar.BytesRefArrayWritable;
import org.apache.hadoop.hive.serde2.columnar.BytesRefWritable;
import org.apache.hadoop.hive.serde2.objectinspector.ListObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.MapObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.StructField;
import org.apache.hadoop.hive.serde2.objectinspector.StructObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.UnionObjectInspector;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;

/**
 * What SerDes of Hive read in records. Standard input is a file such as answers.tsv, of lines with tabs between: <pre>
 * case   CLASS TYPES(;) PROPERTIES(KEY=VALUE, ;)                the columns c0, c1 and so on
 * read   ANSWER RECORD                                       of columnar SerDes a cell for each column, with tabs between
 * </pre> Records and properties have bytes as backslash-x and two digits. An answer is JSON: lists of columns, fields and
 * elements, maps as lists of pairs, all other values as texts, bytes in hexadecimal digits. It is ERROR where Hive throws,
 * VARIES where it depends on what was read before or lies behind the record in memory. An answer that is there is not
 * looked at. answers.tsv was written with hive-exec 4.0.1: javac -cp JARS RecordAnswers.java, and java
 * --add-opens=java.base/java.net=ALL-UNNAMED -cp JARS:. RecordAnswers FILE.
 */
public final class RecordAnswers {
  private static String[] asked;
  private static AbstractSerDe used;

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(arguments[0], "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", -1);
      if (parts[0].equals("case")) {
        asked = parts;
        used = null;
        out.print(line + "\n");
      } else {
        String[] cells = Arrays.copyOfRange(parts, 2, parts.length);
        out.print("read\t" + answer(cells) + "\t" + String.join("\t", cells) + "\n");
      }
    }
    out.close();
  }

  private static String answer(String[] cells) throws Exception {
    String alone = shown(serde(), writable(cells, ""));
    if (used == null) {
      used = serde();
    }
    return alone.equals(shown(used, writable(cells, "7\002\"}7\001\000\007 x,|7"))) ? alone : "VARIES";
  }

  private static AbstractSerDe serde() {
    String[] types = asked[2].split(";");
    Properties told = new Properties();
    StringBuilder names = new StringBuilder("c0");
    for (int at = 1; at < types.length; at++) {
      names.append(",c").append(at);
    }
    told.setProperty("columns", names.toString());
    told.setProperty("columns.types", String.join(":", types));
    told.setProperty("columns.comments", new String(new char[types.length - 1]));
    try {
      for (String property : asked[3].split(";")) {
        if (!property.isEmpty()) {
          told.setProperty(property.split("=", 2)[0], new String(bytes(property.split("=", 2)[1]), "UTF-8"));
        }
      }
      AbstractSerDe made = (AbstractSerDe) Class.forName(asked[1]).getDeclaredConstructor().newInstance();
      made.initialize(new Configuration(false), told, null);
      return made;
    } catch (LinkageError | ClassNotFoundException e) {
      throw new IllegalStateException(e);
    } catch (Exception | Error e) {
      return null;
    }
  }

  private static Writable writable(String[] cells, String behind) throws Exception {
    BytesRefArrayWritable columns = new BytesRefArrayWritable(cells.length);
    for (int at = 0; at < cells.length; at++) {
      byte[] record = bytes(cells[at]);
      byte[] memory = Arrays.copyOf(record, record.length + behind.length());
      System.arraycopy(bytes(behind), 0, memory, record.length, behind.length());
      if (asked[1].contains("Columnar")) {
        columns.set(at, new BytesRefWritable(memory, 0, record.length));
      } else if (asked[1].contains("LazyBinary")) {
        BytesWritable found = new BytesWritable(memory);
        found.setSize(record.length);
        return found;
      } else {
        Text found = new Text(memory);
        found.set(record);
        return found;
      }
    }
    return columns;
  }

  private static String shown(AbstractSerDe serde, Writable record) {
    try {
      Object row = serde.deserialize(record);
      StringBuilder to = new StringBuilder();
      show(row, serde.getObjectInspector(), to);
      return to.toString();
    } catch (LinkageError e) {
      throw e;
    } catch (Exception | Error e) {
      if (System.getenv("WHY") != null) {
        e.printStackTrace();
      }
      return "ERROR";
    }
  }

  private static void show(Object value, ObjectInspector inspector, StringBuilder to) {
    if (value == null) {
      to.append("null");
    } else if (inspector instanceof PrimitiveObjectInspector) {
      Object found = ((PrimitiveObjectInspector) inspector).getPrimitiveJavaObject(value);
      if (found == null) {
        to.append("null");
      } else if (found instanceof byte[]) {
        to.append('"');
        for (byte one : (byte[]) found) {
          to.append(String.format("%02x", one & 0xff));
        }
        to.append('"');
      } else {
        quoted(found.toString(), to);
      }
    } else if (inspector instanceof ListObjectInspector) {
      List<?> list = ((ListObjectInspector) inspector).getList(value);
      ObjectInspector element = ((ListObjectInspector) inspector).getListElementObjectInspector();
      if (list == null) {
        to.append("null");
        return;
      }
      to.append('[');
      for (Object one : list) {
        show(one, element, to);
        to.append(',');
      }
      close(to, ']');
    } else if (inspector instanceof MapObjectInspector) {
      MapObjectInspector maps = (MapObjectInspector) inspector;
      Map<?, ?> map = maps.getMap(value);
      if (map == null) {
        to.append("null");
        return;
      }
      to.append('[');
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        to.append('[');
        show(entry.getKey(), maps.getMapKeyObjectInspector(), to);
        to.append(',');
        show(entry.getValue(), maps.getMapValueObjectInspector(), to);
        to.append("],");
      }
      close(to, ']');
    } else if (inspector instanceof UnionObjectInspector) {
      UnionObjectInspector union = (UnionObjectInspector) inspector;
      int tag = union.getTag(value);
      to.append("[\"").append(tag).append("\",");
      show(union.getField(value), union.getObjectInspectors().get(tag), to);
      to.append(']');
    } else {
      StructObjectInspector struct = (StructObjectInspector) inspector;
      to.append('[');
      for (StructField field : struct.getAllStructFieldRefs()) {
        show(struct.getStructFieldData(value, field), field.getFieldObjectInspector(), to);
        to.append(',');
      }
      close(to, ']');
    }
  }

  private static void close(StringBuilder to, char end) {
    if (to.charAt(to.length() - 1) == ',') {
      to.setLength(to.length() - 1);
    }
    to.append(end);
  }

  private static void quoted(String text, StringBuilder to) {
    to.append('"');
    for (char one : text.toCharArray()) {
      boolean plain = one >= ' ' && one < 127 && one != '"' && one != '\\';
      to.append(plain ? String.valueOf(one) : String.format("\\u%04x", (int) one));
    }
    to.append('"');
  }

  private static byte[] bytes(String text) throws Exception {
    ByteArrayOutputStream found = new ByteArrayOutputStream();
    byte[] raw = text.getBytes("UTF-8");
    for (int at = 0; at < raw.length; at++) {
      if (raw[at] == '\\' && raw[at + 1] == 'x') {
        found.write(Integer.parseInt(new String(raw, at + 2, 2, "US-ASCII"), 16));
        at += 3;
      } else {
        found.write(raw[at]);
      }
    }
    return found.toByteArray();
  }
}
