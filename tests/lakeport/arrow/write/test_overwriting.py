"""``Session.overwrite``: which rows go, and which conditions are none for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import lakeport
from connector_spi.errors import ColumnNotFoundError, ConnectorError, InvalidArgumentError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector
from lakeport.arrow.write.overwriting import PartitionsWhere

T = "memory.default.t"
_ROWS = pa.table({"id": [1, 2, 3, 4], "d": ["a", "a", "b", None], "h": pa.array([1, 2, 1, 1], pa.int32())})
_NEW = pa.table({"id": [9], "d": ["a"], "h": [1]})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[lakeport.Session]:
    (tmp_path / "memory.properties").write_text("connector.name=memory\n")
    with lakeport.connect(catalogs=tmp_path) as session:
        connector = session.catalogs.get("memory")
        assert isinstance(connector, MemoryConnector)
        connector.create_table(SchemaTableName("default", "t"), _ROWS, partitioned_by=["d", "h"])
        yield session


def ids(session: lakeport.Session) -> list[int]:
    return sorted(session.arrow(T, columns=["id"]).read_all()["id"].to_pylist())


@pytest.mark.parametrize(
    ("where", "left"),
    [
        (None, [9]),
        ("d = 'a'", [3, 4, 9]),
        ("D = 'a' AND h > 1", [1, 3, 4, 9]),
        ("d = 'a' OR d = 'b'", [4, 9]),
        ("d IS NULL", [1, 2, 3, 9]),
        ("d <> 'a'", [1, 2, 4, 9]),
        ([("d", "in", ["b", "c"])], [1, 2, 4, 9]),
        ([[("d", "=", "a")], [("d", "is null")]], [3, 9]),
        ("d = 'none'", [1, 2, 3, 4, 9]),
    ],
)
def test_rows_of_whole_partitions_go(memory: lakeport.Session, where: PartitionsWhere | None, left: list[int]) -> None:
    assert memory.overwrite(T, _NEW, where=where) == 1
    assert ids(memory) == left


def test_dynamic_replaces_the_partitions_of_the_new_rows(memory: lakeport.Session) -> None:
    assert memory.overwrite(T, _NEW, dynamic=True) == 1
    assert ids(memory) == [2, 3, 4, 9]
    assert memory.overwrite(T, _NEW.slice(1), dynamic=True) == 0
    assert ids(memory) == [2, 3, 4, 9]


def test_no_rows_leave_nothing(memory: lakeport.Session) -> None:
    assert memory.overwrite(T, memory.scan(T).where("id > 100")) == 0
    assert ids(memory) == []


def test_a_table_is_replaced_by_rows_of_its_own(memory: lakeport.Session) -> None:
    assert memory.overwrite(T, memory.scan(T).where("id > 2")) == 2
    assert ids(memory) == [3, 4]


@pytest.mark.parametrize(
    ("where", "error", "says"),
    [
        ("id = 1", NotSupportedError, r"where id = 1: 'id' is no partition key; .*a condition on d, h"),
        ("d = 'a' AND id = 1", NotSupportedError, "'id' is no partition key"),
        ("d = 'a' OR h = 1", NotSupportedError, "more than values of single keys"),
        ("d LIKE 'a%'", NotSupportedError, "more than values of single keys"),
        ("nope = 1", ColumnNotFoundError, "nope"),
        ("d = ", InvalidArgumentError, "d = "),
    ],
)
def test_other_conditions_are_refused(
    memory: lakeport.Session, where: str, error: type[ConnectorError], says: str
) -> None:
    with pytest.raises(error, match=says):
        memory.overwrite(T, _NEW, where=where)
    assert ids(memory) == [1, 2, 3, 4]


def test_a_condition_beside_dynamic_is_refused(memory: lakeport.Session) -> None:
    with pytest.raises(InvalidArgumentError, match="expected one of both"):
        memory.overwrite(T, _NEW, where="d = 'a'", dynamic=True)


def test_a_value_that_does_not_fit_leaves_the_rows(memory: lakeport.Session) -> None:
    with pytest.raises(InvalidArgumentError, match="'h'"):
        memory.overwrite(T, pa.table({"id": [9], "d": ["a"], "h": [2**40]}))
    assert ids(memory) == [1, 2, 3, 4]


def test_in_a_block_they_are_replaced_at_its_end(memory: lakeport.Session) -> None:
    before = ids(memory)
    with memory.transaction():
        assert ids(memory) == before
        memory.overwrite(T, _NEW)
        with pytest.raises(NotSupportedError, match="has written to it"):
            ids(memory)
    assert ids(memory) != before
