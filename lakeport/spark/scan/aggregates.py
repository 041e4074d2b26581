"""From Spark's aggregates to those that a task may begin: only where the answer stays exactly Spark's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.handles import ColumnHandle
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.types import task_schema
from lakeport.spark.tasks.aggregate_states import Aggregate, AggregateFunction
from lakeport.spark.tasks.partial_aggregate import PartialAggregation

__all__ = ["has_other_average", "partial_aggregation"]

_FUNCTIONS = {
    "Count": AggregateFunction.COUNT,
    "Sum": AggregateFunction.SUM,
    "Min": AggregateFunction.MIN,
    "Max": AggregateFunction.MAX,
}
_FEWEST_SUM_DIGITS = 6
"""Sums of shorter decimals would leave the task in so many pieces that little is won."""
_AVERAGE_DIGITS = range(12, 29)
"""Spark averages shorter decimals as doubles (``DecimalAggregates``), and sums of longer ones may overflow."""


def partial_aggregation(
    jvm: Jvm, aggregation: JavaObject, columns: Mapping[str, ColumnHandle]
) -> PartialAggregation | None:
    """What tasks can do of an ``org.apache.spark.sql.connector.expressions.aggregate.Aggregation``.

    Args:
        jvm: The door to the JVM.
        aggregation: With no average in it: Spark makes a sum and a count of one.
        columns: The table's columns by name.

    Returns:
        ``None`` where Spark has to do all of it.
    """
    keys = [_column(jvm, node, columns) for node in jvm.items(aggregation.groupByExpressions())]
    aggregates = [_aggregate(jvm, node, columns) for node in jvm.items(aggregation.aggregateExpressions())]
    named = [key for key in keys if key is not None and _is_ordered(_type(key))]
    known = [aggregate for aggregate in aggregates if aggregate is not None]
    if len(named) < len(keys) or len(known) < len(aggregates) or not (keys or aggregates):
        return None
    fields = [(key.name, _type(key)) for key in named] + [(str(a), a.result_type) for a in known]
    names = [name if [n for n, _ in fields].count(name) == 1 else f"{name} {i}" for i, (name, _) in enumerate(fields)]
    schema = pa.schema([(name, data_type) for name, (_, data_type) in zip(names, fields, strict=True)])
    return PartialAggregation(tuple(key.name for key in named), tuple(known), schema)


def has_other_average(jvm: Jvm, aggregation: JavaObject, columns: Mapping[str, ColumnHandle]) -> bool:
    """Whether there is an average that is not exactly the quotient of Spark's sum and count.

    That of longs is: their average does not overflow, while their sum does.
    """
    for node in jvm.items(aggregation.aggregateExpressions()):
        if jvm.class_name(node) == "Avg":
            column = _column(jvm, node.column(), columns)
            if column is None or not _is_averaged(_type(column)):
                return True
    return False


def _aggregate(jvm: Jvm, node: JavaObject, columns: Mapping[str, ColumnHandle]) -> Aggregate | None:
    name = jvm.class_name(node)
    if name == "CountStar":
        return Aggregate(AggregateFunction.COUNT_ROWS, "", pa.int64())
    function = _FUNCTIONS.get(name)
    if function is None or (name in ("Count", "Sum") and node.isDistinct()):
        return None
    column = _column(jvm, node.column(), columns)
    if column is None or not _TAKEN[function](_type(column)):
        return None
    return Aggregate(function, column.name, _type(column))


def _column(jvm: Jvm, node: JavaObject, columns: Mapping[str, ColumnHandle]) -> ColumnHandle | None:
    if jvm.class_name(node) != "FieldReference":
        return None
    parts = jvm.texts(node.fieldNames())
    return columns.get(parts[0]) if len(parts) == 1 else None


def _type(column: ColumnHandle) -> pa.DataType:
    return task_schema(pa.schema([(column.name, column.type)])).field(0).type


def _is_ordered(data_type: pa.DataType) -> bool:
    """Arrow and Spark agree on which values are equal and which is less; texts of ours have Spark's binary order."""
    types = pa.types
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_string, types.is_binary)
    return any(test(data_type) for test in (*tests, types.is_date32, types.is_timestamp))


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
    AggregateFunction.MIN: _is_ordered,
    AggregateFunction.MAX: _is_ordered,
}
