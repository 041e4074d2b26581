"""What DuckDB says where it does not take a query, as errors with a way out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from connector_spi.errors import ColumnNotFoundError, ConnectorError, InvalidArgumentError, NotSupportedError, UserError
from connector_spi.properties import closest
from lakeport.error_codes import UNSUPPORTED_LOCAL_SQL

__all__ = ["binding_error"]

_MISSING = re.compile(r'Referenced column "([^"]+)" not found')
_WAYS = (
    (r'column ("[^"]+") must appear in the GROUP BY',
     r"the column \1 is neither in GROUP BY nor in an aggregate; add it to GROUP BY, or take max(\1)"),
    (r"WHERE clause cannot contain aggregates", "WHERE has an aggregate; write the condition behind HAVING"),
    (r"aggregate function calls cannot be nested",
     "an aggregate is in another one; compute the inner one in a subquery"),
    (r"(?i)window functions are not (?:supported|allowed)|cannot contain window functions",
     "a window function stands where none may be, or has no OVER (...); compute it in a subquery"),
    (r"Subquery returns (\d+) columns", r"a subquery in place of a value gives \1 columns; select one of them"),
    (r"Set operations can only apply", "the sides of UNION, INTERSECT or EXCEPT have different numbers of columns"),
    (r"GROUPING statement cannot be used without groups", "grouping() needs GROUP BY"),
    (r"LIMIT/OFFSET cannot be negative", "a LIMIT or OFFSET is negative"),
)  # fmt: skip


def binding_error(message: str, columns: Sequence[str], *, is_translated: bool) -> ConnectorError:
    """The error for a query that DuckDB does not take.

    Args:
        message: What it says.
        columns: Of the tables, for suggestions.
        is_translated: The query was written in another dialect than DuckDB's.
    """
    missing = _MISSING.search(message)
    if missing is not None:
        return ColumnNotFoundError(f"no column '{missing[1]}'{closest(missing[1], columns)}")
    if not is_translated:
        return UserError(f"DuckDB failed: {message.strip()}")
    for pattern, words in _WAYS:
        found = re.search(pattern, message)
        if found is not None:
            return InvalidArgumentError(found.expand(words))
    said = message.strip().splitlines()[0]
    return NotSupportedError(
        f"DuckDB does not take the statement as it is translated: {said}; use the engine spark for it",
        UNSUPPORTED_LOCAL_SQL,
    )
