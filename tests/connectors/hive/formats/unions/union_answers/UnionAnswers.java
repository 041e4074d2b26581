import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.serde2.AbstractSerDe;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.columnar.BytesRefArrayWritable;
import org.apache.hadoop.hive.serde2.columnar.BytesRefWritable;
import org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;

/**
 * Asks Hive's own SerDes for columns of uniontype: answers.tsv in, answers.tsv with their answers out.
 *
 * <p>Lines, tab-separated: <pre>
 * case   SERDE  TYPES  PROPERTIES     columns c0, c1 ... of the types between semicolons; key=value between semicolons
 * read   RECORD  ANSWER               a record (of columnar SerDes the cell of c0), as SerDeUtils.getJSONString
 * write  RECORD  SAID  BYTES  ANSWER  the row that LazySimpleSerDe reads from RECORD, written by the SerDe, read again
 * </pre> RECORD and BYTES have bytes as backslash-x and two digits. An answer is ERROR where Hive throws, and VARIES
 * where it depends on what was read before, or lies behind the record in memory. An answer that is there is not looked at.
 * answers.tsv was written with hive-exec 4.0.1: javac -cp JARS UnionAnswers.java, and java
 * --add-opens=java.base/java.net=ALL-UNNAMED -cp JARS:. UnionAnswers FILE.
 */
public final class UnionAnswers {
  // What the same SerDe may have read before: objects are used again, and LazyUnion keeps places.
  private static final String[] BEFORE = {"0\002other", "longer\0010\002other", "0\003other\0020\003other", "k\0030\004v"};
  private static String[] asked;

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(arguments[0], "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", -1);
      if (parts[0].equals("case")) {
        asked = parts;
        out.print(line + "\n");
      } else if (parts[0].equals("read")) {
        out.print("read\t" + parts[1] + "\t" + answer(bytes(parts[1])) + "\n");
      } else {
        out.print("write\t" + parts[1] + "\t" + written(bytes(parts[1])) + "\n");
      }
    }
    out.close();
  }

  private static AbstractSerDe serde(String name, boolean plain) throws Exception {
    String[] types = asked[2].split(";");
    Properties told = new Properties();
    StringBuilder names = new StringBuilder("c0");
    for (int at = 1; at < types.length; at++) {
      names.append(",c").append(at);
    }
    told.setProperty("columns", names.toString());
    told.setProperty("columns.types", String.join(":", types));
    told.setProperty("columns.comments", new String(new char[types.length - 1]));
    for (String property : asked[3].split(";")) {
      if (!property.isEmpty() && !plain) {
        told.setProperty(property.split("=", 2)[0], new String(bytes(property.split("=", 2)[1]), "UTF-8"));
      }
    }
    AbstractSerDe made = (AbstractSerDe) Class.forName(name).getDeclaredConstructor().newInstance();
    made.initialize(new Configuration(false), told, null);
    return made;
  }

  private static Writable writable(byte[] record, byte[] behind) throws Exception {
    byte[] memory = Arrays.copyOf(record, record.length + behind.length);
    System.arraycopy(behind, 0, memory, record.length, behind.length);
    if (asked[1].contains("Columnar")) {
      BytesRefArrayWritable cells = new BytesRefArrayWritable(1);
      cells.set(0, new BytesRefWritable(memory, 0, record.length));
      return cells;
    }
    if (asked[1].contains("LazyBinary")) {
      BytesWritable found = new BytesWritable(memory);
      found.setSize(record.length);
      return found;
    }
    Text found = new Text(memory);
    found.set(memory, 0, memory.length);
    found.set(record);
    return found;
  }

  private static String shown(AbstractSerDe serde, Writable record) {
    try {
      Object row = serde.deserialize(record);
      return row == null ? "null" : SerDeUtils.getJSONString(row, serde.getObjectInspector()).replace("\n", "\\n");
    } catch (LinkageError e) {
      throw e;
    } catch (Exception | Error e) {
      return "ERROR";
    }
  }

  private static String answer(byte[] record) {
    try {
      String found = shown(serde(asked[1], false), writable(record, new byte[0]));
      for (String before : BEFORE) {
        AbstractSerDe used = serde(asked[1], false);
        if (!asked[1].contains("LazyBinary")) {
          shown(used, writable(before.getBytes("UTF-8"), new byte[0]));
        }
        byte[] behind = new byte[64];
        Arrays.fill(behind, (byte) before.length());
        found = shown(used, writable(record, behind)).equals(found) ? found : "VARIES";
      }
      return found;
    } catch (LinkageError e) {
      throw e;
    } catch (Exception | Error e) {
      return "ERROR";
    }
  }

  private static String written(byte[] record) throws Exception {
    AbstractSerDe plain = serde(LazySimpleSerDe.class.getName(), true);
    String said = shown(plain, new Text(record));
    Writable made;
    try {
      made = serde(asked[1], false).serialize(plain.deserialize(new Text(record)), plain.getObjectInspector());
    } catch (LinkageError e) {
      throw e;
    } catch (Exception | Error e) {
      return said + "\t\tERROR";
    }
    byte[] content;
    if (made instanceof BytesRefArrayWritable) {
      content = ((BytesRefArrayWritable) made).get(0).getBytesCopy();
    } else if (made instanceof Text) {
      content = ((Text) made).copyBytes();
    } else {
      content = ((BytesWritable) made).copyBytes();
    }
    return said + "\t" + text(content) + "\t" + answer(content);
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

  private static String text(byte[] raw) {
    StringBuilder found = new StringBuilder();
    for (byte one : raw) {
      boolean plain = one >= ' ' && one < 127 && one != '\\';
      found.append(plain ? String.valueOf((char) one) : String.format("\\x%02x", one & 0xff));
    }
    return found.toString();
  }
}
