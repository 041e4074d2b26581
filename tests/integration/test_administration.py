"""DDL and procedures over metastores of Hive 3.1 to 4.2: what they write, as another client reads it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from pyspark.sql import SparkSession
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

import lakeport
from lakeport import Session
from tests.integration.conftest import RunningRelease

FEW, MANY = 3, 450
"""Folders of a table; the second are more than one batch."""


@pytest.fixture
def reader(metastore_release: RunningRelease) -> Iterator[ThriftHiveMetastore.Client]:
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", metastore_release.port))
    transport.open()
    with closing(transport):
        yield ThriftHiveMetastore.Client(TBinaryProtocol(transport))


@pytest.fixture
def session(metastore_release: RunningRelease, spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    catalogs = tmp_path / "catalogs"
    catalogs.mkdir()
    (catalogs / "hive.properties").write_text(f"connector.name=hive\nhive.metastore.uri={metastore_release.uri}\n")
    with lakeport.connect(spark.newSession(), catalogs) as opened:
        yield opened


@pytest.fixture
def schema(session: Session, tmp_path: Path) -> str:
    name = f"admin_{uuid4().hex[:12]}"
    session.sql(f"CREATE SCHEMA hive.{name} COMMENT 'of the test' LOCATION '{tmp_path / 'schema'}'")
    return name


def entry(reader: ThriftHiveMetastore.Client, schema: str, name: str) -> ttypes.Table:
    return reader.get_table_req(ttypes.GetTableRequest(schema, name)).table


def partitioned_folders(folder: Path, count: int) -> Path:
    """``ds=0`` and so on, with two rows each."""
    folder.mkdir()
    pq.write_table(pa.table({"id": pa.array([1, 2], pa.int64())}), folder / "_rows.parquet")
    for number in range(count):
        (folder / f"ds={number}").mkdir()
        shutil.copy(folder / "_rows.parquet", folder / f"ds={number}" / "part-0.parquet")
    return folder


def path(uri: str) -> str:
    """Spark writes ``file:/folder`` where others write ``file:///folder``."""
    return urlsplit(uri).path.rstrip("/")


def create(session: Session, schema: str, name: str, folder: Path) -> None:
    session.sql(
        f"CREATE TABLE hive.{schema}.{name} (id BIGINT COMMENT 'the key', ds INT) USING parquet PARTITIONED BY (ds) "
        f"COMMENT 'of orders' TBLPROPERTIES ('team' = 'web') LOCATION '{folder}'"
    )


def test_schemas(session: Session, reader: ThriftHiveMetastore.Client, schema: str, tmp_path: Path) -> None:
    found = reader.get_database(schema)
    assert (found.description, path(found.locationUri)) == ("of the test", str(tmp_path / "schema"))
    session.sql(f"ALTER SCHEMA hive.{schema} SET PROPERTIES (team = 'web')")
    assert reader.get_database(schema).parameters["team"] == "web"
    with pytest.raises(Exception, match="ALREADY_EXISTS"):
        session.sql(f"CREATE SCHEMA hive.{schema}")
    session.sql(f"DROP SCHEMA hive.{schema}")
    assert schema not in reader.get_all_databases()


@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_tables_of_queries(
    session: Session,
    reader: ThriftHiveMetastore.Client,
    schema: str,
    transactional: bool,
    metastore_release: RunningRelease,
) -> None:
    name = f"hive.{schema}.made"
    properties = "TBLPROPERTIES ('transactional' = 'true')" if transactional else "COMMENT 'plain'"
    query = "SELECT id, id % 2 AS half, concat('n', id) AS name FROM range(8)"
    statement = f"CREATE TABLE {name} PARTITIONED BY (half) {properties} AS {query}"
    if transactional and not metastore_release.release.in_engine:
        # TransactionalValidationListener looks at the classes of the format, which a metastore of its own lacks.
        with pytest.raises(Exception, match="ACID compliant format"):
            session.sql(statement)
        assert reader.get_all_tables(schema) == []
        return
    session.sql(statement)
    made = entry(reader, schema, "made")
    # That of Hive 4 makes managed tables that are not transactional external ones.
    kinds = ("MANAGED_TABLE",) if transactional else ("MANAGED_TABLE", "EXTERNAL_TABLE")
    assert made.tableType in kinds
    assert sorted(reader.get_partition_names(schema, "made", -1)) == ["half=0", "half=1"]
    rows = {tuple(row) for row in session.sql(f"SELECT id, half, name FROM {name}").collect()}
    assert rows == {(one, one % 2, f"n{one}") for one in range(8)}
    folder = Path(path(made.sd.location))
    assert any(folder.rglob("*"))
    failing = "if(id > 2, raise_error('too many'), 'few')"
    with pytest.raises(Exception, match="too many"):
        session.sql(f"CREATE TABLE hive.{schema}.failed {properties} AS SELECT {failing} AS x FROM range(8)")
    assert reader.get_all_tables(schema) == ["made"]
    session.sql(f"DROP TABLE {name}")
    assert reader.get_all_tables(schema) == []
    assert not folder.exists()
    assert session.create_table_as(name, pa.table({"id": [1, 2]})) == len(session.arrow(name).read_all())


def test_tables(session: Session, reader: ThriftHiveMetastore.Client, schema: str, tmp_path: Path) -> None:
    folder = partitioned_folders(tmp_path / "orders", FEW)
    create(session, schema, "orders", folder)
    made = entry(reader, schema, "orders")
    assert (made.tableType, made.parameters["EXTERNAL"], made.parameters["team"]) == ("EXTERNAL_TABLE", "TRUE", "web")
    assert path(made.sd.location) == str(folder)
    assert made.parameters["comment"] == "of orders"
    assert [(one.name, one.type, one.comment) for one in made.sd.cols] == [("id", "bigint", "the key")]
    assert [(one.name, one.type) for one in made.partitionKeys] == [("ds", "int")]
    session.sql(f"CALL hive.system.sync_partition_metadata('{schema}', 'orders')")
    session.sql(f"COMMENT ON TABLE hive.{schema}.orders IS 'each of them'")
    session.sql(f"ALTER TABLE hive.{schema}.orders ALTER COLUMN id COMMENT 'its number'")
    session.sql(f"ALTER TABLE hive.{schema}.orders SET TBLPROPERTIES ('team' = 'shop')")
    changed = entry(reader, schema, "orders")
    assert (changed.parameters["comment"], changed.parameters["team"]) == ("each of them", "shop")
    assert changed.sd.cols[0].comment == "its number"
    session.sql(f"ALTER TABLE hive.{schema}.orders RENAME TO hive.{schema}.sales")
    assert reader.get_all_tables(schema) == ["sales"]
    assert path(entry(reader, schema, "sales").sd.location) == str(folder)
    assert len(reader.get_partition_names(schema, "sales", -1)) == FEW
    assert session.sql(f"SELECT count(*) FROM hive.{schema}.sales WHERE ds = 0").collect() == [(2,)]
    session.sql(f"DROP TABLE hive.{schema}.sales")
    assert reader.get_all_tables(schema) == []
    assert (folder / "ds=0" / "part-0.parquet").exists()
    # What it holds goes too, and files stay.
    create(session, schema, "orders", folder)
    session.sql(f"DROP SCHEMA hive.{schema} CASCADE")
    assert schema not in reader.get_all_databases()
    assert (folder / "ds=0" / "part-0.parquet").exists()


def test_partitions_in_batches(
    session: Session, reader: ThriftHiveMetastore.Client, schema: str, tmp_path: Path
) -> None:
    folder = partitioned_folders(tmp_path / "orders", MANY)
    create(session, schema, "orders", folder)
    synced = session.sql(f"CALL hive.system.sync_partition_metadata('{schema}', 'orders', 'FULL')").collect()
    assert synced == [(schema, "orders", MANY, 0)]
    assert sorted(reader.get_partition_names(schema, "orders", -1)) == sorted(f"ds={one}" for one in range(MANY))
    [first] = reader.get_partitions_by_names(schema, "orders", ["ds=0"])
    assert (first.values, path(first.sd.location)) == (["0"], str(folder / "ds=0"))
    for number in range(1, MANY):
        shutil.rmtree(folder / f"ds={number}")
    synced = session.sql(f"CALL hive.system.sync_partition_metadata('{schema}', 'orders', 'DROP')").collect()
    assert synced == [(schema, "orders", 0, MANY - 1)]
    assert reader.get_partition_names(schema, "orders", -1) == ["ds=0"]
    assert session.sql(f"SELECT id, ds FROM hive.{schema}.orders ORDER BY id").collect() == [(1, 0), (2, 0)]


def test_single_partitions(session: Session, reader: ThriftHiveMetastore.Client, schema: str, tmp_path: Path) -> None:
    folder = partitioned_folders(tmp_path / "orders", FEW)
    create(session, schema, "orders", folder)

    def names() -> list[str]:
        return sorted(reader.get_partition_names(schema, "orders", -1))

    session.sql(f"CALL hive.system.register_partition('{schema}', 'orders', array('ds'), array('0'))")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    session.sql(f"ALTER TABLE hive.{schema}.orders ADD PARTITION (ds = 7) LOCATION '{elsewhere}'")
    assert names() == ["ds=0", "ds=7"]
    [other] = reader.get_partitions_by_names(schema, "orders", ["ds=7"])
    assert path(other.sd.location) == str(elsewhere)
    with pytest.raises(Exception, match="ALREADY_EXISTS"):
        session.sql(f"CALL hive.system.register_partition('{schema}', 'orders', array('ds'), array('0'))")
    session.sql(f"CALL hive.system.unregister_partition('{schema}', 'orders', array('ds'), array('0'))")
    session.sql(f"ALTER TABLE hive.{schema}.orders DROP PARTITION (ds = 7)")
    assert names() == []
    with pytest.raises(Exception, match="HIVE_PARTITION_NOT_FOUND"):
        session.sql(f"CALL hive.system.unregister_partition('{schema}', 'orders', array('ds'), array('0'))")
    assert elsewhere.exists()


def test_tables_are_registered_and_taken_out(
    session: Session, reader: ThriftHiveMetastore.Client, schema: str, tmp_path: Path
) -> None:
    (tmp_path / "items").mkdir()
    orc.write_table(pa.table({"name": ["x"], "price": [2.5]}), tmp_path / "items" / "part-0.orc")
    for statement in (
        f"CALL hive.system.register_table('{schema}', 'items', '{tmp_path / 'items'}')",
        f"CREATE TABLE hive.{schema}.items USING orc LOCATION '{tmp_path / 'items'}'",
    ):
        session.sql(statement)
        made = entry(reader, schema, "items")
        assert [(one.name, one.type) for one in made.sd.cols] == [("name", "string"), ("price", "double")]
        assert session.sql(f"SELECT * FROM hive.{schema}.items").collect() == [("x", 2.5)]
        session.sql(f"CALL hive.system.unregister_table('{schema}', 'items')")
        assert reader.get_all_tables(schema) == []
    assert (tmp_path / "items" / "part-0.orc").exists()
