"""Reads predicates, aggregates and sort orders of Spark's.

``PlanWords.java`` puts each into one text. Where Java has no such class, the same values are asked for one by one,
with a round trip or more for each node; see docs/adr/0013.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.plan_words.nodes import (
    AggregateWords,
    AggregationWords,
    CastNode,
    ExtractNode,
    FieldNode,
    LiteralNode,
    OrderWords,
    OtherNode,
    PlanNode,
    PredicateNode,
    PredicateWords,
)

__all__ = [
    "MOST_NODES",
    "aggregation_of_words",
    "chosen",
    "orders_of_words",
    "plan_words",
    "predicates_of_words",
    "read_aggregation",
    "read_orders",
    "read_predicates",
]

MOST_NODES = 2000
"""Predicates in a predicate; one of more is not looked into."""
_PREDICATE = "org.apache.spark.sql.connector.expressions.filter.Predicate"

_FLOATING = ('"double"', '"float"')
_MAYBE_DISTINCT = ("Count", "Sum", "Avg")
_OF_COLUMNS = (*_MAYBE_DISTINCT, "Min", "Max")


def plan_words(jvm: Jvm) -> JavaObject | None:
    """The object of Java that puts plans into words; ``None`` where there is none."""
    return java_classes.function(jvm, "PlanWords")


def read_predicates(jvm: Jvm, predicates: JavaObject) -> list[PredicateWords]:
    """Reads a ``Predicate[]``."""
    words = plan_words(jvm)
    if words is None:
        return [_predicate(jvm, one) for one in jvm.items(predicates)]
    return predicates_of_words(words.predicates(predicates, MOST_NODES))


def predicates_of_words(text: str) -> list[PredicateWords]:
    """A ``Predicate[]`` in what ``PlanWords.java`` tells."""
    return [PredicateWords(sql, None if nodes is None else _tree(nodes)) for sql, nodes in json.loads(text)]


def read_aggregation(jvm: Jvm, aggregation: JavaObject) -> AggregationWords:
    """Reads an ``Aggregation``."""
    words = plan_words(jvm)
    if words is None:
        keys = [_leaf(jvm, node) for node in jvm.items(aggregation.groupByExpressions())]
        functions = [_aggregate(jvm, node) for node in jvm.items(aggregation.aggregateExpressions())]
        return AggregationWords(tuple(keys), tuple(functions))
    return aggregation_of_words(words.aggregation(aggregation))


def aggregation_of_words(text: str) -> AggregationWords:
    """An ``Aggregation`` in what ``PlanWords.java`` tells."""
    named, computed = json.loads(text)
    return AggregationWords(
        tuple(_made_leaf(node) for node in named),
        tuple(AggregateWords(name, column and _made_leaf(column), distinct) for name, column, distinct in computed),
    )


def read_orders(jvm: Jvm, orders: JavaObject) -> list[OrderWords]:
    """Reads a ``SortOrder[]``."""
    words = plan_words(jvm)
    if words is None:
        return [
            OrderWords(
                _leaf(jvm, one.expression()), str(one.direction().toString()), str(one.nullOrdering().toString())
            )
            for one in jvm.items(orders)
        ]
    return orders_of_words(words.orders(orders))


def orders_of_words(text: str) -> list[OrderWords]:
    """A ``SortOrder[]`` in what ``PlanWords.java`` tells."""
    return [OrderWords(_made_leaf(node), direction, nulls) for node, direction, nulls in json.loads(text)]


def chosen(jvm: Jvm, items: JavaObject | None, element_class: str, taken: Sequence[bool]) -> JavaObject:
    """Some items of a Java array.

    Args:
        jvm: The JVM.
        items: The array.
        element_class: Of its items.
        taken: Which of them.
    """
    if items is None or not any(taken):
        return jvm.array(element_class, [])
    if all(taken):
        return items
    words = plan_words(jvm)
    if words is None:
        return jvm.array(element_class, [one for one, take in zip(jvm.items(items), taken, strict=True) if take])
    return words.chosen(items, "".join("x" if take else "-" for take in taken))


def _tree(nodes: list[list[object]]) -> PredicateNode:
    """Of nodes in an order in which children come before parents."""
    made: list[PlanNode] = []
    for node in nodes:
        if node[0] != "predicate":
            made.append(_made_leaf(node))
            continue
        _, name, count = node
        assert isinstance(count, int)
        at = len(made) - count
        made[at:] = [PredicateNode(str(name), tuple(made[at:]))]
    [root] = made
    assert isinstance(root, PredicateNode)
    return root


def _made_leaf(node: Sequence[object]) -> PlanNode:
    kind, *given = node
    if kind == "field":
        [parts] = given
        assert isinstance(parts, list)
        return FieldNode(tuple(parts))
    if kind == "value":
        type_json, value = given
        if isinstance(value, list):
            value = base64.b64decode(value[1])
        return _literal(str(type_json), value)
    if kind in ("extract", "cast"):
        name, source = given
        assert isinstance(source, list)
        inner = _made_leaf(source)
        return ExtractNode(str(name), inner) if kind == "extract" else CastNode(str(name), inner)
    return OtherNode(str(given[0]))


def _literal(type_json: str, value: object) -> LiteralNode:
    if isinstance(value, (bytes, bytearray)):
        return LiteralNode(type_json, bytes(value))
    if value is None or isinstance(value, bool):
        return LiteralNode(type_json, value)
    return LiteralNode(type_json, float(str(value)) if type_json in _FLOATING else str(value))


class _TooLarge(Exception):  # noqa: N818 - a signal
    """The predicate has more nodes than are worth looking at."""


def _predicate(jvm: Jvm, predicate: JavaObject) -> PredicateWords:
    text = str(predicate.toString())
    left = MOST_NODES

    def read(node: JavaObject) -> PredicateNode:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooLarge
        children = jvm.items(node.children())
        return PredicateNode(
            str(node.name()), tuple(read(c) if predicates.isInstance(c) else _leaf(jvm, c) for c in children)
        )

    predicates = jvm.cls("java.lang.Class").forName(_PREDICATE)
    try:
        return PredicateWords(text, read(predicate))
    except _TooLarge:
        return PredicateWords(text, None)


def _leaf(jvm: Jvm, node: JavaObject) -> PlanNode:
    kind = jvm.class_name(node)
    if kind == "FieldReference":
        return FieldNode(tuple(jvm.texts(node.fieldNames())))
    if kind == "LiteralValue":
        return _literal(str(node.dataType().json()), node.value())
    if kind == "Extract" and _is_near_column(jvm, node.source()):
        return ExtractNode(str(node.field()), _leaf(jvm, node.source()))
    if kind == "Cast" and _is_near_column(jvm, node):
        return CastNode(str(node.dataType().json()), _leaf(jvm, node.expression()))
    return OtherNode(kind)


def _is_near_column(jvm: Jvm, node: JavaObject) -> bool:
    """A column or a cast of one: deeper trees are not looked into."""
    inner = node.expression() if jvm.class_name(node) == "Cast" else node
    return jvm.class_name(inner) == "FieldReference"


def _aggregate(jvm: Jvm, node: JavaObject) -> AggregateWords:
    kind = jvm.class_name(node)
    column = _leaf(jvm, node.column()) if kind in _OF_COLUMNS else None
    return AggregateWords(kind, column, kind in _MAYBE_DISTINCT and bool(node.isDistinct()))


def _order(jvm: Jvm, order: JavaObject) -> OrderWords:
    node = _leaf(jvm, order.expression())
    return OrderWords(node, str(order.direction().toString()), str(order.nullOrdering().toString()))
