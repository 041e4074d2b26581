"""What a span of write ids did to the rows of a data file of a full ACID table. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeType
from connector_spi.predicate import TupleDomain, Value
from connectors.hive.acid.changes import CHANGE_COLUMNS, ChangeSpan, RowChanges
from connectors.hive.acid.delete_set import Int64s, KeyRuns, Mask
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_range import KeyRange
from connectors.hive.acid.layout import DirectoryKind, parse_directory
from connectors.hive.acid.read.dated_deletes import NEVER, DatedDeletes, find_dated_deletes
from connectors.hive.acid.read.deletes import Deletes, find_deletes
from connectors.hive.acid.read.page_source import AcidPageSource
from connectors.hive.acid.read.stripe_keys import Keys, StripeKeys
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.orc.footer import OrcFooter, OrcStripe
from connectors.toolkit.orc.stripes import OrcStripes, Stripe
from connectors.toolkit.read.file_page_source import SourceResolver
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["ChangePageSource"]


class ChangePageSource(AcidPageSource):
    """Reads the stripes of one range: first row keys, and the rest only of stripes in which a row came or went.

    A row comes at its own write id, and goes at the first one that deleted it or replaced everything. One that went at
    the write id at which it came was never seen by anybody, and is no change.

    Args:
        files: Storage.
        acid: The file; its deletes are those before the span.
        start: First byte of the range.
        length: Bytes of the range.
        columns: What to read, in output order.
        constants: Values of the columns that are not in the file, by name.
        predicate: Of columns of the table.
        changes: What may have become of the rows.
        span: Whose changes.
        sources: Where a column is among the table's columns in the file.
        visible: Write ids that are visible at the end of the span.
        delete_memory: Most bytes of deletes that this process keeps.
        zone: Zone to show instants in where the table's type is a wall-clock time.
    """

    made_columns: ClassVar[frozenset[str]] = frozenset(column.name for column in CHANGE_COLUMNS)

    def __init__(
        self,
        files: FileSystem,
        acid: AcidFile,
        start: int,
        length: int,
        columns: tuple[ColumnHandle, ...],
        constants: Mapping[str, Value | None],
        predicate: TupleDomain[ColumnHandle],
        *,
        changes: RowChanges,
        span: ChangeSpan,
        sources: SourceResolver,
        visible: ValidIds,
        delete_memory: int,
        zone: str,
    ) -> None:
        super().__init__(
            files,
            acid,
            start,
            length,
            columns,
            constants,
            predicate,
            sources=sources,
            visible=visible,
            delete_memory=delete_memory,
            zone=zone,
        )
        self._span = span
        directory = parse_directory(acid.directory)
        self._inserts = span.after < (0 if directory is None else max(directory.last, 0))
        # A base is what its own write id left; a delta of that write id is what it replaced.
        self._own: Literal["left", "right"] = (
            "right" if directory is not None and directory.kind is DirectoryKind.BASE else "left"
        )
        self._overwrites = np.array([*changes.overwrites, NEVER], dtype=np.int64)
        self._files_of_events = changes.events
        self._events: DatedDeletes | None = None
        self._key_reader: OrcStripes | None = None

    def _keys(self, source: pa.NativeFile, footer: OrcFooter) -> tuple[str, Keys]:
        root, keys = super()._keys(source, footer)
        self._key_reader = OrcStripes(
            source,
            footer,
            (),
            {},
            root=root,
            zone=self.zone,
            where=self.where.path,
            strict=self.strict,
            batch_rows=self.batch_rows,
        )
        self._events = find_dated_deletes(
            self.files, self._files_of_events, self._visible, self._span.after, self._delete_memory
        )
        return root, keys

    def _find_deletes(self) -> Deletes | None:
        before = self._visible.up_to(self._span.after)
        return find_deletes(self.files, self._acid.deletes, before, self._delete_memory)

    def _read_stripe(self, reader: OrcStripes, told: OrcStripe, keys: Keys, index: int) -> Iterator[pa.RecordBatch]:
        if not self._may_change(keys.range(index, index)):
            return
        self.bytes_read += told.length
        extra = keys.columns(index)
        known = keys.of_stripe(index, self._read_keys(index, extra) if extra else [])
        came, went, dates = self._changes(known)
        if not came.any() and not went.any():
            return
        stripe = reader.read(index) if reader.names else Stripe(told.rows, [], [])
        for part in reader.slices(stripe):
            rows = slice(part.start, part.start + part.rows)
            arrays = self._arrays(part, known)
            assert known.shown is not None
            yield from self._told(arrays, ChangeType.INSERT, came[rows], known.shown[0][rows])
            if not self._span.inserts_only:
                yield from self._told(arrays, ChangeType.DELETE, went[rows], dates[rows])

    def _may_change(self, keys: KeyRange) -> bool:
        if self._inserts or self._overwrites.size > 1:
            return True
        return self._events is not None and self._events.within(keys).size > 0

    def _read_keys(self, index: int, names: tuple[str, ...]) -> list[pa.Array]:
        if self._key_reader is None:
            raise InternalError(f"keys of {self.where.path} are asked for before the file was opened")
        return self._key_reader.read(index, names).extra

    def _changes(self, known: StripeKeys) -> tuple[Mask, Mask, Int64s]:
        """Which rows came, which went, and the write ids at which they went."""
        if known.shown is None:
            raise InternalError(f"the rows of {self.where.path} have no keys, and they are needed")
        write_ids, buckets, row_ids = known.shown
        dates = self._overwrites[np.searchsorted(self._overwrites[:-1], write_ids, side=self._own)]
        if self._events is not None:
            dates = np.minimum(dates, self._events.dates(KeyRuns.of(write_ids, buckets, row_ids)))
        came = (write_ids > self._span.after) & (dates > write_ids)
        went = (dates < NEVER) & (dates > write_ids)
        came &= self._span.includes(write_ids)
        went &= self._span.includes(dates)
        if known.dropped is not None:
            came &= ~known.dropped
            went &= ~known.dropped
        return came, went, dates

    def _told(
        self, arrays: Mapping[str, pa.Array], change: ChangeType, chosen: Mask, versions: Int64s
    ) -> Iterator[pa.RecordBatch]:
        count = int(np.count_nonzero(chosen))
        if not count:
            return
        mask = None if count == chosen.size else pa.array(chosen)
        taken = {name: array if mask is None else array.filter(mask) for name, array in arrays.items()}
        taken[CHANGE_TYPE] = pa.repeat(pa.scalar(change.value, pa.string()), count)
        taken[COMMIT_VERSION] = pa.array(versions[chosen], pa.int64())
        taken[COMMIT_TIMESTAMP] = pa.nulls(count, pa.timestamp("us", "UTC"))
        yield self.batch([taken[column.name] for column in self.file_columns], count)
