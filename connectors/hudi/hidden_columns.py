"""Columns that every row has and ``SELECT *`` does not show. Both sides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa

from connector_spi.predicate import Value
from connectors.hudi.handles import HudiSplit

__all__ = ["FILE_MODIFIED_TIME", "HIDDEN_COLUMNS", "HIDDEN_NAMES", "hidden_values"]

FILE_MODIFIED_TIME = "$file_modified_time"

_PATH = "$path"
_PARTITION = "$partition"
_FILE_SIZE = "$file_size"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

HIDDEN_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    (_PATH, pa.string()),
    (_PARTITION, pa.string()),
    (_FILE_SIZE, pa.int64()),
    (FILE_MODIFIED_TIME, pa.timestamp("us", "UTC")),
)
"""Name and type of each."""

HIDDEN_NAMES = frozenset(name for name, _ in HIDDEN_COLUMNS)
"""The names alone."""


def hidden_values(split: HudiSplit) -> dict[str, Value | None]:
    """Values of the hidden columns of a split's rows, by name."""
    return {
        _PATH: split.path,
        _PARTITION: split.partition,
        _FILE_SIZE: split.file_size,
        FILE_MODIFIED_TIME: _EPOCH + timedelta(milliseconds=split.modified_millis),
    }
