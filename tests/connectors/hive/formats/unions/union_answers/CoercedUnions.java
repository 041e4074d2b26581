import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.rmi.server.UID;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.serde2.AbstractSerDe;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.avro.AvroGenericRecordWritable;
import org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorConverters;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;

/**
 * Asks Hive for columns of uniontype whose types in a partition are not the table's, as FetchOperator brings rows of a
 * partition to its table: coerced.tsv in, coerced.tsv with Hive's answers out.
 *
 * <p>Lines, tab-separated: <pre>
 * case  TYPE  TYPE                      of the column c0, in the partition and in the table
 * row   RECORD  OWN  TEXT  BINARY  AVRO  BYTES
 * </pre> RECORD is a row of LazySimpleSerDe of the partition's type, with bytes as backslash-x and two digits; BYTES the
 * same row as LazyBinarySerDe writes it. OWN is the partition's row as SerDeUtils.getJSONString; TEXT, BINARY and AVRO
 * are the table's, when the partition is of LazySimpleSerDe, LazyBinarySerDe or AvroSerDe: REFUSED where Hive makes no
 * converter of the types, ERROR where it throws at the row (a union whose value is or becomes NULL has the number -1 in
 * StandardUnionObjectInspector.setFieldAndTag), and UNWRITTEN where that SerDe does not write it. Answers that are there
 * are not looked at.
 * coerced.tsv was written with hive-exec 4.0.1: javac -cp JARS CoercedUnions.java, and java
 * --add-opens=java.base/java.net=ALL-UNNAMED -cp JARS:. CoercedUnions FILE.
 */
public final class CoercedUnions {
  private static final String[] SERDES = {
    "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    "org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe",
    "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
  };

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(arguments[0], "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String[] asked = new String[0];
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", -1);
      if (parts[0].equals("case")) {
        asked = parts;
        out.print(line + "\n");
        continue;
      }
      AbstractSerDe plain = serde(SERDES[0], asked[1]);
      Object row = plain.deserialize(new Text(bytes(parts[1])));
      out.print("row\t" + parts[1] + "\t" + SerDeUtils.getJSONString(row, plain.getObjectInspector()));
      String bytes = "";
      for (String name : SERDES) {
        AbstractSerDe own;
        Writable record;
        try {
          own = serde(name, asked[1]);
          record = record(own, asked[1], bytes(parts[1]));
        } catch (LinkageError e) {
          throw e;
        } catch (Exception | Error e) {
          out.print("\tUNWRITTEN");
          continue;
        }
        out.print("\t" + answer(own, record, asked[2]));
        if (record instanceof BytesWritable) {
          bytes = text(((BytesWritable) record).copyBytes());
        }
      }
      out.print("\t" + bytes + "\n");
    }
    out.close();
  }

  private static AbstractSerDe serde(String name, String type) throws Exception {
    Properties told = new Properties();
    told.setProperty("columns", "c0");
    told.setProperty("columns.types", type);
    told.setProperty("columns.comments", "");
    AbstractSerDe made = (AbstractSerDe) Class.forName(name).getDeclaredConstructor().newInstance();
    made.initialize(new Configuration(false), told, null);
    return made;
  }

  private static Writable record(AbstractSerDe own, String type, byte[] row) throws Exception {
    if (own instanceof LazySimpleSerDe) {
      return new Text(row);
    }
    AbstractSerDe plain = serde(SERDES[0], type);
    Writable record = own.serialize(plain.deserialize(new Text(row)), plain.getObjectInspector());
    if (record instanceof AvroGenericRecordWritable) {
      AvroGenericRecordWritable found = (AvroGenericRecordWritable) record;
      found.setFileSchema(found.getRecord().getSchema());
      found.setRecordReaderID(new UID());
    }
    return record;
  }

  private static String answer(AbstractSerDe own, Writable record, String type) throws Exception {
    ObjectInspector ofTable = serde(SERDES[0], type).getObjectInspector();
    ObjectInspector made = ObjectInspectorConverters.getConvertedOI(ofTable, ofTable, null, false);
    ObjectInspectorConverters.Converter converter;
    try {
      converter = ObjectInspectorConverters.getConverter(own.getObjectInspector(), made);
    } catch (RuntimeException e) {
      return "REFUSED";
    }
    try {
      Object row = converter.convert(own.deserialize(record));
      return SerDeUtils.getJSONString(row, made).replace("\n", "\\n");
    } catch (LinkageError e) {
      throw e;
    } catch (Exception | Error e) {
      return "ERROR";
    }
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
