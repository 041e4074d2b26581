package lakeport.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.LogicalExpressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.util.Utils;
import py4j.Gateway;
import py4j.GatewayServer;
import py4j.Protocol;

/**
 * Answers what Spark asks an object of Python while it plans, from what Python handed over when it gave the object.
 *
 * <p>An object of Python implements interfaces of Spark's through py4j, and each call of one is a round trip between
 * two processes. This stands before such an object, with the same interfaces. It answers at once what is known, keeps
 * answers that stay the same, runs the default methods that Python does not have, and asks Python for the rest.
 *
 * <p>Janino compiles this file at run time, so it keeps to what Janino has: no type arguments, no lambdas. It knows
 * nothing of tables; see docs/adr/0013-planning-answers-in-java.md.
 */
public class KnownAnswers implements InvocationHandler {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Object ITSELF = new Object();
  private static final List ITSELF_IN_WORDS = Arrays.asList(new Object[] {"itself", null});
  private static final Method RUN_DEFAULT = method(InvocationHandler.class, "invokeDefault");

  private final Object python;
  private final Set own;
  private final Set kept;
  private final Set changing;
  private final Map words;
  private final Map answers = new HashMap();
  private final InvocationHandler calls;
  private final Set inWords;
  private final Map calledWith;
  private int changes = 0;

  private KnownAnswers(Object python, Map words, InvocationHandler calls, Map calledWith) {
    this.python = python;
    this.calls = calls;
    this.inWords = calls == null ? new HashSet() : names(words, "in words");
    this.calledWith = calledWith;
    // Read when asked for: a Spark that lacks a method may lack the class of its answer, too.
    this.words = new HashMap((Map) words.get("answers"));
    this.own = names(words, "own");
    this.kept = names(words, "kept");
    this.changing = names(words, "changing");
  }

  /** Puts objects of Python behind what is known of them. */
  public static class Maker implements BiFunction {
    private InvocationHandler calls;
    private Gateway gateway;

    /**
     * @param calls Calls methods in words: of an object of Python, and of what is kept between such calls of it.
     * @param server Of py4j; knows the objects of Python.
     */
    public void use(Object calls, Object server) {
      this.calls = (InvocationHandler) calls;
      this.gateway = ((GatewayServer) server).getGateway();
    }

    /**
     * @param given An object of Python; or a map to begin with of what is kept between calls of the object that the
     *     text names, null for none.
     * @param text What is known.
     */
    public Object apply(Object given, Object text) {
      try {
        Map words = (Map) JSON.readValue((String) text, Map.class);
        Map kept = new HashMap();
        if (words.get("kept between calls") != null) {
          kept.putAll((Map) words.get("kept between calls"));
        }
        Object python = given;
        if (given == null || given instanceof Map) {
          python = Protocol.getPythonProxy((String) words.get("object"), gateway);
          kept.putAll(given == null ? Collections.EMPTY_MAP : (Map) given);
        }
        return shown(python.getClass().getInterfaces(), new KnownAnswers(python, words, calls, kept));
      } catch (Exception e) {
        throw new IllegalStateException("what is known of an object of Python cannot be read: " + e, e);
      }
    }
  }

  public Object invoke(Object shown, Method method, Object[] arguments) throws Throwable {
    String name = method.getName();
    int count = arguments == null ? 0 : arguments.length;
    if (count == 1 && method.getDeclaringClass() == Object.class) {
      return Boolean.valueOf(isEqual(shown, arguments[0]));
    }
    int before;
    synchronized (this) {
      before = changes;
      if (count == 0 && isKnown(name)) {
        Object known = answers.get(name);
        return known == ITSELF ? shown : known;
      }
    }
    if (method.isDefault() && !own.contains(name)) {
      // InvocationHandler.invokeDefault: Janino calls no static methods of interfaces.
      return called(RUN_DEFAULT, null, new Object[] {shown, method, arguments});
    }
    if (python == null) {
      throw new UnsupportedOperationException("nothing is known of " + method);
    }
    Object found =
        inWords.contains(name)
            ? calls.invoke(new Object[] {python, calledWith}, method, arguments)
            : called(method, python, arguments);
    synchronized (this) {
      if (changing.contains(name)) {
        forget();
      } else if (count == 0 && kept.contains(name) && before == changes) {
        answers.put(name, found);
      }
    }
    return found;
  }

  private static Object called(Method method, Object target, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }

  private boolean isKnown(String name) throws Exception {
    if (words.containsKey(name)) {
      answers.put(name, value((List) words.get(name)));
      words.remove(name);
    }
    return answers.containsKey(name);
  }

  /** From now on each answer is asked for once more, except that the object stays itself. */
  private void forget() throws Exception {
    changes++;
    kept.addAll(words.keySet());
    kept.addAll(answers.keySet());
    words.values().retainAll(Collections.singleton(ITSELF_IN_WORDS));
    answers.values().retainAll(Collections.singleton(ITSELF));
  }

  /** Equality of objects of Python, which have equal texts and hash codes where they are equal (Proxy.equals). */
  private static boolean isEqual(Object shown, Object other) {
    if (shown == other) {
      return true;
    }
    if (other == null || !Proxy.isProxyClass(other.getClass())) {
      return false;
    }
    return shown.toString().equals(other.toString()) && shown.hashCode() == other.hashCode();
  }

  private static Object shown(Class[] interfaces, KnownAnswers known) {
    return Proxy.newProxyInstance(interfaces[0].getClassLoader(), interfaces, known);
  }

  private static Set names(Map words, String key) {
    Object found = words.get(key);
    return found == null ? new HashSet() : new HashSet((Collection) found);
  }

  /** A value by its kind and what the kind needs; answers.py makes these. */
  private static Object value(List words) throws Exception {
    String kind = (String) words.get(0);
    Object given = words.get(1);
    if (kind.equals("plain")) {
      return given;
    } else if (kind.equals("itself")) {
      return ITSELF;
    } else if (kind.equals("type")) {
      return DataType.fromJson((String) given);
    } else if (kind.equals("columns")) {
      return columns(DataType.fromJson((String) given));
    } else if (kind.equals("long")) {
      return given == null ? OptionalLong.empty() : OptionalLong.of(((Number) given).longValue());
    } else if (kind.equals("map")) {
      return new LinkedHashMap((Map) given);
    } else if (kind.equals("set")) {
      return new HashSet((Collection) given);
    } else if (kind.equals("constants")) {
      return constants((String) given, (List) words.get(2));
    } else if (kind.equals("constant")) {
      return constant((String) given, (String) words.get(2));
    } else if (kind.equals("array")) {
      return array((String) given, (List) words.get(2));
    } else if (kind.equals("identity transform")) {
      return Expressions.identity((String) given);
    } else if (kind.equals("bucket transform")) {
      return bucketTransform(((Number) given).intValue(), (List) words.get(2), (List) words.get(3));
    } else if (kind.equals("reference")) {
      return Expressions.column((String) given);
    } else if (kind.equals("optional")) {
      return Optional.of(boxed((String) given, (String) words.get(2)));
    } else if (kind.equals("optional of")) {
      return Optional.of(value((List) given));
    } else if (kind.equals("boxed")) {
      return boxed((String) given, (String) words.get(2));
    } else if (kind.equals("reference map")) {
      return referenceMap((Map) given);
    } else if (kind.equals("with number")) {
      return classOf((String) given).getConstructors()[0].newInstance(new Object[] {words.get(2)});
    } else if (kind.equals("object")) {
      Map inner = new HashMap();
      inner.put("answers", words.get(2));
      return shown(new Class[] {classOf((String) given)}, new KnownAnswers(null, inner, null, null));
    }
    throw new IllegalArgumentException("unknown kind of answer: " + kind);
  }

  /** Of classes that make a value of a text: Java's own boxes, and Decimal of Spark. */
  private static Object boxed(String type, String text) throws Exception {
    String maker = type.startsWith("java.lang.") ? "valueOf" : "apply";
    return classOf(type).getMethod(maker, new Class[] {String.class}).invoke(null, new Object[] {text});
  }

  private static Object bucketTransform(int count, List columns, List sortedBy) {
    return sortedBy.isEmpty()
        ? (Object) LogicalExpressions.bucket(count, references(columns))
        : (Object) LogicalExpressions.bucket(count, references(columns), references(sortedBy));
  }

  private static NamedReference[] references(List names) {
    NamedReference[] found = new NamedReference[names.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = Expressions.column((String) names.get(i));
    }
    return found;
  }

  private static Map referenceMap(Map items) throws Exception {
    Map found = new HashMap();
    for (Iterator entries = items.entrySet().iterator(); entries.hasNext(); ) {
      Map.Entry entry = (Map.Entry) entries.next();
      found.put(Expressions.column((String) entry.getKey()), value((List) entry.getValue()));
    }
    return found;
  }

  private static Object array(String element, List items) throws Exception {
    Object made = Array.newInstance(classOf(element), items.size());
    for (int i = 0; i < items.size(); i++) {
      Array.set(made, i, value((List) items.get(i)));
    }
    return made;
  }

  private static Set constants(String type, List names) throws Exception {
    Set found = new HashSet();
    for (int i = 0; i < names.size(); i++) {
      found.add(constant(type, (String) names.get(i)));
    }
    return found;
  }

  private static Object constant(String type, String name) throws Exception {
    return classOf(type).getField(name).get(null);
  }

  /** Spark 4.2 and later also say whether defaults of columns are kept. */
  private static Object columns(DataType struct) throws Exception {
    Method found = method(CatalogV2Util.class, "structTypeToV2Columns");
    boolean one = found.getParameterCount() == 1;
    return found.invoke(null, one ? new Object[] {struct} : new Object[] {struct, Boolean.FALSE});
  }

  private static Method method(Class of, String name) {
    Method[] methods = of.getMethods();
    for (int i = 0; i < methods.length; i++) {
      if (methods[i].getName().equals(name)) {
        return methods[i];
      }
    }
    throw new IllegalStateException(of.getName() + " has no method " + name);
  }

  private static Class classOf(String name) throws Exception {
    return Class.forName(name, false, Utils.getContextOrSparkClassLoader());
  }
}
