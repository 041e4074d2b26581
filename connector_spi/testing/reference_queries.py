"""What expressions, aggregations and orders mean, value by value in Python: the judge of what a connector computes."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.optional.aggregation import AggregateFunction, AggregateKind, Aggregation, SupportsAggregation
from connector_spi.optional.top_n import SortItem, SupportsTopN
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    Constraint,
    FieldDereference,
    Function,
    TupleDomain,
    Value,
)
from connector_spi.testing.reading import ReferenceScan

__all__ = [
    "aggregated",
    "first_keys",
    "merged",
    "offer_aggregation",
    "offer_expression",
    "offer_top_n",
    "rows_that_fit_expression",
]

_Sortable: TypeAlias = tuple[bool, Value]
_EXACT = decimal.Context(prec=100)


def offer_expression(scan: ReferenceScan, expression: ConnectorExpression) -> tuple[ReferenceScan, bool]:
    """Offers a condition until nothing changes; also says whether the connector guarantees it.

    Raises:
        InternalError: The connector never returns ``None``.
    """
    metadata, session = scan.query.metadata, scan.query.session
    constraint, applied = Constraint(TupleDomain.all(), (str(expression),), (expression,)), False
    for _ in range(8):
        taken = metadata.apply_filter(session, scan.table, constraint)
        if taken is None:
            return scan, applied
        scan, applied = replace(scan, table=taken.table), applied or expression in taken.applied
    raise InternalError("apply_filter changed its handle 8 times for one expression; expected None")


def offer_aggregation(scan: ReferenceScan, aggregation: Aggregation) -> tuple[ReferenceScan, bool] | None:
    """A scan of groups, and whether each comes once; ``None`` where the connector declines."""
    metadata = scan.query.metadata
    if not isinstance(metadata, SupportsAggregation):
        return None
    taken = metadata.apply_aggregation(scan.query.session, scan.table, aggregation)
    if taken is None:
        return None
    return replace(scan, table=taken.table, columns=taken.columns, remaining=TupleDomain.all()), taken.complete


def offer_top_n(scan: ReferenceScan, count: int, order: tuple[SortItem, ...]) -> tuple[ReferenceScan, bool]:
    """Offers an order and a count until nothing changes; also says whether the connector guarantees the count.

    Raises:
        InternalError: The connector never returns ``None``.
    """
    metadata, guaranteed = scan.query.metadata, False
    if not isinstance(metadata, SupportsTopN):
        return scan, guaranteed
    for _ in range(8):
        taken = metadata.apply_top_n(scan.query.session, scan.table, count, order)
        if taken is None:
            return scan, guaranteed
        scan, guaranteed = replace(scan, table=taken.table), taken.guaranteed
    raise InternalError("apply_top_n changed its handle 8 times for one order; expected None")


def rows_that_fit_expression(table: pa.Table, expression: ConnectorExpression) -> pa.Table:
    """The rows for which a condition is true."""
    return table.filter(pa.array([_value(expression, row) is True for row in table.to_pylist()], pa.bool_()))


def aggregated(table: pa.Table, aggregation: Aggregation) -> list[tuple[object, ...]]:
    """The groups of a table's rows, in any order: keys, then functions. A NaN is a text, so that it equals another."""
    groups: dict[tuple[object, ...], list[dict[str, object]]] = {} if aggregation.keys else {(): []}
    for row in table.to_pylist():
        groups.setdefault(tuple(_plain(row[key.name]) for key in aggregation.keys), []).append(row)
    return [(*keys, *(_computed(one, found) for one in aggregation.functions)) for keys, found in groups.items()]


def merged(rows: Sequence[tuple[object, ...]], aggregation: Aggregation) -> list[tuple[object, ...]]:
    """Groups of which each may come in several rows, as the engine puts them together."""
    count = len(aggregation.keys)
    groups: dict[tuple[object, ...], list[tuple[object, ...]]] = {} if aggregation.keys else {(): []}
    for row in rows:
        groups.setdefault(tuple(_plain(key) for key in row[:count]), []).append(row[count:])
    return [
        (*keys, *(_merged(one, [row[index] for row in found]) for index, one in enumerate(aggregation.functions)))
        for keys, found in groups.items()
    ]


def first_keys(table: pa.Table, count: int, order: Sequence[SortItem]) -> list[tuple[object, ...]]:
    """What the first rows in an order have in its columns; of equal rows any may be the first, but these are equal."""
    rows = table.to_pylist()
    for item in reversed(order):
        name = item.column.name
        nulls = [row for row in rows if row[name] is None]
        # Sorting is stable, so the first of the columns counts most.
        present = sorted(
            (row for row in rows if row[name] is not None), key=_sorted_by(name), reverse=not item.ascending
        )
        rows = [*nulls, *present] if item.nulls_first else [*present, *nulls]
    # Adding 0 makes 0.0 of -0.0.
    keys = [[row[item.column.name] for item in order] for row in rows[:count]]
    return [tuple(_plain(value + 0 if isinstance(value, float) else value) for value in row) for row in keys]


def _value(expression: ConnectorExpression, row: Mapping[str, object]) -> object:
    match expression:
        case Constant(value=value):
            return value
        case ColumnReference(column=column):
            return row[column.name]
        case FieldDereference(target=target, field=field):
            struct = _value(target, row)
            return struct[field] if isinstance(struct, Mapping) else None
        case Call(function=function, arguments=arguments):
            return _called(function, [_value(argument, row) for argument in arguments])


def _called(function: Function, values: list[object]) -> bool | None:
    if function in (Function.AND, Function.OR):
        decided = function is Function.OR
        return decided if decided in values else None if None in values else not decided
    if function is Function.NOT:
        return None if values[0] is None else not values[0]
    if function is Function.IS_NULL:
        return values[0] is None
    first, *others = values
    if function is Function.IN:
        found = [_compared(Function.EQUAL, first, other) for other in others]
        return True if True in found else None if None in found else False
    return _compared(function, first, others[0])


def _compared(function: Function, one: object, other: object) -> bool | None:
    if function is Function.NULL_SAFE_EQUAL:
        return _sortable(one) == _sortable(other) if one is not None and other is not None else one is other
    if one is None or other is None:
        return None
    if function in (Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS):
        text, part = str(one), str(other)
        found = {Function.STARTS_WITH: text.startswith(part), Function.ENDS_WITH: text.endswith(part)}
        return found.get(function, part in text)
    mine, theirs = _sortable(one), _sortable(other)
    answers = {
        Function.EQUAL: mine == theirs,
        Function.NOT_EQUAL: mine != theirs,
        Function.LESS: mine < theirs,
        Function.LESS_OR_EQUAL: mine <= theirs,
        Function.GREATER: mine > theirs,
        Function.GREATER_OR_EQUAL: mine >= theirs,
    }
    return answers[function]


def _sorted_by(name: str) -> Callable[[Mapping[str, object]], _Sortable]:
    return lambda row: _sortable(row[name])


def _sortable(value: object) -> _Sortable:
    """NaN above all numbers, texts by their bytes."""
    if isinstance(value, str):
        return False, value.encode("utf-8", "surrogatepass")
    return (True, 0.0) if value != value else (False, cast(Value, value))


def _computed(function: AggregateFunction, rows: Sequence[Mapping[str, object]]) -> object:
    if function.column is None:
        return len(rows)
    values = [row[function.column.name] for row in rows]
    if function.kind is AggregateKind.COUNT:
        return sum(value is not None for value in values)
    return _merged(function, values)


def _merged(function: AggregateFunction, values: Sequence[object]) -> object:
    present = [value for value in values if value is not None]
    if function.kind in (AggregateKind.COUNT, AggregateKind.COUNT_ROWS):
        return sum(int(str(value)) for value in present)
    if not present:
        return None
    if function.kind is AggregateKind.SUM:
        with decimal.localcontext(_EXACT):
            return sum(present[1:], present[0])  # type: ignore[call-overload]  # integers or decimals
    chosen = (min if function.kind is AggregateKind.MIN else max)(present, key=_sortable)
    return _plain(chosen + 0 if isinstance(chosen, float) else chosen)


def _plain(value: object) -> object:
    return "NaN" if isinstance(value, float) and value != value else value
