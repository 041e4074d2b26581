"""Comparing tables as multisets of rows, types included."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable

import pyarrow as pa

from connector_spi.testing.base import same_type


def assert_same_table(met: pa.Table, expected: pa.Table) -> None:
    """Same columns in the same order, same types, same rows in any order."""
    assert met.column_names == expected.column_names
    differing = [
        (one.name, one.type, other.type)
        for one, other in zip(met.schema, expected.schema, strict=True)
        if not same_type(one.type, other.type)
    ]
    assert not differing
    met_rows, expected_rows = bag(met), bag(expected)
    assert not expected_rows - met_rows, "rows are missing"
    assert not met_rows - expected_rows, "rows that should not be there"


def bag(table: pa.Table) -> Counter[Hashable]:
    """The rows with how often each comes."""
    return Counter(_frozen(row) for row in table.to_pylist())


def _frozen(value: object) -> Hashable:
    if isinstance(value, dict):
        return tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    assert isinstance(value, Hashable)
    return value
