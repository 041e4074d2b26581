/** Starts Trino from its jars: its own main class is not on Maven Central for each release. */
public class TrinoServer {
  public static void main(String[] arguments) {
    new io.trino.server.Server().start(arguments[0]);
  }
}
