"""What of row filters a connector can skip by: comparisons of columns with constants. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from catalog.guard.expressions import ColumnValue, ConstantValue, Expression, FunctionCall
from catalog.guard.policy import TablePolicy
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet

__all__ = ["row_filter_domain"]

_RANGES = {
    "=": Range.equal,
    "<": Range.less_than,
    "<=": Range.less_or_equal,
    ">": Range.greater_than,
    ">=": Range.greater_or_equal,
}
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def row_filter_domain(policy: TablePolicy) -> TupleDomain[ColumnHandle]:
    """A domain that holds every row which meets the row filters, and maybe more."""
    handles = {handle.name: handle for handle in policy.inputs}
    found = TupleDomain[ColumnHandle].all()
    for one in policy.filters:
        for part in _conjuncts(one):
            column, ranges = _ranges(part, handles)
            if column is not None:
                values = ValueSet.of_ranges(column.type, ranges)
                found = found.intersect(TupleDomain({column: Domain.create(values, False)}))
    return found


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, FunctionCall) and expression.function == "and":
        for argument in expression.arguments:
            yield from _conjuncts(argument)
    else:
        yield expression


def _ranges(part: Expression, handles: Mapping[str, ColumnHandle]) -> tuple[ColumnHandle | None, list[Range]]:
    """The values of one column for which a condition can hold; no column where it is of another form."""
    if not isinstance(part, FunctionCall):
        return None, []
    if part.function == "or":
        found = [_ranges(argument, handles) for argument in part.arguments]
        columns = {column for column, _ in found}
        return (columns.pop() if len(columns) == 1 else None), [one for _, ranges in found for one in ranges]
    if part.function not in _RANGES:
        return None, []
    left, right = part.arguments
    operator = part.function
    if isinstance(left, ConstantValue):
        left, right, operator = right, left, _MIRRORED[operator]
    if not isinstance(left, ColumnValue) or not isinstance(right, ConstantValue) or right.value is None:
        return None, []
    value, kind = right.value, left.type
    fits = (
        (pa.types.is_string(kind) and isinstance(value, str))
        or (pa.types.is_integer(kind) and isinstance(value, int) and not isinstance(value, bool))
        or (pa.types.is_date32(kind) and pa.types.is_date32(right.type))
    )
    if not fits or (pa.types.is_integer(kind) and not _is_within(kind, value)):
        return None, []
    typed: Value = value  # type: ignore[assignment]  # one of the three kinds
    return handles[left.name], [_RANGES[operator](kind, typed)]


def _is_within(kind: pa.DataType, value: object) -> bool:
    try:
        pa.scalar(value, kind)
    except (pa.ArrowInvalid, OverflowError):
        return False
    return True
