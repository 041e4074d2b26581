"""Whether an older version can still be read from a location. Pure.

Once a base is visible, Hive's cleaner may delete older directories, one after the other. So where a base is newer than
the version asked for, the rest is complete only if every committed write id up to the version has a directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from connector_spi.errors import InvalidArgumentError
from connectors.hive import error_codes
from connectors.hive.acid.directories.state import AcidState, committed_directories, is_usable_base
from connectors.hive.acid.layout import AcidDirectory, DirectoryKind
from connectors.hive.acid.valid_ids import AcidSnapshot, RangeValidity, ValidIds

__all__ = ["check_merged", "check_version", "first_gap", "first_valid", "part_merged", "readable_versions"]


def check_version(
    directories: Iterable[AcidDirectory],
    compacted: frozenset[str],
    snapshot: AcidSnapshot,
    state: AcidState,
    location: str,
    *,
    origin_known: bool,
    mergeable: bool = False,
) -> None:
    """Refuses an older version that a location can no longer give.

    Args:
        directories: All directories of the location.
        compacted: Names of compacted bases, by their marker file.
        snapshot: What the statement sees, with the version asked for.
        state: The directories chosen for it.
        location: Path of the table or partition.
        origin_known: Where no base is left, there was nothing before write id 1. It cannot be known where files are
            older than the transactions (some may be missing), nor for an insert-only table, as Hive converts one
            without leaving a gap in its write ids.
        mergeable: Rows hold no write ids, so versions inside a compacted delta do not count as readable.

    Raises:
        InvalidArgumentError: The version is compacted away (code ``HIVE_ACID_HISTORY``); the message says which
            versions are left.
    """
    if snapshot.version is None:
        return
    found, _ = committed_directories(directories, snapshot.transactions)
    bases = _usable(found, compacted, snapshot.write_ids)
    newer = [
        one
        for one in bases
        if one.last > snapshot.version or (snapshot.hidden and not is_usable_base(one, compacted, snapshot.visible))
    ]
    if not newer:
        return
    start = 0 if state.base is None else state.base.last
    # Write id 0 belongs to files older than the transactions: no directory records whether there were any.
    complete = state.base is not None or (origin_known and snapshot.version > 0)
    separate = [one for one in found if one.kind is DirectoryKind.BASE or not (mergeable and one.visibility)]
    if not complete or first_gap(found, start, snapshot.version, snapshot.write_ids) is not None:
        left = ", ".join(
            f"{first} and later" if last is None else str(first) if first == last else f"{first} to {last}"
            for first, last in readable_versions(separate, compacted, snapshot, origin_known)
        )
        raise InvalidArgumentError(
            f"version {snapshot.version} of {location} can no longer be read: {newer[-1].name} has replaced what was "
            f"written until then, and not every write id has a directory of its own; versions that can be read: {left}",
            error_codes.HIVE_ACID_HISTORY,
        )


def readable_versions(
    directories: Iterable[AcidDirectory], compacted: frozenset[str], snapshot: AcidSnapshot, origin_known: bool
) -> list[tuple[int, int | None]]:
    """Ranges of versions that a location can still give, ascending; the last one has no end."""
    found, _ = committed_directories(directories, snapshot.transactions)
    ids = snapshot.write_ids
    bases = sorted({max(one.last, 0) for one in _usable(found, compacted, ids)})
    if not bases:
        return [(0, None)]
    starts = bases if bases[0] == 0 or not origin_known else [0, *bases]
    ranges: list[tuple[int, int | None]] = []
    for start, following in pairwise(starts):
        gap = first_gap(found, start, following - 1, ids)
        last = following - 1 if gap is None else gap - 1
        first = start if start in bases else 1
        if last >= first:
            ranges.append((first, last))
    return [*ranges, (starts[-1], None)]


def part_merged(
    directories: Iterable[AcidDirectory], snapshot: AcidSnapshot
) -> tuple[list[AcidDirectory], list[AcidDirectory]]:
    """Parts the directories of an insert-only table into those a version can use, and merged ones that it cannot.

    Rows of such a table hold no write id, so what compaction merged with later rows cannot be separated.
    """
    kept: list[AcidDirectory] = []
    merged: list[AcidDirectory] = []
    for one in directories:
        version = snapshot.version
        spans = version is not None and one.kind is DirectoryKind.DELTA and one.first <= version < one.last
        target = merged if spans and one.visibility and snapshot.transactions.is_valid(one.visibility) else kept
        target.append(one)
    return kept, merged


def check_merged(
    merged: Sequence[AcidDirectory],
    directories: Iterable[AcidDirectory],
    snapshot: AcidSnapshot,
    state: AcidState,
    location: str,
) -> None:
    """Refuses a version of an insert-only table whose rows compaction has merged with later rows.

    Args:
        merged: The merged deltas that the version cannot use.
        directories: The directories that it can use.
        snapshot: What the statement sees, with the version asked for.
        state: The directories chosen for it.
        location: Path of the table or partition.

    Raises:
        InvalidArgumentError: A merged delta has replaced rows of the version (code ``HIVE_ACID_HISTORY``).
    """
    found, _ = committed_directories(directories, snapshot.transactions)
    base = 0 if state.base is None else state.base.last
    for one in merged:
        version = one.last if snapshot.version is None else snapshot.version
        if first_gap(found, max(base, one.first - 1), version, snapshot.write_ids) is not None:
            raise InvalidArgumentError(
                f"version {version} of {location} can no longer be read: {one.name} has merged it with later "
                f"versions, and rows of an insert-only table hold no write ids; versions that can be read: {one.last} "
                "and later",
                error_codes.HIVE_ACID_HISTORY,
            )


def first_gap(found: Iterable[AcidDirectory], after: int, last: int, ids: ValidIds) -> int | None:
    """The first committed id in ``(after, last]`` that is in no delta; ``None`` where none is missing."""
    position = max(after, 0) + 1
    for one in sorted(found, key=lambda one: one.first):
        if one.kind is DirectoryKind.BASE or one.last < position:
            continue
        committed = first_valid(ids, position, min(one.first - 1, last))
        if committed is not None:
            return committed
        position = max(position, one.last + 1)
    return first_valid(ids, position, last)


def first_valid(ids: ValidIds, first: int, last: int) -> int | None:
    """The first committed id from ``first`` to ``last``."""
    if first > last or ids.range_validity(first, last) is RangeValidity.NONE:
        return None
    return next(one for one in range(first, last + 1) if ids.is_valid(one))


def _usable(found: Sequence[AcidDirectory], compacted: frozenset[str], ids: ValidIds) -> list[AcidDirectory]:
    bases = [one for one in found if one.kind is DirectoryKind.BASE and is_usable_base(one, compacted, ids)]
    return sorted(bases, key=lambda one: one.last)
