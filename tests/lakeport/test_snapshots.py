"""One snapshot for each transaction (I1), also of a connector that remembers none: the engine keeps its handles."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import TableNotFoundError
from connector_spi.metadata import TableRedirection
from connector_spi.names import SchemaTableName
from lakeport.session import Session
from tests.lakeport.unpinned import UnpinnedConnector, unpinned_session

NAME = SchemaTableName("s", "t")
ONE = pa.table({"id": pa.array([1000], pa.int64())})
Opened = tuple[Session, UnpinnedConnector]


def thousand(connector: UnpinnedConnector, name: SchemaTableName = NAME) -> None:
    connector.create_table(name, pa.table({"id": pa.array(range(1000), pa.int64())}), chunk_rows=100)


@pytest.fixture
def opened() -> Iterator[Opened]:
    with unpinned_session() as (session, connector):
        thousand(connector)
        yield session, connector


@pytest.fixture
def with_spark(spark: SparkSession) -> Iterator[Opened]:
    with unpinned_session(spark.newSession()) as (session, connector):
        thousand(connector)
        yield session, connector


def asked(connector: UnpinnedConnector) -> set[int]:
    """How often handles were asked for in one transaction."""
    return set(connector.questions.handles.values())


def test_all_reads_of_a_scan_see_one_snapshot(opened: Opened) -> None:
    session, connector = opened
    scan = session.scan("mem.s.t")
    assert scan.to_arrow().num_rows == 1000
    connector.insert(NAME, ONE)
    assert scan.to_arrow().num_rows == 1000
    assert scan.select("id").where(("id", ">", 998)).to_arrow().num_rows == 1
    assert scan.to_polars().collect().height == 1000
    assert connector.questions.handles == {(1, "s.t", None): 1}
    assert session.scan("mem.s.t").to_arrow().num_rows == 1001


def test_all_reads_of_a_block_see_one_snapshot(opened: Opened) -> None:
    session, connector = opened
    with session.transaction():
        assert session.arrow("mem.s.t").read_all().num_rows == 1000
        kept = session.scan("mem.S.T")
        connector.insert(NAME, ONE)
        assert session.arrow("MEM.s.t").read_all().num_rows == 1000
        assert kept.to_arrow().num_rows == 1000
        assert session.changes("mem.s.t").read_all().num_rows == 1000
        assert session.arrow("mem.s.t", version=1).read_all().num_rows == 1000
        assert session.arrow("mem.s.t", version=1).read_all().num_rows == 1000
        first = session.arrow("mem.s.`t$snapshots`").read_all()
        connector.insert(NAME, ONE)
        assert session.arrow("mem.s.`t$snapshots`").read_all() == first
    assert connector.questions.handles == {(1, "s.t", None): 1, (1, "s.t", "1"): 1}
    assert session.arrow("mem.s.t").read_all().num_rows == 1002
    assert kept.to_arrow().num_rows == 1000


def test_changes_that_were_read_once_are_read_again(opened: Opened) -> None:
    session, connector = opened
    with session.transaction():
        assert session.changes("mem.s.t").read_all().num_rows == 1000
        connector.insert(NAME, ONE)
        assert session.changes("mem.s.t").read_all().num_rows == 1000
        assert session.arrow("mem.s.t").read_all().num_rows == 1000


def test_threads_that_ask_at_once_share_one_answer(opened: Opened) -> None:
    session, connector = opened
    connector.questions.delay = 0.1
    scan = session.scan("mem.s.t")
    connector.insert(NAME, ONE)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: scan.to_arrow().num_rows, range(16))) == {1000}
    assert asked(connector) == {1}


def test_a_redirected_table_is_read_at_one_snapshot(opened: Opened) -> None:
    session, connector = opened
    target = SchemaTableName("other", "there")
    sibling = session.catalogs.sibling("mem", "memory", {})
    assert isinstance(sibling, UnpinnedConnector)
    thousand(sibling, target)
    connector.questions.redirected[SchemaTableName("s", "far")] = TableRedirection("memory", target, ())
    with session.transaction():
        assert session.arrow("mem.s.far").read_all().num_rows == 1000
        sibling.insert(target, ONE)
        connector.questions.redirected.clear()
        assert session.arrow("mem.s.far").read_all().num_rows == 1000
        assert session.arrow("mem.s.`far$snapshots`").read_all().num_rows == 2
    assert asked(sibling) == {1}


def test_a_table_that_is_missing_is_asked_for_again(opened: Opened) -> None:
    session, connector = opened
    with session.transaction():
        for _ in range(2):
            with pytest.raises(TableNotFoundError):
                session.arrow("mem.s.later")
    assert connector.questions.handles == {(1, "s.later", None): 2}


def test_spark_reads_one_snapshot(with_spark: Opened) -> None:
    session, connector = with_spark
    with session.transaction():
        frame = session.sql("SELECT a.id FROM mem.s.t a JOIN mem.s.t b USING (id)")
        connector.insert(NAME, ONE)
        assert frame.count() == 1000
        assert session.spark.table("mem.s.t").count() == 1000
        assert session.arrow("mem.s.t").read_all().num_rows == 1000
        assert session.sql("SELECT * FROM mem.s.t VERSION AS OF 1").count() == 1000
        assert session.sql("SELECT * FROM mem.s.`t$snapshots`").count() == 2
        connector.insert(NAME, ONE)
        assert session.sql("SELECT * FROM mem.s.`t$snapshots`").count() == 2
    assert connector.questions.handles == {(1, "s.t", None): 1, (1, "s.t", "1"): 1}
    assert frame.count() == 1000
    assert session.sql("SELECT * FROM mem.s.t").count() == 1002


def test_a_block_sees_what_it_defines(with_spark: Opened) -> None:
    session, connector = with_spark
    thousand(connector, SchemaTableName("s", "other"))
    with session.transaction():
        with pytest.raises(TableNotFoundError):
            session.sql("SELECT * FROM mem.s.made")
        before = session.table("mem.s.t")
        assert session.table("mem.s.other").count() == 1000
        session.sql("CREATE TABLE mem.s.made (id BIGINT)")
        assert session.sql("SELECT * FROM mem.s.made").columns == ["id"]
        session.sql("DROP TABLE mem.s.t")
        with pytest.raises(TableNotFoundError):
            session.sql("SELECT * FROM mem.s.t")
        session.sql("CREATE TABLE mem.s.t (name STRING)")
        assert session.spark.table("mem.s.t").columns == ["name"]
        assert before.count() == 1000
        connector.insert(SchemaTableName("s", "other"), ONE)
        assert session.spark.table("mem.s.other").count() == 1000
    assert connector.transactions.rolled_back == 0


def test_a_block_sees_what_a_procedure_made(with_spark: Opened) -> None:
    session, connector = with_spark
    connector.insert(NAME, ONE)
    with session.transaction():
        before = session.table("mem.s.t")
        assert before.count() == 1001
        session.sql("CALL mem.system.rollback_to_version('s', 't', 1)")
        assert session.table("mem.s.t").count() == 1000
        assert before.count() == 1001
