"""Random predicates, aggregations and orders (hypothesis) around the values that a table holds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.optional.aggregation import AggregateFunction, AggregateKind, Aggregation
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import (
    Call,
    ColumnReference,
    Comparability,
    ConnectorExpression,
    Constant,
    Domain,
    FieldDereference,
    Function,
    Range,
    Reference,
    TupleDomain,
    Value,
    ValueSet,
    comparability,
)

__all__ = ["aggregations", "domains", "expressions", "filterable_columns", "predicates", "sort_orders"]

_COMPARISONS = (
    Function.EQUAL,
    Function.NOT_EQUAL,
    Function.LESS,
    Function.LESS_OR_EQUAL,
    Function.GREATER,
    Function.GREATER_OR_EQUAL,
    Function.NULL_SAFE_EQUAL,
)
_TEXT_TESTS = (Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS)


def filterable_columns(table: pa.Table) -> list[str]:
    """Names of the columns whose values have an order."""
    return [field.name for field in table.schema if comparability(field.type) is Comparability.ORDERABLE]


@st.composite
def domains(draw: st.DrawFn, column: pa.ChunkedArray) -> Domain:
    """A domain of the column's type: some of its values, a range between two of them, or what is not in these."""
    values = [value for value in column.unique().to_pylist() if value is not None]
    if not values:
        return Domain.create(draw(st.sampled_from([ValueSet.none(column.type), ValueSet.all(column.type)])), True)
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


def expressions(table: pa.Table) -> st.SearchStrategy[ConnectorExpression]:
    """Conditions on some columns and fields of structs, joined by ``AND`` and ``OR``, and negated."""
    columns = [ColumnReference(_handle(table, name)) for name in filterable_columns(table)]
    leaves = st.sampled_from([*columns, *_fields(table)]).flatmap(lambda one: _conditions(_values(table, one), one))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda a, b: Call(Function.AND, (a, b)), inner, inner),
            st.builds(lambda a, b: Call(Function.OR, (a, b)), inner, inner),
            st.builds(lambda a: Call(Function.NOT, (a,)), inner),
        ),
        max_leaves=4,
    )


@st.composite
def aggregations(draw: st.DrawFn, table: pa.Table) -> Aggregation:
    """Up to two keys and three functions, as an engine offers them."""
    names = filterable_columns(table)
    exact = [name for name in names if not pa.types.is_floating(table.schema.field(name).type)]
    keys = draw(st.lists(st.sampled_from(exact), max_size=2, unique=True))
    functions = [_function(draw, table, draw(st.sampled_from(names))) for _ in range(draw(st.integers(1, 3)))]
    return Aggregation(tuple(_handle(table, key) for key in keys), tuple(functions))


@st.composite
def sort_orders(draw: st.DrawFn, table: pa.Table) -> tuple[SortItem, ...]:
    """One to three columns in different directions."""
    names = draw(st.lists(st.sampled_from(filterable_columns(table)), min_size=1, max_size=3, unique=True))
    return tuple(SortItem(_handle(table, name), draw(st.booleans()), draw(st.booleans())) for name in names)


def _handle(table: pa.Table, name: str) -> ColumnHandle:
    return ColumnHandle(name, table.schema.field(name).type)


def _function(draw: st.DrawFn, table: pa.Table, name: str) -> AggregateFunction:
    column = _handle(table, name)
    small = pa.types.is_signed_integer(column.type) and column.type.bit_width <= 32
    summed = pa.int64() if small else None
    if pa.types.is_decimal(column.type) and column.type.precision <= 28:
        summed = pa.decimal128(column.type.precision + 10, column.type.scale)
    kind = draw(
        st.sampled_from([kind for kind in AggregateKind if kind is not AggregateKind.SUM or summed is not None])
    )
    if kind is AggregateKind.COUNT_ROWS:
        return AggregateFunction(kind, None, pa.int64())
    if kind is AggregateKind.SUM and summed is not None:
        return AggregateFunction(kind, column, summed)
    return AggregateFunction(kind, column, pa.int64() if kind is AggregateKind.COUNT else column.type)


def _fields(table: pa.Table) -> list[Reference]:
    """The fields of structs, also in structs, whose values have an order."""
    found: list[Reference] = []
    waiting: list[Reference] = [ColumnReference(_handle(table, name)) for name in table.column_names]
    while waiting:
        struct = waiting.pop()
        for field in struct.type if pa.types.is_struct(struct.type) else ():
            inner = FieldDereference(struct, field.name, field.type)
            waiting.append(inner)
            if comparability(field.type) is Comparability.ORDERABLE and any(
                v is not None for v in _values(table, inner)
            ):
                found.append(inner)
    return found


def _values(table: pa.Table, reference: Reference) -> list[Value | None]:
    column = table.column(reference.column.name)
    found = pc.struct_field(column, list(reference.path)) if reference.path else column
    values: list[Value | None] = found.unique().to_pylist()
    return values


@st.composite
def _conditions(draw: st.DrawFn, values_met: list[Value | None], column: Reference) -> ConnectorExpression:
    known = [value for value in values_met if value is not None]
    if not known:
        return Call(Function.IS_NULL, (column,))
    held = st.sampled_from(known)
    kinds = [*_COMPARISONS, Function.IS_NULL, Function.IN]
    kinds += _TEXT_TESTS if pa.types.is_string(column.type) else ()
    function = draw(st.sampled_from(kinds))
    if function is Function.IS_NULL:
        return Call(function, (column,))
    if function is Function.IN:
        values = draw(st.lists(st.one_of(held, st.none()), min_size=1, max_size=3))
        return Call(function, (column, *(Constant(value, column.type) for value in values)))
    value = draw(held)
    return Call(function, (column, Constant(str(value)[:1] if function in _TEXT_TESTS else value, column.type)))


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
