"""Words that are offered whatever the catalogs hold: SQL's own, and the usual functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prompt_toolkit.completion import Completion

from lakeport.shell.completion.names import SortedNames
from lakeport.shell.sql.context import SqlContext
from lakeport.shell.sql.pieces import KEYWORDS

__all__ = ["USUAL_FUNCTIONS", "keywords"]

_KEYWORDS = SortedNames.of(KEYWORDS)
_QUERIES = ("SELECT", "WITH", "VALUES")
_FOLLOWING: Mapping[str, tuple[str, ...]] = {
    "": (*_QUERIES, "SHOW", "DESCRIBE", "USE", "EXPLAIN", "SET", "CALL", "CREATE", "ALTER", "DROP"),
    "EXPLAIN": (*_QUERIES, "ANALYZE", "CODEGEN", "COST", "EXTENDED", "FORMATTED"),
    "ANALYZE": _QUERIES,
    "SHOW": ("CATALOGS", "SCHEMAS", "TABLES", "VIEWS", "COLUMNS", "PARTITIONS", "FUNCTIONS", "PROCEDURES", "STATS"),
    "CREATE": ("SCHEMA", "TABLE"),
    "ALTER": ("SCHEMA", "TABLE"),
    "DROP": ("SCHEMA", "TABLE", "VIEW"),
    "GROUP": ("BY",),
    "ORDER": ("BY",),
}
"""Keywords that Tab offers after a word before anything is typed; elsewhere all of them would be a long list."""
_USUAL = (
    "abs approx_count_distinct array avg cast coalesce collect_list concat count current_catalog "
    "current_schema date_add date_format date_trunc dense_rank explode first greatest if lag last lead least "
    "length lower max min nullif nvl percentile rank regexp_extract regexp_replace round row_number split "
    "stddev substring sum to_date to_timestamp trim upper year"
)
USUAL_FUNCTIONS = SortedNames.of(_USUAL.split())
"""Functions that are shown until Spark has started."""


def keywords(context: SqlContext) -> Iterator[Completion]:
    """Keywords that begin with what is typed, in its case; before anything is typed those that usually follow."""
    is_lower = context.written.islower()
    known = _KEYWORDS.names if context.word else _FOLLOWING.get(context.after, ())
    for keyword in known:
        if keyword.lower().startswith(context.word):
            written = keyword.lower() if is_lower else keyword
            yield Completion(written, start_position=-len(context.written), display_meta="keyword")
