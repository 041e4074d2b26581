"""Hive metastores 3.1 to 4.2: our client's own tests, and SQL over what another client wrote into them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
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
from catalog.metastore.model import ColumnStatistics, Parameters
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_table
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.wrappers.availability import Availability
from connector_spi.errors import NotSupportedError
from lakeport import Session
from lakeport.demo.sample_warehouse import TABLES, SampleTable, prepare
from tests.integration.conftest import RunningRelease
from tests.lakeport.demo.answers import hive_rows, hudi_rows
from tests.paths import PROJECT

CLIENT_TESTS = (
    "tests/catalog/metastore/test_behaviour.py",
    "tests/catalog/metastore/test_writes.py",
    "tests/catalog/metastore/test_grants.py",
    "tests/lakeport/access_control/test_grants_of_hive.py",
    "tests/catalog/metastore/thrift/test_interoperability.py",
    "tests/catalog/metastore/test_transactions.py",
    "tests/connectors/hive/test_thrift_metastore.py",
)
# hmsclient speaks Hive 2.3 and reads tables by a call that Hive 4 has not got.
NOT_FOR_FOUR = "tests/catalog/metastore/thrift/test_interoperability.py::test_another_client_reads_what_we_wrote"

PARQUET = (
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
)
ORC = (
    "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
)
ORDERS = {"eu": [1, 2, 3], "us": [4, 5], "a/b": [6]}


@pytest.fixture
def other_client(metastore_release: RunningRelease) -> Iterator[ThriftHiveMetastore.Client]:
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", metastore_release.port))
    transport.open()
    with closing(transport):
        yield ThriftHiveMetastore.Client(TBinaryProtocol(transport))


@pytest.fixture
def session(metastore_release: RunningRelease, spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    catalogs = tmp_path / "catalogs"
    catalogs.mkdir()
    for name in ("hive", "hudi"):
        (catalogs / f"{name}.properties").write_text(
            f"connector.name={name}\nhive.metastore.uri={metastore_release.uri}\n"
        )
    with lakeport.connect(spark.newSession(), catalogs) as opened:
        yield opened


def write_with(client: ThriftHiveMetastore.Client, folder: Path) -> str:
    """A database with partitioned Parquet ``orders`` and ORC ``regions``; its name."""
    schema = f"shop_{uuid4().hex[:12]}"
    client.create_database(ttypes.Database(schema, "made elsewhere", (folder / "db").as_uri(), {}))
    columns = [ttypes.FieldSchema("id", "bigint", None), ttypes.FieldSchema("amount", "decimal(10,2)", None)]
    keys = [ttypes.FieldSchema("region", "string", None)]
    client.create_table(table(schema, "orders", storage(PARQUET, columns, folder / "orders"), keys))
    for number, (region, ids) in enumerate(ORDERS.items()):
        place = folder / "orders" / str(number)
        place.mkdir(parents=True)
        amounts = pa.array([f"{i}.25" for i in ids]).cast(pa.decimal128(10, 2))
        pq.write_table(pa.table({"id": pa.array(ids, pa.int64()), "amount": amounts}), place / "000000_0")
        client.add_partition(ttypes.Partition([region], schema, "orders", 0, 0, storage(PARQUET, columns, place), {}))
    (folder / "regions").mkdir()
    orc.write_table(pa.table({"region": ["eu", "us"], "title": ["Europe", "America"]}), folder / "regions" / "000000_0")
    columns = [ttypes.FieldSchema("region", "string", None), ttypes.FieldSchema("title", "string", None)]
    client.create_table(table(schema, "regions", storage(ORC, columns, folder / "regions"), []))
    return schema


def table(schema: str, name: str, stored: ttypes.StorageDescriptor, keys: list[ttypes.FieldSchema]) -> ttypes.Table:
    return ttypes.Table(name, schema, "ann", 0, 0, 0, stored, keys, {"EXTERNAL": "TRUE"}, None, None, "EXTERNAL_TABLE")


def storage(classes: tuple[str, str, str], columns: list[ttypes.FieldSchema], place: Path) -> ttypes.StorageDescriptor:
    serde = ttypes.SerDeInfo(None, classes[2], {"serialization.format": "1"})
    return ttypes.StorageDescriptor(columns, place.as_uri(), classes[0], classes[1], False, -1, serde, [], [], {})


def test_our_client_passes_its_own_tests(metastore_release: RunningRelease) -> None:
    deselected = ["--deselect", NOT_FOR_FOUR] if metastore_release.release.version.startswith("4.") else []
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--hypothesis-profile=large",
            "-k",
            "not embedded",
            *CLIENT_TESTS,
            *deselected,
        ],
        cwd=PROJECT,
        env={
            **os.environ,
            "CONNECTOR_TEST_METASTORE_PORT": str(metastore_release.port),
            "CONNECTOR_TEST_METASTORE_RELEASE": metastore_release.release.version,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]


def test_another_client_reads_what_we_wrote(
    metastore_release: RunningRelease, other_client: ThriftHiveMetastore.Client
) -> None:
    with closing(connect_thrift(ThriftConfig(uri=metastore_release.uri, username="tester"))) as metastore:
        made = new_table(metastore, ("ds", "string"))
        add_partitions(metastore, made, ("a/b",))
    found = other_client.get_table_req(ttypes.GetTableRequest(made.database, "t")).table
    assert (found.owner, found.sd.numBuckets, found.sd.inputFormat) == ("tester", 4, STORAGE.input_format)
    assert [(c.name, c.type, c.comment) for c in found.sd.cols] == [
        (c.name, c.type, c.comment) for c in STORAGE.columns
    ]
    assert other_client.get_partition_names(made.database, "t", -1) == ["ds=a%2Fb"]
    [partition] = other_client.get_partitions_by_names(made.database, "t", ["ds=a%2Fb"])
    assert (partition.values, partition.sd.location) == (["a/b"], f"{made.storage.location}/ds=a%2Fb")


def test_a_catalog_of_the_metastore_is_apart(
    metastore_release: RunningRelease, other_client: ThriftHiveMetastore.Client, tmp_path: Path
) -> None:
    catalog = f"c{uuid4().hex[:8]}"
    place = (tmp_path / catalog).as_uri()
    other_client.create_catalog(ttypes.CreateCatalogRequest(ttypes.Catalog(catalog, "for a test", place)))
    availability = Availability(catalog=catalog)
    config = ThriftConfig(uri=metastore_release.uri, username="tester")
    with (
        closing(connect_thrift(replace(config, availability=availability))) as inside,
        closing(connect_thrift(config)) as outside,
    ):
        assert inside.reads.get_databases() == ["default"]
        made = new_table(inside, ("ds", "string"))
        add_partitions(inside, made, ("a/b",), ("c",))
        statistics = [ColumnStatistics("id", "bigint", 1, 2, 3, 4)]
        inside.writes.set_table_statistics(made.database, "t", statistics)
        inside.writes.set_partition_statistics(made.database, "t", {"ds=c": statistics})
        inside.writes.set_partition_parameters(made.database, "t", {"ds=c": Parameters.of({"k": "v"})})
        assert inside.reads.get_databases() == sorted(["default", made.database])
        assert inside.reads.get_table_names(made.database) == ["t"]
        names = inside.reads.get_partition_names(made.database, "t")
        assert names == ["ds=a%2Fb", "ds=c"]
        found = inside.reads.get_partitions_by_names(made.database, "t", names)
        assert [one.values for one in found] == [("a/b",), ("c",)]
        assert ("k" in found[0].parameters, found[1].parameters.get("k")) == (False, "v")
        assert inside.reads.get_table_statistics(made.database, "t", ["id"]) == statistics
        per_partition = inside.reads.get_partition_statistics(made.database, "t", names, ["id"])
        assert dict(per_partition) == {"ds=c": statistics}
        assert outside.reads.get_database(made.database) is None
        theirs = other_client.get_table_req(ttypes.GetTableRequest(made.database, "t", catName=catalog)).table
        assert theirs.catName == catalog
        inside.writes.drop_table(made.database, "t")
        inside.writes.drop_database(made.database)
        assert inside.reads.get_databases() == ["default"]


def test_inserted_rows_are_counted_for_another_client(
    session: Session, other_client: ThriftHiveMetastore.Client, tmp_path: Path
) -> None:
    schema = write_with(other_client, tmp_path)
    [partition] = other_client.get_partitions_by_names(schema, "orders", ["region=eu"])
    partition.parameters = {"numRows": "3", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "k": "v"}
    other_client.alter_partitions_with_environment_context(
        schema, "orders", [partition], ttypes.EnvironmentContext({"DO_NOT_UPDATE_STATS": "true"})
    )
    added = pa.table({"id": pa.array([7, 8], pa.int64()), "region": ["eu", "asia"]})
    assert session.insert(f"hive.{schema}.orders", added) == 2
    met = session.arrow(f"hive.{schema}.orders", ["id", "region"]).read_all().to_pylist()
    expected = {(number, region) for region, ids in ORDERS.items() for number in ids} | {(7, "eu"), (8, "asia")}
    assert {(row["id"], row["region"]) for row in met} == expected
    assert len(met) == len(expected)
    there, new = other_client.get_partitions_by_names(schema, "orders", ["region=eu", "region=asia"])
    there, new = sorted((there, new), key=lambda one: one.values, reverse=True)
    assert (there.values, there.sd.location) == (["eu"], partition.sd.location)
    assert (there.parameters["numRows"], there.parameters["k"]) == ("4", "v")
    assert "COLUMN_STATS_ACCURATE" not in there.parameters
    assert (new.values, new.parameters["numRows"]) == (["asia"], "1")


_ACID = "PARTITIONED BY (k) TBLPROPERTIES ('transactional' = 'true')"


@pytest.mark.parametrize("kind", ["", "PARTITIONED BY (k)", _ACID], ids=["plain", "partitioned", "transactional"])
def test_tables_are_replaced_by_others(
    session: Session, metastore_release: RunningRelease, tmp_path: Path, kind: str
) -> None:
    if kind == _ACID and not metastore_release.release.in_engine:
        return  # Those without Hive's engine refuse to make them; test_transactional_inserts has others.
    schema = f"replaced_{uuid4().hex[:12]}"
    session.sql(f"CREATE SCHEMA hive.{schema} LOCATION '{(tmp_path / 'db').as_uri()}'")
    table = f"hive.{schema}.t"
    session.sql(f"CREATE TABLE {table} USING orc {kind} AS SELECT 1 AS a, 'x' AS k")
    session.sql(f"INSERT INTO {table} VALUES (2, 'y')")
    for added in (10, 100):
        session.sql(
            f"CREATE OR REPLACE TABLE {table} USING orc {kind} "
            f"AS SELECT a + {added} AS a, CAST(a AS STRING) AS b{added}, k FROM {table}"
        )
    session.sql(f"INSERT INTO {table} BY NAME SELECT 7 AS a, 'z' AS k, 'w' AS b100")
    rows = {tuple(row) for row in session.sql(f"SELECT a, b100, k FROM {table}").collect()}
    assert rows == {(111, "11", "x"), (112, "12", "y"), (7, "w", "z")}
    assert [row.tableName for row in session.sql(f"SHOW TABLES IN hive.{schema}").collect()] == ["t"]
    session.sql(f"DROP TABLE {table} PURGE")
    assert [path for path in (tmp_path / "db").rglob("*") if path.is_file()] == []


def test_sql_over_tables_that_another_client_made(
    session: Session, other_client: ThriftHiveMetastore.Client, tmp_path: Path
) -> None:
    schema = write_with(other_client, tmp_path)
    tables = session.sql(f"SHOW TABLES IN hive.{schema}").collect()
    assert [row.tableName for row in tables] == ["orders", "regions"]
    partitions = session.sql(f"SHOW PARTITIONS hive.{schema}.orders").collect()
    assert sorted(row.partition for row in partitions) == ["region=a%2Fb", "region=eu", "region=us"]
    for region, ids in ORDERS.items():
        found = session.sql(f"SELECT id FROM hive.{schema}.orders WHERE region = '{region}'").collect()
        assert sorted(row.id for row in found) == ids
    joined = session.sql(
        f"SELECT r.title, sum(o.amount) AS total FROM hive.{schema}.orders o JOIN hive.{schema}.regions r "
        "ON o.region = r.region GROUP BY r.title"
    ).collect()
    assert {row.title: str(row.total) for row in joined} == {"Europe": "6.75", "America": "9.50"}


def test_what_the_metastore_lets_us_do_with_a_table_is_told(
    metastore_release: RunningRelease,
    session: Session,
    other_client: ThriftHiveMetastore.Client,
    tmp_path: Path,
) -> None:
    """By ``MetastoreDefaultTransformer`` of Hive 4; before it, nothing is."""
    schema = write_with(other_client, tmp_path)
    columns = [ttypes.FieldSchema("region", "string", None)]
    for name, wanted in (("closed", "EXTREAD,ODDWRITE"), ("secret", "ODDREAD,ODDWRITE")):
        made = table(schema, name, storage(ORC, columns, tmp_path / "regions"), [])
        made.parameters["OBJCAPABILITIES"] = wanted
        other_client.create_table(made)

    def told(name: str) -> dict[str, str]:
        [row] = session.arrow(f"hive.{schema}.`{name}$properties`").read_all().to_pylist()
        return {key: text for key, text in row.items() if key.startswith("metastore.")}

    if metastore_release.release.version.startswith("3."):
        assert [told(name) for name in ("regions", "closed", "secret")] == [{}, {}, {}]
        return
    assert told("regions") == {"metastore.access-type": "read and write"}
    assert told("closed") == {
        "metastore.access-type": "read only",
        "metastore.required-write-capabilities": "EXTWRITE",
    }
    described = session.sql(f"DESCRIBE EXTENDED hive.{schema}.closed").collect()
    assert any("metastore.access-type=read only" in str(row.data_type) for row in described)
    assert session.arrow(f"hive.{schema}.closed").read_all().num_rows == 2
    with pytest.raises(NotSupportedError, match=r"access type none\): a reader needs the abilities EXTREAD"):
        session.arrow(f"hive.{schema}.secret")


def test_a_filter_on_partitions_is_answered_by_the_metastore(
    session: Session, other_client: ThriftHiveMetastore.Client, tmp_path: Path
) -> None:
    schema = write_with(other_client, tmp_path)
    [row] = session.sql(f"EXPLAIN SELECT id FROM hive.{schema}.orders WHERE region IN ('us', 'a/b')").collect()
    assert f"partitions: 2 of {len(ORDERS)}" in row.plan
    assert "partitions found by the metastore" in row.plan
    found = session.arrow(f"hive.{schema}.orders", ["id"], [("region", "=", "us")]).read_all()
    assert sorted(found["id"].to_pylist()) == ORDERS["us"]


@pytest.mark.parametrize("sample", [one for one in TABLES if not one.transactional], ids=lambda sample: sample.name)
def test_tables_registered_through_sql(
    session: Session, other_client: ThriftHiveMetastore.Client, tmp_path: Path, sample: SampleTable
) -> None:
    place = prepare(tmp_path / "warehouse").location(sample)
    schema = f"sample_{uuid4().hex[:12]}"
    other_client.create_database(ttypes.Database(schema, None, (tmp_path / "db").as_uri(), {}))
    session.sql(
        f"CALL {sample.connector}.system.register_table(schema_name => '{schema}', table_name => '{sample.name}', "
        f"table_location => '{place}')"
    )
    found = session.sql(f"SELECT id FROM {sample.connector}.{schema}.{sample.name}").collect()
    expected = hive_rows(sample.name) if sample.connector == "hive" else hudi_rows(sample.name)
    assert sorted(row.id for row in found) == sorted(int(str(row["id"])) for row in expected)
    assert other_client.get_all_tables(schema) == [sample.name]


def test_what_is_not_there_is_said_by_name(
    session: Session, other_client: ThriftHiveMetastore.Client, tmp_path: Path
) -> None:
    schema = write_with(other_client, tmp_path)
    with pytest.raises(Exception, match=rf"no table hive\.{schema}\.order; did you mean orders\?"):
        session.sql(f"SELECT * FROM hive.{schema}.order")
