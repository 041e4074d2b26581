package lakeport.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.BasePythonRunner;
import org.apache.spark.api.python.ChainedPythonFunctions;
import org.apache.spark.api.python.PythonEvalType;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.execution.datasources.v2.python.PythonCustomMetric;
import org.apache.spark.sql.execution.datasources.v2.python.PythonCustomTaskMetric;
import org.apache.spark.sql.execution.datasources.v2.python.PythonInputPartition;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.UserDefinedPythonDataSource;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.python.ArrowPythonRunner;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Hands Arrow batches from a task's Python to Spark, in columns, and rows of a task to its Python, in Arrow batches.
 *
 * <p>Spark's own factories for Python data sources run the same functions in the same way: the Python, its worker and
 * its errors are Spark's.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments that need bridge methods,
 * no lambdas. It is an adapter to Spark's interfaces and nothing else; see docs/adr/0011-columns-from-python-tasks.md.
 */
public class PythonTasks {
  private static final List KNOWN =
      Arrays.asList(
          new Class[] {
            int.class, boolean.class, int[][].class, String.class, StructType.class, Option.class,
            scala.collection.immutable.Map.class, scala.collection.immutable.Seq.class
          });

  /** Throws where this Spark's runner has parameters of other types than are known; called once, on the driver. */
  public static void check() {
    Class[] types = runnerConstructor().getParameterTypes();
    for (int i = 0; i < types.length; i++) {
      if (!KNOWN.contains(types[i])) {
        throw new IllegalStateException("ArrowPythonRunner has a parameter of the type " + types[i].getName());
      }
    }
  }

  /**
   * Gives Spark the batches of a task as they are.
   *
   * <p>Spark's own PythonPartitionReaderFactory takes each batch apart into rows. Of its metrics, which Spark shares
   * among all tasks of a process so that their figures grow with each query, a task has its own.
   */
  public static class ReaderFactory implements PartitionReaderFactory {
    private static final long serialVersionUID = 1L;

    private final UserDefinedPythonDataSource source;
    private final byte[] function;
    private final StructType schema;

    /**
     * @param source Spark takes from it which Python runs.
     * @param function The pickled function from splits to batches, together with its result type.
     * @param schema The columns of the batches.
     */
    public ReaderFactory(UserDefinedPythonDataSource source, byte[] function, StructType schema) {
      this.source = source;
      this.function = function;
      this.schema = schema;
    }

    public boolean supportColumnarReads(InputPartition partition) {
      return true;
    }

    public PartitionReader createReader(InputPartition partition) {
      throw new UnsupportedOperationException("this factory gives columns only");
    }

    public PartitionReader createColumnarReader(InputPartition partition) {
      return new Reader(source, function, schema, (PythonInputPartition) partition);
    }
  }

  /** The batches of one task. Each is valid until the next one is asked for: the vectors are filled anew. */
  private static class Reader implements PartitionReader {
    private final scala.collection.Iterator batches;
    private final StructType schema;
    private final scala.collection.immutable.Map metrics = metrics();
    private StructVector vectors;
    private ColumnVector[] columns;

    Reader(UserDefinedPythonDataSource source, byte[] function, StructType schema, PythonInputPartition partition) {
      this.schema = schema;
      TaskContext context = TaskContext.get();
      Object row = new GenericInternalRow(new Object[] {partition.pickedPartition()});
      Object input = new GenericInternalRow(new Object[] {row});
      BasePythonRunner runner = runner(source, function, UserDefinedPythonDataSource.readInputSchema(), metrics);
      this.batches = runner.compute(iterator(iterator(input)), context.partitionId(), context);
    }

    public boolean next() {
      return batches.hasNext();
    }

    public Object get() {
      ColumnarBatch batch = (ColumnarBatch) batches.next();
      // The worker wraps all columns in a struct (ArrowStreamUDFSerializer in pyspark).
      ArrowColumnVector struct = (ArrowColumnVector) batch.column(0);
      if (struct.getValueVector() != vectors) {
        check(struct.dataType());
        vectors = (StructVector) struct.getValueVector();
        columns = new ColumnVector[schema.length()];
        for (int i = 0; i < columns.length; i++) {
          columns[i] = new LentColumn(vectors.getChildByOrdinal(i));
        }
      }
      ColumnarBatch unwrapped = new ColumnarBatch(columns);
      unwrapped.setNumRows(batch.numRows());
      return unwrapped;
    }

    /** What the scan declares (UserDefinedPythonDataSource.createPythonMetrics): Spark shows all of them as sizes. */
    public CustomTaskMetric[] currentMetricsValues() {
      List sizes = new ArrayList();
      scala.collection.Iterator all = metrics.iterator();
      while (all.hasNext()) {
        Tuple2 named = (Tuple2) all.next();
        if (((SQLMetric) named._2()).metricType().equals("size")) {
          long value = ((Number) ((AccumulatorV2) named._2()).value()).longValue();
          sizes.add(new PythonCustomTaskMetric((String) named._1(), Math.max(value, 0L)));
        }
      }
      return (CustomTaskMetric[]) sizes.toArray(new CustomTaskMetric[0]);
    }

    public void close() {
      // The runner ends with the task, as Spark's own readers of Python do.
    }

    private void check(DataType given) {
      if (!given.sameType(schema)) {
        throw new IllegalStateException(
            "a task gives columns of " + given.catalogString() + " where " + schema.catalogString() + " is wanted");
      }
    }
  }

  /**
   * A vector that belongs to the runner, which fills it again and closes it with the task. Spark closes the columns of
   * a batch when it has read its rows (ColumnarToRowExec), and nothing can be read into a closed struct.
   */
  private static class LentColumn extends ArrowColumnVector {
    LentColumn(ValueVector vector) {
      super(vector);
    }

    public void close() {}

    public void closeIfFreeable() {}
  }

  /**
   * Gives the rows of a task to its Python, which gives back one message.
   *
   * <p>Spark's own PythonBatchWriterFactory does the same, and is slower for two reasons. It counts the bytes of a batch
   * anew after each row, in all columns; here a batch ends by the sizes of its rows. And it makes several objects of
   * each decimal. An UnsafeRow has one of up to 18 digits as a long, and gives it so to whoever asks for a long.
   *
   * <p>A task of few rows starts no Python: its message has the rows, and the driver's Python writes them.
   */
  public static class WriterFactory implements DataWriterFactory {
    private static final long serialVersionUID = 1L;

    private final UserDefinedPythonDataSource source;
    private final byte[] function;
    private final StructType schema;
    private final StructType given;
    private final int few;

    /**
     * @param source Spark takes from it which Python runs.
     * @param function The pickled function from batches to a message, together with its result type.
     * @param schema The columns of the rows.
     * @param given The columns of the batches: the same, with longs for decimals of up to 18 digits.
     * @param few So many rows of a task may be its message; none where it is 0.
     */
    public WriterFactory(
        UserDefinedPythonDataSource source, byte[] function, StructType schema, StructType given, int few) {
      this.source = source;
      this.function = function;
      this.schema = schema;
      this.given = given;
      this.few = few;
    }

    public DataWriter createWriter(int partition, long task) {
      return new Writer(this);
    }
  }

  private static class Writer implements DataWriter {
    private static final long MOST_BYTES_OF_MESSAGES = 4L << 20;

    private final WriterFactory made;
    private PythonWriterCommitMessage message;

    Writer(WriterFactory made) {
      this.made = made;
    }

    public void write(Object row) {
      throw new UnsupportedOperationException("Python takes all rows of a task at once");
    }

    public void writeAll(Iterator records) {
      TaskContext context = TaskContext.get();
      Rows rows = new Rows(records, made.schema);
      if (rows.endWithin(made.few, MOST_BYTES_OF_MESSAGES / context.numPartitions(), context)) {
        message = new PythonWriterCommitMessage(arrow(rows.first, made.given));
        return;
      }
      BasePythonRunner runner = runner(made.source, made.function, made.given, metrics());
      countNoBytes(runner);
      Batches batches = new Batches(rows, context, SQLConf.get().arrowMaxRecordsPerBatch());
      scala.collection.Iterator answers =
          runner.compute(CollectionConverters.asScala(batches), context.partitionId(), context);
      while (answers.hasNext()) {
        ColumnarBatch batch = (ColumnarBatch) answers.next();
        ColumnVector messages = ((ArrowColumnVector) batch.column(0)).getChild(0);
        for (int i = 0; i < batch.numRows(); i++) {
          message = new PythonWriterCommitMessage(messages.getBinary(i));
        }
      }
    }

    public WriterCommitMessage commit() {
      if (message == null) {
        throw new IllegalStateException("the Python of a writing task has ended without a message");
      }
      return message;
    }

    public void abort() {
      // Python has given the rows up where it failed; what it wrote no one finds without its message.
    }

    public void close() {
      // The runner ends with the task.
    }
  }

  /** The rows of a task. The first ones may be kept, to see whether there are others. */
  private static class Rows {
    final List first = new ArrayList();
    private final Iterator records;
    private final StructType schema;
    private UnsafeProjection projection;
    private int given = 0;

    Rows(Iterator records, StructType schema) {
      this.records = records;
      this.schema = schema;
    }

    /** Whether there are no more rows than these; all are in first then. */
    boolean endWithin(int rows, long bytes, TaskContext context) {
      long size = 0;
      while (first.size() < rows && size < bytes && records.hasNext()) {
        // A source of rows that are not Spark's own may end where its task is killed.
        context.killTaskIfInterrupted();
        UnsafeRow row = read().copy();
        size += row.getSizeInBytes();
        first.add(row);
      }
      boolean ended = rows > 0 && size <= bytes && !records.hasNext();
      context.killTaskIfInterrupted();
      return ended;
    }

    boolean hasNext() {
      return given < first.size() || records.hasNext();
    }

    UnsafeRow next() {
      return given < first.size() ? (UnsafeRow) first.get(given++) : read();
    }

    /** Most plans give such rows; of others each is copied into one, which the next one overwrites. */
    private UnsafeRow read() {
      InternalRow row = (InternalRow) records.next();
      if (row instanceof UnsafeRow) {
        return (UnsafeRow) row;
      }
      if (projection == null) {
        projection = UnsafeProjection.create(schema);
      }
      return projection.apply(row);
    }
  }

  /** Rows as an Arrow stream, with the same columns as batches have; nothing for no rows. */
  private static byte[] arrow(List rows, StructType given) {
    if (rows.isEmpty()) {
      return new byte[0];
    }
    SQLConf conf = SQLConf.get();
    ArrowWriter writer =
        ArrowWriter.create(given, conf.sessionLocalTimeZone(), true, conf.arrowUseLargeVarTypes());
    try {
      for (int i = 0; i < rows.size(); i++) {
        writer.write((InternalRow) rows.get(i));
      }
      writer.finish();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      ArrowStreamWriter stream = new ArrowStreamWriter(writer.root(), null, Channels.newChannel(bytes));
      stream.start();
      stream.writeBatch();
      stream.end();
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new IllegalStateException("rows cannot be put into a message", e);
    } finally {
      writer.root().close();
    }
  }

  /** The rows of a task in batches, each an iterator. The thread that reads them may outlive the task. */
  private static class Batches implements Iterator {
    private static final long MOST_BYTES = 16L << 20;

    private final Rows rows;
    private final TaskContext context;
    private final int mostRows;

    /** @param mostRows Of a batch; none where it is not above 0. */
    Batches(Rows rows, TaskContext context, int mostRows) {
      this.rows = rows;
      this.context = context;
      this.mostRows = mostRows > 0 ? mostRows : Integer.MAX_VALUE;
    }

    public boolean hasNext() {
      return !context.isCompleted() && !context.isInterrupted() && rows.hasNext();
    }

    public Object next() {
      return CollectionConverters.asScala(new Batch(this));
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }
  }

  private static class Batch implements Iterator {
    private final Batches all;
    private final GenericInternalRow wrapped = new GenericInternalRow(1);
    private int rows = 0;
    private long bytes = 0;

    Batch(Batches all) {
      this.all = all;
    }

    public boolean hasNext() {
      return rows < all.mostRows && bytes < Batches.MOST_BYTES && all.hasNext();
    }

    /** The worker takes the columns out of a struct (ArrowStreamUDFSerializer in pyspark). */
    public Object next() {
      UnsafeRow row = all.rows.next();
      rows++;
      bytes += row.getSizeInBytes();
      wrapped.update(0, row);
      return wrapped;
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }
  }

  /** Has a runner not end batches by their bytes; one that has no such method never does. */
  private static void countNoBytes(BasePythonRunner runner) {
    Method[] methods = runner.getClass().getMethods();
    for (int i = 0; i < methods.length; i++) {
      if (methods[i].getName().endsWith("_setter_$maxBytesPerBatch_$eq")) {
        try {
          methods[i].invoke(runner, new Object[] {Long.valueOf(Integer.MAX_VALUE)});
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException("ArrowPythonRunner takes no size of batches", e);
        }
      }
    }
  }

  /** Metrics of one task, by the names that the runner knows. */
  private static scala.collection.immutable.Map metrics() {
    scala.collection.immutable.Map own = PythonCustomMetric.pythonMetrics();
    scala.collection.Iterator all = own.iterator();
    while (all.hasNext()) {
      Tuple2 shared = (Tuple2) all.next();
      AccumulatorV2 metric = ((AccumulatorV2) shared._2()).copy();
      metric.reset();
      own = (scala.collection.immutable.Map) own.updated(shared._1(), metric);
    }
    return own;
  }

  private static BasePythonRunner runner(
      UserDefinedPythonDataSource source,
      byte[] function,
      StructType columns,
      scala.collection.immutable.Map metrics) {
    SQLConf conf = SQLConf.get();
    List functions = new ArrayList();
    functions.add(source.createPythonFunction(function));
    List chained = new ArrayList();
    chained.add(new Tuple2(new ChainedPythonFunctions(seq(functions)), Long.valueOf(0L)));
    StructType input = new StructType().add("struct", columns);
    List maps = new ArrayList();
    maps.add(ArrowPythonRunner.getPythonRunnerConfMap(conf));
    maps.add(metrics);
    return construct(seq(chained), input, conf, maps);
  }

  /** Spark's versions differ in how many options end the list of parameters: ids of sessions, and a profiler. */
  private static BasePythonRunner construct(Object functions, StructType input, SQLConf conf, List maps) {
    Constructor constructor = runnerConstructor();
    Class[] types = constructor.getParameterTypes();
    Object[] values = new Object[types.length];
    int map = 0;
    for (int i = 0; i < types.length; i++) {
      if (types[i] == int.class) {
        values[i] = Integer.valueOf(PythonEvalType.SQL_MAP_ARROW_ITER_UDF());
      } else if (types[i] == boolean.class) {
        values[i] = Boolean.valueOf(conf.arrowUseLargeVarTypes());
      } else if (types[i] == int[][].class) {
        values[i] = new int[][] {{0}};
      } else if (types[i] == StructType.class) {
        values[i] = input;
      } else if (types[i] == String.class) {
        values[i] = conf.sessionLocalTimeZone();
      } else if (types[i] == Option.class) {
        values[i] = Option.empty();
      } else if (types[i] == scala.collection.immutable.Map.class) {
        values[i] = maps.get(map++);
      } else {
        values[i] = functions;
      }
    }
    try {
      return (BasePythonRunner) constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("ArrowPythonRunner cannot be made", e);
    }
  }

  private static Constructor runnerConstructor() {
    return ArrowPythonRunner.class.getConstructors()[0];
  }

  private static scala.collection.Iterator iterator(Object value) {
    List values = new ArrayList();
    values.add(value);
    return CollectionConverters.asScala(values.iterator());
  }

  private static scala.collection.immutable.Seq seq(List values) {
    return CollectionConverters.asScala(values).toSeq();
  }
}
