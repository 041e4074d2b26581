"""Types of columns whose statistics a metastore keeps. Both sides."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

__all__ = ["has_statistics", "is_text"]

_NUMBERS = (pt.is_boolean, pt.is_integer, pt.is_floating, pt.is_decimal, pt.is_date, pt.is_timestamp)
_TEXTS = (pt.is_string, pt.is_large_string, pt.is_binary, pt.is_large_binary)


def has_statistics(kind: pa.DataType) -> bool:
    """Whether a metastore keeps statistics of a column of this type, which it does of no nested ones."""
    return is_text(kind) or any(is_kind(kind) for is_kind in _NUMBERS)


def is_text(kind: pa.DataType) -> bool:
    """Whether they are of lengths, and not of bounds."""
    return any(is_kind(kind) for is_kind in _TEXTS)
