"""Domains against column statistics, and domains as Arrow expressions. On any doubt rows are kept (invariant I3)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet

__all__ = ["ColumnBounds", "may_match", "to_expression"]


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """What statistics say of a column in a file, stripe or row group. ``None`` is unknown.

    Attributes:
        low: A value below or equal to every value.
        high: A value above or equal to every value; for floats NaN may come on top.
        null_count: Number of NULLs.
        row_count: Number of rows.
    """

    low: Value | None = None
    high: Value | None = None
    null_count: int | None = None
    row_count: int | None = None


def may_match(domain: Domain, bounds: ColumnBounds) -> bool:
    """Whether a row of the column may be in the domain; true on doubt.

    Args:
        domain: What is wanted.
        bounds: What is there; low and high are values of the domain's type, else they count as unknown.
    """
    nulls, rows = bounds.null_count, bounds.row_count
    if domain.null_allowed and nulls != 0:
        return True
    if rows is not None and nulls is not None and nulls >= rows:
        return domain.null_allowed and rows > 0
    present = _value_set(domain.type, bounds)
    return present is None or domain.values.overlaps(present)


def to_expression(predicate: TupleDomain[ColumnHandle]) -> pc.Expression | None:
    """The predicate as an expression over columns by name; ``None`` where nothing is to be filtered.

    Rows that are not in the predicate may pass, rows that are in it do. Domains that Arrow cannot say are left out:
    floats, since Arrow has another order for NaN, and nested types.
    """
    if predicate.is_none:
        return pc.scalar(False)
    parts = [_domain_expression(column.name, domain) for column, domain in dict(predicate.domains or {}).items()]
    said = [part for part in parts if part is not None]
    return functools.reduce(operator.and_, said) if said else None


def _value_set(arrow: pa.DataType, bounds: ColumnBounds) -> ValueSet | None:
    # A NaN in the data is not in the statistics of most writers, and it sorts above all numbers.
    high = None if pa.types.is_floating(arrow) else bounds.high
    low = bounds.low
    if isinstance(low, float) and low != low:
        low = None
    if low is None and high is None:
        return None
    try:
        return ValueSet.of_ranges(arrow, [Range(arrow, low, low is not None, high, high is not None)])
    except (InvalidArgumentError, TypeError, ValueError, ArithmeticError):
        return None


def _domain_expression(name: str, domain: Domain) -> pc.Expression | None:
    field = pc.field(name)
    if domain.is_only_null:
        return field.is_null()
    if pa.types.is_floating(domain.type) or domain.values.is_none:
        return None
    values = _values_expression(field, domain)
    if values is None:
        return None
    return (values | field.is_null()) if domain.null_allowed else values


def _values_expression(field: pc.Expression, domain: Domain) -> pc.Expression | None:
    if domain.values.is_all:
        return field.is_valid()
    discrete = domain.values.discrete_values()
    if discrete is not None:
        return field.isin(pa.array(list(discrete), domain.type))
    ranges = domain.values.ranges()
    if ranges is None:
        return None
    parts = [_range_expression(field, one) for one in ranges]
    return functools.reduce(operator.or_, parts)


def _range_expression(field: pc.Expression, wanted: Range) -> pc.Expression:
    def compare(bound: Value, compared: Callable[[pc.Expression, pc.Expression], pc.Expression]) -> pc.Expression:
        return compared(field, pc.scalar(pa.scalar(bound, wanted.type)))

    parts = []
    if wanted.low is not None:
        parts.append(compare(wanted.low, operator.ge if wanted.low_inclusive else operator.gt))
    if wanted.high is not None:
        parts.append(compare(wanted.high, operator.le if wanted.high_inclusive else operator.lt))
    return functools.reduce(operator.and_, parts) if parts else field.is_valid()
