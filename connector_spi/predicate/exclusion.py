"""Whether a partition, a file or a part of a file can hold a row for which a condition is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate.domain import Domain
from connector_spi.predicate.expression import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
)
from connector_spi.predicate.range import Range
from connector_spi.predicate.text_prefix import prefix_domain
from connector_spi.predicate.value_set import ValueSet
from connector_spi.predicate.values import Comparability, comparability

__all__ = ["MayHold", "may_be_true", "reference_domain"]

MayHold: TypeAlias = Callable[[Reference, Domain], bool]
"""Whether a row may have a value of this domain in a column or field; true on doubt."""

_RANGES = {
    Function.LESS: Range.less_than,
    Function.LESS_OR_EQUAL: Range.less_or_equal,
    Function.GREATER: Range.greater_than,
    Function.GREATER_OR_EQUAL: Range.greater_or_equal,
}


def may_be_true(expression: ConnectorExpression, may_hold: MayHold) -> bool:
    """Whether a condition may be true for a row of some unit; true on doubt.

    An ``AND`` is never true where one of its conditions is not, an ``OR`` where none of them is.

    Args:
        expression: The condition.
        may_hold: What is known of the unit, such as by its statistics.
    """
    return _may_be(expression, may_hold, negated=False)


def reference_domain(expression: ConnectorExpression, *, negated: bool = False) -> tuple[Reference, Domain] | None:
    """The column or field that a comparison with constants looks at, and the values for which it is true.

    The domain of ``NOT_EQUAL`` and of negations never has NULL, unless the condition always has an answer.

    Args:
        expression: A condition.
        negated: Ask for the values for which it is false.

    Returns:
        ``None`` where no domain says so much: for conditions of several references, and those of ends and parts of
        texts.
    """
    if not isinstance(expression, Call):
        return None
    if expression.function is Function.NOT:
        return reference_domain(expression.arguments[0], negated=not negated)
    reference, *others = expression.arguments
    constants = [one for one in others if isinstance(one, Constant)]
    if not isinstance(reference, ColumnReference | FieldDereference) or len(constants) < len(others):
        return None
    try:
        found = _domain(expression.function, reference, constants, negated=negated)
    except InvalidArgumentError:
        # Nothing is above NaN: such a range is refused.
        return None
    return None if found is None else (reference, found)


def _may_be(expression: ConnectorExpression, may_hold: MayHold, *, negated: bool) -> bool:
    if not isinstance(expression, Call):
        return True
    function, arguments = expression.function, expression.arguments
    if function is Function.NOT:
        return _may_be(arguments[0], may_hold, negated=not negated)
    if function in (Function.AND, Function.OR):
        every = (function is Function.AND) != negated
        answers = (_may_be(argument, may_hold, negated=negated) for argument in arguments)
        return all(answers) if every else any(answers)
    found = reference_domain(expression, negated=negated)
    return found is None or (not found[1].is_none and may_hold(*found))


def _domain(function: Function, reference: Reference, constants: list[Constant], *, negated: bool) -> Domain | None:
    data_type = reference.type
    if function is Function.IS_NULL:
        return Domain.not_null(data_type) if negated else Domain.only_null(data_type)
    if comparability(data_type) is not Comparability.ORDERABLE or not constants:
        return None
    present = [one.value for one in constants if one.value is not None]
    if function is Function.NULL_SAFE_EQUAL:
        found = Domain.multiple_values(data_type, present) if present else Domain.only_null(data_type)
        return found.complement() if negated else found
    if function in (Function.EQUAL, Function.IN, Function.NOT_EQUAL):
        if (function is Function.NOT_EQUAL) == negated:
            return Domain.multiple_values(data_type, present)
        # Beside a NULL the answer is unknown for every value that is not listed.
        unlisted = Domain.multiple_values(data_type, present).complement().intersect(Domain.not_null(data_type))
        return unlisted if len(present) == len(constants) else Domain.none(data_type)
    if function is not Function.STARTS_WITH and function not in _RANGES:
        return None
    if not present:
        return Domain.none(data_type)
    if function is Function.STARTS_WITH:
        found, is_exact = prefix_domain(data_type, str(present[0]))
        if negated and not is_exact:
            return None
        return found.complement().intersect(Domain.not_null(data_type)) if negated else found
    found = Domain.create(ValueSet.of_ranges(data_type, [_RANGES[function](data_type, present[0])]), False)
    return found.complement().intersect(Domain.not_null(data_type)) if negated else found
