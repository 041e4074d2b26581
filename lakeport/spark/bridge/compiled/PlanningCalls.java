package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * Asks Python in words where Spark plans or commits: one text with all that a call is about, and one text back.
 *
 * <p>Otherwise Python would look at the arguments, and make the Java objects of its answer, in round trips of its own.
 * What Spark only tells, such as the columns that it reads, waits for the next call. Predicates stay here: Python says
 * which of them it took.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. It decides
 * nothing; see docs/adr/0013-planning-answers-in-java.md.
 */
public class PlanningCalls implements InvocationHandler {
  private static final ObjectMapper JSON = new ObjectMapper();

  private BiFunction maker;
  private BiFunction words;
  private Supplier settings;
  private BiFunction files;
  private BiFunction reader;
  private BiFunction tasks;

  /**
   * @param given Objects of the classes KnownAnswers.Maker, PlanWords, SessionSettings, FilePartitions, NativeScan and
   *     TaskParts.
   */
  public void use(
      Object given, Object words, Object settings, Object files, Object reader, Object tasks) {
    this.maker = (BiFunction) given;
    this.words = (BiFunction) words;
    this.settings = (Supplier) settings;
    this.files = (BiFunction) files;
    this.reader = (BiFunction) reader;
    this.tasks = (BiFunction) tasks;
  }

  /**
   * @param asked The object of Python, a BiFunction of a method's name and words; and what is kept between its calls.
   * @param method The method that Spark calls.
   * @param arguments Its arguments.
   */
  public Object invoke(Object asked, Method method, Object[] arguments) throws Throwable {
    Object python = ((Object[]) asked)[0];
    Map kept = (Map) ((Object[]) asked)[1];
    String name = method.getName();
    if (name.equals("pruneColumns")) {
      kept.put("columns", ((StructType) arguments[0]).json());
      return null;
    } else if (name.equals("pushedPredicates")) {
      return kept.containsKey("pushed") ? kept.get("pushed") : new Predicate[0];
    } else if (name.equals("createReaderFactory") && kept.containsKey("factory")) {
      return factory(kept, (Map) kept.get("factory"));
    } else if (name.equals("createBatchWriterFactory")) {
      return kept.containsKey("function") ? writers(kept) : called(method, python, arguments);
    }
    String text = text(name, arguments, kept);
    if (text == null) {
      return called(method, python, arguments);
    }
    Object found = told((BiFunction) python, name, text);
    return found instanceof String ? answer(name, (String) found, arguments, kept) : found;
  }

  /** What a call is about; null where that cannot be said in words. */
  private String text(String name, Object[] arguments, Map kept) throws Exception {
    Map said = new HashMap();
    if (name.equals("loadTable")) {
      Object context = arguments.length > 1 ? arguments[1] : null;
      // A version, or a time.
      boolean plain = context instanceof String || context instanceof Number;
      Object options = arguments.length > 2 ? arguments[2] : null;
      return plain ? null : words("table", new Object[] {arguments[0], context, options, kept.get("statement")});
    } else if (name.equals("newScanBuilder")) {
      said.put("options", new HashMap((Map) arguments[0]));
      said.put("files", settings.get());
    } else if (name.equals("pushPredicates")) {
      return words("predicates", new Object[] {arguments[0], kept.get("most nodes")});
    } else if (name.equals("supportCompletePushDown") || name.equals("pushAggregation")) {
      return words("aggregation", arguments);
    } else if (name.equals("pushTopN")) {
      said.put("orders", words("orders", arguments));
      said.put("count", arguments[1]);
    } else if (name.equals("build")) {
      said.put("columns", kept.get("columns"));
    } else if (name.equals("newWriteBuilder")) {
      said.put("columns", ((LogicalWriteInfo) arguments[0]).schema().json());
      said.put("query", ((LogicalWriteInfo) arguments[0]).queryId());
    } else if (name.equals("toBatch")) {
      addQuery(said);
    } else if (name.equals("commit")) {
      said.put("messages", messages((Object[]) arguments[0]));
    }
    return JSON.writeValueAsString(said);
  }

  /** What of Spark's queries this thread runs, if it runs one. */
  private static void addQuery(Map said) {
    SparkContext context = (SparkContext) SparkContext$.MODULE$.getActive().get();
    String number = context.getLocalProperty(SQLExecution$.MODULE$.EXECUTION_ID_KEY());
    QueryExecution query = number == null ? null : SQLExecution$.MODULE$.getQueryExecution(Long.parseLong(number));
    if (query != null) {
      said.put("query", Long.valueOf(query.id()));
      said.put("session", query.sparkSession().sessionUUID());
    }
  }

  private static List messages(Object[] given) {
    List found = new ArrayList();
    for (int i = 0; i < given.length; i++) {
      // Jackson writes bytes in base 64.
      found.add(((PythonWriterCommitMessage) given[i]).pickledMessage());
    }
    return found;
  }

  private String words(String kind, Object[] given) {
    return (String) words.apply(kind, given);
  }

  private Object answer(String name, String text, Object[] arguments, Map kept) throws Exception {
    if (name.equals("pushPredicates")) {
      Map taken = (Map) JSON.readValue(text, Map.class);
      kept.put("pushed", chosen(arguments[0], taken.get("pushed")));
      kept.put("in files", chosen(arguments[0], taken.get("in files")));
      return chosen(arguments[0], taken.get("left"));
    } else if (name.equals("planInputPartitions")) {
      Map parts = (Map) JSON.readValue(text, Map.class);
      if (parts.get("factory") != null) {
        kept.put("factory", parts.get("factory"));
      }
      boolean ofFiles = parts.containsKey("files");
      return ofFiles ? files.apply(null, parts.get("files")) : tasks.apply("partitions", parts.get("tasks"));
    } else if (name.equals("createReaderFactory")) {
      return factory(kept, (Map) JSON.readValue(text, Map.class));
    }
    // A scan has the predicates that were pushed into its builder.
    return maker.apply(name.equals("build") ? kept : null, text);
  }

  private Object chosen(Object predicates, Object taken) {
    return words.apply("chosen", new Object[] {predicates, taken});
  }

  private Object factory(Map kept, Map given) {
    if (given.containsKey("native")) {
      Object inFiles = kept.containsKey("in files") ? kept.get("in files") : new Predicate[0];
      return reader.apply(inFiles, given.get("native"));
    }
    return tasks.apply("factory", new Object[] {given.get("function"), given.get("columns")});
  }

  private Object writers(Map kept) {
    return tasks.apply(
        "writers", new Object[] {kept.get("function"), kept.get("columns"), kept.get("given"), kept.get("few")});
  }

  private static Object told(BiFunction python, String name, String text) throws Throwable {
    try {
      return python.apply(name, text);
    } catch (UndeclaredThrowableException e) {
      // The method that Spark calls declares it.
      throw e.getUndeclaredThrowable();
    }
  }

  private static Object called(Method method, Object target, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
