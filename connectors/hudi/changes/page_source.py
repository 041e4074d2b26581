"""The changes of one file group as record batches. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeType
from connector_spi.page_source import PageSource
from connectors.hudi.changes.handles import CHANGE_COLUMNS, ChangedWrite, HudiChangeSplit
from connectors.hudi.changes.row_json import row_json
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE, HUDI_DUPLICATE_KEYS
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.log.block import BlockType
from connectors.hudi.log.data_block import read_data_block
from connectors.hudi.log.reader import block_content, read_log_blocks
from connectors.hudi.log.record_key import virtual_record_keys
from connectors.hudi.schema.table_schema import COMMIT_TIME, RECORD_KEY
from connectors.hudi.timeline.view import TimelineView
from connectors.hudi.timeline.write_range import views_around
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.type_adaptation import LOSSLESS
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["ChangePageSource", "GroupChanges", "changed_rows", "differing_rows"]

OpenSlice = Callable[[HudiSplit, TimelineView, tuple[ColumnHandle, ...]], PageSource]
Told = tuple[ChangeType, pa.Table]

_BATCH_ROWS = 16384
_ADDED = frozenset(name for name, _ in CHANGE_COLUMNS)
_KEY = ColumnHandle(RECORD_KEY, pa.string())
_TIME = ColumnHandle(COMMIT_TIME, pa.string())
_BOTH_SIDES = (
    ("i", "after", ChangeType.INSERT),
    ("d", "before", ChangeType.DELETE),
    ("u", "before", ChangeType.UPDATE_PREIMAGE),
    ("u", "after", ChangeType.UPDATE_POSTIMAGE),
)


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """What one write did to one file group, as storage tells it.

    Attributes:
        files: Storage.
        split: The split.
        table: The table; its view has the write.
        open_slice: Opens a slice of the table as it is at a view of the timeline, all of its rows.
    """

    files: FileSystem
    split: HudiChangeSplit
    table: HudiTableHandle
    open_slice: OpenSlice

    def compared(self, columns: tuple[ColumnHandle, ...]) -> list[Told]:
        """The changes, found by comparing the slices before and after the write, with columns and record key.

        Without meta columns a row that was written once more as it was has not changed.

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

    def _sides(self, read: tuple[ColumnHandle, ...]) -> tuple[pa.Table, pa.Table]:
        schema = pa.schema([pa.field(column.name, column.type) for column in read])
        write = next(item for item in self.table.view.instants if item.requested == self.split.write.requested)
        earlier, later = views_around(self.table.view, write)
        before = self._rows(self.split.before, earlier, read, schema)
        return before, self._rows(self.split.after, later, read, schema)

    def _rows(
        self, side: HudiSplit | None, view: TimelineView, read: tuple[ColumnHandle, ...], schema: pa.Schema
    ) -> pa.Table:
        if side is None:
            return schema.empty_table()
        # In timeline layout 1 the logs of later writes lie in the same slice; the view tells which blocks count.
        with self.open_slice(side, view, read) as source:
            return pa.Table.from_batches(list(source), schema)


class ChangePageSource(PageSource):
    """Gives the changes of a split; both slices of the group are in memory while they are compared.

    Args:
        changes: The changes of a file group.
        columns: The asked columns, in order.
    """

    def __init__(self, changes: GroupChanges, columns: Sequence[ColumnHandle]) -> None:
        self._changes = changes
        self._columns = tuple(column for column in columns if column.name not in _ADDED)
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
        self._batches: Iterator[pa.RecordBatch] = self._read()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def _read(self) -> Iterator[pa.RecordBatch]:
        split = self._changes.split
        for change, rows in self._logged() if split.change_logs else self._changes.compared(self._columns):
            told = _told(rows, change, split.write, self._schema)
            for batch in told.to_batches(_BATCH_ROWS):
                # A batch of no columns keeps its number of rows.
                yield batch.select(self._schema.names)

    def _logged(self) -> Iterator[Told]:
        for records, path in self._changes.logged():
            for operation, side, change in _BOTH_SIDES:
                chosen = records.filter(pc.equal(records.column("op"), operation)).column(side)
                if len(chosen):
                    yield change, self._adapted(chosen.combine_chunks(), path)

    def _adapted(self, images: pa.StructArray, path: str) -> pa.Table:
        if images.null_count:
            raise CorruptFileError(f"{path} tells a change without its row", HUDI_BAD_LOG_FILE)
        adapter = SchemaAdapter(pa.schema(list(images.type)), self._columns, where=path, rules=LOSSLESS)
        if not self._columns:
            return pa.table({"rows": pa.nulls(len(images))})
        arrays = [None if at is None else images.field(at) for at in adapter.positions]
        schema = pa.schema([pa.field(column.name, column.type) for column in self._columns])
        return pa.Table.from_arrays(adapter.adapt(arrays, len(images)), schema=schema)


def changed_rows(before: pa.Table, after: pa.Table, write: str) -> list[Told]:
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


def differing_rows(before: pa.Table, after: pa.Table, where: str) -> list[Told]:
    """What differs between two states of a file group whose rows do not tell when they were written.

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
                f"what {where} changed cannot be told: several rows of a file group have one record key, and the "
                "table has no meta columns; read its snapshots",
                HUDI_DUPLICATE_KEYS,
            )
    places = pc.index_in(after.column(RECORD_KEY), value_set=_keys(before)).combine_chunks()
    was_there = places.is_valid()
    same = pc.fill_null(pc.equal(row_json(after), row_json(before).take(places)), False)
    updated = pc.and_(was_there, pc.invert(same))
    is_left = pc.is_in(before.column(RECORD_KEY), value_set=_keys(after))
    return [
        (ChangeType.INSERT, after.filter(pc.invert(was_there))),
        (ChangeType.DELETE, before.filter(pc.invert(is_left))),
        (ChangeType.UPDATE_PREIMAGE, before.take(places.filter(updated))),
        (ChangeType.UPDATE_POSTIMAGE, after.filter(updated)),
    ]


def _checked(records: pa.Table, path: str) -> pa.Table:
    if not {"op", "before", "after"} <= set(records.column_names):
        raise CorruptFileError(
            f"{path} tells of changes only {', '.join(records.column_names)}; expected op, before and after: the "
            "table's mode of logging changes is not that of its logs",
            HUDI_BAD_LOG_FILE,
        )
    return records


def _keys(rows: pa.Table) -> pa.Array:
    return rows.column(RECORD_KEY).combine_chunks()


def _told(rows: pa.Table, change: ChangeType, write: ChangedWrite, schema: pa.Schema) -> pa.Table:
    """The asked columns of rows, and those that tell the change."""
    constants = {CHANGE_TYPE: change.value, COMMIT_VERSION: write.requested, COMMIT_TIMESTAMP: write.committed}
    if not schema.names:
        return rows
    arrays = [
        pa.repeat(pa.scalar(constants[field.name], field.type), rows.num_rows)
        if field.name in constants
        else rows.column(field.name)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
