"""``CHANGES FROM ... TO ...`` and ``spark.read.changes`` over tables in memory, whose history the tests know."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from connector_spi.errors import InvalidArgumentError, NotSupportedError, SchemaNotFoundError, TableNotFoundError
from connector_spi.names import SchemaTableName
from tests.lakeport.memory_session import memory_session, put
from tests.lakeport.spark.conftest import Lake

NAME = SchemaTableName("sales", "ledger")
SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("k", pa.string())])

FIRST = [(1, "insert", 1, "a"), (1, "insert", 2, "b"), (1, "insert", 3, "c")]
SECOND = [
    (2, "delete", 2, "b"),
    (2, "insert", 4, "d"),
    (2, "update_postimage", 1, "A"),
    (2, "update_preimage", 1, "a"),
]
THIRD = [(3, "delete", 4, "d"), (3, "update_postimage", 1, "AA"), (3, "update_preimage", 1, "A")]
COLUMNS = "_commit_version, _change_type, id, v"


def table(ids: list[int], values: list[str]) -> pa.Table:
    return pa.table({"id": ids, "v": values, "k": ["x" if number % 2 else "y" for number in ids]}, SCHEMA)


@pytest.fixture(scope="module")
def ledger(lake: Lake) -> Iterator[Lake]:
    if tuple(int(part) for part in lake.spark.version.split(".")[:2]) < (4, 2):
        pytest.skip(f"Spark {lake.spark.version} has no CHANGES clause")
    lake.memory.create_table(NAME, table([1, 2, 3], ["a", "b", "c"]), ["k"])
    lake.memory.merge(NAME, "id", table([1, 4], ["A", "d"]), [2])
    lake.memory.merge(NAME, "id", table([1], ["AA"]), [4])
    yield lake
    lake.memory.drop_table(NAME)


def explained(lake: Lake, text: str) -> str:
    return str(lake.spark.sql(f"EXPLAIN {text}").collect()[0][0])


def collected(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in frame.selectExpr(*COLUMNS.split(", ")).collect()), key=repr)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("FROM VERSION 1", FIRST + SECOND + THIRD),
        ("FROM VERSION 0 TO VERSION 1", FIRST),
        ("FROM VERSION 2", SECOND + THIRD),
        ("FROM VERSION 2 TO VERSION 2", SECOND),
        ("FROM VERSION '1' EXCLUSIVE TO VERSION '3' EXCLUSIVE", SECOND),
        ("FROM VERSION 3 EXCLUSIVE", []),
        ("FROM TIMESTAMP '2000-01-01 00:00:00'", FIRST + SECOND + THIRD),
        ("FROM TIMESTAMP '2000-01-01' TO TIMESTAMP '2000-01-02'", []),
    ],
)
def test_ranges(ledger: Lake, bounds: str, expected: list[tuple[object, ...]]) -> None:
    assert ledger.rows(f"SELECT {COLUMNS} FROM mem.sales.ledger CHANGES {bounds}") == sorted(expected, key=repr)


def test_all_columns_come_in_order_with_the_types_that_spark_wants(ledger: Lake) -> None:
    frame = ledger.spark.sql("SELECT * FROM mem.sales.ledger CHANGES FROM VERSION 3 AS c WHERE c.id = 4")
    assert frame.dtypes == [
        ("id", "bigint"),
        ("v", "string"),
        ("k", "string"),
        ("_change_type", "string"),
        ("_commit_version", "bigint"),
        ("_commit_timestamp", "timestamp"),
    ]
    [row] = frame.collect()
    assert tuple(row)[:5] == (4, "d", "y", "delete", 3)
    assert abs(dt.datetime.now() - row["_commit_timestamp"]) < dt.timedelta(hours=24)


def test_the_reader_of_data_frames(ledger: Lake) -> None:
    reader = ledger.spark.read.option("startingVersion", "1").option("endingVersion", "2")
    assert collected(reader.option("startingBoundInclusive", "false").changes("mem.sales.ledger")) == SECOND
    everything = ledger.spark.read.changes("mem.sales.ledger").where("id = 4")
    assert collected(everything) == [(2, "insert", 4, "d"), (3, "delete", 4, "d")]


def test_filters_and_columns_are_pushed_and_explain_says_the_range(ledger: Lake) -> None:
    text = (
        "SELECT id FROM mem.sales.ledger CHANGES FROM VERSION 1 EXCLUSIVE TO VERSION 3 "
        "WHERE k = 'x' AND _change_type = 'update_postimage' AND _commit_version > 2"
    )
    assert ledger.rows(text) == [(1,)]
    plan = explained(ledger, text)
    assert "snapshot: changes FROM VERSION 1 EXCLUSIVE TO VERSION 3" in plan
    assert "columns: 3 of 6" in plan
    assert "k = 'x'" in plan
    assert "_change_type = 'update_postimage'" in plan
    assert "partitions: 1 of 2, files: 1 of" in plan


@pytest.mark.slow
def test_two_ranges_of_one_table_in_one_query(ledger: Lake) -> None:
    text = (
        "SELECT a.id, a.v, b.v FROM mem.sales.ledger CHANGES FROM VERSION 2 TO VERSION 2 AS a "
        "JOIN mem.sales.ledger CHANGES FROM VERSION 3 AS b USING (id) "
        "WHERE a._change_type = 'update_postimage' AND b._change_type = 'update_postimage'"
    )
    assert ledger.rows(text) == [(1, "A", "AA")]
    joined = "SELECT c.id, t.v FROM mem.sales.ledger CHANGES FROM VERSION 2 c JOIN mem.sales.ledger t ON c.id = t.id"
    assert ledger.rows(f"SELECT DISTINCT * FROM ({joined})") == [(1, "AA")]


@pytest.mark.slow
def test_net_changes(ledger: Lake) -> None:
    def net(options: str) -> list[tuple[object, ...]]:
        text = f"mem.sales.ledger CHANGES FROM VERSION 2 WITH (deduplicationMode = 'netChanges'{options})"
        return ledger.rows(f"SELECT _change_type, id, v FROM {text}")

    # What came and went in the range is gone; what changed twice changes once.
    assert net(", computeUpdates = 'true'") == [
        ("delete", 2, "b"),
        ("update_postimage", 1, "AA"),
        ("update_preimage", 1, "a"),
    ]
    assert net("") == [("delete", 1, "a"), ("delete", 2, "b"), ("insert", 1, "AA")]


def test_updates_come_in_pairs_without_asking(ledger: Lake) -> None:
    text = "mem.sales.ledger CHANGES FROM VERSION 3 WITH (computeUpdates = 'true')"
    assert ledger.rows(f"SELECT {COLUMNS} FROM {text}") == THIRD


def test_counting_reads_no_column(ledger: Lake) -> None:
    assert ledger.rows("SELECT count(*) FROM mem.sales.ledger CHANGES FROM VERSION 1") == [(10,)]


def test_a_frame_keeps_the_changes_it_was_made_with(lake: Lake, ledger: Lake) -> None:
    name = SchemaTableName("sales", "growing")
    lake.memory.create_table(name, pa.table({"id": [1]}))
    frame = lake.spark.sql("SELECT id FROM mem.sales.growing CHANGES FROM VERSION 1")
    assert [tuple(row) for row in frame.collect()] == [(1,)]
    lake.memory.insert(name, pa.table({"id": [2]}))
    assert [tuple(row) for row in frame.collect()] == [(1,)]
    assert lake.rows("SELECT id FROM mem.sales.growing CHANGES FROM VERSION 1") == [(1,), (2,)]
    lake.memory.drop_table(name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mem.sales.ledger CHANGES FROM VERSION 7", "has no version '7'; it has 1 to 3"),
        ("mem.sales.ledger CHANGES FROM VERSION 3 TO VERSION 2", "the end is before the start; swap them"),
        ("mem.sales.ledger CHANGES FROM VERSION 1 WITH (speed = 'high')", "read with the option speed"),
        ("mem.sales.`ledger$snapshots` CHANGES FROM VERSION 1", "has no changes; leave out CHANGES"),
    ],
)
def test_what_cannot_be_asked(ledger: Lake, text: str, words: str) -> None:
    with pytest.raises(PySparkException, match=words.replace("$", r"\$").replace("(", r"\(")):
        ledger.spark.sql(f"SELECT * FROM {text}").collect()


def test_errors_of_the_session_are_ours(ledger: Lake) -> None:
    with memory_session(ledger.spark.newSession()) as (session, connector):
        put(connector, "ledger", table([1], ["a"]))
        for text, error in (
            ("mem.s.ledger CHANGES FROM VERSION 9", InvalidArgumentError),
            ("mem.s.`ledger$snapshots` CHANGES FROM VERSION 1", NotSupportedError),
            ("mem.s.legder CHANGES FROM VERSION 1", TableNotFoundError),
            ("mem.nowhere.ledger CHANGES FROM VERSION 1", SchemaNotFoundError),
        ):
            with pytest.raises(error):
                session.sql(f"SELECT * FROM {text}")
