import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.orc.OrcFile;
import org.apache.hadoop.hive.ql.io.orc.Reader;
import org.apache.hadoop.hive.ql.io.orc.RecordReader;
import org.apache.hadoop.hive.ql.io.orc.Writer;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe;
import org.apache.hadoop.io.Text;
import org.apache.orc.CompressionKind;

/**
 * Writes ORC files with columns of uniontype by Hive's own writer, and reads them by its reader: orc.tsv in, files and
 * orc.tsv with Hive's answers out.
 *
 * <p>Lines, tab-separated: <pre>
 * file  NAME  TYPES  TIMES     FOLDER/NAME.orc with columns c0, c1 ... of the types between semicolons, and the rows so
 *                              many times over; not compressed where the name ends with _plain
 * row   RECORD  ANSWER         a row of LazySimpleSerDe, with bytes as backslash-x and two digits; read again from the
 *                              file, as SerDeUtils.getJSONString
 * </pre> Answers that are there are not looked at. The files and orc.tsv were written with hive-exec 4.0.1: javac -cp JARS
 * UnionFiles.java, and java --add-opens=java.base/java.net=ALL-UNNAMED -Duser.timezone=UTC -cp JARS:. UnionFiles FOLDER.
 */
public final class UnionFiles {
  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(arguments[0] + "/orc.tsv", "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line = in.readLine();
    while (line != null) {
      String[] asked = line.split("\t", -1);
      out.print(line + "\n");
      List<String> rows = new ArrayList<>();
      for (line = in.readLine(); line != null && line.startsWith("row\t"); line = in.readLine()) {
        rows.add(line.split("\t", -1)[1]);
      }
      Configuration conf = new Configuration();
      Path path = new Path(new File(arguments[0], asked[1] + ".orc").getAbsolutePath());
      path.getFileSystem(conf).setWriteChecksum(false);
      CompressionKind codec = asked[1].endsWith("_plain") ? CompressionKind.NONE : CompressionKind.ZLIB;
      OrcFile.WriterOptions options = OrcFile.writerOptions(conf).compress(codec);
      write(path, options, serde(asked[2]), rows, Integer.parseInt(asked[3]));
      Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(conf));
      RecordReader found = reader.rows();
      Object row = null;
      for (String record : rows) {
        row = found.next(row);
        out.print("row\t" + record + "\t" + SerDeUtils.getJSONString(row, reader.getObjectInspector()) + "\n");
      }
      found.close();
    }
    out.close();
  }

  private static void write(
      Path path, OrcFile.WriterOptions options, LazySimpleSerDe serde, List<String> rows, int times) throws Exception {
    Writer writer = OrcFile.createWriter(path, options.inspector(serde.getObjectInspector()));
    for (int time = 0; time < times; time++) {
      for (String record : rows) {
        writer.addRow(serde.deserialize(new Text(bytes(record))));
      }
    }
    writer.close();
  }

  private static LazySimpleSerDe serde(String types) throws Exception {
    Properties told = new Properties();
    StringBuilder names = new StringBuilder("c0");
    for (int at = 1; at < types.split(";").length; at++) {
      names.append(",c").append(at);
    }
    told.setProperty("columns", names.toString());
    told.setProperty("columns.types", types.replace(';', ':'));
    told.setProperty("columns.comments", new String(new char[types.split(";").length - 1]));
    LazySimpleSerDe made = new LazySimpleSerDe();
    made.initialize(new Configuration(false), told, null);
    return made;
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
