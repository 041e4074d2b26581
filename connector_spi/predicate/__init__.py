"""Predicates that travel: ranges, sets of values, domains of columns, and rows of domains.

They over-approximate or are exact as each operation says, and never leave out a row that fits (invariant I3).
"""

from connector_spi.predicate.alternatives import alternatives
from connector_spi.predicate.constraint import Constraint
from connector_spi.predicate.domain import DEFAULT_SIMPLIFY_THRESHOLD, Domain
from connector_spi.predicate.exclusion import MayHold, may_be_true, reference_domain
from connector_spi.predicate.expression import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
    conjuncts,
    references,
)
from connector_spi.predicate.range import Range
from connector_spi.predicate.sorted_range_set import SortedRangeSet
from connector_spi.predicate.text_prefix import prefix_domain
from connector_spi.predicate.tuple_domain import TupleDomain
from connector_spi.predicate.unordered_sets import AllOrNoneValueSet, EquatableValueSet
from connector_spi.predicate.value_set import ValueSet
from connector_spi.predicate.values import Comparability, Value, comparability, normalize

__all__ = [
    "DEFAULT_SIMPLIFY_THRESHOLD",
    "AllOrNoneValueSet",
    "Call",
    "ColumnReference",
    "Comparability",
    "ConnectorExpression",
    "Constant",
    "Constraint",
    "Domain",
    "EquatableValueSet",
    "FieldDereference",
    "Function",
    "MayHold",
    "Range",
    "Reference",
    "SortedRangeSet",
    "TupleDomain",
    "Value",
    "ValueSet",
    "alternatives",
    "comparability",
    "conjuncts",
    "may_be_true",
    "normalize",
    "prefix_domain",
    "reference_domain",
    "references",
]
