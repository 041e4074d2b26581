"""Constants in a query."""

from __future__ import annotations

from datetime import date

from lakeport.duckdb.own_sql.syntax import Node, node_of, text_of

__all__ = ["constant"]

_WHOLE = ("INTEGER", "TINYINT", "SMALLINT", "BIGINT")
_TEXTS = ("STRING", "VARCHAR")


def constant(node: Node) -> int | str | date | None:
    """A whole number, a text or a date that is written out; ``None`` for all else."""
    if node.get("class") == "CAST":
        return _date(node)
    if node.get("class") != "CONSTANT":
        return None
    # Before DuckDB 2.0 a constant is a value with its type.
    literal, value = node_of(node.get("literal")), node_of(node.get("value"))
    kind = text_of(literal, "kind") or text_of(node_of(value.get("type")), "id")
    written = literal.get("text", value.get("value"))
    if kind in _WHOLE and isinstance(written, int | str) and str(written).lstrip("-").isdigit():
        return int(written)
    return written if kind in _TEXTS and isinstance(written, str) else None


def _date(node: Node) -> date | None:
    """``DATE '2024-01-31'``."""
    target = text_of(node_of(node.get("type_expr")), "type_name") or text_of(node_of(node.get("cast_type")), "id")
    value = constant(node_of(node.get("child")))
    if target != "DATE" or not isinstance(value, str) or len(value) != len("2024-01-31"):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
