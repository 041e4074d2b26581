"""Counts for ``EXPLAIN ANALYZE`` of the parts of files, such as row groups, that statistics let readers skip."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connector_spi.scan_counters import count, is_counting

__all__ = ["count_parts"]


def count_parts(
    what: str,
    asked: Sequence[int],
    kept: Sequence[int],
    predicate: TupleDomain[ColumnHandle],
    matching: Callable[[TupleDomain[ColumnHandle]], Sequence[int]],
) -> None:
    """Counts parts read and skipped, and those that the statistics of one column alone exclude.

    Args:
        what: Name of the parts in the plural.
        asked: Those of the range of a file.
        kept: Those that may hold rows of the predicate.
        predicate: What was asked.
        matching: Those that may hold rows of another predicate; called only where somebody is counting.
    """
    if not is_counting():
        return
    count(f"{what} read", len(kept))
    count(f"{what} skipped", len(asked) - len(kept))
    if len(kept) == len(asked):
        return
    for column in predicate.domains or {}:
        left = matching(predicate.keep(lambda other, column=column: other == column))  # type: ignore[misc]
        if len(left) < len(asked):
            count(f"{what} that the statistics of {column.name} exclude", len(asked) - len(left))
