"""From Spark's sort orders to those of connectors and tasks."""

from __future__ import annotations

from collections.abc import Mapping

from py4j.java_gateway import JavaObject

from connector_spi.handles import ColumnHandle
from connector_spi.optional.top_n import SortItem
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.scan.aggregates import is_ordered

__all__ = ["read_sort_orders"]

_MOST = 16


def read_sort_orders(jvm: Jvm, orders: JavaObject, columns: Mapping[str, ColumnHandle]) -> tuple[SortItem, ...] | None:
    """An array of ``org.apache.spark.sql.connector.expressions.SortOrder``.

    Args:
        jvm: The door to the JVM.
        orders: The Java array.
        columns: The table's columns by name.

    Returns:
        ``None`` where one is not of a whole column whose values have the same order here and in Spark.
    """
    items: list[SortItem] = []
    for order in jvm.items(orders)[: _MOST + 1]:
        node = order.expression()
        if jvm.class_name(node) != "FieldReference" or len(items) == _MOST:
            return None
        parts = jvm.texts(node.fieldNames())
        column = columns.get(parts[0]) if len(parts) == 1 else None
        if column is None or not is_ordered(column.type):
            return None
        ascending = str(order.direction().toString()) == "ASC"
        items.append(SortItem(column, ascending, str(order.nullOrdering().toString()) == "NULLS FIRST"))
    return tuple(items)
