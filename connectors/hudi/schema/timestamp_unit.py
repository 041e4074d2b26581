"""Timestamps whose unit a file may name wrong."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hudi.error_codes import HUDI_TIMESTAMP_UNIT

__all__ = ["check_unit"]


def check_unit(column: ColumnHandle, source: pa.DataType, path: str) -> None:
    """Refuses a column of milliseconds whose file says microseconds.

    Hudi before 1.1 could label milliseconds as microseconds; the file does not distinguish the two.

    Args:
        column: The table's column.
        source: Its type in the file.
        path: The file.

    Raises:
        NotSupportedError: It is so.
    """
    if _has_unit(column.type, "ms") and _has_unit(source, "us"):
        raise NotSupportedError(
            f"column '{column.name}' holds milliseconds by the table's schema and microseconds by {path}; "
            "some versions of Hudi wrote the wrong label: leave the column out, or rewrite the table with Hudi 1.1",
            HUDI_TIMESTAMP_UNIT,
        )


def _has_unit(arrow: pa.DataType, unit: str) -> bool:
    if pa.types.is_timestamp(arrow):
        return bool(arrow.unit == unit)
    return any(_has_unit(arrow.field(index).type, unit) for index in range(arrow.num_fields))
