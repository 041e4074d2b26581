"""The error for what only Spark runs."""

from __future__ import annotations

from sqlglot.expressions import Expr

from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_LOCAL_SQL

__all__ = ["only_spark", "refused"]

_SHOWN = 100


def refused(node: Expr | str, reason: str) -> NotSupportedError:
    """The error for a part of a statement."""
    text = node if isinstance(node, str) else node.sql("spark")
    return NotSupportedError(
        f"{text if len(text) <= _SHOWN else text[:_SHOWN] + '...'} is not run by the engine duckdb: {reason}; use the "
        "engine spark for it",
        UNSUPPORTED_LOCAL_SQL,
    )


def only_spark(what: str) -> NotSupportedError:
    """The error for what the engine has not got."""
    return NotSupportedError(f"the engine duckdb has no {what}; use the engine spark for it", UNSUPPORTED_LOCAL_SQL)
