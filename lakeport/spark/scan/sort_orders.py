"""From Spark's sort orders to those of connectors and tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connector_spi.handles import ColumnHandle
from connector_spi.optional.top_n import SortItem
from lakeport.spark.bridge.plan_words.nodes import FieldNode, OrderWords
from lakeport.spark.scan.aggregates import is_ordered

__all__ = ["sort_items"]

_MOST = 16


def sort_items(orders: Sequence[OrderWords], columns: Mapping[str, ColumnHandle]) -> tuple[SortItem, ...] | None:
    """Sort orders of a table's columns.

    Args:
        orders: Spark's.
        columns: The table's columns by name.

    Returns:
        ``None`` where one is not of a whole column whose values have the same order here and in Spark.
    """
    if len(orders) > _MOST:
        return None
    items: list[SortItem] = []
    for order in orders:
        node = order.node
        column = columns.get(node.parts[0]) if isinstance(node, FieldNode) and len(node.parts) == 1 else None
        if column is None or not is_ordered(column.type):
            return None
        items.append(SortItem(column, order.direction == "ASC", order.nulls == "NULLS FIRST"))
    return tuple(items)
