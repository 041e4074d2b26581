"""Tables as lazy frames of Polars, through its interface for IO plugins.

https://docs.pola.rs/user-guide/plugins/io_plugins
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.pruning import EVERY_ROW, both, either, rows_needed
from lakeport.frames.open_reader import OpenReader

__all__ = ["lazy_frame", "needed_by_polars"]

_COMPARISONS = {"Eq": "=", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CONSTANTS = ("Literal", "Cast", "Alias")


def lazy_frame(schema: pa.Schema, open_reader: OpenReader, *, may_filter: bool) -> pl.LazyFrame:
    """A frame that reads the table each time it is collected.

    Args:
        schema: The table's schema.
        open_reader: Opens the table.
        may_filter: Whether the scan may leave out rows that a filter excludes; not allowed below a limit.
    """

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, batch_rows: int | None
    ) -> Iterator[pl.DataFrame]:
        asked = columns
        if predicate is not None and columns is not None:
            # Polars may filter by columns that it does not select.
            asked = list(dict.fromkeys([*columns, *predicate.meta.root_names()]))
        needed = needed_by_polars(predicate, schema) if may_filter and predicate is not None else None
        limit = rows if predicate is None else None
        with open_reader([schema.names[0]] if asked == [] else asked, needed, limit) as reader:
            yield from _frames(reader, columns, predicate, rows)

    return register_io_source(read, schema=_frame(schema.empty_table()).schema, is_pure=True)


def needed_by_polars(predicate: pl.Expr, schema: pa.Schema) -> RowTest:
    """The rows for which a predicate may be true; every row where it is not supported."""
    kind, node = _node(predicate)
    inputs = predicate.meta.pop()
    if kind == "BinaryExpr" and isinstance(node, dict):
        # The inputs are in reverse order.
        right, left = inputs
        operator = node.get("op")
        if operator in ("And", "LogicalAnd"):
            return both(needed_by_polars(left, schema), needed_by_polars(right, schema))
        if operator in ("Or", "LogicalOr"):
            return either(needed_by_polars(left, schema), needed_by_polars(right, schema))
        if operator in _COMPARISONS:
            return _comparison(left, _COMPARISONS[operator], right, schema)
    if kind == "Function" and isinstance(node, dict):
        return _function(node.get("function"), inputs[::-1], schema)
    return EVERY_ROW


def _comparison(left: pl.Expr, operator: str, right: pl.Expr, schema: pa.Schema) -> RowTest:
    if _column(left) is None:
        left, operator, right = right, _MIRRORED[operator], left
    values = _constant(right)
    if values is None or len(values) != 1:
        return EVERY_ROW
    return rows_needed(schema, _column(left), operator, values[0])


def _function(function: object, inputs: list[pl.Expr], schema: pa.Schema) -> RowTest:
    if not isinstance(function, dict) or list(function) != ["Boolean"]:
        return EVERY_ROW
    test = function["Boolean"]
    if test in ("IsNull", "IsNotNull"):
        return rows_needed(schema, _column(inputs[0]), "is null" if test == "IsNull" else "is not null")
    if isinstance(test, dict) and list(test) == ["IsIn"]:
        values = _constant(inputs[1])
        if values is not None and len(values) == 1 and isinstance(values[0], list):
            return rows_needed(schema, _column(inputs[0]), "in", values[0])
    return EVERY_ROW


def _frames(
    reader: pa.RecordBatchReader, columns: list[str] | None, predicate: pl.Expr | None, rows: int | None
) -> Iterator[pl.DataFrame]:
    left = rows
    for batch in reader:
        frame = _frame(pa.Table.from_batches([batch]))
        if predicate is not None:
            frame = frame.filter(predicate)
        if columns is not None:
            frame = frame.select(columns)
        if left is not None:
            frame = frame.head(left)
            left -= frame.height
        yield frame
        if left == 0:
            return


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _node(expression: pl.Expr) -> tuple[str, object]:
    """The kind and content of an expression's outermost node, from Polars' JSON."""
    try:
        serialized = json.loads(expression.meta.serialize(format="json"))
    except (pl.exceptions.PolarsError, ValueError):
        return "", None
    if not isinstance(serialized, dict) or len(serialized) != 1:
        return "", None
    [(kind, node)] = serialized.items()
    return str(kind), node


def _column(expression: pl.Expr) -> str | None:
    kind, node = _node(expression)
    return node if kind == "Column" and isinstance(node, str) else None


def _constant(expression: pl.Expr) -> list[object] | None:
    """The values of a constant expression; ``None`` for other expressions."""
    if expression.meta.root_names() or _node(expression)[0] not in _CONSTANTS:
        return None
    try:
        return pl.select(expression).to_series().to_list()
    except pl.exceptions.PolarsError:
        return None
