package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.catalyst.trees.CurrentOrigin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.expressions.Cast;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Extract;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.filter.Predicate;

/**
 * Puts what Spark hands over while it plans into one text each: predicates, aggregates, sort orders, names of tables.
 *
 * <p>Python would need a round trip for each node of a tree. It decides what the words mean; plan_words.py reads them,
 * and makes the same ones where this class is missing.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. See
 * docs/adr/0013-planning-answers-in-java.md.
 */
public class PlanWords implements BiFunction {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Object[] NOTHING = new Object[0];

  /** One of the methods below by its name, for other classes of ours. */
  public Object apply(Object kind, Object given) {
    Object[] values = (Object[]) given;
    try {
      if (kind.equals("predicates")) {
        return predicates(values[0], ((Integer) values[1]).intValue());
      } else if (kind.equals("aggregation")) {
        return aggregation(values[0]);
      } else if (kind.equals("orders")) {
        return orders(values[0]);
      } else if (kind.equals("table")) {
        return table(values[0], values[1], values[2], (String) values[3]);
      }
      return chosen(values[0], (String) values[1]);
    } catch (Exception e) {
      throw new IllegalStateException("what Spark plans cannot be put into words: " + e, e);
    }
  }

  /**
   * @param given Predicates.
   * @param mostNodes A predicate of more of them has no nodes in the text.
   * @return For each its SQL, and its nodes, children before their parents, so that deep trees are no deep text.
   */
  public String predicates(Object given, int mostNodes) throws Exception {
    Predicate[] predicates = (Predicate[]) given;
    List found = new ArrayList();
    for (int i = 0; i < predicates.length; i++) {
      List nodes = new ArrayList();
      boolean fits = addPredicate(predicates[i], nodes, new int[] {mostNodes});
      found.add(words(predicates[i].toString(), fits ? nodes : null));
    }
    return JSON.writeValueAsString(found);
  }

  /** @return The nodes of the keys; and of each function its class, its column's node, whether it is distinct. */
  public String aggregation(Object given) throws Exception {
    Aggregation aggregation = (Aggregation) given;
    List keys = new ArrayList();
    for (int i = 0; i < aggregation.groupByExpressions().length; i++) {
      keys.add(leaf(aggregation.groupByExpressions()[i]));
    }
    List functions = new ArrayList();
    for (int i = 0; i < aggregation.aggregateExpressions().length; i++) {
      Object function = aggregation.aggregateExpressions()[i];
      Expression column = (Expression) asked(function, "column");
      Object distinct = asked(function, "isDistinct");
      functions.add(words(name(function), column == null ? null : leaf(column), Boolean.TRUE.equals(distinct)));
    }
    return JSON.writeValueAsString(words(keys, functions));
  }

  /** @return Of each order the node, the direction, and where NULLs go. */
  public String orders(Object given) throws Exception {
    SortOrder[] orders = (SortOrder[]) given;
    List found = new ArrayList();
    for (int i = 0; i < orders.length; i++) {
      SortOrder order = orders[i];
      found.add(words(leaf(order.expression()), order.direction().toString(), order.nullOrdering().toString()));
    }
    return JSON.writeValueAsString(found);
  }

  /**
   * @param identifier The table.
   * @param context Spark's TableContext, or a set of privileges to write; null where there is none.
   * @param options Read options, a map; null where there are none.
   * @param statement Name of the local property that tells the statement of a thread.
   */
  public String table(Object identifier, Object context, Object options, String statement) throws Exception {
    Map found = new HashMap();
    found.put("namespace", Arrays.asList((Object[]) ((Identifier) identifier).namespace()));
    found.put("name", ((Identifier) identifier).name());
    found.put("options", options == null ? new HashMap() : new HashMap((Map) options));
    found.put("statement", ((SparkContext) SparkContext$.MODULE$.getActive().get()).getLocalProperty(statement));
    Object privileges = context instanceof Collection ? context : asked(context, "writePrivileges");
    if (privileges != null && !((Collection) privileges).isEmpty()) {
      List names = new ArrayList();
      Object[] all = ((Collection) privileges).toArray();
      for (int i = 0; i < all.length; i++) {
        names.add(all[i].toString());
      }
      found.put("privileges", names);
      found.put("sql", CurrentOrigin.get().sqlText().isDefined() ? CurrentOrigin.get().sqlText().get() : null);
    }
    Optional travel = (Optional) asked(context, "timeTravel");
    if (travel != null && travel.isPresent()) {
      Object asked = travel.get();
      found.put("time travel", words(name(asked), asked(asked, "version"), asked(asked, "micros"), asked.toString()));
    }
    return JSON.writeValueAsString(found);
  }

  /**
   * @param given An array.
   * @param taken For each item an x where it is taken.
   * @return An array of those, of the same class.
   */
  public Object chosen(Object given, String taken) {
    List found = new ArrayList();
    for (int i = 0; i < taken.length(); i++) {
      if (taken.charAt(i) == 'x') {
        found.add(Array.get(given, i));
      }
    }
    return found.toArray((Object[]) Array.newInstance(given.getClass().getComponentType(), found.size()));
  }

  /** Adds a node behind those of its children; false where there are too many. */
  private static boolean addPredicate(Predicate predicate, List nodes, int[] left) {
    if (--left[0] < 0) {
      return false;
    }
    Expression[] children = predicate.children();
    for (int i = 0; i < children.length; i++) {
      if (!(children[i] instanceof Predicate)) {
        nodes.add(leaf(children[i]));
      } else if (!addPredicate((Predicate) children[i], nodes, left)) {
        return false;
      }
    }
    nodes.add(words("predicate", predicate.name(), Integer.valueOf(children.length)));
    return true;
  }

  private static List leaf(Expression node) {
    if (node instanceof NamedReference && name(node).equals("FieldReference")) {
      return words("field", Arrays.asList((Object[]) ((NamedReference) node).fieldNames()));
    } else if (node instanceof Literal && name(node).equals("LiteralValue")) {
      return words("value", ((Literal) node).dataType().json(), value(((Literal) node).value()));
    } else if (node instanceof Extract && isNearColumn(((Extract) node).source())) {
      return words("extract", ((Extract) node).field(), leaf(((Extract) node).source()));
    } else if (isNearColumn(node)) {
      return words("cast", ((Cast) node).dataType().json(), leaf(((Cast) node).expression()));
    }
    return words("other", name(node));
  }

  /** A column or a cast of one: deeper trees are not looked into. */
  private static boolean isNearColumn(Expression node) {
    Expression inner = node instanceof Cast ? ((Cast) node).expression() : node;
    return inner instanceof NamedReference && name(inner).equals("FieldReference");
  }

  private static Object value(Object value) {
    if (value == null || value instanceof Boolean) {
      return value;
    }
    return value instanceof byte[] ? words("base64", value) : value.toString();
  }

  /** What a method without parameters gives; null where the object has none of the name. */
  private static Object asked(Object of, String method) throws Exception {
    try {
      return of == null ? null : of.getClass().getMethod(method, new Class[0]).invoke(of, NOTHING);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static String name(Object of) {
    return of.getClass().getSimpleName();
  }

  private static List words(Object first, Object second) {
    return Arrays.asList(new Object[] {first, second});
  }

  private static List words(Object first, Object second, Object third) {
    return Arrays.asList(new Object[] {first, second, third});
  }

  private static List words(Object first, Object second, Object third, Object fourth) {
    return Arrays.asList(new Object[] {first, second, third, fourth});
  }
}
