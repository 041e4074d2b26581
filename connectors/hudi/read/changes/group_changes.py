"""What one write changed in one file group: by its logs of changes, or by comparing two slices. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.changes import ChangeType
from connector_spi.predicate import TupleDomain
from connectors.hudi.changes.handles import HudiChangeSplit
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE, HUDI_DUPLICATE_KEYS
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.log.block import BlockType
from connectors.hudi.log.data_block import read_data_block
from connectors.hudi.log.reader import block_content, read_log_blocks
from connectors.hudi.log.record_key import virtual_record_keys
from connectors.hudi.read.changes.row_json import row_json
from connectors.hudi.read.slice_page_source import slice_page_source
from connectors.hudi.read.slice_read import SliceRead, schema_of
from connectors.hudi.schema.table_schema import COMMIT_TIME, RECORD_KEY
from connectors.hudi.timeline.view import TimelineView
from connectors.hudi.timeline.write_range import views_around
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["ChangedRows", "GroupChanges", "changed_rows", "differing_rows"]

ChangedRows: TypeAlias = tuple[ChangeType, pa.Table]
"""Rows that were changed alike."""

_KEY = ColumnHandle(RECORD_KEY, pa.string())
_TIME = ColumnHandle(COMMIT_TIME, pa.string())


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """What one write did to one file group, by what is on storage.

    Attributes:
        files: Storage.
        split: The split.
        table: The table; its view has the write.
        merge_memory: Bytes that the events of logs may take.
    """

    files: FileSystem
    split: HudiChangeSplit
    table: HudiTableHandle
    merge_memory: int

    def compared(self, columns: tuple[ColumnHandle, ...]) -> list[ChangedRows]:
        """The changes, found by comparing the slices before and after the write, with columns and record key.

        Both slices are in memory while they are compared. Without meta columns a row that was written once more as it
        was has not changed.

        Raises:
            NotSupportedError: Record keys cannot be built, or several rows have one.
        """
        if self.table.config.populate_meta_fields:
            before, after = self._sides((*columns, *(column for column in (_KEY, _TIME) if column not in columns)))
            return changed_rows(before, after, self.split.write.requested)
        before, after = self._sides(tuple(ColumnHandle(field.name, field.type) for field in self.table.schema))
        fields = self.table.config.record_key_fields
        keyed = [
            rows.append_column(
                RECORD_KEY, virtual_record_keys(rows, fields, complex_keys=len(fields) > 1, where=self.table.location)
            )
            for rows in (before, after)
        ]
        return differing_rows(keyed[0], keyed[1], f"the write {self.split.write.requested} of {self.table.name}")

    def logged(self) -> Iterator[tuple[pa.Table, str]]:
        """The records of the logs of changes, ``op``, ``before`` and ``after`` among their columns, with the log."""
        for log in self.split.change_logs:
            with self.files.open(log.path) as file:
                for block in read_log_blocks(file, log.path, log.size):
                    if block.type is BlockType.CDC_DATA and block.instant_time == self.split.write.requested:
                        yield _checked(read_data_block(block, block_content(file, block)), log.path), log.path

    def _sides(self, columns: tuple[ColumnHandle, ...]) -> tuple[pa.Table, pa.Table]:
        write = next(item for item in self.table.view.instants if item.requested == self.split.write.requested)
        earlier, later = views_around(self.table.view, write)
        before = self._rows(self.split.before, earlier, columns)
        return before, self._rows(self.split.after, later, columns)

    def _rows(self, side: HudiSplit | None, view: TimelineView, columns: tuple[ColumnHandle, ...]) -> pa.Table:
        """The rows of a slice; nothing filters them, since a row that is missing on one side seems changed."""
        if side is None:
            return schema_of(columns).empty_table()
        # In timeline layout 1 the logs of later writes lie in the same slice; the view says which blocks count.
        table = replace(self.table, view=view)
        read = SliceRead(
            files=self.files,
            split=side,
            table=table,
            columns=columns,
            predicate=TupleDomain.all(),
            merge_memory=self.merge_memory,
        )
        with slice_page_source(read) as source:
            return pa.Table.from_batches(list(source), read.schema)


def changed_rows(before: pa.Table, after: pa.Table, write: str) -> list[ChangedRows]:
    """What a write changed in a file group.

    Args:
        before: The group's rows, with record key and commit time.
        after: Its rows after the write, of the same columns.
        write: Requested time of the write: rows that it changed have it as their commit time.
    """
    written = after.filter(pc.equal(after.column(COMMIT_TIME), write))
    was_there = pc.is_in(written.column(RECORD_KEY), value_set=_keys(before))
    is_left = pc.is_in(before.column(RECORD_KEY), value_set=_keys(after))
    is_changed = pc.is_in(before.column(RECORD_KEY), value_set=_keys(written))
    return [
        (ChangeType.INSERT, written.filter(pc.invert(was_there))),
        (ChangeType.DELETE, before.filter(pc.invert(is_left))),
        (ChangeType.UPDATE_PREIMAGE, before.filter(is_changed)),
        (ChangeType.UPDATE_POSTIMAGE, written.filter(was_there)),
    ]


def differing_rows(before: pa.Table, after: pa.Table, where: str) -> list[ChangedRows]:
    """What differs between two states of a file group whose rows do not say when they were written.

    Args:
        before: The group's rows, with record key.
        after: Its rows after the write, of the same columns.
        where: Names the write, for messages.

    Raises:
        NotSupportedError: Several rows have one record key.
    """
    for rows in (before, after):
        if pc.count_distinct(rows.column(RECORD_KEY)).as_py() != rows.num_rows:
            raise NotSupportedError(
                f"what {where} changed is unknown: several rows of a file group have one record key, and the "
                "table has no meta columns; read its snapshots",
                HUDI_DUPLICATE_KEYS,
            )
    positions = pc.index_in(after.column(RECORD_KEY), value_set=_keys(before)).combine_chunks()
    was_there = positions.is_valid()
    same = pc.fill_null(pc.equal(row_json(after), row_json(before).take(positions)), False)
    updated = pc.and_(was_there, pc.invert(same))
    is_left = pc.is_in(before.column(RECORD_KEY), value_set=_keys(after))
    return [
        (ChangeType.INSERT, after.filter(pc.invert(was_there))),
        (ChangeType.DELETE, before.filter(pc.invert(is_left))),
        (ChangeType.UPDATE_PREIMAGE, before.take(positions.filter(updated))),
        (ChangeType.UPDATE_POSTIMAGE, after.filter(updated)),
    ]


def _checked(records: pa.Table, path: str) -> pa.Table:
    if not {"op", "before", "after"} <= set(records.column_names):
        raise CorruptFileError(
            f"{path} has of changes only {', '.join(records.column_names)}; expected op, before and after: the "
            "table's mode of logging changes is not that of its logs",
            HUDI_BAD_LOG_FILE,
        )
    return records


def _keys(rows: pa.Table) -> pa.Array:
    return rows.column(RECORD_KEY).combine_chunks()
