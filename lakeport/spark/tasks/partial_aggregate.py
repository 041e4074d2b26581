"""Aggregates inside of a task: many rows in, few rows out, which Spark aggregates once more. Executor side.

A row alone has a state, too. So rows that are not worth grouping, or whose sum might overflow, leave the task one by
one, and Spark does with them what it would have done anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.serializable import Serializable
from lakeport.spark.tasks.aggregate_states import Aggregate, first_state, largest_sum, result, whole_pieces

__all__ = ["PartialAggregation", "PartialAggregator"]

_WAITING_ROWS = 1 << 17
_WAITING_BYTES = 64 << 20
_WORTH_IT = 0.5
"""Where the first rows make more groups than this part of them, grouping in the task is given up."""


@dataclass(frozen=True, slots=True)
class PartialAggregation(Serializable):
    """What tasks aggregate before Spark does.

    Attributes:
        keys: Columns to group by; none makes one group of all rows.
        aggregates: In output order.
        schema: Of what comes out: the keys, then the aggregates.
    """

    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    schema: pa.Schema

    def __str__(self) -> str:
        functions = ", ".join(map(str, self.aggregates)) or "distinct"
        return f"{functions} by {', '.join(self.keys)}" if self.keys else functions


class PartialAggregator:
    """Aggregates the batches of one task.

    Args:
        aggregation: What to do. Batches have at least its columns, in the types that Spark wants.
        waiting_rows: States that are merged into groups at once. Where that leaves more groups than half of them, the
            groups leave the task and counting starts again: memory is bounded.
    """

    def __init__(self, aggregation: PartialAggregation, waiting_rows: int = _WAITING_ROWS) -> None:
        self._aggregation = aggregation
        self._waiting_rows = waiting_rows
        self._keys = [f"key_{index}" for index in range(len(aggregation.keys))]
        self._states = [f"state_{index}" for index in range(len(aggregation.aggregates))]
        self._merging = [(name, a.merging) for name, a in zip(self._states, aggregation.aggregates, strict=True)]
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._sums = [0] * len(aggregation.aggregates)
        self._one_by_one = False
        self._judged = False

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Takes rows; gives partial results where there is no room for more."""
        if not batch.num_rows:
            return
        rows = self._first_states(batch)
        self._one_by_one = self._one_by_one or self._may_overflow(rows)
        if self._one_by_one:
            yield from self._leave()
            yield from self._results(rows)
            return
        if not self._keys:
            rows = self._merge_all([rows])
        self._waiting.append(rows)
        self._rows += rows.num_rows
        if self._rows >= self._waiting_rows or sum(waiting.nbytes for waiting in self._waiting) >= _WAITING_BYTES:
            yield from self._make_room()

    def finish(self) -> Iterator[pa.RecordBatch]:
        """The partial results that are left; where there are no keys, at least one row altogether.

        Spark makes a sum of counts, which over no rows would be NULL instead of 0.
        """
        if self._waiting or not (self._keys or self._one_by_one):
            self._merge()
        yield from self._leave()

    def _first_states(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = [batch.column(name) for name in self._aggregation.keys]
        states = [first_state(aggregate, batch) for aggregate in self._aggregation.aggregates]
        return pa.RecordBatch.from_arrays([*keys, *states], names=[*self._keys, *self._states])

    def _may_overflow(self, rows: pa.RecordBatch) -> bool:
        for index, aggregate in enumerate(self._aggregation.aggregates):
            limit = aggregate.sum_limit
            if limit is not None:
                self._sums[index] += largest_sum(aggregate, rows.column(self._states[index]))
                if self._sums[index] >= limit:
                    return True
        return False

    def _make_room(self) -> Iterator[pa.RecordBatch]:
        before = self._rows
        self._merge()
        if not self._judged:
            self._judged = True
            self._one_by_one = bool(self._keys) and self._rows > before * _WORTH_IT
        if self._one_by_one or self._rows > self._waiting_rows // 2:
            yield from self._leave()

    def _merge(self) -> None:
        self._waiting = [self._merge_groups(self._waiting) if self._keys else self._merge_all(self._waiting)]
        self._rows = self._waiting[0].num_rows

    def _merge_groups(self, rows: list[pa.RecordBatch]) -> pa.RecordBatch:
        grouped = pa.Table.from_batches(rows).group_by(self._keys, use_threads=False).aggregate(self._merging)
        ordered = grouped.select([*self._keys, *(f"{name}_{merging}" for name, merging in self._merging)])
        return _one_batch(ordered.rename_columns([*self._keys, *self._states]))

    def _merge_all(self, rows: list[pa.RecordBatch]) -> pa.RecordBatch:
        schema = rows[0].schema if rows else self._states_of_nothing()
        whole = pa.Table.from_batches(rows, schema)
        arrays = []
        for name, merging in self._merging:
            column = whole.column(name)
            scalar = pc.sum(column) if merging == "sum" else pc.min_max(column)[merging]
            arrays.append(pa.repeat(scalar, 1).cast(column.type))
        return pa.RecordBatch.from_arrays(arrays, names=self._states)

    def _states_of_nothing(self) -> pa.Schema:
        columns = {a.column: pa.array([], a.type) for a in self._aggregation.aggregates}
        nothing = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
        return self._first_states(nothing).schema

    def _leave(self) -> Iterator[pa.RecordBatch]:
        waiting, self._waiting, self._rows = self._waiting, [], 0
        for rows in waiting:
            yield from self._results(rows)

    def _results(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        keys = [rows.column(name) for name in self._keys]
        states = [(a, rows.column(name)) for a, name in zip(self._aggregation.aggregates, self._states, strict=True)]
        yield self._output(keys, [result(aggregate, state) for aggregate, state in states])
        for number, (aggregate, state) in enumerate(states):
            indices, pieces = whole_pieces(aggregate, state)
            if len(pieces):
                # Rows that change no other aggregate: it counts nothing and sees NULL.
                values = [_nothing(other, len(pieces)) for other, _ in states]
                values[number] = pieces
                yield self._output([key.take(pa.array(indices)) for key in keys], values)

    def _output(self, keys: list[pa.Array], values: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*keys, *values], schema=self._aggregation.schema)


def _nothing(aggregate: Aggregate, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(0 if aggregate.counts else None, aggregate.result_type), count)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pydict({}, schema=table.schema)
