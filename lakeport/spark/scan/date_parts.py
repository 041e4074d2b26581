"""Conditions on the year or the day of a column, as the values of the column that they may be true for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, Value, ValueSet
from lakeport.spark.bridge.plan_words.nodes import CastNode, ExtractNode, FieldNode, LiteralNode, PlanNode
from lakeport.spark.scan.predicate_values import python_literal

__all__ = ["date_part_domain"]

_DAY = timedelta(days=1)
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DAYS = '"date"'
# Python's dates end here; one more on each side is for zones.
_FIRST_YEAR, _LAST_YEAR = 2, 9997

_DaysOf = Callable[[object], tuple[date, date] | None]


def date_part_domain(
    name: str, children: Sequence[PlanNode], columns: Mapping[str, ColumnHandle]
) -> tuple[ColumnHandle, Domain] | None:
    """The values of a column for which a condition such as ``year(at) = 2024`` or ``cast(at AS date) < d`` may be true.

    It contains all of them, and may contain others: which day an instant is on depends on the zone.

    Args:
        name: Spark's name of the comparison.
        children: What is compared.
        columns: The table's columns by name.

    Returns:
        ``None`` where it is no such condition, or nothing follows from it.
    """
    if len(children) == 2 and isinstance(children[0], LiteralNode):
        name, children = _MIRRORED.get(name, name), children[::-1]
    if not children or (len(children) != 2 and name != "IN"):
        return None
    found = _part(children[0], columns)
    if found is None:
        return None
    column, type_json, days_of = found
    days: list[tuple[date, date]] = []
    for literal in children[1:]:
        if not isinstance(literal, LiteralNode) or literal.type_json != type_json:
            return None
        if literal.value is None:
            # Only a comparison with NULL that gives NULL: no row fits because of it.
            if name == "<=>":
                return None
            continue
        one = days_of(literal.value)
        if one is None:
            return None
        days.append(one)
    ranges = [_range(name, column.type, *one) for one in days]
    known = [one for one in ranges if one is not None]
    if not known or len(known) < len(ranges):
        return None
    return column, Domain.create(ValueSet.of_ranges(column.type, known), False)


def _part(node: PlanNode, columns: Mapping[str, ColumnHandle]) -> tuple[ColumnHandle, str, _DaysOf] | None:
    """The column that a part is of, Spark's type of the part, and the days from and before which it has a value."""
    if isinstance(node, ExtractNode) and node.field == "YEAR":
        column = _of_days(node.source, columns)
        return None if column is None else (column, '"integer"', _year)
    if isinstance(node, CastNode):
        column = _of_days(node, columns)
        return None if column is None else (column, _DAYS, _day)
    return None


def _of_days(node: PlanNode, columns: Mapping[str, ColumnHandle]) -> ColumnHandle | None:
    """A column of dates or times, as it is or as dates."""
    if isinstance(node, CastNode) and node.type_json == _DAYS:
        node = node.source
    if not isinstance(node, FieldNode) or len(node.parts) != 1:
        return None
    column = columns.get(node.parts[0])
    is_of_days = column is not None and (pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type))
    return column if is_of_days else None


def _year(value: object) -> tuple[date, date] | None:
    year = int(str(value))
    return (date(year, 1, 1), date(year + 1, 1, 1)) if _FIRST_YEAR <= year <= _LAST_YEAR else None


def _day(value: object) -> tuple[date, date] | None:
    day = python_literal(value, pa.date32())
    if not isinstance(day, date) or not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        return None
    return day, day + _DAY


def _range(name: str, data_type: pa.DataType, first: date, behind: date) -> Range | None:
    """The values whose part compares so with the part of the days from ``first`` on and before ``behind``."""
    low, high = _value(data_type, first, -_DAY), _value(data_type, behind, _DAY)
    if name in ("=", "<=>", "IN"):
        return Range.between(data_type, low, True, high, False)
    if name in ("<", "<="):
        return Range.less_than(data_type, high if name == "<=" else _value(data_type, first, _DAY))
    if name in (">", ">="):
        return Range.greater_or_equal(data_type, low if name == ">=" else _value(data_type, behind, -_DAY))
    return None


def _value(data_type: pa.DataType, day: date, spare: timedelta) -> Value:
    """A day as a value of a type; of times with some more, for whatever zone the day is in."""
    if pa.types.is_date32(data_type):
        return day
    wall = datetime.combine(day, time()) + spare
    return wall if data_type.tz is None else wall.replace(tzinfo=UTC)
