"""Spark's SQL as sqlglot parses it, with functions left as they are called.

sqlglot has classes for functions, which forget how one was called, or mean that of another engine.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot.parsers.spark import SparkParser

from lakeport.duckdb.functions import FUNCTION_NAMES
from lakeport.duckdb.functions.spelling import SPELLINGS
from lakeport.sql.spark_parser import SparkSql

__all__ = ["LocalSpark"]

_CALLED = frozenset(name.upper() for name in (*FUNCTION_NAMES, *SPELLINGS))


class LocalSpark(SparkSql):
    """Spark's SQL for the local engine."""

    class Parser(SparkSql.Parser):
        """Leaves functions of the local engine, and other names of some functions, as they are called."""

        FUNCTIONS: ClassVar = {name: made for name, made in SparkParser.FUNCTIONS.items() if name not in _CALLED}
        FUNCTION_PARSERS: ClassVar = {
            name: made for name, made in SparkParser.FUNCTION_PARSERS.items() if name not in _CALLED
        }
