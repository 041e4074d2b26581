"""What Spark hands over while it plans, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "AggregateWords",
    "AggregationWords",
    "CastNode",
    "ExtractNode",
    "FieldNode",
    "LiteralNode",
    "OrderWords",
    "OtherNode",
    "PlanNode",
    "PredicateNode",
    "PredicateWords",
]


@dataclass(frozen=True, slots=True)
class FieldNode:
    """A column, or a field of one.

    Attributes:
        parts: The names of the column and of the fields, from outside in.
    """

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LiteralNode:
    """A value.

    Attributes:
        type_json: Spark's type of it.
        value: Catalyst's internal value: a boolean, bytes, a float, ``None``, or the text of another one.
    """

    type_json: str
    value: str | bool | bytes | float | None


@dataclass(frozen=True, slots=True)
class ExtractNode:
    """A part of a date or time.

    Attributes:
        field: Spark's name of the part, such as ``YEAR``.
        source: What it is of.
    """

    field: str
    source: PlanNode


@dataclass(frozen=True, slots=True)
class CastNode:
    """A cast.

    Attributes:
        type_json: Spark's type of the result.
        source: What is cast.
    """

    type_json: str
    source: PlanNode


@dataclass(frozen=True, slots=True)
class OtherNode:
    """An expression that is not looked into.

    Attributes:
        kind: Its class.
    """

    kind: str


@dataclass(frozen=True, slots=True)
class PredicateNode:
    """A condition.

    Attributes:
        name: Spark's name of it, such as ``AND`` or ``<=>``.
        children: What it is of.
    """

    name: str
    children: tuple[PlanNode, ...]


PlanNode = FieldNode | LiteralNode | ExtractNode | CastNode | OtherNode | PredicateNode


@dataclass(frozen=True, slots=True)
class PredicateWords:
    """A ``org.apache.spark.sql.connector.expressions.filter.Predicate``.

    Attributes:
        text: Its SQL.
        node: ``None`` where it has too many nodes.
    """

    text: str
    node: PredicateNode | None


@dataclass(frozen=True, slots=True)
class AggregateWords:
    """An ``AggregateFunc``.

    Attributes:
        name: Its class, such as ``Sum``.
        column: What it is of; ``None`` for rows.
        distinct: Of different values only.
    """

    name: str
    column: PlanNode | None
    distinct: bool


@dataclass(frozen=True, slots=True)
class AggregationWords:
    """An ``org.apache.spark.sql.connector.expressions.aggregate.Aggregation``.

    Attributes:
        keys: What is grouped by.
        functions: What is computed.
    """

    keys: tuple[PlanNode, ...]
    functions: tuple[AggregateWords, ...]


@dataclass(frozen=True, slots=True)
class OrderWords:
    """An ``org.apache.spark.sql.connector.expressions.SortOrder``.

    Attributes:
        node: What is sorted by.
        direction: ``ASC`` or ``DESC``.
        nulls: ``NULLS FIRST`` or ``NULLS LAST``.
    """

    node: PlanNode
    direction: str
    nulls: str
