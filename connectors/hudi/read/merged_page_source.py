"""The rows of a file slice that has logs. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain
from connector_spi.scan_counters import count
from connectors.hudi.merge.base import Fits, LogMerge
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.merge.event_store import KeyRange
from connectors.hudi.merge.merged import base_ordering
from connectors.hudi.read.applied_logs import AppliedRows, applied_log, base_stretches, known_log, may_apply
from connectors.hudi.read.base_keys import check_positions, mark_elsewhere, row_positions
from connectors.hudi.read.base_page_source import base_page_source
from connectors.hudi.read.key_stretches import key_stretches
from connectors.hudi.read.log_events import slice_merge_columns
from connectors.hudi.read.merged_logs import SliceMerge
from connectors.hudi.read.slice_read import SliceRead
from connectors.toolkit.partition_values import constant_array, constant_batch
from connectors.toolkit.read.file_read import BATCH_ROWS
from connectors.toolkit.read.late_materialization import FilterColumns
from connectors.toolkit.schema.schema_adapter import SchemaAdapter

__all__ = ["MergedPageSource", "shaped"]

_Batches: TypeAlias = Generator[pa.RecordBatch, None, None]


class MergedPageSource(PageSource):
    """Merges base rows with what the logs say of their keys, then gives what is in the logs alone.

    Args:
        read: What to read: a range of a base file with all logs of its slice, or a slice of logs alone.
    """

    def __init__(self, read: SliceRead) -> None:
        self._read = read
        self._schema = read.schema
        self._bytes = 0
        self._log_bytes = 0
        self._batches = self._run()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._bytes + self._log_bytes

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def close(self) -> None:
        self._batches.close()

    def _run(self) -> _Batches:
        read = self._read
        logs = SliceMerge(read)
        with closing(logs.parts()) as parts:
            for keys, kept in parts:
                self._log_bytes = logs.bytes_read
                columns = slice_merge_columns(read, kept.form)
                merge = LogMerge(kept.log, kept.index, self._fits(columns)) if kept.log is not None else None
                if merge is None and keys.is_all:
                    yield from self._project(self._untouched_rows(read, columns))
                    continue
                if merge is not None and may_apply(read, kept, merge, keys, logs.identity):
                    if read.predicate.is_all and known_log(read, merge, logs.identity) is None:
                        yield from self._project(self._first_rows(merge, columns, logs.identity))
                        continue
                    applied = applied_log(read, kept, merge, keys, logs.identity)
                    yield from self._project(self._left_rows(columns, applied.removed))
                    yield from self._project(_each(merge.rows_of(applied.numbers)))
                    continue
                del kept
                yield from self._project(self._base_rows(merge, columns, keys))
                yield from self._project(self._inserts(merge, columns))

    def _untouched_rows(self, base: SliceRead, columns: MergeColumns, merge: LogMerge | None = None) -> _Batches:
        """Rows of the base file of which the logs say nothing: without what keys and order are made of."""
        if not base.split.has_base:
            return
        with closing(base_page_source(base.with_columns(columns.given, base.predicate))) as source:
            for batch in source:
                count("rows of base files read", batch.num_rows)
                yield batch
            check_positions(base, merge, columns, source)
            self._bytes += source.completed_bytes

    def _first_rows(self, merge: LogMerge, columns: MergeColumns, logs: bytes | None) -> _Batches:
        """All rows, while it is found out which of the base file the logs leave: no filter could skip any."""
        found = AppliedRows(merge, columns)
        for stretch in base_stretches(self._read, merge, columns):
            base = self._read.of_range(stretch.start, stretch.end - stretch.start)
            if not stretch.is_met:
                count("rows of base files that no log is about", stretch.rows)
                yield from self._untouched_rows(base, columns, merge)
                continue
            with closing(base_page_source(base.with_columns(columns.read, TupleDomain.all()))) as source:
                for batch in source:
                    count("rows of base files read", batch.num_rows)
                    positions, rows = row_positions(source, batch.num_rows), pa.Table.from_batches([batch])
                    keys = positions if columns.by_position else columns.keys(rows)
                    gone = found.add(positions.to_numpy(), rows, keys)
                    yield _without(batch.select(columns.names), gone)
                check_positions(base, merge, columns, source)
                self._bytes += source.completed_bytes
        yield from _each(merge.rows_of(found.finish(self._read, logs).numbers))

    def _left_rows(self, columns: MergeColumns, removed: np.ndarray) -> _Batches:
        """The rows of the base file that the logs leave: since it is known which, any filter may skip row groups."""
        read = self._read
        with closing(base_page_source(read.with_columns(columns.given, read.predicate))) as source:
            for batch in source:
                count("rows of base files read", batch.num_rows)
                positions = row_positions(source, batch.num_rows).to_numpy()
                if not batch.num_rows:
                    continue
                first, last = int(positions[0]), int(positions[-1])
                start, end = np.searchsorted(removed, (first, last + 1))
                yield _without(batch, removed[start:end] - first)
            self._bytes += source.completed_bytes

    def _base_rows(self, merge: LogMerge | None, columns: MergeColumns, part: KeyRange) -> _Batches:
        """The rows of the base file: merged, but those of row groups that no key of the logs is in."""
        if not self._read.split.has_base:
            return
        if merge is None or not part.is_all or not (columns.by_position or columns.has_meta_columns):
            yield from self._merged_rows(self._read, merge, columns, part)
            return
        for stretch in key_stretches(self._read, merge.keys):
            base = self._read.of_range(stretch.start, stretch.end - stretch.start)
            if stretch.is_met:
                yield from self._merged_rows(base, merge, columns, part)
            else:
                count("rows of base files that no log is about", stretch.rows)
                yield from self._untouched_rows(base, columns, merge)

    def _merged_rows(self, base: SliceRead, merge: LogMerge | None, columns: MergeColumns, part: KeyRange) -> _Batches:
        """The rows of a range of the base file, merged."""
        with closing(base_page_source(base.with_columns(columns.read, self._prunable(columns)))) as source:
            for read in source:
                batch = read
                count("rows of base files read", batch.num_rows)
                rows = pa.Table.from_batches([batch])
                keys = row_positions(source, len(rows)) if columns.by_position else columns.keys(rows)
                if not part.is_all:
                    mine = part.holds(keys)
                    batch, rows, keys = batch.filter(mine), rows.filter(mine), keys.filter(mine)
                given = batch.select(columns.names)
                if merge is None:
                    yield given
                else:
                    yield from merge.merge(given, keys, base_ordering(rows, columns), columns.filled(rows))
            check_positions(base, merge, columns, source)
            self._bytes += source.completed_bytes

    def _inserts(self, merge: LogMerge | None, columns: MergeColumns) -> _Batches:
        """The rows of the logs whose keys the base file does not have, for one split of the slice."""
        split = self._read.split
        # What has a position is in the base file, in the range of one split or another.
        if merge is None or not split.holds_inserts or columns.by_position:
            return
        if split.has_base:
            mark_elsewhere(self._read, merge, columns)
        yield from merge.rest()

    def _fits(self, columns: MergeColumns) -> Fits:
        """Which rows, merged, the filter asks for."""
        chosen = FilterColumns(columns.given, self._read.predicate)
        return lambda rows: chosen.mask({column.name: rows.column(column.name) for column in chosen.first})

    def _prunable(self, columns: MergeColumns) -> TupleDomain[ColumnHandle]:
        """What of the filter may skip parts of the base file: what is about the keys alone.

        Rows of one key are all asked or none. By other columns a base row might be skipped whose log row is asked, or
        one that wins over a log row, which then would come instead.
        """
        keys = columns.key_names
        return self._read.predicate.keep(lambda column: column.name in keys)

    def _project(self, batches: _Batches) -> _Batches:
        """The asked columns, in batches of bounded size."""
        with closing(batches):
            for rows in batches:
                for start in range(0, rows.num_rows, BATCH_ROWS):
                    yield shaped(self._read, rows.slice(start, BATCH_ROWS))


def _without(batch: pa.RecordBatch, gone: np.ndarray) -> pa.RecordBatch:
    """The rows of a batch but some."""
    if not len(gone):
        return batch
    stay = np.ones(batch.num_rows, dtype=bool)
    stay[gone] = False
    return batch.filter(pa.array(stay))


def _each(batches: Sequence[pa.RecordBatch]) -> _Batches:
    yield from batches


def shaped(read: SliceRead, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Merged rows with the asked columns, constants among them."""
    schema, constants = read.schema, read.constants
    if not schema.names:
        return constant_batch(schema, {}, rows.num_rows)
    arrays = [
        constant_array(constants[field.name], field.type, rows.num_rows)
        if field.name in constants
        else _narrowed(rows.column(field.name), field)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _narrowed(array: pa.Array, field: pa.Field) -> pa.Array:
    if array.type == field.type:
        return array
    adapter = SchemaAdapter(pa.schema([pa.field(field.name, array.type)]), (ColumnHandle(field.name, field.type),))
    [made] = adapter.adapt([array], len(array))
    return made
