package lakeport.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Gives what becomes of rows to Spark's own writer of a Python data source, which takes rows of one kind.
 *
 * <p>Spark calls a DeltaWriter once for each row to delete and for each to insert. The writer of a Python data source
 * takes all rows of a task at once, as an iterator. So each call makes one row of the operation, the row id and the
 * columns, and a second thread of the task hands these rows on, over a queue that bounds how many wait.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments that need bridge methods,
 * no lambdas. It is an adapter to Spark's interfaces and nothing else; see docs/adr/0011-columns-from-python-tasks.md.
 */
public class MergeWriterFactory implements DeltaWriterFactory {
  private static final long serialVersionUID = 1L;

  private static final Byte INSERT = Byte.valueOf((byte) 1);
  private static final Byte DELETE = Byte.valueOf((byte) 2);
  private static final int ROWS_AT_ONCE = 256;
  private static final int WAITING = 16;
  private static final long LOOK_AFTER_MILLIS = 100L;
  private static final long END_WITHIN_MILLIS = 60000L;

  private final DataWriterFactory rows;
  private final StructType ids;
  private final StructType columns;

  /**
   * @param rows Makes writers of rows: operation, ids, columns.
   * @param ids The columns of a row id.
   * @param columns The columns of a row to insert; none where rows are only deleted.
   */
  public MergeWriterFactory(DataWriterFactory rows, StructType ids, StructType columns) {
    this.rows = rows;
    this.ids = ids;
    this.columns = columns;
  }

  public DeltaWriter createWriter(int partition, long task) {
    return new Writer(rows.createWriter(partition, task), types(ids), types(columns));
  }

  private static DataType[] types(StructType struct) {
    DataType[] found = new DataType[struct.length()];
    for (int i = 0; i < found.length; i++) {
      found[i] = struct.apply(i).dataType();
    }
    return found;
  }

  private static class Writer implements DeltaWriter {
    private final DataWriter rows;
    private final DataType[] ids;
    private final DataType[] columns;
    private final TaskContext context = TaskContext.get();
    private final Waiting waiting = new Waiting(context);
    private final Thread thread;
    private List filled = new ArrayList(ROWS_AT_ONCE);

    Writer(DataWriter rows, DataType[] ids, DataType[] columns) {
      this.rows = rows;
      this.ids = ids;
      this.columns = columns;
      this.thread = new Thread(new Handing(rows, waiting, context), "lakeport-merge-" + context.taskAttemptId());
      this.thread.setDaemon(true);
      this.thread.start();
    }

    public void delete(Object metadata, Object id) throws IOException {
      put(DELETE, (InternalRow) id, null);
    }

    public void update(Object metadata, Object id, Object row) throws IOException {
      put(DELETE, (InternalRow) id, null);
      put(INSERT, null, (InternalRow) row);
    }

    public void reinsert(Object metadata, Object row) throws IOException {
      put(INSERT, null, (InternalRow) row);
    }

    public void insert(Object row) throws IOException {
      put(INSERT, null, (InternalRow) row);
    }

    public void write(Object row) throws IOException {
      put(INSERT, null, (InternalRow) row);
    }

    public void write(Object metadata, Object row) throws IOException {
      put(INSERT, null, (InternalRow) row);
    }

    public WriterCommitMessage commit() throws IOException {
      hand();
      filled = null;
      hand();
      while (thread.isAlive()) {
        waiting.check();
        join(LOOK_AFTER_MILLIS);
      }
      waiting.check();
      return rows.commit();
    }

    public void abort() throws IOException {
      end();
      rows.abort();
    }

    public void close() throws IOException {
      end();
      rows.close();
    }

    private void put(Byte operation, InternalRow id, InternalRow row) throws IOException {
      Object[] values = new Object[1 + ids.length + columns.length];
      values[0] = operation;
      copy(id, ids, values, 1);
      copy(row, columns, values, 1 + ids.length);
      filled.add(new GenericInternalRow(values));
      if (filled.size() == ROWS_AT_ONCE) {
        hand();
        filled = new ArrayList(ROWS_AT_ONCE);
      }
    }

    /** Spark uses the memory of a row again for the next one. */
    private static void copy(InternalRow from, DataType[] types, Object[] values, int start) {
      if (from != null) {
        for (int i = 0; i < types.length; i++) {
          if (!from.isNullAt(i)) {
            values[start + i] = InternalRow.copyValue(from.get(i, types[i]));
          }
        }
      }
    }

    private void hand() throws IOException {
      try {
        Object chunk = filled == null ? (Object) Waiting.END : filled;
        do {
          waiting.check();
        } while (!waiting.queue.offer(chunk, LOOK_AFTER_MILLIS, TimeUnit.MILLISECONDS));
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }

    /** The other thread must not use what belongs to the task, which ends when this method is done. */
    private void end() throws IOException {
      if (thread.isAlive()) {
        waiting.givenUp = true;
        thread.interrupt();
        join(END_WITHIN_MILLIS);
      }
    }

    private void join(long millis) throws IOException {
      try {
        thread.join(millis);
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }

    private static IOException interrupted(InterruptedException e) {
      Thread.currentThread().interrupt();
      return new IOException("the task was interrupted", e);
    }
  }

  /** What both threads know. */
  private static class Waiting {
    static final Object END = new Object();

    final BlockingQueue queue = new ArrayBlockingQueue(WAITING);
    final TaskContext context;
    volatile boolean givenUp = false;
    volatile Throwable error = null;

    Waiting(TaskContext context) {
      this.context = context;
    }

    /** Throws what went wrong in the thread that hands rows on, or where the task was killed. */
    void check() throws IOException {
      Throwable met = error;
      if (met instanceof RuntimeException) {
        throw (RuntimeException) met;
      }
      if (met instanceof Error) {
        throw (Error) met;
      }
      if (met != null) {
        throw new IOException(met);
      }
      context.killTaskIfInterrupted();
    }
  }

  /** The second thread: Spark's writer runs in it as it does in the thread of a task. */
  private static class Handing implements Runnable {
    private final DataWriter rows;
    private final Waiting waiting;
    private final TaskContext context;

    Handing(DataWriter rows, Waiting waiting, TaskContext context) {
      this.rows = rows;
      this.waiting = waiting;
      this.context = context;
    }

    public void run() {
      TaskContext$.MODULE$.setTaskContext(context);
      try {
        rows.writeAll(new Rows(waiting));
      } catch (Throwable e) {
        waiting.error = e;
      } finally {
        TaskContext$.MODULE$.unset();
      }
    }
  }

  private static class Rows implements Iterator {
    private final Waiting waiting;
    private Iterator chunk = new ArrayList().iterator();
    private boolean ended = false;

    Rows(Waiting waiting) {
      this.waiting = waiting;
    }

    public boolean hasNext() {
      while (!ended && !chunk.hasNext()) {
        Object next = null;
        try {
          while (next == null) {
            if (waiting.givenUp || waiting.context.isInterrupted()) {
              throw new IllegalStateException("the task was given up");
            }
            next = waiting.queue.poll(LOOK_AFTER_MILLIS, TimeUnit.MILLISECONDS);
          }
        } catch (InterruptedException e) {
          throw new IllegalStateException("the task was given up", e);
        }
        ended = next == Waiting.END;
        if (!ended) {
          chunk = ((List) next).iterator();
        }
      }
      return !ended;
    }

    public Object next() {
      return chunk.next();
    }

    public void remove() {
      throw new UnsupportedOperationException();
    }
  }
}
