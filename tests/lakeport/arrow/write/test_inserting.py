"""``Session.insert``: all rows of a call or none, from whatever gives Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import lakeport
from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector

T = "memory.default.t"
_ROWS = pa.table({"id": pa.array([1], pa.int64()), "s": ["a"]})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[lakeport.Session]:
    (tmp_path / "memory.properties").write_text("connector.name=memory\n")
    with lakeport.connect(catalogs=tmp_path) as session:
        connector = session.catalogs.get("memory")
        assert isinstance(connector, MemoryConnector)
        connector.create_table(SchemaTableName("default", "t"), _ROWS)
        yield session


def rows(session: lakeport.Session) -> list[dict[str, object]]:
    return sorted(session.arrow(T).read_all().to_pylist(), key=lambda row: str(row["id"]))


def test_rows_of_a_table_a_batch_and_a_reader(memory: lakeport.Session) -> None:
    batch = pa.record_batch({"id": [2]})
    assert memory.insert(T, pa.table(batch)) == 1
    assert memory.insert(T, batch) == 1
    assert memory.insert(T, pa.RecordBatchReader.from_batches(batch.schema, [batch, batch])) == 2
    assert [row["id"] for row in rows(memory)] == [1, 2, 2, 2, 2]


def test_frames_of_other_libraries(memory: lakeport.Session) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    memory.insert(T, pandas.DataFrame({"id": [2], "s": ["b"]}))
    memory.insert(T, polars.DataFrame({"id": [3], "s": ["c"]}))
    memory.insert(T, duckdb.sql("SELECT 4::BIGINT AS id, 'd' AS s"))
    assert rows(memory)[1:] == [{"id": 2, "s": "b"}, {"id": 3, "s": "c"}, {"id": 4, "s": "d"}]


def test_a_table_can_be_added_to_itself(memory: lakeport.Session) -> None:
    assert memory.insert(T, memory.scan(T)) == 1
    assert memory.insert(T, memory.arrow(T)) == 2
    assert len(rows(memory)) == 4


def test_a_value_that_does_not_fit_in_a_late_batch_adds_nothing(memory: lakeport.Session) -> None:
    good, bad = (
        pa.record_batch({"id": pa.array([2], pa.uint64())}),
        pa.record_batch({"id": pa.array([2**63], pa.uint64())}),
    )
    with pytest.raises(InvalidArgumentError, match="does not fit int64"):
        memory.insert(T, pa.RecordBatchReader.from_batches(good.schema, [good, bad]))
    assert rows(memory) == _ROWS.to_pylist()


def test_an_error_of_the_given_rows_adds_nothing(memory: lakeport.Session) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"id": [2]})
        raise ValueError("the source broke")

    with pytest.raises(ValueError, match="the source broke"):
        memory.insert(T, pa.RecordBatchReader.from_batches(pa.schema([("id", pa.int64())]), broken()))
    assert rows(memory) == _ROWS.to_pylist()
    connector = memory.catalogs.get("memory")
    assert isinstance(connector, MemoryConnector)
    assert connector.transactions.rolled_back == 1


def test_what_takes_no_rows_says_so(memory: lakeport.Session) -> None:
    for name in ("memory.default.`t$snapshots`", "memory.information_schema.tables"):
        with pytest.raises(NotSupportedError, match="is a system table"):
            memory.insert(name, _ROWS)
    with pytest.raises(InvalidArgumentError, match="expected a table or reader of pyarrow"):
        memory.insert(T, [{"id": 1}])
    with pytest.raises(ConnectorError, match=r"no table memory\.default\.u"):
        memory.insert("memory.default.u", _ROWS)
    with memory.transaction(), pytest.raises(NotSupportedError, match="make it before"):
        memory.create_table_as("memory.default.u", _ROWS)
    assert rows(memory) == _ROWS.to_pylist()
