package lakeport.spark;

import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import scala.runtime.AbstractFunction2;

/**
 * Has Python reword statements about privileges and roles, which Spark's parser refuses.
 *
 * <p>Makes the parser of a session, around Spark's own ({@code SparkSessionExtensions.injectParser}). The parser's
 * methods are added when this is compiled, since those of Spark's interface differ between versions; see
 * docs/adr/0024-grants-and-owners-of-views.md.
 */
public class GrantStatements extends AbstractFunction2 {
  private final BiFunction python;

  /** @param python Is given a session and a statement that may be one of them, and gives one that Spark knows. */
  public GrantStatements(BiFunction python) {
    this.python = python;
  }

  public Object apply(Object session, Object parser) {
    return new Parser(session, (ParserInterface) parser, python);
  }

  private static class Parser implements ParserInterface {
    /** How they may begin, behind blanks and comments; Python looks closer. */
    private static final Pattern HEAD =
        Pattern.compile(
            "(?:\\s|--[^\\n]*(?:\\n|\\z)|/\\*.*?\\*/)*+(?:GRANT|REVOKE|CREATE|DROP|SET|SHOW)\\b.*",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private static final Pattern WORD = Pattern.compile("\\b(?:GRANT|REVOKE|ROLE|GRANTS|ROLES)\\b", Pattern.CASE_INSENSITIVE);

    private final Object session;
    private final ParserInterface parser;
    private final BiFunction python;

    Parser(Object session, ParserInterface parser, BiFunction python) {
      this.session = session;
      this.parser = parser;
      this.python = python;
    }

    private String reworded(String text) {
      boolean may = text != null && HEAD.matcher(text).matches() && WORD.matcher(text).find();
      return may ? (String) python.apply(session, text) : text;
    }

    // METHODS
  }
}
