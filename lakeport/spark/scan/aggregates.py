"""From Spark's aggregates to those that tasks begin or connectors compute: only what stays exactly Spark's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.optional import aggregation as spi
from lakeport.spark.bridge.plan_words.nodes import AggregationWords, FieldNode, PlanNode
from lakeport.spark.bridge.types import task_schema
from lakeport.spark.tasks.aggregate_states import Aggregate, AggregateFunction
from lakeport.spark.tasks.partial_aggregate import PartialAggregation

__all__ = ["SparkAggregation", "grouped_schema", "is_ordered", "spark_aggregation"]

_FUNCTIONS = {
    "Count": AggregateFunction.COUNT,
    "Sum": AggregateFunction.SUM,
    "Min": AggregateFunction.MIN,
    "Max": AggregateFunction.MAX,
}
_KINDS = {
    AggregateFunction.COUNT: spi.AggregateKind.COUNT,
    AggregateFunction.SUM: spi.AggregateKind.SUM,
    AggregateFunction.MIN: spi.AggregateKind.MIN,
    AggregateFunction.MAX: spi.AggregateKind.MAX,
}
_FEWEST_SUM_DIGITS = 6
"""Sums of shorter decimals would leave the task in so many pieces that little is won."""
_AVERAGE_DIGITS = range(12, 29)
"""Spark averages shorter decimals as doubles (``DecimalAggregates``), and sums of longer ones may overflow."""
_MOST_SUM_DIGITS = 28
"""Sums of so many digits have ten digits more, which no number of rows that there are fills."""


@dataclass(frozen=True, slots=True)
class _Call:
    """An aggregate as Spark says it; ``column`` is ``None`` where it is of something else than a column."""

    name: str
    column: ColumnHandle | None
    distinct: bool


@dataclass(frozen=True, slots=True)
class SparkAggregation:
    """An ``org.apache.spark.sql.connector.expressions.aggregate.Aggregation``, read once.

    Attributes:
        keys: What is grouped by; ``None`` for something else than a column.
        calls: The aggregates.
    """

    keys: tuple[ColumnHandle | None, ...]
    calls: tuple[_Call, ...]

    @property
    def has_other_average(self) -> bool:
        """Whether there is an average that is not exactly the quotient of Spark's sum and count.

        That of longs is: their average does not overflow, while their sum does.
        """
        averages = [call.column for call in self.calls if call.name == "Avg"]
        return any(column is None or not _is_averaged(_type(column)) for column in averages)

    def in_tasks(self) -> PartialAggregation | None:
        """What tasks can do of it, with no average in it; ``None`` where Spark has to do all of it."""
        aggregates = [_aggregate(call) for call in self.calls]
        named = [key for key in self.keys if key is not None and is_ordered(_type(key))]
        known = [aggregate for aggregate in aggregates if aggregate is not None]
        if len(named) < len(self.keys) or len(known) < len(aggregates) or not (self.keys or aggregates):
            return None
        fields = [(key.name, _type(key)) for key in named] + [(str(a), a.result_type) for a in known]
        return PartialAggregation(tuple(key.name for key in named), tuple(known), _numbered(fields))

    def in_connector(self) -> spi.Aggregation | None:
        """What a connector is offered: all of it, or ``None`` where it has something that is never offered."""
        functions = [_function(call) for call in self.calls]
        # Spark takes 0.0 and -0.0 for one group.
        keys = [k for k in self.keys if k is not None and is_ordered(k.type) and not pa.types.is_floating(k.type)]
        known = [function for function in functions if function is not None]
        if len(keys) < len(self.keys) or len(known) < len(functions) or not (keys or known):
            return None
        return spi.Aggregation(tuple(keys), tuple(known))


def spark_aggregation(aggregation: AggregationWords, columns: Mapping[str, ColumnHandle]) -> SparkAggregation:
    """What Spark offers, of a table's columns.

    Args:
        aggregation: What it offers.
        columns: The table's columns by name.
    """
    keys = tuple(_column(node, columns) for node in aggregation.keys)
    calls = (_Call(one.name, _column(one.column, columns), one.distinct) for one in aggregation.functions)
    return SparkAggregation(keys, tuple(calls))


def grouped_schema(aggregation: spi.Aggregation) -> pa.Schema:
    """What Spark sees of an aggregation that a connector computes: the keys, then the functions."""
    fields = [(key.name, _type(key)) for key in aggregation.keys]
    fields += [(str(one), task_schema(pa.schema([("f", one.type)])).field(0).type) for one in aggregation.functions]
    return _numbered(fields)


def is_ordered(data_type: pa.DataType) -> bool:
    """Arrow and Spark agree on which values are equal and which is less; texts of ours have Spark's binary order."""
    types = pa.types
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_string, types.is_binary)
    return any(test(data_type) for test in (*tests, types.is_date32, types.is_timestamp))


def _aggregate(call: _Call) -> Aggregate | None:
    if call.name == "CountStar":
        return Aggregate(AggregateFunction.COUNT_ROWS, "", pa.int64())
    function = _FUNCTIONS.get(call.name)
    if function is None or call.distinct or call.column is None or not _TAKEN[function](_type(call.column)):
        return None
    return Aggregate(function, call.column.name, _type(call.column))


def _function(call: _Call) -> spi.AggregateFunction | None:
    if call.name == "CountStar":
        return spi.AggregateFunction(spi.AggregateKind.COUNT_ROWS, None, pa.int64())
    function, column = _FUNCTIONS.get(call.name), call.column
    if function is None or call.distinct or column is None:
        return None
    if function is AggregateFunction.COUNT:
        return spi.AggregateFunction(_KINDS[function], column, pa.int64()) if _is_counted(column.type) else None
    if function is AggregateFunction.SUM:
        result = _sum_type(column.type)
        return None if result is None else spi.AggregateFunction(_KINDS[function], column, result)
    return spi.AggregateFunction(_KINDS[function], column, column.type) if is_ordered(column.type) else None


def _sum_type(data_type: pa.DataType) -> pa.DataType | None:
    """Of sums that overflow nowhere and do not depend on the order of rows: not those of doubles and of longs."""
    if pa.types.is_signed_integer(data_type) and data_type.bit_width <= 32:
        return pa.int64()
    if pa.types.is_decimal(data_type) and data_type.precision <= _MOST_SUM_DIGITS:
        return pa.decimal128(data_type.precision + 10, data_type.scale)
    return None


def _numbered(fields: list[tuple[str, pa.DataType]]) -> pa.Schema:
    """With different names."""
    names = [name if [n for n, _ in fields].count(name) == 1 else f"{name} {i}" for i, (name, _) in enumerate(fields)]
    return pa.schema([(name, data_type) for name, (_, data_type) in zip(names, fields, strict=True)])


def _column(node: PlanNode | None, columns: Mapping[str, ColumnHandle]) -> ColumnHandle | None:
    return columns.get(node.parts[0]) if isinstance(node, FieldNode) and len(node.parts) == 1 else None


def _type(column: ColumnHandle) -> pa.DataType:
    return task_schema(pa.schema([(column.name, column.type)])).field(0).type


def _is_summed(data_type: pa.DataType) -> bool:
    types = pa.types
    if types.is_decimal(data_type):
        return bool(data_type.precision >= _FEWEST_SUM_DIGITS)
    return bool(types.is_integer(data_type) or types.is_floating(data_type))


def _is_averaged(data_type: pa.DataType) -> bool:
    types = pa.types
    if types.is_decimal(data_type):
        return data_type.precision in _AVERAGE_DIGITS
    return bool(types.is_floating(data_type) or (types.is_integer(data_type) and data_type.bit_width < 64))


def _is_counted(data_type: pa.DataType) -> bool:
    return not pa.types.is_nested(data_type) and not pa.types.is_null(data_type)


_TAKEN: dict[AggregateFunction, Callable[[pa.DataType], bool]] = {
    AggregateFunction.COUNT: _is_counted,
    AggregateFunction.SUM: _is_summed,
    AggregateFunction.MIN: is_ordered,
    AggregateFunction.MAX: is_ordered,
}
