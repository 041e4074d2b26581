"""Rows that are added to transactional tables under real metastores of Hive 3.1 and 4.0."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
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
    """

    hive: HiveConnector
    other: ThriftHiveMetastore.Client
    schema: str
    folder: Path

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

    def rows(self, table: SchemaTableName) -> list[dict[str, object]]:
        """What a reader sees now."""
        met: list[dict[str, object]] = read_table(self.hive, table.schema, table.table).sort_by("id").to_pylist()
        return met


@pytest.fixture(scope="module")
def warehouse(transactional_release: RunningRelease, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", transactional_release.port))
    transport.open()
    hive = make_hive(transactional_release.uri)
    folder = tmp_path_factory.mktemp("inserts")
    schema = f"i{uuid4().hex[:8]}"
    hive.metastore.writes.create_database(Database(schema, location=folder.as_uri()))
    with closing(transport):
        yield Warehouse(hive, ThriftHiveMetastore.Client(TBinaryProtocol(transport)), schema, folder)
    hive.shutdown()


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
    assert warehouse.other.show_locks(ttypes.ShowLocksRequest(dbname=name.schema)).locks == []


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
