"""Views that can be read with no engine: columns of one table, of the rows that pass simple comparisons.

sqlglot parses the text. What is not listed here, such as functions and joins, is left to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.definitions import ViewDefinition, ViewDialect
from lakeport.error_codes import UNSUPPORTED_VIEW

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

__all__ = ["Literal", "PlainView", "Test", "plain_view"]

Literal: TypeAlias = str | int | Decimal | bool | date
Test: TypeAlias = tuple[str, str, tuple[Literal, ...]]
"""A column of the table, an operator of ``session.arrow``'s filters, and what to compare with."""

_DIALECTS = {ViewDialect.HIVE: "hive", ViewDialect.SPARK: "spark", ViewDialect.TRINO: "trino"}
_SELECT = {"expressions", "from", "from_", "where"}
_TABLE = {"this", "db", "catalog", "alias"}
_COMPARISONS = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED = {"in": "not in", "is null": "is not null"}
_MOST_ALTERNATIVES = 64


@dataclass(frozen=True, slots=True)
class PlainView:
    """A view of columns of one table.

    Attributes:
        table: The table.
        columns: The view's columns in order, each with the table's column that it shows.
        alternatives: Rows pass all tests of one of them; empty where all rows do.
    """

    table: CatalogSchemaTableName
    columns: tuple[tuple[str, str], ...]
    alternatives: tuple[tuple[Test, ...], ...]


def plain_view(catalog: str, view: ViewDefinition) -> PlainView | None:
    """Reads a view's text; ``None`` where it is more than columns and comparisons of one table.

    Args:
        catalog: The catalog of the view.
        view: The view.

    Raises:
        NotSupportedError: sqlglot is not installed.
    """
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError as error:
        raise NotSupportedError(
            f"{view.name} is a view, and reading it without Spark needs sqlglot: pip install 'lakeport[views]'; "
            "or query it in Spark",
            UNSUPPORTED_VIEW,
        ) from error
    # What follows a backslash differs between engines.
    if "\\" in view.text:
        return None
    try:
        return _plain(catalog, view, sqlglot.parse_one(view.text, dialect=_DIALECTS[view.dialect]))
    except (SqlglotError, _OtherError):
        return None


class _OtherError(Exception):
    """A part of a view that only an engine can read."""


def _plain(catalog: str, view: ViewDefinition, query: Expr) -> PlainView:
    _need(_kind(query) == "Select" and _only(query, _SELECT))
    source = query.args.get("from_") or query.args.get("from")
    if source is None:
        raise _OtherError
    table = source.this
    _need(_kind(table) == "Table" and _only(table, _TABLE) and _kind(table.this) == "Identifier")
    _need(not table.args.get("alias") or not table.args["alias"].args.get("columns"))
    spoken = _name(table.alias_or_name)
    where = query.args.get("where")
    alternatives = () if where is None else tuple(_alternatives(where.this, spoken))
    name = CatalogSchemaTableName(
        (table.catalog or view.catalog or catalog).lower(),
        (table.db or view.schema or view.name.schema).lower(),
        _name(table.name),
    )
    _need(name.catalog != "spark_catalog")
    return PlainView(name, _columns(view, query.expressions, spoken), alternatives)


def _columns(view: ViewDefinition, shown: Sequence[Expr], spoken: str) -> tuple[tuple[str, str], ...]:
    names = [column.name for column in view.columns]
    asked = [_name(name) for name in view.query_columns]
    if len(shown) == 1 and _kind(shown[0]) == "Star":
        # Of a star alone the order is known where the view says it.
        _need(len(asked) == len(names) and _only(shown[0], set()))
        return tuple(zip(names, asked, strict=True))
    found = []
    for one in shown:
        column = one.this if _kind(one) == "Alias" else one
        found.append((_name(one.alias_or_name), _column(column, spoken)))
    if asked:
        by_name = dict(found)
        _need(len(by_name) == len(found) and len(asked) == len(names) and all(name in by_name for name in asked))
        return tuple((name, by_name[one]) for name, one in zip(names, asked, strict=True))
    _need(len(found) == len(names))
    return tuple((name, column) for name, (_, column) in zip(names, found, strict=True))


def _alternatives(node: Expr, spoken: str) -> list[tuple[Test, ...]]:
    """Conditions as alternatives of tests that hold together."""
    kind = _kind(node)
    if kind == "Paren":
        return _alternatives(node.this, spoken)
    if kind in ("And", "Or"):
        left, right = (_alternatives(side, spoken) for side in (node.this, node.expression))
        found = [*left, *right] if kind == "Or" else [(*one, *other) for one in left for other in right]
        _need(len(found) <= _MOST_ALTERNATIVES)
        return found
    if kind == "Between":
        _need(_only(node, {"this", "low", "high"}))
        column = _column(node.this, spoken)
        low, high = (_literal(node.args[end]) for end in ("low", "high"))
        return [((column, ">=", (low,)), (column, "<=", (high,)))]
    return [(_test(node, spoken),)]


def _test(node: Expr, spoken: str) -> Test:
    kind = _kind(node)
    if kind == "Not":
        inner = node.this.this if _kind(node.this) == "Paren" else node.this
        column, operator, values = _test(inner, spoken)
        _need(operator in _NEGATED)
        return column, _NEGATED[operator], values
    if kind == "Is":
        _need(_kind(node.expression) == "Null")
        return _column(node.this, spoken), "is null", ()
    if kind == "In":
        _need(_only(node, {"this", "expressions"}) and bool(node.expressions))
        return _column(node.this, spoken), "in", tuple(_literal(value) for value in node.expressions)
    _need(kind in _COMPARISONS)
    operator = _COMPARISONS[kind]
    if _kind(node.this) == "Column":
        return _column(node.this, spoken), operator, (_literal(node.expression),)
    return _column(node.expression, spoken), _TURNED.get(operator, operator), (_literal(node.this),)


def _column(node: Expr, spoken: str) -> str:
    _need(_kind(node) == "Column" and _only(node, {"this", "table"}) and _kind(node.this) == "Identifier")
    # Else it is a field of a column of that name.
    _need(_name(node.text("table")) in ("", spoken))
    return _name(node.name)


def _literal(node: Expr) -> Literal:
    kind = _kind(node)
    if kind == "Neg":
        value = _literal(node.this)
        _need(isinstance(value, int | Decimal) and not isinstance(value, bool))
        assert isinstance(value, int | Decimal)
        return -value
    if kind == "Boolean":
        return bool(node.this)
    if kind == "Cast":
        text = _literal(node.this)
        _need(_only(node, {"this", "to"}) and node.args["to"].this.name == "DATE" and isinstance(text, str))
        return _date(str(text))
    _need(kind == "Literal")
    text = str(node.this)
    if node.args.get("is_string"):
        return text
    # An exponent makes a double, and a number of digits alone may be too long for any whole one.
    _need(text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 18)
    return Decimal(text) if "." in text else int(text)


def _date(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise _OtherError from error
    _need(found.isoformat() == text)
    return found


def _kind(node: object) -> str:
    return type(node).__name__


def _only(node: Expr, known: set[str]) -> bool:
    return all(key in known for key, value in node.args.items() if value)


def _name(text: str) -> str:
    return text.lower()


def _need(holds: bool) -> None:
    if not holds:
        raise _OtherError
