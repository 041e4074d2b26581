"""Which rows of a table a join needs, by the rows that DuckDB has got of the other table.

DuckDB hands filters that it finds in a join to its own readers alone, not to Arrow. It reads the smaller table of a
join to its end before it opens the larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from lakeport.arrow.filters.conditions import ColumnTest, Junction, RowTest
from lakeport.arrow.filters.pruning import EVERY_ROW, both

__all__ = ["JoinKeys", "KeyValues", "may_prune"]

_MOST_LISTED = 1000
_MOST_VALUES = 50_000
"""Of more values nothing is kept: their range is that of the table."""


def may_prune(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether columns of two types are equal where their values are."""
    return bool(one == other) and (pa.types.is_integer(one) or pa.types.is_string(one) or pa.types.is_date32(one))


class KeyValues:
    """The values of a column of a table, known when all of its rows were read. May be used by several threads."""

    def __init__(self) -> None:
        self._values: pa.Array | None = None

    def test(self, column: str, data_type: pa.DataType) -> RowTest | None:
        """What rows of another table fit that have one of the values; ``None`` where the values are not known."""
        values = self._values
        if values is None:
            return None
        if len(values) <= _MOST_LISTED:
            return ColumnTest(column, "in", data_type, tuple(values.to_pylist()))
        ends = pc.min_max(values).as_py()
        bounds = [ColumnTest(column, sign, data_type, (ends[end],)) for sign, end in ((">=", "min"), ("<=", "max"))]
        return Junction(True, tuple(bounds))

    def know(self, values: pa.Array) -> None:
        """All values, each once."""
        self._values = values


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The columns by which a table is joined.

    Attributes:
        gives: What is known of its own columns when it was read.
        takes: What is known of the columns that its own have to be equal to.
    """

    gives: Mapping[str, KeyValues] = field(default_factory=dict)
    takes: Sequence[tuple[str, pa.DataType, KeyValues]] = ()

    def narrowed(self, rows: RowTest) -> RowTest:
        """The rows of some that may be joined."""
        for column, data_type, values in self.takes:
            test = values.test(column, data_type)
            if test is not None:
                rows = both(rows, test)
        return rows

    def noting(self, reader: pa.RecordBatchReader, rows: RowTest) -> pa.RecordBatchReader:
        """The same rows, whose values are known when the last one was read.

        Args:
            reader: The rows.
            rows: Of them those that are needed; DuckDB leaves the others out.
        """
        names = set(reader.schema.names)
        asked = [name for name in self.gives if name in names]
        if not asked:
            return reader
        needed = rows if names.issuperset(rows.columns) else EVERY_ROW
        return pa.RecordBatchReader.from_batches(reader.schema, self._noted(reader, asked, needed))

    def _noted(self, reader: pa.RecordBatchReader, asked: Sequence[str], needed: RowTest) -> Iterator[pa.RecordBatch]:
        found = {name: pa.array([], reader.schema.field(name).type) for name in asked}
        with reader:
            for batch in reader:
                if found:
                    found = _with_values(found, _needed(batch, needed))
                yield batch
        for name, values in found.items():
            self.gives[name].know(values)


def _with_values(found: Mapping[str, pa.Array], batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """The same with the values of a batch; without columns that have too many."""
    known = {
        name: pc.unique(pa.chunked_array([values, batch.column(name)])).drop_null() for name, values in found.items()
    }
    return {name: values for name, values in known.items() if len(values) <= _MOST_VALUES}


def _needed(batch: pa.RecordBatch, needed: RowTest) -> pa.RecordBatch:
    if not needed.columns:
        return batch
    return batch.filter(needed.mask({name: batch.column(name) for name in needed.columns}))
