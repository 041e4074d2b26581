"""Stages of a read over rows that are made here, without a file."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.read.open_file import OpenFile
from connectors.toolkit.read.page_source import FilePageSource, StagedPageSource
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, adapt, mask, project
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import TimeConventions

A, B, P = ColumnHandle("a", pa.int64()), ColumnHandle("b", pa.string()), ColumnHandle("p", pa.string())
RANGE = FileRange("/f", 10, 20)


class NumbersFile(OpenFile):
    """Two parts of five rows; ``a`` counts through both, as ``int32``; odd rows are dropped. It lacks ``b``."""

    def __init__(self, read: FileRead, events: list[str]) -> None:
        super().__init__(read, 10)
        self.events = events

    @property
    def adapter(self) -> SchemaAdapter:
        columns = self.read.file_columns
        return self.read.adapter(pa.schema([("a", pa.int32())]), columns, {}, TimeConventions())

    def rows(self) -> Rows:
        try:
            for part in range(2):
                numbers = np.arange(5 * part, 5 * part + 5, dtype=np.int32)
                yield FileRows(part, 5 * part, 5, {"a": pa.array(numbers)}, pa.array(numbers % 2 == 0))
        finally:
            self.events.append("rows")


@contextmanager
def numbers(read: FileRead, events: list[str]) -> Iterator[NumbersFile]:
    try:
        yield NumbersFile(read, events)
    finally:
        events.append("file")


def noted(name: str, file: NumbersFile, rows: Iterator[FileRows]) -> Rows:
    try:
        for one in rows:
            yield one.slice(0, one.count)
    finally:
        file.events.append(name)


def pages(read: FileRead, events: list[str]) -> FilePageSource[NumbersFile]:
    stages = (partial(noted, "first"), adapt, mask, partial(noted, "last"), project)
    return FilePageSource(read, partial(numbers, read, events), stages, lambda path: nullcontext())


def test_columns_of_the_file_constants_and_missing_ones_in_output_order() -> None:
    read = FileRead(RANGE, (P, B, A), constants={"p": "x"}, batch_rows=3)
    source = pages(read, [])
    with closing(source):
        batches = list(source)
    assert [batch.to_pylist() for batch in batches] == [
        [{"p": "x", "b": None, "a": row} for row in rows] for rows in ((0, 2), (4,), (6,), (8,))
    ]
    assert {batch.schema for batch in batches} == {source.schema}
    assert source.file_rows == 10


def test_rows_without_columns_are_counted() -> None:
    with pages(FileRead(RANGE, ()), []) as source:
        assert [batch.num_rows for batch in source] == [3, 2]


def test_the_first_row_of_a_batch_is_known() -> None:
    source = pages(FileRead(RANGE, (A,), batch_rows=2), [])
    with closing(source):
        assert [(source.first_row, batch.num_rows) for batch in source] == [
            (0, 1), (2, 1), (4, 1), (5, 1), (7, 1), (9, 0)
        ]  # fmt: skip


@pytest.mark.parametrize("batches", [1, 100], ids=["early", "at the end"])
def test_stages_are_closed_before_the_file_the_last_one_first(batches: int) -> None:
    events: list[str] = []
    with pages(FileRead(RANGE, (A,)), events) as source:
        for _, _ in zip(range(batches), source, strict=False):
            assert batches == 100 or events == []
    found = ["last", "first", "rows", "file"] if batches == 1 else ["rows", "first", "last", "file"]
    assert events == found


def test_nothing_is_opened_where_the_constants_are_not_asked_for() -> None:
    events: list[str] = []
    for predicate in (TupleDomain.with_column_domains({P: Domain.single_value(P.type, "y")}), TupleDomain.none()):
        with pages(FileRead(RANGE, (A,), constants={"p": "x"}, predicate=predicate), events) as source:
            assert list(source) == []
    assert events == []


def test_a_predicate_on_the_file_is_without_constants_and_synthetic_columns() -> None:
    domains = {column: Domain.not_null(column.type) for column in (A, B, P)}
    predicate = TupleDomain.with_column_domains(domains)
    read = FileRead(RANGE, (A, B, P), constants={"p": "x"}, synthetic=frozenset({"b"}), predicate=predicate)
    assert list(read.file_predicate.domains or ()) == [A]
    assert read.file_columns == (A,)


def test_a_range_holds_its_first_byte_and_not_its_end() -> None:
    assert [offset for offset in (9, 10, 29, 30) if RANGE.holds(offset)] == [10, 29]


def test_rows_are_cut_taken_and_filtered() -> None:
    rows = FileRows(1, 100, 4, {"a": pa.array([1, 2, 3, 4]), "b": pa.array(["w", None, "y", "z"])})
    assert rows.slice(0, 9) is rows
    assert rows.take(np.arange(4)) is rows
    cut = rows.slice(1, 2)
    assert (cut.part, cut.start, cut.count) == (1, 101, 2)
    assert {name: array.to_pylist() for name, array in cut.arrays.items()} == {"a": [2, 3], "b": [None, "y"]}
    assert rows.take(np.array([0, 3])).arrays["b"].to_pylist() == ["w", "z"]
    kept = rows.filter(pa.array([False, True, True, False]))
    assert (kept.count, kept.arrays["a"].to_pylist(), kept.arrays["b"].to_pylist()) == (2, [2, 3], [None, "y"])
    assert FileRows(0, 0, 4).filter(pa.array([True, False, False, False])).count == 1


def test_steps_behind_a_page_source() -> None:
    events: list[str] = []

    def doubled(batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        for batch in batches:
            yield batch
            yield batch

    def refused(batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        yield next(batches)
        raise CorruptFileError("/f is damaged")

    inner = pages(FileRead(RANGE, (A,)), events)
    with StagedPageSource(inner, inner.schema, (doubled,)) as source:
        assert [batch.num_rows for batch in source] == [3, 3, 2, 2]
    inner = pages(FileRead(RANGE, (A,)), events)
    events.clear()
    with StagedPageSource(inner, inner.schema, (doubled, refused)) as source:
        assert next(source).column(0).to_pylist() == [0, 2, 4]
        with pytest.raises(CorruptFileError):
            next(source)
    assert events[-1] == "file"
