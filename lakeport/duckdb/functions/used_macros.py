"""Macros of DuckDB that are made when the first query uses them: each takes half a millisecond."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import duckdb

from lakeport.duckdb.functions.tables import MACROS

__all__ = ["UsedMacros"]

_NAME = re.compile(r"\blakeport_\w+", re.IGNORECASE)
_BY_LOWER = {name.lower(): name for name in MACROS}


class UsedMacros:
    """The macros of a database. May be used by several threads.

    Args:
        database: Where they are made.
    """

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._made: set[str] = set()
        self._lock = threading.Lock()

    def provide(self, text: str) -> None:
        """Makes the macros that a query names, and those that they name."""
        with self._lock:
            for name, definition in _needed(text, self._made):
                self._database.execute(f"CREATE OR REPLACE MACRO {name}{definition}")
                self._made.add(name)


def _needed(text: str, made: set[str]) -> Iterator[tuple[str, str]]:
    """What is named and not made, those first that others name."""
    for found in dict.fromkeys(_NAME.findall(text)):
        name = _BY_LOWER.get(found.lower())
        if name is not None and name not in made:
            yield from _needed(MACROS[name], made | {name})
            yield name, MACROS[name]
