"""``EXPLAIN`` as it is read from a statement: plain, and in the forms that Trino has and Spark has not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.properties import closest
from lakeport.sql.statement_patterns import BLANK, FLAGS

__all__ = ["ExplainRequest", "explain_request"]

_OPTIONS = r"\(\s*(?P<options>(?:TYPE|FORMAT)\s+\w+(?:\s*,\s*\w+\s+\w+)*)\s*\)"
_STATEMENT = re.compile(
    rf"{BLANK}*EXPLAIN\b(?P<analyze>{BLANK}+ANALYZE(?:{BLANK}+VERBOSE\b)?)?{BLANK}*(?:{_OPTIONS}{BLANK}*)?"
    rf"(?P<query>.+?){BLANK}*;?\s*",
    FLAGS,
)
# EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS is Spark's own: it explains the statement ANALYZE TABLE.
_SPARKS_ANALYZE = re.compile(rf"{BLANK}*TABLES?\b", FLAGS)
_SPARKS_MODES = re.compile(r"(?:LOGICAL|FORMATTED|EXTENDED|CODEGEN|COST)\b", FLAGS)
_TYPES = ("LOGICAL", "DISTRIBUTED", "VALIDATE", "IO")
_FORMATS = ("TEXT", "JSON")
_REFUSED_FORMATS = ("GRAPHVIZ",)


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What is to be explained.

    Attributes:
        query: The statement behind ``EXPLAIN``, as far from the start as it was: errors name places in it.
        analyze: It is run.
        kind: ``LOGICAL``, ``DISTRIBUTED``, ``VALIDATE`` or ``IO``.
        json: The answer is JSON, else text.
        dialect: Of the statement: Spark's, or the engine's own.
    """

    query: str
    analyze: bool = False
    kind: str = "DISTRIBUTED"
    json: bool = False
    dialect: str = "spark"


def explain_request(text: str) -> ExplainRequest | None:
    """The request in a statement; ``None`` where the text is another one, such as Spark's ``EXPLAIN EXTENDED``.

    Raises:
        InvalidArgumentError: An option that there is not.
        NotSupportedError: A format that is not written.
    """
    match = _STATEMENT.fullmatch(text)
    if match is None:
        return None
    is_run = match.group("analyze") is not None
    sparks = _SPARKS_ANALYZE if is_run else _SPARKS_MODES
    if match.group("options") is None and sparks.match(match.group("query")):
        return None
    given = _options(match.group("options") or "")
    kind, form = given.get("TYPE", "DISTRIBUTED"), given.get("FORMAT", "TEXT")
    if form in _REFUSED_FORMATS:
        raise NotSupportedError(f"EXPLAIN (FORMAT {form}) is not written; use FORMAT TEXT or FORMAT JSON")
    _check("TYPE", kind, _TYPES)
    _check("FORMAT", form, _FORMATS)
    if is_run and "TYPE" in given:
        raise InvalidArgumentError("EXPLAIN ANALYZE has no TYPE; use EXPLAIN ANALYZE (FORMAT JSON) query")
    blanks = re.sub(r"[^\n]", " ", text[: match.start("query")])
    return ExplainRequest(blanks + match.group("query"), is_run, kind, form == "JSON")


def _options(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for option in text.split(","):
        if option.strip():
            name, value = option.upper().split()
            if name not in ("TYPE", "FORMAT") or name in given:
                raise InvalidArgumentError(f"EXPLAIN has the options TYPE and FORMAT, each once; met {name}")
            given[name] = value
    return given


def _check(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidArgumentError(
            f"EXPLAIN ({option} {value}){closest(value, known)}; expected one of {', '.join(known)}"
        )
