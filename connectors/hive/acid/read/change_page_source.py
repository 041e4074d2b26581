"""What a span of write ids did to the rows of a data file of a full ACID table. Executor side.

Row keys are read first, and the rest only of stripes in which a row came or went. A row comes at its own write id, and
goes at the first one that deleted it or replaced everything. One that went at the write id at which it came was never
seen by any reader, and is no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeType
from connectors.hive.acid.changes import ChangeSpan, RowChanges
from connectors.hive.acid.delete_set import Int64s, KeyRuns, Mask
from connectors.hive.acid.layout import DirectoryKind, parse_directory
from connectors.hive.acid.read.acid_file import AcidRead, OpenAcidFile
from connectors.hive.acid.read.dated_deletes import NEVER, DatedDeletes, find_dated_deletes
from connectors.hive.acid.read.page_source import load_deletes
from connectors.hive.acid.read.stripe_keys import StripeKeys
from connectors.toolkit.orc.columns import OrcColumns
from connectors.toolkit.orc.reader import orc_errors
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, Stage, adapt, decode, project, prune
from connectors.toolkit.storage.file_head import file_head
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["ChangeRead", "change_page_source"]

# No column of a table has such a name.
_CAME, _WENT, _CAME_AT, _WENT_AT = "\0came", "\0went", "\0came at", "\0went at"


@dataclass(frozen=True, slots=True)
class ChangeRead:
    """The read of the changes in a range of a data file.

    Attributes:
        asked: What to read; its deletes are those before the span, its visible write ids those at the end of it.
        changes: What may have become of the rows.
        span: Whose changes.
    """

    asked: AcidRead
    changes: RowChanges
    span: ChangeSpan


def change_page_source(files: FileSystem, change: ChangeRead) -> FilePageSource[_ChangedFile]:
    """Reads the changes in the stripes of one range."""
    return FilePageSource(change.asked.read, partial(_open, files, change), _STAGES, orc_errors)


class _ChangedFile(OpenAcidFile):
    def __init__(self, files: FileSystem, change: ChangeRead, source: pa.NativeFile) -> None:
        super().__init__(files, change.asked, source)
        self.span = change.span
        self._changes = change.changes
        directory = parse_directory(change.asked.acid.directory)
        self._inserts = change.span.after < (0 if directory is None else max(directory.last, 0))
        # A base is what its own write id left; a delta of that write id is what it replaced.
        self._own: Literal["left", "right"] = (
            "right" if directory is not None and directory.kind is DirectoryKind.BASE else "left"
        )
        self._overwrites = np.array([*change.changes.overwrites, NEVER], dtype=np.int64)

    @cached_property
    def key_columns(self) -> OrcColumns:
        """Reads keys alone."""
        return self.select(())

    def may_change(self, index: int) -> bool:
        """Whether a row of a stripe may have come or gone."""
        if self._inserts or self._overwrites.size > 1:
            return True
        return self._events is not None and self._events.within(self.keys.range(index, index)).size > 0

    def changes(self, known: StripeKeys) -> tuple[Mask, Mask, Int64s]:
        """Which rows came, which went, and the write ids at which they went."""
        if known.shown is None:
            raise InternalError(f"the rows of {self.read.path} have no keys, and they are needed")
        write_ids, buckets, row_ids = known.shown
        dates = self._overwrites[np.searchsorted(self._overwrites[:-1], write_ids, side=self._own)]
        if self._events is not None:
            dates = np.minimum(dates, self._events.dates(KeyRuns.of(write_ids, buckets, row_ids)))
        came = (write_ids > self.span.after) & (dates > write_ids)
        went = (dates < NEVER) & (dates > write_ids)
        came &= self.span.includes(write_ids)
        went &= self.span.includes(dates)
        if known.dropped is not None:
            came &= ~known.dropped
            went &= ~known.dropped
        return came, went, dates

    @cached_property
    def _events(self) -> DatedDeletes | None:
        asked = self.asked
        return find_dated_deletes(self.files, self._changes.events, asked.visible, self.span.after, asked.delete_memory)


@contextmanager
def _open(files: FileSystem, change: ChangeRead) -> Iterator[_ChangedFile]:
    read = change.asked.read
    with files.open(read.path) as whole:
        yield _ChangedFile(files, change, file_head(whole, change.asked.acid.size, read.path))


def _load_deletes(file: _ChangedFile, rows: Iterator[FileRows]) -> Rows:
    """Looks for the deletes before the span."""
    yield from load_deletes(file, rows, file.asked.visible.up_to(file.span.after))


def _skip_unchanged(file: _ChangedFile, rows: Iterator[FileRows]) -> Rows:
    """Drops the stripes in which no row can have come or gone."""
    yield from (part for part in rows if file.may_change(part.part))


def _find_changes(file: _ChangedFile, rows: Iterator[FileRows]) -> Rows:
    """Decodes row keys, and notes which rows came and went; drops stripes without any."""
    for part in rows:
        yield from _with_changes(file, part)


def _with_changes(file: _ChangedFile, part: FileRows) -> Iterator[FileRows]:
    stripe = file.key_columns.read(part.part, file.keys.columns(part.part))
    known = file.keys.of_stripe(part.part, stripe.extra)
    came, went, dates = file.changes(known)
    if known.shown is not None and (came.any() or went.any()):
        found = {_CAME: came, _WENT: went, _CAME_AT: known.shown[0], _WENT_AT: dates}
        yield part.with_arrays({name: pa.array(values) for name, values in found.items()} | file.hidden_arrays(known))


def _list_changes(file: _ChangedFile, rows: Iterator[FileRows]) -> Rows:
    """Gives the rows that came, then those that went."""
    for one in rows:
        yield from _changed(one, ChangeType.INSERT, _CAME, _CAME_AT)
        if not file.span.inserts_only:
            yield from _changed(one, ChangeType.DELETE, _WENT, _WENT_AT)


def _changed(rows: FileRows, change: ChangeType, which: str, version: str) -> Iterator[FileRows]:
    found = rows.filter(rows.arrays[which])
    if found.count:
        columns = {
            CHANGE_TYPE: pa.repeat(pa.scalar(change.value, pa.string()), found.count),
            COMMIT_VERSION: found.arrays[version],
            COMMIT_TIMESTAMP: pa.nulls(found.count, pa.timestamp("us", "UTC")),
        }
        yield found.with_arrays(columns)


_STAGES: tuple[Stage[_ChangedFile], ...] = (
    prune,
    _load_deletes,
    _skip_unchanged,
    _find_changes,
    decode,
    adapt,
    _list_changes,
    project,
)
