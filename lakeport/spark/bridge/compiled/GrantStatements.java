package lakeport.spark;

import java.lang.reflect.Field;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SessionState;
import scala.runtime.AbstractFunction2;

/**
 * Has Python reword statements about privileges and roles, which Spark's parser refuses.
 *
 * <p>Makes the parser of a session, around Spark's own: for sessions to come by
 * {@code SparkSessionExtensions.injectParser}, for one that is there in the place of its own. The parser's methods are
 * added when this is compiled, since those of Spark's interface differ between versions; see
 * docs/adr/0024-grants-and-owners-of-views.md.
 */
public class GrantStatements extends AbstractFunction2 {
  private final BiFunction python;
  private final Pattern word;

  /**
   * @param python Is given a session and a statement that may be one of them, and gives one that Spark knows.
   * @param words What such a statement has in it, parted by bars.
   */
  public GrantStatements(BiFunction python, String words) {
    this.python = python;
    this.word = Pattern.compile("\\b(?:" + words + ")\\b", Pattern.CASE_INSENSITIVE);
  }

  public Object apply(Object session, Object parser) {
    return new Parser(session, (ParserInterface) parser, python, word);
  }

  /** Puts one around the parser of a session that has its parser already, for which Spark has no way. */
  public void putInto(SparkSession session) throws ReflectiveOperationException {
    Field field = field();
    field.set(session.sessionState(), apply(session, session.sessionState().sqlParser()));
  }

  /** Gives a session the parser back that it had, unless another one is around ours. */
  public void takeFrom(SparkSession session) throws ReflectiveOperationException {
    ParserInterface known = session.sessionState().sqlParser();
    if (known instanceof Parser && ((Parser) known).python == python) {
      field().set(session.sessionState(), ((Parser) known).parser);
    }
  }

  private static Field field() throws ReflectiveOperationException {
    Field field = SessionState.class.getDeclaredField("sqlParser");
    field.setAccessible(true);
    return field;
  }

  private static class Parser implements ParserInterface {
    /** How they may begin, behind blanks and comments; Python looks closer. */
    private static final Pattern HEAD =
        Pattern.compile(
            "(?:\\s|--[^\\n]*(?:\\n|\\z)|/\\*.*?\\*/)*+(?:GRANT|REVOKE|CREATE|DROP|SET|SHOW|DESC|DESCRIBE)\\b.*",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final Object session;
    private final ParserInterface parser;
    private final BiFunction python;
    private final Pattern word;

    Parser(Object session, ParserInterface parser, BiFunction python, Pattern word) {
      this.session = session;
      this.parser = parser;
      this.python = python;
      this.word = word;
    }

    private String reworded(String text) {
      boolean may = text != null && HEAD.matcher(text).matches() && word.matcher(text).find();
      return may ? (String) python.apply(session, text) : text;
    }

    // METHODS
  }
}
