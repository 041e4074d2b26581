package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.OperationHandle;
import org.apache.hive.service.cli.OperationState;
import org.apache.hive.service.cli.RowSet;
import org.apache.hive.service.cli.operation.GetCatalogsOperation;
import org.apache.hive.service.cli.operation.GetColumnsOperation;
import org.apache.hive.service.cli.operation.GetCrossReferenceOperation;
import org.apache.hive.service.cli.operation.GetPrimaryKeysOperation;
import org.apache.hive.service.cli.operation.GetSchemasOperation;
import org.apache.hive.service.cli.operation.GetTablesOperation;
import org.apache.hive.service.cli.operation.MetadataOperation;
import org.apache.hive.service.cli.operation.Operation;
import org.apache.hive.service.cli.operation.OperationManager;
import org.apache.hive.service.cli.session.HiveSession;
import org.apache.hive.service.cli.session.SessionManager;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.apache.spark.sql.hive.thriftserver.SparkSQLSessionManager;
import org.apache.spark.sql.hive.thriftserver.server.SparkSQLOperationManager;

/**
 * Makes the operations of the Thrift server, and has Python answer those about catalogs, schemas, tables and columns.
 *
 * <p>Spark's own look at Spark's own catalog. Keys of tables are not known, so these lists are empty. Janino compiles
 * this file at run time; see docs/adr/0016-server.md.
 */
public class MetadataOperations extends SparkSQLOperationManager {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final BiFunction python;

  /** @param python Is given a client's session and a call, and gives the rows, as JSON. */
  public MetadataOperations(BiFunction python) throws Exception {
    this.python = python;
    // Spark's class looks for it in the class above that of the object, which is its own here.
    Field known = OperationManager.class.getDeclaredField("handleToOperation");
    known.setAccessible(true);
    set(SparkSQLOperationManager.class, "handleToOperation", this, known.get(this));
  }

  /** Takes the place of what makes the operations of sessions. */
  public void replace(Object manager) throws Exception {
    set(SessionManager.class, "operationManager", manager, this);
    set(SparkSQLSessionManager.class, "sparkSqlOperationManager", manager, this);
  }

  public GetCatalogsOperation newGetCatalogsOperation(HiveSession session) {
    return (GetCatalogsOperation) kept(new Catalogs(session, new Call(this, session, new Object[] {"catalogs"})));
  }

  public GetSchemasOperation newGetSchemasOperation(HiveSession session, String catalog, String schema) {
    Call call = new Call(this, session, new Object[] {"schemas", catalog, schema});
    return (GetSchemasOperation) kept(new Schemas(session, catalog, schema, call));
  }

  public MetadataOperation newGetTablesOperation(
      HiveSession session, String catalog, String schema, String table, List kinds) {
    Call call = new Call(this, session, new Object[] {"tables", catalog, schema, table, kinds});
    return (MetadataOperation) kept(new Tables(session, catalog, schema, table, kinds, call));
  }

  public GetColumnsOperation newGetColumnsOperation(
      HiveSession session, String catalog, String schema, String table, String column) {
    Call call = new Call(this, session, new Object[] {"columns", catalog, schema, table, column});
    return (GetColumnsOperation) kept(new Columns(session, catalog, schema, table, column, call));
  }

  public GetPrimaryKeysOperation newGetPrimaryKeysOperation(
      HiveSession session, String catalog, String schema, String table) {
    return (GetPrimaryKeysOperation) kept(new PrimaryKeys(session, catalog, schema, table));
  }

  public GetCrossReferenceOperation newGetCrossReferenceOperation(
      HiveSession session, String catalog, String schema, String table, String c, String s, String t) {
    return (GetCrossReferenceOperation) kept(new CrossReference(session, catalog, schema, table, c, s, t));
  }

  private Operation kept(Operation made) {
    Map operations = handleToOperation();
    synchronized (this) {
      operations.put((OperationHandle) made.getHandle(), made);
    }
    return made;
  }

  private static void set(Class of, String name, Object owner, Object value) throws Exception {
    Field field = of.getDeclaredField(name);
    field.setAccessible(true);
    field.set(owner, value);
  }

  /** A call of a client. */
  private static class Call {
    private final MetadataOperations operations;
    private final HiveSession session;
    private final Object[] asked;

    Call(MetadataOperations operations, HiveSession session, Object[] asked) {
      this.operations = operations;
      this.session = session;
      this.asked = asked;
    }

    void fill(RowSet rows) throws HiveSQLException {
      String before = (String) CurrentUserContext.CURRENT_USER().get();
      CurrentUserContext.CURRENT_USER().set(session.getUserName());
      try {
        Object spark = operations.sessionToContexts().get(session.getSessionHandle());
        String text = (String) operations.python.apply(spark, JSON.writeValueAsString(asked));
        List found = (List) JSON.readValue(text, List.class);
        for (int index = 0; index < found.size(); index++) {
          rows.addRow(((List) found.get(index)).toArray());
        }
      } catch (RuntimeException error) {
        throw new HiveSQLException(error.getMessage(), error);
      } catch (IOException error) {
        throw new HiveSQLException(error.getMessage(), error);
      } finally {
        if (before == null) {
          CurrentUserContext.CURRENT_USER().remove();
        } else {
          CurrentUserContext.CURRENT_USER().set(before);
        }
      }
    }
  }

  private static class Catalogs extends GetCatalogsOperation {
    private final Call call;

    Catalogs(HiveSession session, Call call) {
      super(session);
      this.call = call;
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      try {
        call.fill(rowSet);
      } catch (HiveSQLException error) {
        setState(OperationState.ERROR);
        throw error;
      }
      setState(OperationState.FINISHED);
    }
  }

  private static class Schemas extends GetSchemasOperation {
    private final Call call;

    Schemas(HiveSession session, String catalog, String schema, Call call) {
      super(session, catalog, schema);
      this.call = call;
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      try {
        call.fill(rowSet);
      } catch (HiveSQLException error) {
        setState(OperationState.ERROR);
        throw error;
      }
      setState(OperationState.FINISHED);
    }
  }

  private static class Tables extends GetTablesOperation {
    private final Call call;

    Tables(HiveSession session, String catalog, String schema, String table, List kinds, Call call) {
      super(session, catalog, schema, table, kinds);
      this.call = call;
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      try {
        call.fill(rowSet);
      } catch (HiveSQLException error) {
        setState(OperationState.ERROR);
        throw error;
      }
      setState(OperationState.FINISHED);
    }
  }

  private static class Columns extends GetColumnsOperation {
    private final Call call;

    Columns(HiveSession session, String catalog, String schema, String table, String column, Call call) {
      super(session, catalog, schema, table, column);
      this.call = call;
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      try {
        call.fill(rowSet);
      } catch (HiveSQLException error) {
        setState(OperationState.ERROR);
        throw error;
      }
      setState(OperationState.FINISHED);
    }
  }

  private static class PrimaryKeys extends GetPrimaryKeysOperation {
    PrimaryKeys(HiveSession session, String catalog, String schema, String table) {
      super(session, catalog, schema, table);
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      setState(OperationState.FINISHED);
    }
  }

  private static class CrossReference extends GetCrossReferenceOperation {
    CrossReference(HiveSession session, String catalog, String schema, String table, String c, String s, String t) {
      super(session, catalog, schema, table, c, s, t);
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      setState(OperationState.FINISHED);
    }
  }
}
