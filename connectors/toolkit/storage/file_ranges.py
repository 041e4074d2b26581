"""Cutting files into ranges. Driver side."""

from __future__ import annotations

__all__ = ["file_ranges"]

_TOLERANCE = 1.1


def file_ranges(size: int, max_bytes: int, start: int = 0) -> list[tuple[int, int]]:
    """Cuts a file into ranges of about ``max_bytes``: offset and length of each, in order.

    A last range shorter than a tenth of it is joined to the one before (``FileInputFormat.SPLIT_SLOP``).

    Args:
        size: Bytes of the file, or of a range of it.
        max_bytes: Of a range.
        start: The first byte.
    """
    ranges = []
    end = start + size
    while (end - start) / max_bytes > _TOLERANCE:
        ranges.append((start, max_bytes))
        start += max_bytes
    if start < end:
        ranges.append((start, end - start))
    return ranges
