"""Random predicates (hypothesis) around the values that a table holds."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

from connector_spi.predicate import Comparability, Domain, Range, TupleDomain, Value, ValueSet, comparability

__all__ = ["domains", "filterable_columns", "predicates"]


def filterable_columns(table: pa.Table) -> list[str]:
    """Names of the columns whose values have an order."""
    return [field.name for field in table.schema if comparability(field.type) is Comparability.ORDERABLE]


@st.composite
def domains(draw: st.DrawFn, column: pa.ChunkedArray) -> Domain:
    """A domain of the column's type: some of its values, a range between two of them, or what is not in these."""
    values = [value for value in column.unique().to_pylist() if value is not None]
    chosen = draw(st.one_of(_some_values(column.type, values), _ranges(column.type, values)))
    if draw(st.booleans()):
        chosen = chosen.complement()
    return Domain.create(chosen, draw(st.booleans()))


@st.composite
def predicates(draw: st.DrawFn, table: pa.Table) -> TupleDomain[str]:
    """Domains of one to three columns, by name; never NONE."""
    names = draw(st.lists(st.sampled_from(filterable_columns(table)), min_size=1, max_size=3, unique=True))
    return TupleDomain.with_column_domains(
        {name: draw(domains(table.column(name)).filter(lambda domain: not domain.is_none)) for name in names}
    )


def _some_values(data_type: pa.DataType, values: list[Value]) -> st.SearchStrategy[ValueSet]:
    return st.lists(st.sampled_from(values), max_size=3).map(lambda some: ValueSet.of(data_type, some))


@st.composite
def _ranges(draw: st.DrawFn, data_type: pa.DataType, values: list[Value]) -> ValueSet:
    one, other = draw(st.sampled_from(values)), draw(st.sampled_from(values))
    above = ValueSet.of_ranges(data_type, [_above(data_type, one, draw(st.booleans()))])
    if draw(st.booleans()):
        return above
    # What is above one value and not above the other, also where the order of the two is the wrong one.
    return above.intersect(ValueSet.of_ranges(data_type, [_above(data_type, other, draw(st.booleans()))]).complement())


def _above(data_type: pa.DataType, value: Value, inclusive: bool) -> Range:
    return Range.greater_or_equal(data_type, value) if inclusive else Range.greater_than(data_type, value)
