from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest

from connector_spi.errors import InternalError
from connector_spi.generated import GeneratedTable, GeneratorConnector, GeneratorSplit
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.page_source import GeneratorPageSource, rows_without_columns, select_columns
from connector_spi.testing import ReferenceQuery, read_table

NESTED = pa.struct([("x", pa.int64()), ("y", pa.string())])
BATCH = pa.record_batch({"a": [1, 2], "s": pa.array([{"x": 3, "y": "u"}, None], NESTED), "b": ["v", None]})
NAME = SchemaTableName("s", "t")


@dataclass(frozen=True, slots=True)
class Rows(GeneratorSplit):
    count: int

    def read(self, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        for _ in range(self.count):
            yield BATCH


def connector() -> GeneratorConnector:
    return GeneratorConnector({NAME: GeneratedTable(BATCH.schema, lambda: (Rows(1), Rows(2)))})


def test_its_tables_are_listed_and_read() -> None:
    with ReferenceQuery(connector()) as query:
        assert query.metadata.list_schema_names(query.session) == ["s"]
        assert query.metadata.list_tables(query.session, "s") == [NAME]
        assert query.metadata.list_tables(query.session, "gone") == []
        assert query.metadata.get_table_handle(query.session, SchemaTableName("s", "gone")) is None
    assert read_table(connector(), NAME).to_pylist() == BATCH.to_pylist() * 3
    assert (
        read_table(connector(), NAME, columns=["b", "a"]).to_pylist() == [{"b": "v", "a": 1}, {"b": None, "a": 2}] * 3
    )


def test_columns_are_selected_ordered_and_narrowed() -> None:
    asked = pa.schema([("s", pa.struct([("y", pa.string())])), ("a", pa.int64())])
    assert select_columns(BATCH, asked).to_pydict() == {"s": [{"y": "u"}, None], "a": [1, 2]}
    assert select_columns(BATCH, BATCH.schema) is BATCH
    assert (select_columns(BATCH, pa.schema([])).num_rows, rows_without_columns(7).num_rows) == (2, 7)
    with pytest.raises(InternalError, match=r"asked for the column 'c', and gave \['a', 's', 'b'\]"):
        select_columns(BATCH, pa.schema([("c", pa.int64())]))


def test_closing_ends_the_generator() -> None:
    ended = []

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield BATCH
            yield BATCH
        finally:
            ended.append(True)

    source = GeneratorPageSource((ColumnHandle("a", pa.int64()),), batches())
    assert next(source).to_pydict() == {"a": [1, 2]}
    assert (source.schema, source.completed_bytes, ended) == (pa.schema([("a", pa.int64())]), BATCH.nbytes, [])
    source.close()
    source.close()
    assert ended == [True]
    with pytest.raises(InternalError, match="closed"):
        next(source)
