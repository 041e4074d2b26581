"""The error for what only Spark runs."""

from __future__ import annotations

from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.properties import closest
from lakeport.error_codes import UNSUPPORTED_LOCAL_SQL

__all__ = ["check_first_word", "only_spark", "refused"]

_SHOWN = 100
_WORDS = (
    "ALTER ANALYZE BEGIN CACHE CALL CLEAR COMMENT COMMIT CREATE DECLARE DELETE DESC DESCRIBE DROP EXECUTE EXPLAIN FROM "
    "GRANT INSERT LIST LOAD MAP MERGE MSCK PIVOT REDUCE REFRESH REPAIR REPLACE RESET REVOKE ROLLBACK SELECT SET SHOW "
    "SUMMARIZE TABLE TRUNCATE UNCACHE UNPIVOT UPDATE USE VALUES WITH"
)
_FIRST_WORDS = tuple(_WORDS.split())
"""Words that statements begin with in Spark or DuckDB, whether or not they are run."""


def refused(node: Expr | str, reason: str) -> NotSupportedError:
    """The error for a part of a statement."""
    text = node if isinstance(node, str) else node.sql("spark")
    return NotSupportedError(
        f"{text if len(text) <= _SHOWN else text[:_SHOWN] + '...'} is not run by the engine duckdb: {reason}; use the "
        "engine spark for it",
        UNSUPPORTED_LOCAL_SQL,
    )


def check_first_word(word: str) -> None:
    """Refuses a statement whose first word looks like a misspelt one: no engine would run it.

    Args:
        word: The first word, in capitals.

    Raises:
        InvalidArgumentError: Another word is meant, as it seems.
    """
    near = "" if word in _FIRST_WORDS else closest(word, _FIRST_WORDS)
    if near:
        raise InvalidArgumentError(f"the statement is not understood: no statement begins with '{word}'{near}")


def only_spark(what: str) -> NotSupportedError:
    """The error for what the engine has not got."""
    return NotSupportedError(f"the engine duckdb has no {what}; use the engine spark for it", UNSUPPORTED_LOCAL_SQL)
