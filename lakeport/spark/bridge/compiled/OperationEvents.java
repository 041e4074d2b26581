package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.connect.proto.Command;
import org.apache.spark.connect.proto.ExecutePlanRequest;
import org.apache.spark.connect.proto.Plan;
import org.apache.spark.connect.proto.SqlCommand;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationAnalyzed;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationCanceled;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationClosed;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationFailed;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationFinished;
import org.apache.spark.sql.connect.service.SparkListenerConnectOperationStarted;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationCanceled;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationClosed;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationError;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationFinish;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationParsed;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationStart;
import org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationTimeout;

/**
 * Gives Python the events of the queries of clients, and no others: Spark has an event for each task.
 *
 * <p>Janino compiles this file at run time; see docs/adr/0016-server.md.
 */
public class OperationEvents extends SparkListener {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Consumer consumer;

  /** @param consumer Is given a JSON object for each event. */
  public OperationEvents(Consumer consumer) {
    this.consumer = consumer;
  }

  public void onOtherEvent(SparkListenerEvent event) {
    Map found = thrift(event);
    if (found == null) {
      found = connect(event);
    }
    if (found == null) {
      return;
    }
    try {
      consumer.accept(JSON.writeValueAsString(found));
    } catch (java.io.IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static Map thrift(SparkListenerEvent event) {
    if (event instanceof SparkListenerThriftServerOperationStart) {
      SparkListenerThriftServerOperationStart one = (SparkListenerThriftServerOperationStart) event;
      if (one.statement().startsWith("Listing ")) {
        return null;  // what a tool asks about types and functions, in Spark's own words
      }
      Map made = made("started", one.id(), one.startTime());
      made.put("source", "jdbc");
      made.put("tag", one.groupId());
      made.put("session", one.sessionId());
      made.put("user", one.userName());
      made.put("text", one.statement());
      return made;
    }
    if (event instanceof SparkListenerThriftServerOperationParsed) {
      // It has no time of its own.
      return made("analyzed", ((SparkListenerThriftServerOperationParsed) event).id(), System.currentTimeMillis());
    }
    if (event instanceof SparkListenerThriftServerOperationFinish) {
      SparkListenerThriftServerOperationFinish one = (SparkListenerThriftServerOperationFinish) event;
      return made("finished", one.id(), one.finishTime());
    }
    if (event instanceof SparkListenerThriftServerOperationError) {
      SparkListenerThriftServerOperationError one = (SparkListenerThriftServerOperationError) event;
      Map made = made("failed", one.id(), one.finishTime());
      made.put("error", one.errorMsg());
      return made;
    }
    if (event instanceof SparkListenerThriftServerOperationCanceled) {
      SparkListenerThriftServerOperationCanceled one = (SparkListenerThriftServerOperationCanceled) event;
      return made("canceled", one.id(), one.finishTime());
    }
    if (event instanceof SparkListenerThriftServerOperationTimeout) {
      SparkListenerThriftServerOperationTimeout one = (SparkListenerThriftServerOperationTimeout) event;
      return made("canceled", one.id(), one.finishTime());
    }
    if (event instanceof SparkListenerThriftServerOperationClosed) {
      SparkListenerThriftServerOperationClosed one = (SparkListenerThriftServerOperationClosed) event;
      return made("closed", one.id(), one.closeTime());
    }
    return null;
  }

  private static Map connect(SparkListenerEvent event) {
    if (event instanceof SparkListenerConnectOperationStarted) {
      SparkListenerConnectOperationStarted one = (SparkListenerConnectOperationStarted) event;
      Map made = made("started", one.operationId(), one.eventTime());
      made.put("source", "spark-connect");
      made.put("tag", one.jobTag());
      made.put("session", one.sessionId());
      made.put("user", one.userId());
      made.put("text", text(one));
      return made;
    }
    if (event instanceof SparkListenerConnectOperationAnalyzed) {
      SparkListenerConnectOperationAnalyzed one = (SparkListenerConnectOperationAnalyzed) event;
      return made("analyzed", one.operationId(), one.eventTime());
    }
    if (event instanceof SparkListenerConnectOperationFinished) {
      SparkListenerConnectOperationFinished one = (SparkListenerConnectOperationFinished) event;
      Map made = made("finished", one.operationId(), one.eventTime());
      made.put("rows", one.producedRowCount().isDefined() ? one.producedRowCount().get() : null);
      return made;
    }
    if (event instanceof SparkListenerConnectOperationFailed) {
      SparkListenerConnectOperationFailed one = (SparkListenerConnectOperationFailed) event;
      Map made = made("failed", one.operationId(), one.eventTime());
      made.put("error", one.errorMessage());
      return made;
    }
    if (event instanceof SparkListenerConnectOperationCanceled) {
      SparkListenerConnectOperationCanceled one = (SparkListenerConnectOperationCanceled) event;
      return made("canceled", one.operationId(), one.eventTime());
    }
    if (event instanceof SparkListenerConnectOperationClosed) {
      SparkListenerConnectOperationClosed one = (SparkListenerConnectOperationClosed) event;
      return made("closed", one.operationId(), one.eventTime());
    }
    return null;
  }

  /** The SQL of a request; Spark's description of it where it is a plan. */
  private static String text(SparkListenerConnectOperationStarted event) {
    if (event.planRequest().isDefined()) {
      Plan plan = ((ExecutePlanRequest) event.planRequest().get()).getPlan();
      if (plan.hasRoot() && plan.getRoot().hasSql()) {
        return plan.getRoot().getSql().getQuery();
      }
      Command command = plan.getCommand();
      if (command.hasSqlCommand()) {
        SqlCommand sql = command.getSqlCommand();
        return sql.hasInput() ? sql.getInput().getSql().getQuery() : sql.getSql();
      }
    }
    return event.statementText();
  }

  private static Map made(String event, String id, long at) {
    Map made = new HashMap();
    made.put("event", event);
    made.put("id", id);
    made.put("at", Long.valueOf(at));
    return made;
  }
}
