"""From events to one row for each key. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from connectors.hudi.log.row_columns import combined
from connectors.hudi.merge.base import MergedLog
from connectors.hudi.merge.columns import COMMIT_TIME, DELETED, KEY, SHAPE, MergeColumns, ordering_name
from connectors.hudi.merge.fold import Events, Folded, fold
from connectors.hudi.merge.ordering import OrderingKeys

__all__ = ["base_ordering", "deciding_events", "merged_log"]

# For fewer rows of the base file of each position, a table of the rows costs less than hashing the positions.
_ROWS_OF_POSITION = 64


def merged_log(tables: list[pa.Table], columns: MergeColumns) -> MergedLog:
    """Merges the events of each key.

    Args:
        tables: Of ``events.read_events``, oldest first; at least one. The list is emptied, so that no more than one
            copy of them is held while they are merged.
        columns: The columns of the merge.
    """
    table = pa.concat_tables(tables).combine_chunks()
    tables.clear()
    keys, events = _events(table, columns)
    folded = fold(events)
    winner = folded.winner
    return MergedLog(
        keys=keys,
        rows=folded.combined if folded.combined is not None else _rows(table.select(columns.names), folded),
        deleted=events.deleted[winner],
        commit_time_deletes=events.commit_time_deletes[winner],
        ordering=events.ordering.take(winner) if events.ordering is not None else None,
        filled={name: source >= 0 for name, source in folded.sources.items()},
        newest=columns.merger.later_columns,
        combine=columns.combine,
        events=winner.astype(np.int32) if columns.may_compact else None,
    )


def deciding_events(tables: Sequence[pa.Table], columns: MergeColumns) -> pa.Table:
    """The event of each key that counts so far: with those that follow, the same comes out as with all.

    Args:
        tables: Of ``events.read_events``, oldest first; at least one.
        columns: The columns of the merge, where one event of a key wins: else, all of them may count.
    """
    table = pa.concat_tables(tables).combine_chunks()
    _, events = _events(table, columns)
    return table.take(pa.array(np.sort(fold(events).winner)))


def base_ordering(rows: pa.Table, columns: MergeColumns) -> OrderingKeys | None:
    """The ordering values of rows of ``columns.read``; ``None`` where they do not count."""
    fields = columns.ordering(rows)
    return columns.merger.ordering_keys(fields, columns.where) if fields else None


def _events(table: pa.Table, columns: MergeColumns) -> tuple[pa.Array, Events]:
    """The keys, each once, and the events that refer to them."""
    keys, codes = _numbered(combined(table.column(KEY)))
    deleted, commit_time = (_flags(table, name) for name in (DELETED, COMMIT_TIME))
    ordering = None
    if columns.ordering_types:
        fields = [combined(table.column(ordering_name(at))) for at in range(len(columns.ordering_types))]
        ordering = columns.merger.ordering_keys(fields, columns.where)
    events = Events(
        codes=codes,
        keys=len(keys),
        deleted=deleted,
        commit_time=commit_time,
        ordering=ordering,
        filled=_filled(table, deleted, columns),
        newest=columns.merger.later_columns,
        rows=table.select(columns.names) if columns.combine is not None else None,
        combine=columns.combine,
    )
    return keys, events


def _numbered(keys: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Keys, each once, and for each of those given its number among them."""
    if pa.types.is_int64(keys.type) and len(keys):
        positions = np.asarray(keys)
        rows = int(positions.max()) + 1
        # Positions in a base file are below the number of its rows, so that a table of these takes no hashing.
        if rows <= _ROWS_OF_POSITION * len(positions) and int(positions.min()) >= 0:
            has_event = np.zeros(rows, dtype=bool)
            has_event[positions] = True
            return pa.array(np.flatnonzero(has_event)), (np.cumsum(has_event) - 1)[positions]
    encoded = keys.dictionary_encode()
    return encoded.dictionary, np.asarray(encoded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def _filled(table: pa.Table, deleted: np.ndarray, columns: MergeColumns) -> dict[str, np.ndarray]:
    if not columns.partial:
        return {}
    shapes = np.asarray(combined(table.column(SHAPE)).to_numpy())
    by_value = columns.filled(table)
    filled = {}
    for name in columns.names:
        written = np.array([name in shape for shape in columns.shapes], dtype=bool)[shapes]
        filled[name] = written & by_value.get(name, True) & ~deleted
    return filled


def _rows(table: pa.Table, folded: Folded) -> pa.Table:
    if not folded.sources:
        return table.take(pa.array(folded.winner))
    columns = []
    for name in table.column_names:
        source = folded.sources[name]
        # Where nothing counts, the value of the deciding event stands for that.
        columns.append(table.column(name).take(pa.array(np.where(source >= 0, source, folded.winner))))
    return pa.table(columns, schema=table.schema)


def _flags(table: pa.Table, name: str) -> np.ndarray:
    return np.asarray(combined(table.column(name)).to_numpy(zero_copy_only=False))
