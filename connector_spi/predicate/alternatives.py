"""From conditions to domains of which a row fits at least one: to choose partitions, files and parts of files."""

from __future__ import annotations

from collections.abc import Iterable

from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate.domain import Domain
from connector_spi.predicate.expression import Call, ColumnReference, ConnectorExpression, Constant, Function
from connector_spi.predicate.range import Range
from connector_spi.predicate.text_prefix import prefix_domain
from connector_spi.predicate.tuple_domain import TupleDomain
from connector_spi.predicate.value_set import ValueSet
from connector_spi.predicate.values import Comparability, comparability

__all__ = ["alternatives"]

_MOST = 64
_RANGES = {
    Function.LESS: Range.less_than,
    Function.LESS_OR_EQUAL: Range.less_or_equal,
    Function.GREATER: Range.greater_than,
    Function.GREATER_OR_EQUAL: Range.greater_or_equal,
}

_Alternatives = tuple[TupleDomain[ColumnHandle], ...]
_EVERYTHING: _Alternatives = (TupleDomain[ColumnHandle].all(),)


def alternatives(expressions: Iterable[ConnectorExpression]) -> tuple[TupleDomain[ColumnHandle], ...]:
    """Domains of which each row that fits all the conditions fits at least one; other rows may fit one, too.

    ``a = 1 OR b = 2`` has the alternatives ``a = 1`` and ``b = 2``, where one ``TupleDomain`` says nothing. Without any
    alternative no row fits.

    Args:
        expressions: Conditions; what domains cannot say of them is passed over.

    Returns:
        At most 64; one that is ALL where nothing is known.
    """
    found = _EVERYTHING
    for expression in expressions:
        found = _both(found, _of(expression))
    return found


def _of(expression: ConnectorExpression) -> _Alternatives:
    if not isinstance(expression, Call):
        return _EVERYTHING
    if expression.function is Function.AND:
        return alternatives(expression.arguments)
    if expression.function is Function.OR:
        found = tuple(one for argument in expression.arguments for one in _of(argument))
        return _EVERYTHING if len(found) > _MOST or any(one.is_all for one in found) else found
    domain = _domain(expression)
    if domain is None:
        return _EVERYTHING
    column, allowed = domain
    return () if allowed.is_none else (TupleDomain.with_column_domains({column: allowed}),)


def _both(one: _Alternatives, other: _Alternatives) -> _Alternatives:
    if len(one) * len(other) > _MOST:
        return one
    pairs = (mine.intersect(theirs) for mine in one for theirs in other)
    return tuple(dict.fromkeys(pair for pair in pairs if not pair.is_none))


def _domain(call: Call) -> tuple[ColumnHandle, Domain] | None:
    column, *others = call.arguments
    values = [argument.value for argument in others if isinstance(argument, Constant)]
    if not isinstance(column, ColumnReference) or len(values) < len(others):
        return None
    data_type = column.type
    if call.function is Function.IS_NULL:
        return column.column, Domain.only_null(data_type)
    if comparability(data_type) is not Comparability.ORDERABLE:
        return None
    try:
        if call.function in (Function.EQUAL, Function.IN):
            present = [value for value in values if value is not None]
            return column.column, Domain.multiple_values(data_type, present)
        if call.function is Function.STARTS_WITH and isinstance(values[0], str):
            return column.column, prefix_domain(data_type, values[0])[0]
        if call.function in _RANGES and values[0] is not None:
            ranges = ValueSet.of_ranges(data_type, [_RANGES[call.function](data_type, values[0])])
            return column.column, Domain.create(ranges, False)
    except InvalidArgumentError:
        # Nothing is above NaN: such a range is refused.
        return None
    return None
