import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Properties;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.avro.AvroGenericRecordReader;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.avro.AvroGenericRecordWritable;
import org.apache.hadoop.hive.serde2.avro.AvroSerDe;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;

/**
 * Asks Hive for the rows of Avro files in tables with a schema of their own.
 *
 * <p>In and out, tab-separated: a line "case NAME WRITER READER" with the schemas of the file and of the table as JSON,
 * then lines "row RECORD ANSWER" with a record in Avro's JSON; the answer is SerDeUtils.getJSONString of the row, or
 * ERROR where Hive throws. A last line "types TYPES" has the columns that Hive makes of the table's schema. Answers that
 * are there are not looked at. answers.tsv was written with hive-exec 4.0.1: javac -cp JARS AvroAnswers.java, and java
 * --add-opens=java.base/java.net=ALL-UNNAMED -cp JARS:. AvroAnswers OUT with answers.tsv as its input.
 */
public final class AvroAnswers {
  private static Schema writer;
  private static String reader;

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(arguments[0], "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", -1);
      if (parts[0].equals("case")) {
        writer = new Schema.Parser().parse(parts[2]);
        reader = parts[3];
        out.print(line + "\ntypes\t" + types() + "\n");
      } else if (parts[0].equals("row")) {
        out.print("row\t" + parts[1] + "\t" + answer(parts[1]) + "\n");
      }
    }
    out.close();
  }

  private static Properties told() {
    Properties told = new Properties();
    told.setProperty("avro.schema.literal", reader);
    return told;
  }

  private static AvroSerDe serde() throws Exception {
    AvroSerDe serde = new AvroSerDe();
    serde.initialize(new Configuration(false), told(), null);
    return serde;
  }

  private static String types() {
    try {
      return serde().getObjectInspector().getTypeName();
    } catch (Exception | LinkageError error) {
      return "ERROR";
    }
  }

  private static String answer(String text) throws Exception {
    GenericRecord record =
        new GenericDatumReader<GenericRecord>(writer).read(null, DecoderFactory.get().jsonDecoder(writer, text));
    File file = File.createTempFile("answers", ".avro");
    try (DataFileWriter<GenericRecord> made = new DataFileWriter<>(new GenericDatumWriter<>(writer))) {
      made.create(writer, file);
      made.append(record);
    }
    try {
      JobConf job = new JobConf(new Configuration(false));
      job.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem");
      job.set("avro.schema.literal", reader);
      FileSplit split = new FileSplit(new Path(file.toURI()), 0, file.length(), (String[]) null);
      AvroGenericRecordReader rows = new AvroGenericRecordReader(job, split, Reporter.NULL);
      AvroGenericRecordWritable row = rows.createValue();
      if (!rows.next(NullWritable.get(), row)) {
        return "NONE";
      }
      AvroSerDe serde = serde();
      return SerDeUtils.getJSONString(serde.deserialize(row), serde.getObjectInspector());
    } catch (Exception | LinkageError error) {
      if (System.getenv("WHY") != null) {
        error.printStackTrace();
      }
      return "ERROR";
    } finally {
      Files.delete(file.toPath());
    }
  }
}
