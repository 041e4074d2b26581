import java.io.File;
import java.io.PrintStream;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.io.IOConstants;
import org.apache.hadoop.hive.ql.io.avro.AvroGenericRecordReader;
import org.apache.hadoop.hive.ql.io.orc.OrcInputFormat;
import org.apache.hadoop.hive.ql.io.orc.OrcStruct;
import org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat;
import org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe;
import org.apache.hadoop.hive.serde2.ColumnProjectionUtils;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.hive.serde2.avro.AvroGenericRecordWritable;
import org.apache.hadoop.hive.serde2.avro.AvroSerDe;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.orc.OrcFile;
import org.apache.orc.TypeDescription;
import org.apache.orc.Writer;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.NanoTime;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/**
 * Writes ORC, Parquet and Avro files with old and far times, and what Hive reads in them.
 *
 * <p>Each ORC file is of a writer in another zone, as Hive before 3.1 and Spark write them, once with times that fit into
 * 64 bits of nanoseconds alone. Each Parquet file says other things of INT96 in its footer, and has lists of JSON besides.
 * Each Avro file says other things of its writer's zone and calendar. NAME.json has a row in each line
 * (SerDeUtils.getJSONString). Written with hive-exec 4.0.1 in the zone America/New_York: javac -cp JARS TimeFiles.java,
 * java -Duser.timezone=America/New_York --add-opens=java.base/java.net=ALL-UNNAMED -cp JARS:. TimeFiles FOLDER.
 */
public final class TimeFiles {
  private static final String[] NEAR = {
    "1700-01-01T00:00:00", "1800-06-15T12:00:00.25", "1883-11-18T12:01:00", "1899-12-31T10:00:00",
    "1899-12-31T23:59:59.999", "1900-01-01T12:00:00", "1900-06-01T00:00:00", "1905-01-01T00:00:00",
    "1911-01-01T00:00:00", "1915-01-01T00:00:00", "1969-12-31T14:00:00.5", "1969-12-31T19:00:00.5",
    "1969-12-31T23:59:58.123456", "1970-01-01T00:00:00", "1970-01-01T03:00:00.999", "1970-01-01T05:29:59.75",
    "2024-03-10T01:30:00", "2024-07-01T12:00:00", "2024-11-03T01:30:00", "2037-12-31T00:00:00",
    "2038-07-01T00:00:00", "2099-07-01T00:00:00", "2100-02-28T23:00:00", "2200-11-02T12:00:00"};
  private static final String[] FAR = {
    "0001-01-02T00:00:00", "1200-02-28T06:00:00", "1500-03-01T01:02:03", "1582-10-04T12:00:00",
    "1582-10-16T12:00:00", "2400-07-04T00:00:00", "9000-03-08T12:00:00", "9999-07-01T12:00:00.5"};
  private static final String[] ZONES = {
    "America/New_York", "Asia/Kolkata", "Europe/Paris", "Asia/Shanghai", "Europe/Lisbon", "America/Sao_Paulo"};
  private static final String SCHEMA =
      "message m { optional int32 id; optional int96 a; optional int64 b (TIMESTAMP(MICROS,true)); optional group j"
          + " (LIST) { repeated group list { optional binary element (JSON); } } optional group s { optional binary x"
          + " (JSON); } }";

  private static final String AVRO =
      "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"long\",\"logicalType\":"
          + "\"timestamp-millis\"}},{\"name\":\"d\",\"type\":{\"type\":\"int\",\"logicalType\":\"date\"}}]}";

  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    for (String zone : ZONES) {
      String name = zone.substring(zone.indexOf('/') + 1).toLowerCase();
      orc(folder, name + "_near", zone, NEAR);
      orc(folder, name + "_far", zone, both());
    }
    parquet(folder, "no_zone");
    parquet(folder, "paris", "writer.time.zone", "Europe/Paris");
    parquet(folder, "paris_legacy", "writer.time.zone", "Europe/Paris", "writer.zone.conversion.legacy", "true");
    parquet(folder, "sydney", "writer.time.zone", "Australia/Sydney");
    avro(folder, "silent");
    avro(folder, "silent_new", "writer.zone.conversion.legacy", "false");
    avro(folder, "silent_proleptic", "writer.proleptic", "true");
    avro(folder, "paris", "writer.time.zone", "Europe/Paris", "writer.proleptic", "false");
    avro(folder, "paris_legacy", "writer.time.zone", "Europe/Paris", "writer.zone.conversion.legacy", "true");
    avro(folder, "paris_proleptic", "writer.time.zone", "Europe/Paris", "writer.proleptic", "true");
  }

  private static String[] both() {
    String[] all = Arrays.copyOf(NEAR, NEAR.length + FAR.length);
    System.arraycopy(FAR, 0, all, NEAR.length, FAR.length);
    return all;
  }

  private static void orc(File folder, String name, String zone, String[] times) throws Exception {
    File file = new File(folder, name + ".orc");
    file.delete();
    TimeZone own = TimeZone.getDefault();
    TimeZone.setDefault(TimeZone.getTimeZone(zone));
    TypeDescription type = TypeDescription.fromString("struct<a:timestamp,l:array<timestamp>>");
    Path path = new Path(file.toURI());
    Writer out = OrcFile.createWriter(path, OrcFile.writerOptions(new Configuration(false)).setSchema(type));
    VectorizedRowBatch batch = type.createRowBatch();
    TimestampColumnVector column = (TimestampColumnVector) batch.cols[0];
    ListColumnVector list = (ListColumnVector) batch.cols[1];
    TimestampColumnVector inner = (TimestampColumnVector) list.child;
    inner.noNulls = false;
    for (String time : times) {
      Timestamp value = Timestamp.valueOf(time.replace('T', ' '));
      column.set(batch.size, value);
      list.offsets[batch.size] = 2 * batch.size;
      list.lengths[batch.size] = 2;
      inner.isNull[2 * batch.size] = true;
      inner.set(2 * batch.size + 1, value);
      batch.size++;
    }
    out.addRowBatch(batch);
    out.close();
    TimeZone.setDefault(own);
    JobConf told = told("a,l", "timestamp:array<timestamp>");
    RecordReader<NullWritable, OrcStruct> reader =
        new OrcInputFormat().getRecordReader(split(file), told, Reporter.NULL);
    OrcStruct value = reader.createValue();
    ObjectInspector shown =
        OrcStruct.createObjectInspector(
            TypeInfoUtils.getTypeInfoFromTypeString("struct<a:timestamp,l:array<timestamp>>"));
    try (PrintStream answers = new PrintStream(new File(folder, name + ".json"), "UTF-8")) {
      while (reader.next(NullWritable.get(), value)) {
        answers.print(SerDeUtils.getJSONString(value, shown) + "\n");
      }
    }
    clean(folder, name + ".orc");
  }

  private static void parquet(File folder, String name, String... footer) throws Exception {
    File file = new File(folder, name + ".parquet");
    file.delete();
    Map<String, String> metadata = new HashMap<>();
    metadata.put("writer.date.proleptic", "true");
    for (int at = 0; at < footer.length; at += 2) {
      metadata.put(footer[at], footer[at + 1]);
    }
    MessageType type = MessageTypeParser.parseMessageType(SCHEMA);
    try (ParquetWriter<Group> out =
        ExampleParquetWriter.builder(new Path(file.toURI())).withType(type).withExtraMetaData(metadata).build()) {
      int id = 0;
      for (String time : both()) {
        LocalDateTime parsed = LocalDateTime.parse(time);
        long seconds = parsed.toEpochSecond(ZoneOffset.UTC);
        Group row = new SimpleGroup(type);
        row.add("id", id++);
        long nanos = Math.floorMod(seconds, 86400L) * 1000000000L + parsed.getNano();
        row.add("a", new NanoTime((int) (Math.floorDiv(seconds, 86400L) + 2440588), nanos));
        row.add("b", seconds * 1000000 + parsed.getNano() / 1000);
        Group list = row.addGroup("j");
        list.addGroup("list").add("element", "{\"a\": " + id + "}");
        list.addGroup("list");
        row.addGroup("s").add("x", "[" + id + "]");
        out.write(row);
      }
    }
    String types = "int:timestamp:timestamp:array<string>:struct<x:string>";
    JobConf told = told("id,a,b,j,s", types);
    told.setBoolean("hive.vectorized.execution.enabled", false);
    RecordReader<NullWritable, ArrayWritable> reader =
        new MapredParquetInputFormat().getRecordReader(split(file), told, Reporter.NULL);
    Properties columns = new Properties();
    columns.setProperty("columns", "id,a,b,j,s");
    columns.setProperty("columns.types", types);
    ParquetHiveSerDe serde = new ParquetHiveSerDe();
    serde.initialize(told, columns, null);
    ArrayWritable value = reader.createValue();
    try (PrintStream answers = new PrintStream(new File(folder, name + ".json"), "UTF-8")) {
      while (reader.next(NullWritable.get(), value)) {
        answers.print(SerDeUtils.getJSONString(serde.deserialize(value), serde.getObjectInspector()) + "\n");
      }
    }
    clean(folder, name + ".parquet");
  }

  private static void avro(File folder, String name, String... metadata) throws Exception {
    File file = new File(folder, name + ".avro");
    Schema schema = new Schema.Parser().parse(AVRO);
    try (DataFileWriter<GenericRecord> out = new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
      for (int at = 0; at < metadata.length; at += 2) {
        out.setMeta(metadata[at], metadata[at + 1]);
      }
      out.create(schema, file);
      for (String time : both()) {
        LocalDateTime parsed = LocalDateTime.parse(time);
        GenericRecord row = new GenericData.Record(schema);
        row.put("a", parsed.toInstant(ZoneOffset.UTC).toEpochMilli());
        row.put("d", (int) parsed.toLocalDate().toEpochDay());
        out.append(row);
      }
    }
    JobConf told = new JobConf(new Configuration(false));
    told.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem");
    told.set("avro.schema.literal", AVRO);
    Properties table = new Properties();
    table.setProperty("avro.schema.literal", AVRO);
    AvroSerDe serde = new AvroSerDe();
    serde.initialize(told, table, null);
    AvroGenericRecordReader reader = new AvroGenericRecordReader(told, split(file), Reporter.NULL);
    AvroGenericRecordWritable row = reader.createValue();
    try (PrintStream answers = new PrintStream(new File(folder, name + ".avro.json"), "UTF-8")) {
      while (reader.next(NullWritable.get(), row)) {
        answers.print(SerDeUtils.getJSONString(serde.deserialize(row), serde.getObjectInspector()) + "\n");
      }
    }
  }

  private static JobConf told(String names, String types) {
    JobConf told = new JobConf();
    told.set("columns", names);
    told.set("columns.types", types);
    told.set(IOConstants.SCHEMA_EVOLUTION_COLUMNS, names);
    told.set(IOConstants.SCHEMA_EVOLUTION_COLUMNS_TYPES, types);
    ColumnProjectionUtils.setReadAllColumns(told);
    return told;
  }

  private static FileSplit split(File file) {
    return new FileSplit(new Path(file.toURI()), 0, file.length(), (String[]) null);
  }

  private static void clean(File folder, String name) {
    new File(folder, "." + name + ".crc").delete();
  }
}
