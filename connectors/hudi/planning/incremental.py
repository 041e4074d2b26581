"""Which file slices an incremental query reads: those that the writes of its range made. Driver side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from connector_spi.errors import FileMissingError, InvalidArgumentError
from connector_spi.predicate import Domain
from connectors.hudi.error_codes import HUDI_BAD_OPTION, HUDI_CLEANED
from connectors.hudi.file_group.names import parse_base_file_name
from connectors.hudi.file_group.slices import FileSlice, latest_file_slices, parse_listing
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.planning.file_slice_plan import FileSlicePlan, PartitionSlices
from connectors.hudi.planning.listing import PartitionWalk
from connectors.hudi.read_options import FALLBACK, PATH_GLOB
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.snapshots.time_travel import what_is_left
from connectors.hudi.timeline.instant import Instant
from connectors.toolkit.storage.filesystem import FileInfo, join_path
from connectors.toolkit.storage.globs import glob_regex

__all__ = ["plan_writes"]


def plan_writes(
    snapshot: HudiSnapshot, table: HudiTableHandle, domains: Mapping[str, Domain], pool: ThreadPoolExecutor
) -> FileSlicePlan:
    """Finds the file slices that the writes of the handle's range made.

    A group that a write of the range replaced does not count; of each other group it is the newest file of the range
    that does (IncrementalRelationV2).

    Raises:
        InvalidArgumentError: Files of the range are no longer on storage; says what is left.
    """
    assert table.writes is not None
    walk = PartitionWalk(snapshot, table.partition_paths, domains, pool)
    wanted = frozenset(table.writes.instants)
    instants = [item for item in snapshot.view.instants if item.requested in wanted]
    written, replaced = _written_files(snapshot, instants)
    listed = _listed(snapshot, table, walk, written, replaced)
    is_asked = _path_test(table.writes.path_glob)
    partitions = []
    for path, contents in listed.items():
        data = parse_listing((info.path, info.size, info.modified_millis) for info in contents)
        gone = frozenset(replaced.get(path, ()))
        names = partial(snapshot.written_names, path)
        slices = latest_file_slices(
            files=data,
            view=snapshot.view,
            layout=snapshot.config.layout,
            replaced=gone,
            written_names=names,
            archived_completion=snapshot.archived_completion,
        )
        partitions.append(PartitionSlices(path, tuple(item for item in slices if is_asked(item))))
    return FileSlicePlan(tuple(partitions), walk.pruned, unlisted=tuple(walk.unlisted))


def _path_test(glob: str) -> Callable[[FileSlice], bool]:
    """Whether a slice is asked by the path of its base file, else of its newest log (IncrementalRelationV2,
    MergeOnReadIncrementalRelationV2)."""
    if not glob:
        return lambda file_slice: True
    try:
        matches = re.compile(glob_regex(f"*{glob}"), re.DOTALL).fullmatch
    except ValueError as error:
        raise InvalidArgumentError(f"option '{PATH_GLOB}': {error}", HUDI_BAD_OPTION) from error
    return lambda file_slice: matches((file_slice.base or file_slice.logs[-1]).path) is not None


def _written_files(
    snapshot: HudiSnapshot, instants: Sequence[Instant]
) -> tuple[dict[str, dict[str, Instant]], dict[str, set[str]]]:
    """Names of the files that writes made, with the write, and ids of the groups that they replaced; by partition."""
    written: dict[str, dict[str, Instant]] = defaultdict(dict)
    replaced: dict[str, set[str]] = defaultdict(set)
    for instant in instants:
        commit = snapshot.commit(instant)
        for stat in commit.stats:
            if stat.path:
                written[stat.partition][stat.path.rpartition("/")[2]] = instant
        for partition, ids in commit.replaced:
            replaced[partition].update(ids)
    return written, replaced


def _listed(
    snapshot: HudiSnapshot,
    table: HudiTableHandle,
    walk: PartitionWalk,
    written: Mapping[str, Mapping[str, Instant]],
    replaced: Mapping[str, set[str]],
) -> dict[str, list[FileInfo]]:
    """The written files on storage, by partition; the newest base file of each group has to be there."""
    try:
        listed = walk.only(written)
    except FileMissingError as error:
        raise _cleaned(snapshot, table, error.message) from error
    for path, contents in listed.items():
        newest: dict[str, str] = {}
        for name in sorted(written[path], key=lambda item: written[path][item].requested):
            parsed = parse_base_file_name(name)
            if parsed is not None and parsed.file_id not in replaced.get(path, ()):
                newest[parsed.file_id] = name
        missing = set(newest.values()) - {info.name for info in contents}
        if missing:
            raise _cleaned(snapshot, table, f"base file {join_path(path, min(missing))} is not on storage")
        listed[path] = [info for info in contents if info.name in written[path]]
    return listed


def _cleaned(snapshot: HudiSnapshot, table: HudiTableHandle, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{table.name}: the {table.snapshot} cannot be read any more: {what}, since Hudi's cleaner removed it; "
        f"{what_is_left(snapshot)}; read from a later instant, or look for the rows in the newest state with "
        f"'{FALLBACK}'",
        HUDI_CLEANED,
    )
