"""Analyses an error for display: code, message, position in the SQL, and hints."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from connector_spi.errors import ConnectorError
from connector_spi.properties import closest
from lakeport.shell.sql.source_text import SourceText, Span

__all__ = ["Diagnosis", "diagnose", "error_of_ours", "java_free_text"]

_LAST_FAILURE = re.compile(r"Lost task [^\n]*?\): (?P<what>[^\n]+)")
_STATE = re.compile(r"\.? SQLSTATE: \w+")
_JAVA_CLASS = re.compile(r"^(?:[a-z]\w*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)")
_POSITION = re.compile(r"(?:;? line (\d+),? pos(?:ition)? (\d+);?|\(line (\d+), pos(?:ition)? (\d+)\))\s*$")
_CODE = re.compile(r"^(?:\w+(?:Error|Exception): )?\[([A-Z][A-Z0-9_.]*)\] ")
_DID_YOU_MEAN = re.compile(r"; (did you mean [^?]*\?)")
_SENTENCE_END = re.compile(r"(?<=[.?]) +(?=[A-Z])")
_NAMED = re.compile(r"'([^']+)'|`([^`]+)`|(?<![\w.])(\w+(?:\.\w+)+)")
_WORD = r"(?<![\w$`]){}(?![\w$`])"
_CLAUSE_WORDS = (
    "SELECT FROM WHERE GROUP ORDER HAVING LIMIT JOIN UNION INSERT CREATE DROP ALTER SHOW DESCRIBE EXPLAIN VALUES WITH "
    "DISTINCT BETWEEN INTERSECT EXCEPT LATERAL USING VERSION TIMESTAMP CATALOG TABLES SCHEMAS CALL"
)
_CLAUSES = tuple(_CLAUSE_WORDS.split())


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The parts of an error.

    Attributes:
        code: Its code or condition; ``None`` where it has none.
        message: One line, without plans, Java classes and stacks.
        span: Its position in the statement; ``None`` where unknown.
        helps: Hints, one line each: what was expected, similar names, the way out.
    """

    code: str | None
    message: str
    span: Span | None = None
    helps: tuple[str, ...] = ()


def diagnose(error: BaseException, source: SourceText | None = None) -> Diagnosis:
    """Analyses an error.

    Args:
        error: An error of Lakeport, Spark or any other.
        source: The statement that failed, if any.
    """
    ours = error_of_ours(error)
    code: str | None
    if ours is not None:
        code, message = ours.code.name, _POSITION.sub("", ours.message.strip())
    else:
        code, message = _split_code(_one_line(java_free_text(error)) or type(error).__name__)
    if "\n" in message:
        message = " ".join(line.strip() for line in message.splitlines())
    helps = []
    meant = _DID_YOU_MEAN.search(message)
    if meant is not None:
        message = message[: meant.start()] + message[meant.end() :]
        helps.append(meant.group(1))
    if ours is None:
        message, *sentences = _SENTENCE_END.split(message.rstrip("."))
        helps += _spark_helps(error, [sentence.rstrip(".") for sentence in sentences])
        message = message.rstrip(".")
    span = None if source is None else _span(error, source, message)
    if source is not None and code == "PARSE_SYNTAX_ERROR" and span is not None:
        helps += _keyword_help(source, span)
    notes = [*getattr(error, "__notes__", ()), *(getattr(ours, "__notes__", ()) if ours is not error else ())]
    return Diagnosis(code, message, span, tuple(dict.fromkeys([*helps, *notes])))


def error_of_ours(error: BaseException) -> ConnectorError | None:
    """The ``ConnectorError`` behind an error, including one that Spark wrapped."""
    if isinstance(error, ConnectorError):
        return error
    if "pyspark" not in sys.modules:
        return None
    # Not at the top: most commands end before Spark is needed, and its import is most of their time.
    from lakeport.spark.bridge.errors import original

    return original(error)


def java_free_text(error: BaseException) -> str:
    """The text of an error without the Java stack that py4j puts into it."""
    java = getattr(error, "java_exception", None)
    if java is not None:
        try:
            return str(java.toString()).strip()
        except Exception:
            return type(error).__name__  # Java has ended, and the error's text with it
    return str(error).strip()


def _one_line(text: str) -> str:
    """The line with the reason, without position and state."""
    if not text:
        return ""
    failure = list(_LAST_FAILURE.finditer(text))
    line = failure[-1].group("what") if failure else text.splitlines()[0]
    return _POSITION.sub("", _JAVA_CLASS.sub("", _STATE.sub("", line))).rstrip("; ").strip()


def _split_code(line: str) -> tuple[str | None, str]:
    match = _CODE.match(line)
    return (match.group(1), line[match.end() :]) if match else (None, line)


def _spark_helps(error: BaseException, sentences: list[str]) -> list[str]:
    """The sentences after the first; Spark's proposals are reworded."""
    asked = getattr(error, "getMessageParameters", None)
    try:
        parameters = dict((asked() if asked is not None else None) or {})
    except Exception:
        parameters = {}
    found = []
    proposal = parameters.get("proposal")
    if proposal:
        names = [name.strip().strip("`") for name in re.split(r",\s*(?=`)", proposal)]
        found.append(f"did you mean {' or '.join(repr(name) for name in names[:3])}?")
    kept = [one for one in sentences if not one.startswith(("Did you mean", "Please, refer", "Verify the spelling"))]
    return [*found, *kept]


def _span(error: BaseException, source: SourceText, message: str) -> Span | None:
    """The position from Spark's query context, from the message, or from a name that occurs once in the SQL."""
    for one in _chain(error):
        context = _query_context(one, source)
        if context is not None:
            return context
        position = next((found for line in str(one).splitlines() if (found := _POSITION.search(line))), None)
        if position is not None and type(one).__name__ != "Py4JJavaError":
            line, column = (int(number) for number in position.groups() if number is not None)
            return source.span_at(line, column)
    for match in _NAMED.finditer(message):
        name = next(group for group in match.groups() if group)
        for word in dict.fromkeys([name, name.rpartition(".")[2]]):
            spots = [
                *re.finditer(_WORD.format(re.escape(word)), source.statement, re.IGNORECASE),
                *re.finditer(re.escape(f"`{word}`"), source.statement, re.IGNORECASE),
            ]
            if len(spots) == 1:
                return Span(spots[0].start(), spots[0].end())
    return None


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < 5:
        chain.append(current)
        current = current.__cause__
    return chain


def _query_context(error: BaseException, source: SourceText) -> Span | None:
    asked = getattr(error, "getQueryContext", None)
    try:
        contexts = (asked() if asked is not None else None) or []
        for context in contexts:
            if str(context.contextType()).endswith("SQL"):
                # In code points, as ANTLR counts; the stop index is inclusive.
                span = Span(context.startIndex(), context.stopIndex() + 1)
                fragment = source.statement[span.start : span.stop]
                # Positions in the text of a view mean nothing here. Spark cuts the fragment by UTF-16 units, so it is
                # wrong after characters of two units.
                if fragment != context.fragment() and max(source.statement) < "\U00010000":
                    continue
                name = re.match(r"[\w.`]+(?=\()", fragment)
                of_name = name is not None and "ROUTINE" in (error.getCondition() or "")  # type: ignore[attr-defined]
                return Span(span.start, span.start + name.end()) if of_name and name is not None else span
    except Exception:
        return None  # Java has ended
    return None


def _keyword_help(source: SourceText, span: Span) -> list[str]:
    """A hint if the word at the position, or the one before it, looks like a misspelt clause keyword."""
    before = re.search(r"(\w+)\s*$", source.statement[: span.start])
    words = [source.statement[span.start : span.stop], *([before.group(1)] if before else [])]
    for word in words:
        if word.isalpha() and word.upper() not in _CLAUSES and len(word) > 2:
            near = closest(word.upper(), _CLAUSES)
            if near:
                return [f"'{word}'{near.replace('; ', ': ')}"]
    return []
