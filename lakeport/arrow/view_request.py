"""A read of a view as a read of the table below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from catalog.resolver import ResolvedTable
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.filters.column_names import column_finder, wanted_columns
from lakeport.arrow.filters.conditions import renamed_test
from lakeport.arrow.filters.expression_filter import row_filters
from lakeport.arrow.filters.where import RowFilter, Where, parse_where
from lakeport.arrow.scan_request import ScanRequest
from lakeport.arrow.stream import close_batches
from lakeport.arrow.views import Literal, PlainView, plain_view
from lakeport.planning.redirection import resolve
from lakeport.transactions.statement import Statement

__all__ = ["ViewRequest", "view_request"]


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """What to read of the table, or view, below a view.

    Attributes:
        request: Of the table, in its names.
        read: The columns of the view that are read of the table, each with the table's column.
        filters: What is left to pass in the view's names.
        schema: Of the asked columns.
    """

    request: ScanRequest
    read: tuple[tuple[str, str], ...]
    filters: tuple[RowFilter, ...]
    schema: pa.Schema

    def renamed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The table's rows in the view's names."""
        names = [shown for shown, _ in self.read]
        try:
            for batch in batches:
                if names:
                    yield pa.RecordBatch.from_arrays([batch.column(own) for _, own in self.read], names)
                else:
                    yield batch.select([])  # made anew, it would forget its number of rows
        finally:
            close_batches(batches)


def view_request(statement: Statement, name: CatalogSchemaTableName, request: ScanRequest) -> ViewRequest | None:
    """The read of a view; ``None`` where the name is of no view, or of one that only an engine can read.

    Args:
        statement: What the read belongs to.
        name: What is read.
        request: What is asked of it.

    Raises:
        InvalidArgumentError: A column, filter or version that is not understood.
        NotSupportedError: sqlglot is not installed, or an older state is asked for.
    """
    access = statement.access(name.catalog)
    view = access.tables.view(access.begun, access.session, name.schema_table)
    plain = None if view is None else plain_view(name.catalog, view)
    if view is None or plain is None:
        return None
    reader = statement.below(access, view)
    below = _columns_below(reader, plain.table)
    types = {column.name: column.type for column in view.columns}
    pairs = dict(plain.columns)
    where = _bound(plain, below)
    if where is None or any(own not in below or below[own].type != types[shown] for shown, own in pairs.items()):
        return None
    if request.version is not None:
        raise NotSupportedError(f"{name} is a view, which has no older states; leave the version out")
    find = column_finder(types, name)
    asked = wanted_columns(request.columns, list(types), find)
    # A text or an expression keeps the view's names, and waits for its rows.
    waiting = [one for one in request.filters if isinstance(one, str | pc.Expression)]
    left = row_filters(waiting, pa.schema(types.items()), find)
    read = tuple(
        (column, pairs[column]) for column in dict.fromkeys((*asked, *(c for one in left for c in one.columns)))
    )
    listed = [one for one in request.filters if not isinstance(one, str | pc.Expression)]
    filters = [cast(Where, _in_table(one, lambda column: pairs[find(column)[0]])) for one in listed]
    asked_below = replace(
        request,
        name=str(plain.table),
        columns=tuple(dict.fromkeys(own for _, own in read)),
        limit=None if left else request.limit,
        filters=(*filters, *([where] if where else [])),
        needed=renamed_test(request.needed, pairs),
        owner=reader.view_owner,
    )
    return ViewRequest(asked_below, read, left, pa.schema([(column, types[column]) for column in asked]))


def _columns_below(statement: Statement, name: CatalogSchemaTableName) -> Mapping[str, ColumnMetadata]:
    access = statement.access(name.catalog)
    view = access.tables.view(access.begun, access.session, name.schema_table)
    if view is not None:
        return {column.name: column for column in view.columns}
    _, found = resolve(access, name, None)
    if not isinstance(found, ResolvedTable):
        return {}
    return {column.name: column for column in found.table.visible_columns()}


def _in_table(where: object, own: Callable[[str], str]) -> object:
    """A filter in the table's names; what is no filter stays as it is, and is refused where it is read."""
    if isinstance(where, str) or not isinstance(where, Sequence):
        return where
    if where and isinstance(where[0], str):
        return (own(where[0]), *where[1:])
    return [_in_table(one, own) for one in where]


def _bound(view: PlainView, columns: Mapping[str, ColumnMetadata]) -> Where | None:
    """The view's own filter with values of the columns' types; ``None`` where an engine has to compare."""
    where: list[list[tuple[str, str] | tuple[str, str, object]]] = []
    for tests in view.alternatives:
        conditions: list[tuple[str, str] | tuple[str, str, object]] = []
        for name, operator, values in tests:
            column = columns.get(name)
            fitted = None if column is None else [_fitted(value, column) for value in values]
            if fitted is None or None in fitted:
                return None
            listed = operator in ("in", "not in")
            conditions.append((name, operator, fitted if listed else fitted[0]) if values else (name, operator))
        where.append(conditions)
    try:
        parse_where(where, lambda name: (name, columns[name].type))
    except InvalidArgumentError:
        return None
    return where


def _fitted(value: Literal, column: ColumnMetadata) -> Literal | float | None:
    """A literal as a value of a column's type, where SQL compares the two so; else ``None``."""
    kind = column.type
    if isinstance(value, bool):
        return value if pa.types.is_boolean(kind) else None
    if isinstance(value, date) or pa.types.is_date(kind):
        return value if isinstance(value, date) and pa.types.is_date(kind) else None
    if isinstance(value, str):
        # Blanks at the end of a char do not count.
        is_text = pa.types.is_string(kind) and not (column.declared_type or "").lower().startswith("char")
        return value if is_text else None
    if pa.types.is_floating(kind):
        exact = kind == pa.float64() or float(np.float32(value)) == value
        return float(value) if exact else None
    if pa.types.is_integer(kind):
        return int(value) if value == int(value) else None
    return Decimal(value) if pa.types.is_decimal(kind) else None
