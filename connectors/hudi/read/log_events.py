"""The events of a slice's logs: which blocks count, and their rows and deletes. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial
from typing import TypeAlias

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.scan_counters import count
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.log.block import LogBlock
from connectors.hudi.log.data_block import PART_BYTES
from connectors.hudi.log.positions import positions_of_base
from connectors.hudi.log.scan import scan_log_blocks
from connectors.hudi.merge.block_rows import blocks_read_at_once, column_names, read_values
from connectors.hudi.merge.columns import MergeColumns, merge_columns
from connectors.hudi.merge.config import MergeConfig, merge_config
from connectors.hudi.merge.event_store import EventStore, decoded_bytes, held_bytes
from connectors.hudi.merge.events import read_events
from connectors.hudi.merge.merged import deciding_events
from connectors.hudi.read.kept_log import LogForm
from connectors.hudi.read.slice_logs import SliceLogs
from connectors.hudi.read.slice_read import SliceRead
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.hudi.timeline.view import committed_test

__all__ = ["counting_blocks", "events_of_blocks", "log_form", "slice_merge_columns", "values_of_events"]

_Decode: TypeAlias = Callable[..., Iterator[pa.Table]]


def counting_blocks(read: SliceRead, logs: SliceLogs) -> tuple[LogBlock, ...]:
    """The blocks of a slice's logs whose rows and deletes count, in the order of merging."""
    table = read.table
    latest = table.view.latest
    writes = table.merged_writes
    scan = scan_log_blocks(
        logs.blocks(),
        is_committed=committed_test(table.view),
        latest_instant=latest.requested if latest is not None else "",
        in_range=None if writes is None else frozenset(writes).__contains__,
    )
    count("log blocks merged", len(scan.blocks))
    return scan.blocks


def log_form(read: SliceRead, blocks: Sequence[LogBlock]) -> LogForm:
    """What the blocks of a slice's logs have in common."""
    split = read.split
    # Other files do not say the number of a row.
    numbered = split.format == "parquet" and split.source is None and read.table.history is None
    return LogForm(
        partial=any(block.is_partial for block in blocks),
        by_position=numbered and positions_of_base(blocks, split.base_instant),
    )


def slice_merge_columns(read: SliceRead, form: LogForm) -> MergeColumns:
    """The columns that the merge of a slice reads."""
    table = read.table
    constants = read.constants
    asked: list[ColumnHandle] = [column for column in read.columns if column.name not in constants]
    return merge_columns(
        asked,
        table.schema,
        _merge_config(table.config.version, table.config.properties, table.location),
        has_meta_columns=table.config.populate_meta_fields,
        partial=form.partial,
        where=table.location,
        by_position=form.by_position,
    )


@lru_cache(maxsize=64)
def _merge_config(version: int, properties: tuple[tuple[str, str], ...], location: str) -> MergeConfig:
    return merge_config(version, dict(properties), location)


def events_of_blocks(read: SliceRead, blocks: Sequence[LogBlock], logs: SliceLogs, columns: MergeColumns) -> EventStore:
    """The events of blocks, in memory or on disk; to be closed."""
    compact = partial(deciding_events, columns=columns) if columns.may_compact else None
    store = EventStore(read.merge_memory, sum(block.content_length for block in blocks), compact)
    with ExitStack() as stack:
        stack.push(store)
        for table, size in _decoded(read, blocks, logs, columns, read_events):
            count("log records merged", table.num_rows)
            store.add(table, size)
        stack.pop_all()
    return store


def values_of_events(
    read: SliceRead, blocks: Sequence[LogBlock], logs: SliceLogs, columns: MergeColumns
) -> pa.Table | None:
    """The columns ``columns.given`` of the events of blocks, in order; ``None`` where they are too many for memory."""
    tables: list[pa.Table] = []
    held = 0
    for table, _ in _decoded(read, blocks, logs, columns, read_values):
        tables.append(table)
        held += table.nbytes
        if held > held_bytes(read.merge_memory):
            return None
    return pa.concat_tables(tables) if tables else columns.schema.empty_table()


def _decoded(
    read: SliceRead, blocks: Sequence[LogBlock], logs: SliceLogs, columns: MergeColumns, decode: _Decode
) -> Iterator[tuple[pa.Table, int]]:
    """What is decoded of blocks, and about how many bytes that has in the logs."""
    part_bytes = min(decoded_bytes(read.merge_memory), PART_BYTES)
    # With a schema history, columns are found by the instant of each block.
    most = part_bytes if read.table.history is None else 0
    for together in blocks_read_at_once(blocks, most):
        contents = [logs.content(block) for block in together]
        size = min(sum(block.content_length for block in together), part_bytes)
        evolved = _evolved(read.table, together[0], columns)
        for table in decode(together, contents, columns, evolved, part_bytes):
            yield table, size


def _evolved(table: HudiTableHandle, block: LogBlock, columns: MergeColumns) -> tuple[EvolvedColumn, ...] | None:
    """Where columns are in a block of a table with schema on read."""
    if table.history is None or not block.type.has_rows:
        return None
    table.history.check_names(block.instant_time, column_names(block), block.path)
    return table.history.evolve(block.instant_time, columns.read)
