"""Queries in DuckDB's SQL with the tables that they read; translations are kept for later queries of the same text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from lakeport.duckdb.query.named_table import NamedTable
from lakeport.duckdb.query.queries import Query, Translated
from lakeport.duckdb.query.views import NamedView, expand_views
from lakeport.duckdb.tables.query_tables import Tables
from lakeport.frames.table_scan import TableScan
from lakeport.transactions.lease import ReadLease

__all__ = ["KeptTranslations", "TranslatedQuery", "translate_query"]

_MOST_KEPT = 128
_LONGEST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class TranslatedQuery:
    """A query for DuckDB, and its tables.

    Attributes:
        translated: The query.
        tables: Its tables, by the names of the views that it reads.
        scans: The same as they are now.
        chars: Lengths of their columns of type ``char``, by view and by name in lower case.
        has_views: Whether it names views, whose texts are a part of it.
    """

    translated: Translated
    tables: Mapping[str, NamedTable]
    scans: Mapping[str, TableScan]
    chars: Mapping[str, Mapping[str, int]]
    has_views: bool = False

    @property
    def schemas(self) -> dict[str, pa.Schema]:
        """The columns of the tables."""
        return {view: scan.schema for view, scan in self.scans.items()}


def translate_query(statement: exp.Query, tables: Tables, lease: ReadLease) -> TranslatedQuery:
    """Finds the tables of a query, and writes it in DuckDB's SQL.

    Args:
        statement: In Spark's SQL; changed.
        tables: Finds them.
        lease: On the transactions of all of them.

    Raises:
        ConnectorError: A table is not there, its catalog refused, or only Spark runs such a query.
    """
    views: list[NamedView] = []

    def find(parts: tuple[str, ...], owner: str | None) -> NamedView | None:
        view = tables.view(parts, lease, owner)
        if view is not None:
            views.append(view)
        return view

    query = Query.of(expand_views(statement, find))
    scans = tables.scans(query, lease)
    chars = tables.char_lengths(query.tables, lease)
    translated = query.in_duckdb({view: scan.schema for view, scan in scans.items()}, chars)
    return TranslatedQuery(translated, query.tables, scans, chars, has_views=bool(views))


@dataclass(frozen=True, slots=True)
class _Kept:
    translated: Translated
    tables: Mapping[str, NamedTable]
    schemas: Mapping[str, pa.Schema]
    chars: Mapping[str, Mapping[str, int]]


class KeptTranslations:
    """Translations of queries, which hold as long as the names mean tables of the same columns. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def find(self, text: str, tables: Tables, lease: ReadLease) -> TranslatedQuery | None:
        """What a text was translated to, with the tables as they are now; ``None`` where it has to be translated.

        Args:
            text: In Spark's SQL, without parameters.
            tables: Finds the tables.
            lease: On the transactions of all of them.

        Raises:
            ConnectorError: A table is not there, or its catalog refused.
        """
        with self._lock:
            kept = self._kept.get(text)
            if kept is None:
                return None
            self._kept.move_to_end(text)
        named = kept.tables.values()
        if any(one.version is None and tables.view(one.parts, lease, one.owner) is not None for one in named):
            return None
        scans = tables.scans_with(kept.tables, (), lease)
        # The hidden columns that a query names are not among these, so that it is translated anew.
        if any(not scan.schema.equals(kept.schemas[view]) for view, scan in scans.items()):
            return None
        if tables.char_lengths(kept.tables, lease) != kept.chars:
            return None
        return TranslatedQuery(kept.translated, kept.tables, scans, kept.chars)

    def keep(self, text: str, query: TranslatedQuery) -> None:
        """Keeps a translation."""
        if query.has_views or len(text) > _LONGEST_TEXT:
            return
        with self._lock:
            self._kept[text] = _Kept(query.translated, query.tables, query.schemas, query.chars)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
