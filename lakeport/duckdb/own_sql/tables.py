"""The tables of a query in DuckDB's own SQL, in whose places views are put."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from connector_spi.metadata import TableVersion, VersionKind
from lakeport.duckdb.own_sql.literals import constant
from lakeport.duckdb.own_sql.syntax import Node, below, node_of, nodes_of, not_run, text_of, texts_of
from lakeport.duckdb.query.changes import instant_of
from lakeport.duckdb.query.named_table import NamedTable

__all__ = ["NamedTables", "named_tables"]

_PREFIX = "lakeport_"


@dataclass(slots=True)
class NamedTables:
    """What a query names.

    Attributes:
        views: The tables, by the names of the views that stand in their places.
        times: How often each view stands there.
        columns: Names that may be those of columns, in lower case.
        has_all: Columns may be meant that are not named, as by ``*``.
        filtered: Parts ``FROM`` and ``WHERE`` of the queries.
    """

    views: dict[str, NamedTable] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    columns: set[str] = field(default_factory=set)
    has_all: bool = False
    filtered: list[Node] = field(default_factory=list)


def named_tables(document: Node) -> NamedTables:
    """Finds the tables of a query, and puts views in their places; changes it.

    Raises:
        NotSupportedError: A version that is not written out, or a name that DuckDB may take for a file.
        InvalidArgumentError: A time that is none.
    """
    found = _Finder(document)
    found.walk(document, frozenset())
    for node in below(document):
        found.note(node)
    return found.named


class _Finder:
    def __init__(self, document: Node) -> None:
        self.named = NamedTables()
        self._views: dict[NamedTable, str] = {}
        self._aliases: set[str] = set()
        self._plain: set[tuple[str, ...]] = set()
        names = [key for one in below(document) for key in _common(one)]
        self._prefix = _PREFIX
        while any(name.startswith(self._prefix) for name in names):
            self._prefix += "_"

    def walk(self, node: object, known: frozenset[str]) -> None:
        """Puts views in place of tables.

        Args:
            node: A part of the query.
            known: Names of ``WITH`` that hold there, in lower case.
        """
        if isinstance(node, list):
            for one in node:
                self.walk(one, known)
        if not isinstance(node, dict):
            return
        if node.get("type") == "RECURSIVE_CTE_NODE":
            known |= {text_of(node, "cte_name").lower() or text_of(node, "ctename").lower()}
        for key, query in _common(node).items():
            if not key.replace("_", "").replace(" ", "").isalnum():
                raise not_run(f'WITH "{key}"', "a name of other characters than letters, digits, blanks and _")
            self.walk(query, known)
            known |= {key}
        if node.get("type") == "SELECT_NODE":
            self.named.filtered.append(node)
        if node.get("type") == "BASE_TABLE":
            self._table(node, known)
        for key, value in node.items():
            if key != "cte_map":
                self.walk(value, known)

    def note(self, node: Node) -> None:
        """Notes the columns that a part names, or means."""
        named = self.named
        kind = node.get("type")
        if node.get("class") == "COLUMN_REF":
            parts = [part.lower() for part in texts_of(node, "column_names")]
            self._shorten(node, parts)
            named.columns.update(parts)
            named.has_all |= len(parts) == 1 and parts[0] in self._aliases
        elif node.get("class") == "STAR" or kind in ("POSITIONAL_REFERENCE", "PIVOT"):
            named.has_all = True
        elif kind == "JOIN":
            named.columns.update(name.lower() for name in texts_of(node, "using_columns"))
            named.has_all |= node.get("ref_type") == "NATURAL"
        elif kind == "BASE_TABLE":
            named.has_all |= bool(node.get("column_name_alias"))

    def _shorten(self, node: Node, parts: list[str]) -> None:
        """Names columns by the alias of their table alone; others than those of a view are not known to DuckDB."""
        for size in (3, 2):
            if len(parts) > size and tuple(parts[:size]) in self._plain and parts[0] not in self._aliases:
                names = texts_of(node, "column_names")
                node["column_names"] = names[size - 1 :]
                return

    def _table(self, node: Node, known: frozenset[str]) -> None:
        name = text_of(node, "table_name")
        parts = [text_of(node, "catalog_name"), text_of(node, "schema_name"), name]
        written = tuple(part.lower() for part in parts if part)
        self._aliases.add((text_of(node, "alias") or name).lower())
        at = node_of(node.get("at_clause"))
        if not at and written[0] in known and len(written) == 1:
            return
        if len(written) == 1 and set(name) & set("./*"):
            raise not_run(
                f"FROM '{name}'", "it reads tables of the catalogs alone, and no files; write catalog.schema.table"
            )
        if not text_of(node, "alias"):
            node["alias"] = name
            self._plain.update((written, written[-2:]))
        named = NamedTable(written, _version(at) if at else None)
        view = self._views.setdefault(named, f"{self._prefix}{len(self._views)}")
        self.named.views[view] = named
        self.named.times[view] += 1
        node.update(table_name=view, schema_name="", catalog_name="", at_clause=None)
        if "qualified_name" in node:
            node["qualified_name"] = {"path": [view]}


def _common(node: Node) -> Mapping[str, Node]:
    """The queries of a ``WITH``, by their names in lower case, in their order."""
    entries = nodes_of(node_of(node.get("cte_map")).get("map"))
    return {text_of(one, "key").lower(): node_of(one.get("value")) for one in entries}


def _version(at: Node) -> TableVersion:
    """What ``AT (VERSION => 3)`` and ``AT (TIMESTAMP => '...')`` say."""
    value = constant(node_of(at.get("expr")))
    unit = text_of(at, "unit").upper()
    if value is None or unit not in ("VERSION", "TIMESTAMP"):
        raise not_run(f"AT ({unit} => ...)", "a version that is not written out; write AT (VERSION => 3)")
    if unit == "VERSION":
        return TableVersion(VersionKind.VERSION, str(value))
    return TableVersion(VersionKind.TIMESTAMP, instant_of(str(value), "AT (TIMESTAMP =>"))
