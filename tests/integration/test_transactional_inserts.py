"""Rows that are written to transactional tables under real metastores of Hive 3.1 and 4.0."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from pyspark.sql import SparkSession
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

import lakeport
from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from catalog.metastore.transactions import LockComponent, LockOperation, LockState, LockType
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import Overwrite
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.write.publish.stream_journal import StreamJournal
from tests.connectors.hive.reading import read_table
from tests.connectors.hive.table_writer import storage
from tests.integration.conftest import RunningRelease
from tests.integration.test_transactions import make_hive

_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_MORE = pa.table({"id": pa.array([3, 4], pa.int64()), "ds": ["b", "c"]})


@dataclass(frozen=True)
class Warehouse:
    """A schema of its own in a real metastore.

    Attributes:
        hive: Our connector over it.
        other: A client that others wrote.
        schema: Its name.
        folder: Its directory.
        old: The metastore is of Hive 3.
    """

    hive: HiveConnector
    other: ThriftHiveMetastore.Client
    schema: str
    folder: Path
    old: bool

    def create(self, table: str, keys: tuple[str, ...] = (), **parameters: str) -> SchemaTableName:
        """Makes a transactional table."""
        columns = [FieldSchema("id", "bigint"), FieldSchema("ds", "string")]
        location = self.folder / table
        location.mkdir()
        given = Parameters.of({"transactional": "true", **parameters})
        self.hive.metastore.writes.create_table(
            Table(
                self.schema,
                table,
                storage([one for one in columns if one.name not in keys], location, "orc"),
                tuple(one for one in columns if one.name in keys),
                given,
                "MANAGED_TABLE",
            )
        )
        return SchemaTableName(self.schema, table)

    def entry(self, table: SchemaTableName) -> ttypes.Table:
        """The table as the other client has it."""
        return self.other.get_table_req(ttypes.GetTableRequest(dbName=table.schema, tblName=table.table)).table

    def rows(self, table: SchemaTableName) -> list[dict[str, object]]:
        """What a reader sees now."""
        met: list[dict[str, object]] = read_table(self.hive, table.schema, table.table).sort_by("id").to_pylist()
        return met


@contextmanager
def opened_warehouse(running: RunningRelease, folder: Path) -> Iterator[Warehouse]:
    """A schema in a folder of its own."""
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", running.port))
    transport.open()
    hive = make_hive(running.uri)
    schema = f"i{uuid4().hex[:8]}"
    hive.metastore.writes.create_database(Database(schema, location=folder.as_uri()))
    old = running.release.version.startswith("3.")
    with closing(transport):
        yield Warehouse(hive, ThriftHiveMetastore.Client(TBinaryProtocol(transport)), schema, folder, old)
    hive.shutdown()


@pytest.fixture(scope="module")
def warehouse(transactional_release: RunningRelease, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with opened_warehouse(transactional_release, tmp_path_factory.mktemp("inserts")) as opened:
        yield opened


@pytest.mark.parametrize("kind", ["default", "insert_only"])
@pytest.mark.parametrize("keys", [(), ("ds",)], ids=["flat", "partitioned"])
def test_rows_are_added(warehouse: Warehouse, kind: str, keys: tuple[str, ...]) -> None:
    name = warehouse.create(f"{kind}_{len(keys)}", keys, transactional_properties=kind)
    insert_rows(warehouse.hive, name, [_ROWS])
    insert_rows(warehouse.hive, name, [_MORE])
    assert warehouse.rows(name) == [*_ROWS.to_pylist(), *_MORE.to_pylist()]
    if keys:
        names = warehouse.other.get_partition_names(name.schema, name.table, -1)
        assert sorted(names) == ["ds=a", "ds=b", "ds=c"]
    assert warehouse.other.show_locks(ttypes.ShowLocksRequest(dbname=name.schema, tablename=name.table)).locks == []


def test_another_client_sees_the_lock_and_the_partitions(warehouse: Warehouse) -> None:
    """The metastore hears of each partition that was written, so that its compactor looks there."""
    name = warehouse.create("watched", ("ds",))
    query = ReferenceQuery(warehouse.hive)
    insert = ReferenceInsert(query, name)
    insert.finish([insert.write(_ROWS)])
    locks = warehouse.other.show_locks(ttypes.ShowLocksRequest(dbname=name.schema, tablename=name.table)).locks
    assert {(lock.type, lock.state, lock.partname) for lock in locks} == {
        (ttypes.LockType.SHARED_READ, ttypes.LockState.ACQUIRED, None)
    }
    assert warehouse.rows(name) == []
    query.transaction.commit()
    assert warehouse.rows(name) == _ROWS.to_pylist()


def test_counts_are_never_said_to_be_exact_after_a_write(warehouse: Warehouse) -> None:
    """Hive 4 says so of a table that it makes, and answers count(*) by it; of partitions that it analyzed, too."""
    exact = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "0", "numFiles": "0", "totalSize": "0"}
    for keys in ((), ("ds",)):
        name = warehouse.create(f"counted_{len(keys)}", keys, **exact)
        insert_rows(warehouse.hive, name, [_ROWS])
        if keys:
            writes = warehouse.hive.metastore.writes
            writes.set_partition_parameters(name.schema, name.table, {"ds=b": Parameters.of({"numRows": "1"})})
            insert_rows(warehouse.hive, name, [_MORE])
            [entry] = warehouse.other.get_partitions_by_names(name.schema, name.table, ["ds=b"])
        else:
            entry = warehouse.entry(name)
        assert entry.parameters["numRows"] == "2"
        table = warehouse.entry(name)
        assert all("BASIC_STATS" not in one.parameters.get("COLUMN_STATS_ACCURATE", "") for one in (entry, table))


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("before", ["the commit", "it is recorded"])
def test_a_batch_of_a_stream_that_was_killed_comes_once(
    warehouse: Warehouse, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = warehouse.create(f"streamed_{before.partition(' ')[0]}")
    epoch = StreamEpoch("q-1", 0)

    def write() -> bool:
        with ReferenceQuery(warehouse.hive) as query:
            insert = ReferenceInsert(query, name)
            return insert.finish_epoch([insert.write(_ROWS)], epoch)

    def kill(*given: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if before == "the commit":
            for call in ("commit", "abort"):
                patch.setattr(warehouse.hive.metastore.transactions, call, kill)
        else:
            patch.setattr(StreamJournal, "record_committed", kill)
        with pytest.raises(Killed):
            write()
    assert len(warehouse.rows(name)) == (0 if before == "the commit" else 2)
    assert write() is (before == "the commit")
    assert not write()
    assert warehouse.rows(name) == _ROWS.to_pylist()


def test_a_rollback_is_an_abort(warehouse: Warehouse) -> None:
    name = warehouse.create("rolled_back", ("ds",))
    query = ReferenceQuery(warehouse.hive)
    insert = ReferenceInsert(query, name)
    insert.finish([insert.write(_ROWS)])
    query.transaction.rollback()
    insert_rows(warehouse.hive, name, [_MORE])
    assert warehouse.rows(name) == _MORE.to_pylist()
    client = warehouse.hive.metastore.transactions
    [ids] = client.get_valid_write_ids([(name.schema, name.table)], client.get_valid_transactions())
    # An aborted transaction that wrote to no table is forgotten by some releases.
    assert (ids.high_watermark, ids.open) == (2, ())


def test_a_transaction_that_was_aborted_adds_nothing(warehouse: Warehouse) -> None:
    name = warehouse.create("aborted")
    query = ReferenceQuery(warehouse.hive)
    insert = ReferenceInsert(query, name)
    insert.finish([insert.write(_ROWS)])
    locks = warehouse.other.show_locks(ttypes.ShowLocksRequest(dbname=name.schema, tablename=name.table)).locks
    warehouse.other.abort_txn(ttypes.AbortTxnRequest(max(lock.txnid for lock in locks)))
    with pytest.raises(MetastoreError, match="whose rows are gone") as raised:
        query.transaction.commit()
    assert raised.value.code == error_codes.HIVE_TRANSACTION_LOST
    assert warehouse.rows(name) == []


def test_many_writers_at_once(warehouse: Warehouse) -> None:
    name = warehouse.create("crowded", ("ds",))
    failures: list[BaseException] = []

    def add(writer: int) -> None:
        try:
            for step in range(5):
                ids = pa.array([writer * 100 + step * 10 + row for row in range(3)], pa.int64())
                insert_rows(warehouse.hive, name, [pa.table({"id": ids, "ds": ["a", "b", f"own{writer}"]})])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    met = [row["id"] for row in warehouse.rows(name)]
    assert met == [w * 100 + s * 10 + r for w in range(4) for s in range(5) for r in range(3)]


@pytest.mark.parametrize("kind", ["default", "insert_only"])
@pytest.mark.parametrize("keys", [(), ("ds",)], ids=["flat", "partitioned"])
def test_rows_are_replaced(warehouse: Warehouse, kind: str, keys: tuple[str, ...]) -> None:
    name = warehouse.create(f"replaced_{kind}_{len(keys)}", keys, transactional_properties=kind)
    insert_rows(warehouse.hive, name, [_ROWS])
    overwrite_rows(warehouse.hive, name, [_MORE])
    assert warehouse.rows(name) == _MORE.to_pylist()
    insert_rows(warehouse.hive, name, [_ROWS])
    overwrite_rows(warehouse.hive, name, [_MORE.slice(1)], Overwrite(dynamic=True))
    left = [*_ROWS.to_pylist(), *_MORE.to_pylist()] if keys else _MORE.slice(1).to_pylist()
    assert warehouse.rows(name) == left
    overwrite_rows(warehouse.hive, name, [])
    assert warehouse.rows(name) == []
    assert warehouse.other.show_locks(ttypes.ShowLocksRequest(dbname=name.schema, tablename=name.table)).locks == []


def test_an_update_of_another_engine_waits(warehouse: Warehouse) -> None:
    """Hive 4 updates under EXCL_WRITE, which Hive 3 does not have: there it is SHARED_WRITE."""
    name = warehouse.create("updated")
    insert_rows(warehouse.hive, name, [_ROWS])
    query = ReferenceQuery(warehouse.hive)
    insert = ReferenceInsert(query, name, Overwrite())
    insert.finish([insert.write(_MORE)])
    transactions = warehouse.hive.metastore.transactions
    other = transactions.open_transaction("other", "update")
    transactions.allocate_write_ids([other], name.schema, name.table)
    kind = LockType.SHARED_WRITE if warehouse.old else LockType.EXCL_WRITE
    component = LockComponent(name.schema, name.table, type=kind, operation=LockOperation.UPDATE)
    asked = transactions.lock(other, [component], "other", "update")
    assert asked.state is LockState.WAITING
    query.transaction.commit()
    assert transactions.check_lock(asked.lock, other).state is LockState.ACQUIRED
    transactions.abort(other)
    assert warehouse.rows(name) == _MORE.to_pylist()


def test_a_writer_that_is_not_done_refuses_the_overwrite(warehouse: Warehouse) -> None:
    name = warehouse.create("unfinished")
    with ReferenceQuery(warehouse.hive) as other:
        insert = ReferenceInsert(other, name)
        with pytest.raises(MetastoreError, match="another writer is at it") as raised:
            overwrite_rows(warehouse.hive, name, [_MORE])
        insert.finish([insert.write(_ROWS)])
    assert raised.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert warehouse.rows(name) == _ROWS.to_pylist()


@pytest.mark.parametrize("kind", ["default", "insert_only"])
def test_a_table_is_replaced_by_another(
    warehouse: Warehouse, transactional_release: RunningRelease, spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    name = warehouse.create(f"replaced_{kind}", ("ds",), transactional_properties=kind)
    insert_rows(warehouse.hive, name, [_ROWS])
    (tmp_path / "hive.properties").write_text(f"connector.name=hive\nhive.metastore.uri={transactional_release.uri}\n")
    with lakeport.connect(spark.newSession(), tmp_path) as session:
        for changed in ("id + 10 AS id, CAST(ds AS BINARY) AS data, ds", "id + 100 AS id, ds"):
            session.sql(
                f"CREATE OR REPLACE TABLE hive.{name} USING orc PARTITIONED BY (ds) TBLPROPERTIES ("
                f"'transactional' = 'true', 'transactional_properties' = '{kind}') AS SELECT {changed} FROM hive.{name}"
            )
        insert_rows(warehouse.hive, name, [_MORE])
        expected = [*_MORE.to_pylist(), *({**row, "id": row["id"] + 110} for row in _ROWS.to_pylist())]
        assert warehouse.rows(name) == expected
        tables = session.sql(f"SHOW TABLES IN hive.{name.schema} LIKE '*__*'").collect()
        assert [row.tableName for row in tables] == []


def test_rows_of_a_thousand_new_partitions(warehouse: Warehouse) -> None:
    name = warehouse.create("thousand", ("ds",))
    rows = pa.table({"id": pa.array(range(1000), pa.int64()), "ds": [f"d{number}" for number in range(1000)]})
    insert_rows(warehouse.hive, name, [rows])
    assert warehouse.rows(name) == rows.to_pylist()
