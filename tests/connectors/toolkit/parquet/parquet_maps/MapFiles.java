import java.io.File;
import java.io.PrintStream;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat;
import org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe;
import org.apache.hadoop.hive.serde2.ColumnProjectionUtils;
import org.apache.hadoop.hive.serde2.SerDeUtils;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/**
 * Writes Parquet files with maps whose keys are optional, by parquet-mr, and what Hive reads in them.
 *
 * <p>optional.parquet has annotations of both kinds on groups of several names, old.parquet those of parquet-mr before
 * 1.8, null_key.parquet a key that is NULL; optional.json and old.json have a row in each line
 * (SerDeUtils.getJSONString). Written with hive-exec 4.0.1: javac -cp JARS MapFiles.java, java
 * --add-opens=java.base/java.net=ALL-UNNAMED -cp JARS:. MapFiles FOLDER.
 */
public final class MapFiles {
  private static final String MAPS =
      " optional int32 id; optional group a (MAP) { repeated group key_value { optional binary key (UTF8);"
          + " optional int32 value; } } optional group b { optional int64 x; optional group inner (MAP) { repeated group"
          + " key_value { optional int32 key; optional group value (LIST) { repeated group list { optional binary"
          + " element (UTF8); } } } } } optional group c (LIST) { repeated group list { optional group element (MAP) {"
          + " repeated group kv { optional binary k (UTF8); optional group v (MAP) { repeated group key_value {"
          + " required binary key (UTF8); optional int32 value; } } } } } } optional binary t (UTF8); }";
  private static final String TYPES =
      "int:map<string,int>:struct<x:bigint,inner:map<int,array<string>>>:array<map<string,map<string,int>>>:string";
  private static final String OLD =
      " optional int32 id; optional group a (MAP) { repeated group map (MAP_KEY_VALUE) { optional binary key (UTF8);"
          + " optional int32 value; } } }";

  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    write(new File(folder, "optional.parquet"), "message m {" + MAPS, 250, false);
    write(new File(folder, "old.parquet"), "message m {" + OLD, 9, false);
    write(new File(folder, "null_key.parquet"), "message m {" + OLD, 9, true);
    read(folder, "optional", "id,a,b,c,t", TYPES);
    read(folder, "old", "id,a", "int:map<string,int>");
  }

  private static void write(File file, String schema, int rows, boolean nullKey) throws Exception {
    MessageType type = MessageTypeParser.parseMessageType(schema);
    file.delete();
    Path path = new Path(file.toURI());
    try (ParquetWriter<Group> out =
        ExampleParquetWriter.builder(path).withType(type).withRowGroupSize(8192L).withPageSize(1024).build()) {
      for (int row = 0; row < rows; row++) {
        Group group = new SimpleGroup(type);
        group.add("id", row);
        if (row % 5 != 4) {
          Group map = group.addGroup("a");
          for (int at = 0; at < row % 4; at++) {
            Group pair = map.addGroup(0);
            if (!nullKey || row != 7) {
              pair.add(0, "k" + at);
            }
            if (at != 2) {
              pair.add(1, row * 10 + at);
            }
          }
        }
        if (type.getFieldCount() > 2) {
          more(group, row);
        }
        out.write(group);
      }
    }
    new File(file.getParentFile(), "." + file.getName() + ".crc").delete();
  }

  private static void more(Group group, int row) {
    if (row % 7 != 6) {
      Group struct = group.addGroup("b");
      struct.add("x", (long) row);
      if (row % 3 != 2) {
        Group map = struct.addGroup("inner");
        for (int at = 0; at < row % 3; at++) {
          Group pair = map.addGroup(0);
          pair.add(0, at);
          if (row % 2 == 0) {
            Group list = pair.addGroup(1);
            list.addGroup(0).add(0, "e" + row);
            list.addGroup(0);
          }
        }
      }
    }
    Group list = group.addGroup("c");
    for (int at = 0; at < row % 3; at++) {
      Group element = list.addGroup(0);
      if (at == 0) {
        Group pair = element.addGroup(0).addGroup(0);
        pair.add(0, "o" + row);
        Group inner = pair.addGroup(1).addGroup(0);
        inner.add(0, "i");
        inner.add(1, row);
      }
    }
    group.add("t", "t" + row);
  }

  private static void read(File folder, String name, String columns, String types) throws Exception {
    Properties told = new Properties();
    told.setProperty("columns", columns);
    told.setProperty("columns.types", types);
    JobConf conf = new JobConf(new Configuration());
    conf.set("columns", columns);
    conf.set("columns.types", types);
    ColumnProjectionUtils.setReadAllColumns(conf);
    ParquetHiveSerDe serde = new ParquetHiveSerDe();
    serde.initialize(conf, told, null);
    File file = new File(folder, name + ".parquet");
    FileSplit split = new FileSplit(new Path(file.toURI()), 0, file.length(), (String[]) null);
    RecordReader<NullWritable, ArrayWritable> rows =
        new MapredParquetInputFormat().getRecordReader(split, conf, Reporter.NULL);
    NullWritable key = rows.createKey();
    ArrayWritable value = rows.createValue();
    try (PrintStream out = new PrintStream(new File(folder, name + ".json"), "UTF-8")) {
      while (rows.next(key, value)) {
        out.print(SerDeUtils.getJSONString(serde.deserialize(value), serde.getObjectInspector()) + "\n");
      }
    }
  }
}
