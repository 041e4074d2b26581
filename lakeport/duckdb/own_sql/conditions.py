"""Conditions of a query in DuckDB's own SQL that tell which rows of a table it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

import pyarrow as pa

from lakeport.duckdb.own_sql.literals import constant
from lakeport.duckdb.own_sql.syntax import Node, node_of, nodes_of, text_of, texts_of

__all__ = ["pushed_texts"]

_SIGNS = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_INNER = ("REGULAR", "CROSS")


def pushed_texts(selects: Iterable[Node], schemas: Mapping[str, pa.Schema]) -> Iterator[tuple[str, str]]:
    """Conditions that rows of one table alone decide: the view of the table, and the condition in Spark's SQL.

    Only what both engines surely mean alike is among them: comparisons of columns with constants of their own types.

    Args:
        selects: The queries, with views in place of tables.
        schemas: The columns of the views.
    """
    for select in selects:
        tables = _tables(node_of(select.get("from_table")), schemas)
        if not tables:
            continue
        for part in _parts(node_of(select.get("where_clause"))):
            for alias, view in tables.items():
                others = [schemas[one] for name, one in tables.items() if name != alias]
                found = _Condition(alias, schemas[view], others).text(part)
                if found is not None:
                    yield view, found


def _tables(node: Node, schemas: Mapping[str, pa.Schema]) -> dict[str, str]:
    """Views by their aliases; none where another join or a sample needs rows that a condition leaves out."""
    if node.get("type") == "JOIN":
        left, right = (_tables(node_of(node.get(side)), schemas) for side in ("left", "right"))
        is_inner = node.get("join_type") == "INNER" and node.get("ref_type") in _INNER
        return {**left, **right} if is_inner and left and right and not left.keys() & right.keys() else {}
    view = text_of(node, "table_name")
    if node.get("type") != "BASE_TABLE" or view not in schemas or node.get("sample") or node.get("column_name_alias"):
        return {}
    return {text_of(node, "alias").lower(): view}


def _parts(where: Node) -> list[Node]:
    return nodes_of(where.get("children")) if where.get("type") == "CONJUNCTION_AND" else [where]


class _Condition:
    """Writes conditions of one table.

    Args:
        alias: Of the table, in lower case.
        schema: Its columns.
        others: Columns of other tables, whose names without an alias may mean these.
    """

    def __init__(self, alias: str, schema: pa.Schema, others: Iterable[pa.Schema]) -> None:
        self._alias = alias
        self._types = {one.name.lower(): one.type for one in schema}
        self._shared = {name.lower() for other in others for name in other.names}

    def text(self, node: Node) -> str | None:
        """A condition in Spark's SQL; ``None`` where it may mean something else there, or is of other tables."""
        kind = text_of(node, "type")
        if kind in ("CONJUNCTION_AND", "CONJUNCTION_OR"):
            parts = [self.text(one) for one in nodes_of(node.get("children"))]
            known = [one for one in parts if one is not None]
            return f"({f' {kind[12:]} '.join(known)})" if len(known) == len(parts) else None
        if kind in _SIGNS:
            return self._compared(node_of(node.get("left")), _SIGNS[kind], node_of(node.get("right")))
        if kind == "COMPARE_BETWEEN":
            inner = node_of(node.get("input"))
            bounds = [
                self._compared(inner, sign, node_of(node.get(key))) for sign, key in ((">=", "lower"), ("<=", "upper"))
            ]
            return None if None in bounds else f"({bounds[0]} AND {bounds[1]})"
        children = nodes_of(node.get("children"))
        column = self._column(children[0]) if children else None
        if column is None:
            return None
        if kind == "COMPARE_IN":
            values = [self._value(column, one) for one in children[1:]]
            known = [one for one in values if one is not None]
            return f"{_quoted(column)} IN ({', '.join(known)})" if known and len(known) == len(values) else None
        ends = {"OPERATOR_IS_NULL": "IS NULL", "OPERATOR_IS_NOT_NULL": "IS NOT NULL"}
        return f"{_quoted(column)} {ends[kind]}" if kind in ends else None

    def _compared(self, left: Node, sign: str, right: Node) -> str | None:
        column = self._column(left)
        if column is None:
            column, right, sign = self._column(right), left, _TURNED.get(sign, sign)
        value = None if column is None else self._value(column, right)
        return None if column is None or value is None else f"{_quoted(column)} {sign} {value}"

    def _column(self, node: Node) -> str | None:
        names = [one.lower() for one in texts_of(node, "column_names")]
        if len(names) == 2 and names[0] == self._alias and self._alias not in self._types:
            return names[1] if names[1] in self._types else None
        is_own = len(names) == 1 and names[0] in self._types and names[0] not in self._shared
        return names[0] if is_own else None

    def _value(self, column: str, node: Node) -> str | None:
        """A constant of the column's own type."""
        value, kind = constant(node), self._types[column]
        if isinstance(value, date):
            return f"DATE '{value.isoformat()}'" if pa.types.is_date(kind) else None
        if isinstance(value, int):
            return str(value) if pa.types.is_integer(kind) else None
        if value is None or not pa.types.is_string(kind) or "\\" in value or "'" in value:
            return None
        return f"'{value}'"


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
