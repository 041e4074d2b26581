package lakeport.spark;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.spark.TaskContext;
import org.apache.spark.api.python.BasePythonRunner;
import org.apache.spark.api.python.ChainedPythonFunctions;
import org.apache.spark.api.python.PythonEvalType;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.python.PythonCustomMetric;
import org.apache.spark.sql.execution.datasources.v2.python.PythonCustomTaskMetric;
import org.apache.spark.sql.execution.datasources.v2.python.PythonInputPartition;
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
 * Gives Spark the Arrow batches of a task's Python as they are, in columns.
 *
 * <p>Spark's own PythonPartitionReaderFactory runs the same function in the same way, and then takes each batch apart
 * into rows. Everything else here is as there: the Python, its worker and its errors are Spark's. Of its metrics, which
 * Spark shares among all tasks of a process so that their figures grow with each query, a task has its own.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments that need bridge methods,
 * no lambdas. It is an adapter to Spark's interfaces and nothing else; see docs/adr/0011-columns-from-python-tasks.md.
 */
public class ColumnarReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private static final List KNOWN =
      Arrays.asList(
          new Class[] {
            int.class, boolean.class, int[][].class, String.class, StructType.class, Option.class,
            scala.collection.immutable.Map.class, scala.collection.immutable.Seq.class
          });

  private final UserDefinedPythonDataSource source;
  private final byte[] function;
  private final StructType schema;

  /**
   * @param source Spark takes from it which Python runs.
   * @param function The pickled function from splits to batches, together with its result type.
   * @param schema The columns of the batches.
   */
  public ColumnarReaderFactory(UserDefinedPythonDataSource source, byte[] function, StructType schema) {
    this.source = source;
    this.function = function;
    this.schema = schema;
  }

  /** Throws where this Spark's runner has parameters of other types than are known; called once, on the driver. */
  public static void check() {
    Class[] types = runnerConstructor().getParameterTypes();
    for (int i = 0; i < types.length; i++) {
      if (!KNOWN.contains(types[i])) {
        throw new IllegalStateException("ArrowPythonRunner has a parameter of the type " + types[i].getName());
      }
    }
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
      BasePythonRunner runner = runner(source, function, metrics);
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
      UserDefinedPythonDataSource source, byte[] function, scala.collection.immutable.Map metrics) {
    SQLConf conf = SQLConf.get();
    List functions = new ArrayList();
    functions.add(source.createPythonFunction(function));
    List chained = new ArrayList();
    chained.add(new Tuple2(new ChainedPythonFunctions(seq(functions)), Long.valueOf(0L)));
    StructType input = new StructType().add("struct", UserDefinedPythonDataSource.readInputSchema());
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
