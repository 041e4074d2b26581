package lakeport.spark;

import java.lang.invoke.MethodHandles;
import java.util.function.BiFunction;

/**
 * Puts a class beside one of Spark's, into its package and its class loader.
 *
 * <p>What Spark looks up by a name in threads of any class loader is found there. Janino compiles this file at run time;
 * see docs/adr/0016-server.md.
 */
public class ClassBeside implements BiFunction {
  /**
   * @param other A class of the package.
   * @param code The class, an array of bytes.
   */
  public Object apply(Object other, Object code) {
    try {
      return MethodHandles.privateLookupIn((Class) other, MethodHandles.lookup()).defineClass((byte[]) code);
    } catch (IllegalAccessException error) {
      throw new IllegalStateException(error);
    }
  }
}
