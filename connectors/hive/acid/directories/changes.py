"""The files of a folder that tell the changes of a span of write ids. Driver side.

A row lives from the write id that inserted it to the one that deleted it, or to the next that replaced everything. So
the changes of a span follow from the rows that were there before it, those that it inserted, and its delete
events. All are read from what the writers themselves left: what a base of a later compaction took over says neither
when a row came nor that others went.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.optional.changes import ChangeType
from connectors.hive import error_codes
from connectors.hive.acid.changes import BEFORE_ALL, ChangeSpan, FileChange, RowChanges
from connectors.hive.acid.directories.data_files import data_files
from connectors.hive.acid.directories.directory import AcidFolder
from connectors.hive.acid.directories.history import first_gap, first_valid
from connectors.hive.acid.directories.state import AcidState, choose, committed_directories, is_usable_base
from connectors.hive.acid.file import AcidFile, SyntheticKeys
from connectors.hive.acid.layout import AcidDirectory, DirectoryKind, parse_directory
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["ChangedFile", "changed_files"]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that tells changes.

    Attributes:
        info: The file; its size is what of it counts.
        acid: Of a full ACID table: which rows were there before the span; ``None`` for an insert-only table.
        change: What became of its rows.
    """

    info: FileInfo
    acid: AcidFile | None
    change: RowChanges | FileChange


def changed_files(
    files: FileSystem, folder: AcidFolder, span: ChangeSpan, wanted: frozenset[ChangeType], *, row_ids_needed: bool
) -> list[ChangedFile]:
    """The files of a folder that tell changes.

    Args:
        files: Storage.
        folder: What was listed, by the statement's snapshot as of now.
        span: Whose changes.
        wanted: Files that tell only other changes may be left out.
        row_ids_needed: Row ids are selected, so files without them need synthetic ones in any case.

    Raises:
        FileMissingError: A file was cleaned away (code ``HIVE_FILE_CLEANED``).
        InvalidArgumentError: Changes of the span were compacted away (code ``HIVE_ACID_HISTORY``); says what is left.
        NotSupportedError: The folder is laid out in a way that is not understood.
    """
    if span.last <= span.after:
        return []
    history = _History.of(folder, span)
    if folder.insert_only:
        found = _whole_files(folder, history, span)
    else:
        found = _row_files(files, folder, history, row_ids_needed)
    return [one for one in found if _tells(one, wanted, span)]


@dataclass(frozen=True, slots=True)
class _History:
    """What the writers left of a span, and of the state before it.

    Attributes:
        span: The span.
        state: The base before the span, and all deltas and delete deltas up to its end.
        overwrites: Bases of the span that replaced everything, by write id.
    """

    span: ChangeSpan
    state: AcidState
    overwrites: tuple[AcidDirectory, ...]

    @classmethod
    def of(cls, folder: AcidFolder, span: ChangeSpan) -> _History:
        """Chooses, and makes sure that nothing is missing."""
        snapshot = folder.snapshot
        directories = [content.directory for content in folder.listing.directories.values()]
        known, _ = committed_directories(directories, snapshot.transactions)
        later = [one for one in known if one.kind is DirectoryKind.BASE and one.last > span.after]
        replacing = [one for one in later if _is_overwrite(one, folder)]
        # Rows of an insert-only table hold no write id, so what compaction merged cannot be distinguished.
        merged = [one for one in known if folder.insert_only and one.visibility and one.first < one.last]
        merged = [one for one in merged if one.kind is DirectoryKind.DELTA and one.last > span.after]
        merged = [one for one in merged if span.includes_any(one.first, one.last)]
        earlier = [one for one in directories if one not in later and one not in merged]
        if span.inserts_only:
            # What rows were there before does not matter, so neither does a base that cannot be read.
            visible, bases = snapshot.visible, (DirectoryKind.BASE,)
            earlier = [
                one for one in earlier if one.kind not in bases or is_usable_base(one, folder.compacted, visible)
            ]
        state = choose(earlier, folder.compacted, snapshot.at(max(span.last, 0)), folder.location)
        compactions = [one for one in later if _is_compacted(one, folder)]
        readable = [one for one in known if one.kind is not DirectoryKind.BASE and one not in merged]
        readable += [replace(one, kind=DirectoryKind.DELTA) for one in replacing]
        remains = _RetainedHistory(folder, span, readable, (*compactions, *replacing, *merged))
        remains.check(state.base)
        overwrites = sorted((one for one in replacing if one.last <= span.last), key=lambda one: one.last)
        _check_apart(overwrites, state, folder.location)
        return cls(span, state, tuple(overwrites))

    def overwritten(self, directory: AcidDirectory | None) -> int | None:
        """The write id that replaced the rows of a folder, or of originals."""
        last = 0 if directory is None else max(directory.last, 0)
        own = directory is not None and directory.kind is DirectoryKind.BASE
        return next((one.last for one in self.overwrites if one.last > last or (one.last == last and not own)), None)


@dataclass(frozen=True, slots=True)
class _RetainedHistory:
    """What of a folder's history is left.

    Attributes:
        folder: The folder.
        span: Whose changes are asked for.
        readable: Folders of which changes can still be read.
        takers: Folders that took over what was before them, so that Hive's cleaner may have removed it.
    """

    folder: AcidFolder
    span: ChangeSpan
    readable: Sequence[AcidDirectory]
    takers: Sequence[AcidDirectory]

    def check(self, base: AcidDirectory | None) -> None:
        """Makes sure that the state before the span, and all that the span wrote, is there.

        Once something is taken over, the rest is complete only where each committed write id has a folder.

        Raises:
            InvalidArgumentError: Something is missing.
        """
        if not self.takers:
            return
        if self.span.inserts_only and self.span.after > BEFORE_ALL:
            self._check_inserts()
            return
        bound = max(one.last for one in self.takers)
        upper = min(self.span.last, bound)
        ids = self.folder.snapshot.write_ids
        if base is None:
            # Only the first write id tells a table that was born transactional from one that was converted.
            upper = max(upper, first_valid(ids, 1, bound) or 0)
        gap = first_gap(self.readable, 0 if base is None else base.last, upper, ids)
        if gap is None and (base is not None or self._born):
            return
        raise self._gone()

    def _check_inserts(self) -> None:
        needed = self.span.needed(self.folder.snapshot.visible)
        upper = min(self.span.last, max(one.last for one in self.takers))
        if first_gap(self.readable, self.span.after, upper, needed) is not None:
            raise self._gone()

    def _gone(self) -> InvalidArgumentError:
        taker = max(self.takers, key=lambda one: one.last)
        return InvalidArgumentError(
            f"{self.span} of {self.folder.location} are no longer there: {taker.name} has taken over what was written "
            f"before, and not every write id has a folder of its own; changes left there: {self._left()}",
            error_codes.HIVE_ACID_HISTORY,
        )

    @property
    def _born(self) -> bool:
        """Whether what was there before the first transaction is there still, or there was nothing."""
        if all(one.kind is not DirectoryKind.BASE for one in self.takers):
            return True
        # A full ACID table leaves a gap in its write ids where it is converted; an insert-only one does not.
        return not self.folder.insert_only and not self.folder.listing.originals

    def _left(self) -> str:
        snapshot, folder = self.folder.snapshot, self.folder
        directories = [content.directory for content in folder.listing.directories.values()]
        known, _ = committed_directories(directories, snapshot.transactions)
        bases = [one for one in known if one.kind is DirectoryKind.BASE]
        usable = {max(one.last, 0) for one in bases if is_usable_base(one, folder.compacted, snapshot.write_ids)}
        bound = max(one.last for one in self.takers)
        left = []
        merged = {one.last for one in self.takers if one.kind is not DirectoryKind.BASE}
        merged = {last for last in merged if self._born or any(base <= last for base in usable)}
        for start in sorted(usable | merged | ({0} if self._born else set())):
            gap = first_gap(self.readable, start, bound, snapshot.write_ids)
            if gap is None or start >= bound:
                left.append(f"after version {start}")
                break
            if gap - 1 > start:
                left.append(f"after version {start} up to {gap - 1}")
        return ", ".join(left) or f"after version {bound}"


def _is_compacted(base: AcidDirectory, folder: AcidFolder) -> bool:
    return base.visibility > 0 or base.name in folder.compacted


def _is_overwrite(base: AcidDirectory, folder: AcidFolder) -> bool:
    usable = is_usable_base(base, folder.compacted, folder.snapshot.visible)
    return usable and base.last > 0 and not _is_compacted(base, folder)


def _check_apart(overwrites: Sequence[AcidDirectory], state: AcidState, location: str) -> None:
    for base in overwrites:
        for one in state.directories:
            if one.first < one.last and one.first <= base.last <= one.last:
                raise NotSupportedError(
                    f"{location}/{base.name} replaced everything while {one.name} was written; which of its rows that "
                    "took away is not known: ask for changes before or after these write ids",
                    error_codes.HIVE_ACID_LAYOUT,
                )


def _row_files(files: FileSystem, folder: AcidFolder, history: _History, row_ids_needed: bool) -> Iterator[ChangedFile]:
    """Files of a full ACID table: which rows of them changed is found when they are read."""
    replaced = [AcidState(base, history.state.delete_deltas, history.state.partial, ()) for base in history.overwrites]
    overwrites = tuple(base.last for base in history.overwrites)
    after = history.span.after
    for state in (history.state, *replaced):
        for file in data_files(files, folder.listing, state, folder.compacted, row_ids_needed=row_ids_needed):
            before = [one for one in file.deletes if one.first <= after]
            deletes = tuple(replace(one, check_write_ids=one.check_write_ids or one.last > after) for one in before)
            events = tuple(one for one in file.deletes if one.last > after)
            keys = file.keys
            if file.original and keys is None:
                # No event is of its rows and their ids are not selected: only the write id counts.
                keys = SyntheticKeys(_last_write_id(file), 0, 0)
            info = FileInfo(file.path, file.size, file.modified_millis, is_directory=False)
            yield ChangedFile(info, replace(file, deletes=deletes, keys=keys), RowChanges(events, overwrites))


def _whole_files(folder: AcidFolder, history: _History, span: ChangeSpan) -> Iterator[ChangedFile]:
    """Files of an insert-only table: what happens to one happens to all of its rows."""
    state = history.state
    chosen: list[AcidDirectory | None] = [state.base, *state.deltas, *history.overwrites]
    for directory in chosen:
        found = folder.listing.originals if directory is None else folder.listing.directories[directory.name].files
        came = 0 if directory is None else max(directory.last, 0)
        went = history.overwritten(directory)
        for info in found:
            if info.size == 0 or went == came:
                continue
            if came > span.after and span.includes_any(came, came):
                yield ChangedFile(info, None, FileChange(ChangeType.INSERT, came))
            if went is not None and span.includes_any(went, went):
                yield ChangedFile(info, None, FileChange(ChangeType.DELETE, went))


def _tells(file: ChangedFile, wanted: frozenset[ChangeType], span: ChangeSpan) -> bool:
    if isinstance(file.change, FileChange):
        return file.change.change in wanted
    inserted = file.acid is not None and _last_write_id(file.acid) > span.after
    deleted = bool(file.change.events or file.change.overwrites)
    return (inserted and ChangeType.INSERT in wanted) or (deleted and ChangeType.DELETE in wanted)


def _last_write_id(file: AcidFile) -> int:
    directory = parse_directory(file.directory)
    return 0 if directory is None else max(directory.last, 0)
