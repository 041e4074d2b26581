"""The supported SQL dialects."""

from __future__ import annotations

from collections.abc import Callable

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.properties import closest
from lakeport.error_codes import UNSUPPORTED_TRINO_SQL
from lakeport.trino.approximation import APPROXIMATE_FUNCTIONS
from lakeport.trino.columns_of import ColumnsOf

__all__ = ["DIALECTS", "check_dialect", "to_spark_sql"]

DIALECTS = ("spark", "trino", "duckdb")
"""The first is Spark's own; statements in others are translated, or run by the engine whose own dialect it is."""


def check_dialect(name: str) -> str:
    """The dialect of a name, in any case.

    Raises:
        InvalidArgumentError: The dialect does not exist.
    """
    found = name.strip().lower()
    if found not in DIALECTS:
        raise InvalidArgumentError(
            f"unknown dialect '{name}'{closest(found, DIALECTS)}; expected one of {', '.join(DIALECTS)}"
        )
    return found


def to_spark_sql(text: str, dialect: str, columns_of: ColumnsOf, setting: Callable[[str], str | None]) -> str:
    """A statement in Spark's SQL.

    Args:
        text: One statement.
        dialect: Its dialect, one of ``DIALECTS``.
        columns_of: Returns the columns of a table by the parts of its name; ``None`` where they are unknown.
        setting: Returns a setting of Spark, or ``None``; called only if needed.

    Raises:
        NotSupportedError: A part of it may mean something else in Spark, or is unknown; the message names the part.
        InvalidArgumentError: It is not a statement of the dialect.
    """
    if dialect == "spark":
        return text
    if dialect != "trino":
        raise NotSupportedError(
            f"the dialect {dialect} is that of the engine {dialect}, and not translated; choose this engine, or the "
            "dialect spark or trino"
        )
    try:
        # Rarely needed, slow to import, and an optional extra.
        from lakeport.trino.statements import translate_trino
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "sqlglot":
            raise
        raise NotSupportedError(
            "translating Trino's SQL needs sqlglot: pip install 'lakeport[trino]'", UNSUPPORTED_TRINO_SQL
        ) from error
    return translate_trino(text, columns_of, approximate=setting(APPROXIMATE_FUNCTIONS) == "true")
