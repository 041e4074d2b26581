"""Comparing tables as multisets of rows; a difference names the column, the row and both values.

``assert_same_table`` compares types, too. Of ``Rows`` that are compared by ``==``, ``explain_rows`` says what differs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import pyarrow as pa

__all__ = ["Row", "Rows", "assert_same_table", "bag", "explain_rows", "first_difference"]

Row = tuple[object, ...]


class Rows(Counter[Row]):
    """Rows without order, each with how often it comes.

    Attributes:
        names: Of the columns, for messages; empty where nobody knows them.
    """

    names: tuple[str, ...]

    def __init__(self, rows: Iterable[Row] | Mapping[Row, int] = (), names: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.names = tuple(names)


def assert_same_table(met: pa.Table, expected: pa.Table) -> None:
    """Same columns in the same order, same types, same rows in any order."""
    from connector_spi.testing.base import same_type  # conftest.py loads this module: it stays light

    assert met.column_names == expected.column_names, f"columns {met.column_names}, not {expected.column_names}"
    differing = [
        (one.name, one.type, other.type)
        for one, other in zip(met.schema, expected.schema, strict=True)
        if not same_type(one.type, other.type)
    ]
    assert not differing, f"column, type met, type expected: {differing}"
    difference = first_difference(bag(met), bag(expected), met.column_names)
    assert difference is None, difference


def bag(table: pa.Table) -> Rows:
    """The rows with how often each comes."""
    names = table.column_names
    return Rows((tuple(_frozen(row[name]) for name in names) for row in table.to_pylist()), names)


def explain_rows(left: object, right: object) -> list[str] | None:
    """What pytest says where ``assert left == right`` fails for rows; ``None`` for other values."""
    if not isinstance(left, Rows) or not isinstance(right, Counter):
        return None
    difference = first_difference(left, right, left.names)
    return None if difference is None else ["rows differ", *difference.splitlines()]


def first_difference(met: Counter[Row], expected: Counter[Row], names: Sequence[str] = ()) -> str | None:
    """The first row that is missing or should not be there, and where one comes close, the column that differs."""
    missing = sorted((expected - met).elements(), key=repr)
    surplus = sorted((met - expected).elements(), key=repr)
    if not missing and not surplus:
        return None
    counts = f"rows: {len(missing)} missing, {len(surplus)} that should not be there"
    if not missing:
        return f"{counts}\nfirst that should not be there: {_shown(surplus[0], names)}"
    wanted = missing[0]
    nearest = max(surplus, key=lambda row: _alike(row, wanted), default=())
    if len(nearest) != len(wanted) or not _alike(nearest, wanted):
        return f"{counts}\nfirst that is missing: {_shown(wanted, names)}"
    position = next(at for at, value in enumerate(wanted) if nearest[at] != value)
    return (
        f"{counts}\ncolumn {_name(position, names)}: met {nearest[position]!r}, expected {wanted[position]!r}\n"
        f"in the row {_shown(wanted, names)}"
    )


def _alike(one: Row, other: Row) -> int:
    return sum(left == right for left, right in zip(one, other, strict=False))


def _shown(row: Row, names: Sequence[str]) -> str:
    return ", ".join(f"{_name(position, names)}={value!r}" for position, value in enumerate(row))


def _name(position: int, names: Sequence[str]) -> str:
    return names[position] if position < len(names) else f"#{position}"


def _frozen(value: object) -> Hashable:
    if isinstance(value, dict):
        return tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    assert isinstance(value, Hashable)
    return value
