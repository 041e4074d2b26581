"""``EXPLAIN ANALYZE query`` and ``EXPLAIN (TYPE ..., FORMAT ...) query``, which Trino has and Spark has not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.properties import closest

__all__ = ["ExplainRequest", "explain_request"]

_FLAGS = re.IGNORECASE | re.DOTALL
_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/)"
_OPTIONS = r"\(\s*(?P<options>(?:TYPE|FORMAT)\s+\w+(?:\s*,\s*\w+\s+\w+)*)\s*\)"
_STATEMENT = re.compile(
    rf"{_BLANK}*EXPLAIN(?P<analyze>{_BLANK}+ANALYZE(?:{_BLANK}+VERBOSE\b)?)?{_BLANK}*(?:{_OPTIONS}{_BLANK}*)?"
    rf"(?P<query>.+?){_BLANK}*;?\s*",
    _FLAGS,
)
# EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS is Spark's own: it explains the statement ANALYZE TABLE.
_SPARKS_ANALYZE = re.compile(rf"{_BLANK}*TABLES?\b", _FLAGS)
_TYPES = ("LOGICAL", "DISTRIBUTED", "VALIDATE", "IO")
_FORMATS = ("TEXT", "JSON")
_REFUSED_FORMATS = ("GRAPHVIZ",)


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What is to be explained.

    Attributes:
        query: The statement behind ``EXPLAIN``.
        analyze: It is run.
        kind: ``LOGICAL``, ``DISTRIBUTED``, ``VALIDATE`` or ``IO``.
        json: The answer is JSON, else text.
    """

    query: str
    analyze: bool = False
    kind: str = "DISTRIBUTED"
    json: bool = False


def explain_request(text: str) -> ExplainRequest | None:
    """The request in a statement; ``None`` where the text is another one, such as Spark's own ``EXPLAIN``.

    Raises:
        InvalidArgumentError: An option that there is not.
        NotSupportedError: A format that is not written.
    """
    match = _STATEMENT.fullmatch(text)
    if match is None or (match.group("analyze") is None and match.group("options") is None):
        return None
    query = match.group("query")
    if match.group("analyze") is not None and _SPARKS_ANALYZE.match(query):
        return None
    given: dict[str, str] = {}
    for option in (match.group("options") or "").split(","):
        if option.strip():
            name, value = option.upper().split()
            if name not in ("TYPE", "FORMAT") or name in given:
                raise InvalidArgumentError(f"EXPLAIN has the options TYPE and FORMAT, each once; met {name}")
            given[name] = value
    kind, form = given.get("TYPE", "DISTRIBUTED"), given.get("FORMAT", "TEXT")
    if form in _REFUSED_FORMATS:
        raise NotSupportedError(f"EXPLAIN (FORMAT {form}) is not written; use FORMAT TEXT or FORMAT JSON")
    _check("TYPE", kind, _TYPES)
    _check("FORMAT", form, _FORMATS)
    if match.group("analyze") is not None and "TYPE" in given:
        raise InvalidArgumentError("EXPLAIN ANALYZE has no TYPE; use EXPLAIN ANALYZE (FORMAT JSON) query")
    return ExplainRequest(query, match.group("analyze") is not None, kind, form == "JSON")


def _check(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidArgumentError(
            f"EXPLAIN ({option} {value}){closest(value, known)}; expected one of {', '.join(known)}"
        )
