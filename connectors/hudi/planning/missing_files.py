"""Files that the timeline names and storage lacks. Driver side.

A listing alone cannot distinguish a file that was never there from one that is gone; rows would be missing silently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from connector_spi.errors import FileMissingError, InvalidArgumentError
from connectors.hudi.error_codes import HUDI_CLEANED, HUDI_MISSING_BASE_FILE
from connectors.hudi.file_group.names import parse_base_file_name, parse_log_file_name
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.timeline.commit_metadata import CommitMetadata
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant, InstantState
from connectors.hudi.timeline.view import committed_test
from connectors.toolkit.storage.filesystem import FileInfo, join_path

__all__ = ["check_later_writes", "check_written_files", "check_written_logs"]

Listed = Mapping[str, list[FileInfo]]
Keeps = Callable[[str, bool], bool]


def check_written_files(snapshot: HudiSnapshot, listed: Listed, keeps: Keeps) -> None:
    """Finds base files that the writes of a view made last in their groups and storage lacks.

    Of the newest view the latest write alone is looked at: a cleaner removes no newer file than those before it.

    Args:
        snapshot: The table.
        listed: Files on storage by partition path.
        keeps: Whether the query wants a partition.

    Raises:
        FileMissingError: One is gone.
        InvalidArgumentError: With time travel: one was cleaned since.
    """
    travels = snapshot.view.until is not None
    newest: dict[tuple[str, str], tuple[Instant, str]] = {}
    for instant in snapshot.view.instants if travels else snapshot.view.instants[-1:]:
        for stat in snapshot.commit(instant).stats:
            if stat.path and parse_base_file_name(_name(stat.path)) is not None:
                newest[stat.partition, stat.file_id] = instant, stat.path
    names = {path: {info.name for info in contents} for path, contents in listed.items()}
    replaced = snapshot.replaced()
    for (partition, file_id), (instant, path) in newest.items():
        if file_id in replaced.get(partition, ()) or not keeps(partition, True):
            continue
        if _name(path) not in names.get(partition, ()):
            raise _missing(snapshot, path, instant) if not travels else _cleaned(snapshot, f"base file {path}")


def check_written_logs(snapshot: HudiSnapshot, listed: Listed, keeps: Keeps) -> None:
    """Finds logs of the newest file slices that the writes of a view made and storage lacks.

    Logs of older slices may have been cleaned. What was rolled back is on no timeline.

    Args:
        snapshot: The table.
        listed: Files on storage by partition path.
        keeps: Whether the query wants a partition.

    Raises:
        FileMissingError: One is gone.
        InvalidArgumentError: With time travel: one was cleaned since.
    """
    if not snapshot.config.merge_on_read:
        return
    names = {path: {info.name for info in contents} for path, contents in listed.items()}
    bases = _newest_bases(snapshot, names)
    replaced = snapshot.replaced()
    for instant in snapshot.view.instants:
        written_at = instant.completion or instant.requested
        if instant.action != "deltacommit" or instant.archived or (bases and written_at < min(bases.values())):
            continue
        for stat in snapshot.commit(instant).stats:
            log = parse_log_file_name(_name(stat.path)) if stat.path else None
            if stat.path is None or log is None or log.change_data or stat.file_id in replaced.get(stat.partition, ()):
                continue
            slice_instant = log.instant if snapshot.config.layout == 1 else written_at
            is_older = slice_instant < bases.get((stat.partition, stat.file_id), "")
            if is_older or not keeps(stat.partition, True) or _name(stat.path) in names.get(stat.partition, ()):
                continue
            if snapshot.view.until is not None:
                raise _cleaned(snapshot, f"log file {stat.path}")
            raise _missing(snapshot, stat.path, instant, "log file")


def check_later_writes(snapshot: HudiSnapshot, listed: Listed, keeps: Keeps) -> None:
    """With time travel: finds what later writes say was there and storage lacks.

    Raises:
        InvalidArgumentError: Files of that time were cleaned since.
    """
    until = snapshot.view.until
    if until is None:
        return
    later = [
        snapshot.commit(item)
        for item in snapshot.active
        if item.requested > until and item.state is InstantState.COMPLETED and item.action in WRITE_ACTIONS
    ]
    present = {path: _groups(contents, until) for path, contents in listed.items()}
    for partition, file_id in _known_before(later, until):
        replaced = snapshot.replaced().get(partition, ())
        if file_id not in replaced and keeps(partition, True) and file_id not in present.get(partition, ()):
            raise _cleaned(snapshot, f"file group {file_id} in partition '{partition}'")


def _known_before(later: list[CommitMetadata], until: str) -> list[tuple[str, str]]:
    """Partition and id of the groups that had rows at an instant, as the writes after it record."""
    was_there: dict[tuple[str, str], bool] = {}
    for commit in later:
        for stat in commit.stats:
            # A group's first write names the one before itself; its later ones do, too.
            was_there.setdefault((stat.partition, stat.file_id), stat.previous is not None and stat.previous <= until)
        for partition, ids in commit.replaced:
            for file_id in ids:
                was_there.setdefault((partition, file_id), True)
    return sorted(group for group, before in was_there.items() if before)


def _groups(contents: list[FileInfo], until: str) -> set[str]:
    names = [parse_base_file_name(info.name) or parse_log_file_name(info.name) for info in contents]
    return {name.file_id for name in names if name is not None and name.instant <= until}


def _newest_bases(snapshot: HudiSnapshot, names: Mapping[str, set[str]]) -> dict[tuple[str, str], str]:
    """Requested time of the newest visible base file of each file group, by partition and id."""
    is_committed = committed_test(snapshot.view)
    newest: dict[tuple[str, str], str] = {}
    for partition, contents in names.items():
        for name in contents:
            base = parse_base_file_name(name)
            if base is not None and is_committed(base.instant):
                key = partition, base.file_id
                newest[key] = max(newest.get(key, ""), base.instant)
    return newest


def _missing(snapshot: HudiSnapshot, path: str, instant: Instant, kind: str = "base file") -> FileMissingError:
    return FileMissingError(
        f"{kind} {join_path(snapshot.location, path)}, written at instant {instant.requested}, is not on storage; "
        "it was deleted by hand, or by Hudi's cleaner while the query was planned: run the query again, or restore "
        "the file",
        HUDI_MISSING_BASE_FILE,
    )


def _cleaned(snapshot: HudiSnapshot, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{snapshot.location} cannot be read as of {snapshot.view.until}: {what} of that time is no longer on "
        "storage, since Hudi's cleaner removed it; read a later instant",
        HUDI_CLEANED,
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]
