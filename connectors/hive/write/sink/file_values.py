"""Values as data files hold them; refuses those that a reader would take for others. Executor side."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connectors.hive.schema.text_types import TextRule
from connectors.hive.write.sink.nested_nulls import with_null_fields

__all__ = ["file_columns"]

_GREGORIAN = date(1582, 10, 15)


def file_columns(batch: pa.RecordBatch, rules: Mapping[str, TextRule], file_format: str) -> pa.RecordBatch:
    """The rows as files hold them: without the blanks at the end of ``char`` values.

    Args:
        batch: Columns of the files.
        rules: Columns with ``char`` or ``varchar`` in them, by name.
        file_format: Name of the format.

    Raises:
        InvalidArgumentError: A text is longer than its type.
        NotSupportedError: A time before the Gregorian calendar, which Hive and others keep in different ways; or, in
            ORC, one before 1970 that is no whole second.
    """
    columns = []
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        _check_times(name, array, file_format)
        kept = _text(name, array, rules[name]) if name in rules else array
        columns.append(with_null_fields(kept) if file_format == "orc" else kept)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _text(name: str, array: pa.Array, rule: TextRule) -> pa.Array:
    kept = pc.utf8_rtrim(array, " ") if rule.kind == "char" else array
    longest = pc.max(pc.utf8_length(kept)).as_py() or 0
    if longest > rule.length:
        raise InvalidArgumentError(
            f"column '{name}' is {rule.kind}({rule.length}), a text has {longest} characters; cut it before"
        )
    return kept


def _check_times(name: str, array: pa.Array, file_format: str) -> None:
    if pa.types.is_nested(array.type):
        for child in _children(array):
            _check_times(name, child, file_format)
        return
    if not (pa.types.is_date(array.type) or pa.types.is_timestamp(array.type)):
        return
    first = _GREGORIAN if pa.types.is_date(array.type) else datetime(1582, 10, 15)
    if pc.any(pc.less(array, pa.scalar(first, array.type))).as_py():
        raise NotSupportedError(
            f"column '{name}' has a time before {_GREGORIAN}, when calendars differ; readers of Hive's files do not "
            "agree on its day; write it as a text"
        )
    if file_format == "orc" and pa.types.is_timestamp(array.type) and _has_early_fraction(array):
        raise NotSupportedError(
            f"column '{name}' has a time before 1970 with a fraction of a second, which pyarrow writes into ORC so "
            "that Hive fails on it; cut the fraction, or use a table of Parquet"
        )


def _has_early_fraction(array: pa.Array) -> bool:
    """Whether the seconds of a time would be cut towards 1970 (``WriteTimestampBatch`` of Arrow's ORC adapter)."""
    numbers = array.cast(pa.int64())
    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[array.type.unit]
    whole = pc.multiply(pc.divide(numbers, per_second), per_second)
    return bool(pc.any(pc.and_(pc.less(numbers, 0), pc.not_equal(whole, numbers))).as_py())


def _children(array: pa.Array) -> list[pa.Array]:
    if pa.types.is_struct(array.type):
        return list(array.flatten())
    if pa.types.is_map(array.type):
        return [array.keys, array.items]
    return [array.flatten()]
