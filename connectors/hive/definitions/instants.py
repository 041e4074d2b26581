"""Where a table has ``timestamp with local time zone``: ``TIMESTAMP`` in a statement is Hive's type without a zone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pyarrow as pa

__all__ = ["INSTANT_COLUMNS", "instant_paths", "with_instants"]

INSTANT_COLUMNS = "timestamp_with_local_time_zone"
"""Property that names the columns and nested fields of this type, such as ``at,visits.element.start``."""


def instant_paths(name: str, arrow: pa.DataType) -> Iterator[str]:
    """Names, in lower case, of all instants in a column.

    Args:
        name: Of the column.
        arrow: Its type. What is inside of a list is its ``element``; a map has ``key`` and ``value``.
    """
    path = name.lower()
    if pa.types.is_timestamp(arrow) and arrow.tz is not None:
        yield path
    elif pa.types.is_struct(arrow):
        for field in arrow:
            yield from instant_paths(f"{path}.{field.name}", field.type)
    elif pa.types.is_list(arrow):
        yield from instant_paths(f"{path}.element", arrow.value_type)
    elif pa.types.is_map(arrow):
        yield from instant_paths(f"{path}.key", arrow.key_type)
        yield from instant_paths(f"{path}.value", arrow.item_type)


def with_instants(name: str, arrow: pa.DataType, kept: Collection[str]) -> pa.DataType:
    """The type of a column without time zones, but at the paths that are kept; these are as of ``instant_paths``."""
    path = name.lower()
    if pa.types.is_timestamp(arrow):
        return arrow if path in kept else pa.timestamp("us")
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(with_instants(f"{path}.{field.name}", field.type, kept)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(with_instants(f"{path}.element", arrow.value_type, kept))
    if pa.types.is_map(arrow):
        key = with_instants(f"{path}.key", arrow.key_type, kept)
        return pa.map_(key, with_instants(f"{path}.value", arrow.item_type, kept))
    return arrow
