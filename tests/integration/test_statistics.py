"""Column statistics in real metastores of Hive 3.1 to 4.2, as another client reads them after a write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from catalog.metastore.model import ColumnStatistics, Database
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import Overwrite
from connector_spi.testing.writing import insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.table_writer import create_table
from tests.integration.conftest import RunningRelease
from tests.integration.test_transactional_inserts import Warehouse, warehouse
from tests.integration.test_transactions import make_hive

__all__ = ["warehouse"]

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "v": ["x", None], "ds": ["a", "b"]})
_OF_COLUMNS = [
    ColumnStatistics("id", "bigint", 0, 1, 1, 2),
    ColumnStatistics("v", "string", 1, 1, max_length=1, average_length=1.0),
]
_KEYS = pytest.mark.parametrize("keys", [(), ("ds",)], ids=["flat", "partitioned"])


@dataclass(frozen=True)
class Shop:
    """A schema of its own in a real metastore.

    Attributes:
        hive: Our connector over it.
        other: A client that others wrote.
        name: The table ``t`` of the schema.
    """

    hive: HiveConnector
    other: ThriftHiveMetastore.Client
    name: SchemaTableName

    def known(self, partitions: tuple[str, ...] = ("ds=a", "ds=b")) -> dict[str, list[str]]:
        """Columns that have statistics, by partition; the table itself is an empty name."""
        reads, columns = self.hive.metastore.reads, [one.column for one in _OF_COLUMNS]
        found = dict(reads.get_partition_statistics(self.name.schema, self.name.table, partitions, columns))
        found[""] = reads.get_table_statistics(self.name.schema, self.name.table, columns)
        return {name: [one.column for one in some] for name, some in found.items() if some}

    def bounds(self, partition: str) -> tuple[object, object]:
        """Least and greatest value of the column id."""
        reads, (schema, table) = self.hive.metastore.reads, (self.name.schema, self.name.table)
        of_partitions = reads.get_partition_statistics(schema, table, [partition], ["id"]) if partition else {}
        [found] = of_partitions[partition] if partition else reads.get_table_statistics(schema, table, ["id"])
        return found.low, found.high


@pytest.fixture
def shop(metastore_release: RunningRelease, tmp_path: Path) -> Iterator[Shop]:
    hive = make_hive(metastore_release.uri)
    schema = f"st{uuid4().hex[:8]}"
    hive.metastore.writes.create_database(Database(schema, location=tmp_path.as_uri()))
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", metastore_release.port))
    transport.open()
    with closing(transport):
        client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
        yield Shop(hive, client, SchemaTableName(schema, "t"))
    hive.shutdown()


@_KEYS
def test_of_plain_tables(shop: Shop, tmp_path: Path, keys: tuple[str, ...]) -> None:
    schema, writes = shop.name.schema, shop.hive.metastore.writes
    create_table(shop.hive.metastore, tmp_path, schema, "t", ROWS, keys)
    both = [one.column for one in _OF_COLUMNS]

    def compute() -> None:
        writes.set_table_statistics(schema, "t", _OF_COLUMNS)
        if keys:
            writes.set_partition_statistics(schema, "t", {"ds=a": _OF_COLUMNS, "ds=b": _OF_COLUMNS})

    compute()
    assert shop.known() == {"": both, **({"ds=a": both, "ds=b": both} if keys else {})}
    # Of the first row of a partition, whose statistics are set anew, and of no other.
    insert_rows(shop.hive, shop.name, [ROWS.slice(0, 1)])
    assert shop.known() == ({"ds=a": both, "ds=b": both} if keys else {"": both})
    assert shop.bounds("ds=a" if keys else "") == (1, 2)
    compute()
    overwrite_rows(shop.hive, shop.name, [ROWS.slice(1)], Overwrite(dynamic=True))
    assert shop.known() == ({"ds=a": both, "ds=b": both} if keys else {"": both})
    assert shop.bounds("ds=b" if keys else "") == (2, 2)
    compute()
    overwrite_rows(shop.hive, shop.name, [])
    assert shop.known() == {}
    before = shop.hive.metastore.calls.by_method()
    insert_rows(shop.hive, shop.name, [ROWS.slice(0, 1)])
    after = shop.hive.metastore.calls.by_method()
    assert {name: after[name].count for name in after if name.startswith("delete")} == {
        name: before[name].count for name in before if name.startswith("delete")
    }


@_KEYS
def test_of_transactional_tables(warehouse: Warehouse, keys: tuple[str, ...], caplog: pytest.LogCaptureFixture) -> None:
    """Hive 4 knows the write id that they are of, and drops none."""
    name, rows = warehouse.create(f"statistics_{len(keys)}", keys), ROWS.select(["id", "ds"])
    insert_rows(warehouse.hive, name, [rows])
    writes, reads, partitions = warehouse.hive.metastore.writes, warehouse.hive.metastore.reads, ["ds=a", "ds=b"]
    if keys:
        writes.set_partition_statistics(name.schema, name.table, dict.fromkeys(partitions, _OF_COLUMNS[:1]))
    else:
        writes.set_table_statistics(name.schema, name.table, _OF_COLUMNS[:1])
    insert_rows(warehouse.hive, name, [rows.slice(0, 1)])
    assert [row["id"] for row in warehouse.rows(name)] == [1, 1, 2]
    assert "could not be dropped" not in caplog.text
    if keys:
        # Rows of new partitions are not counted, nor those of tables that Hive 3's metastore has made.
        left = list(reads.get_partition_statistics(name.schema, name.table, partitions, ["id"]))
        assert left == (partitions[1:] if warehouse.old else partitions)
    else:
        found = reads.get_table_statistics(name.schema, name.table, ["id"])
        assert [(one.low, one.high) for one in found] == ([] if warehouse.old else [(1, 2)])
