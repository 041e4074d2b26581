package lakeport.spark;

import java.util.function.BiFunction;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.ProcedureCatalog;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A catalog that Spark makes by its name, {@code spark.sql.catalog.NAME = lakeport.spark.LakeportCatalog}.
 *
 * <p>It asks Python for the catalog of its name, and hands every call on. Its methods are added when it is compiled,
 * since those of Spark's interfaces differ between versions; see docs/adr/0025-catalogs-by-class-name.md.
 */
public class LakeportCatalog
    implements StagingTableCatalog, SupportsNamespaces, ProcedureCatalog, FunctionCatalog {
  private static volatile BiFunction source;

  private String name;
  private Object catalog;

  /** Whom to ask for a catalog: by its name, and by the registry that a setting names, which may be null. */
  public static void use(BiFunction given) {
    source = given;
  }

  public void initialize(String name, CaseInsensitiveStringMap options) {
    BiFunction asked = source;
    if (asked == null) {
      throw new IllegalStateException(
          "catalog '" + name + "' is one of Lakeport's, which is not there yet: call lakeport.connect(spark) first");
    }
    this.name = name;
    this.catalog = asked.apply(name, options.get("lakeport.registry"));
  }

  public String name() {
    return name;
  }

  public boolean equals(Object other) {
    return other instanceof LakeportCatalog && catalog.equals(((LakeportCatalog) other).catalog);
  }

  public int hashCode() {
    return catalog.hashCode();
  }

  public String toString() {
    return catalog.toString();
  }

  // METHODS
}
