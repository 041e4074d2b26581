"""Tables on an S3 server, read with Spark and without it, each catalog with keys of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.fs as pafs
import pytest
from pyarrow.dataset import dataset
from pyspark.sql import SparkSession

import lakeport
from catalog.metastore.factory import Metastore
from catalog.metastore.model import FieldSchema, Parameters, Partition, SerDeInfo, StorageDescriptor, Table
from connector_spi.errors import StorageError
from connector_spi.security import Identity
from connectors.hive.connector import HiveConnector
from lakeport import Session
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.scan.environment import JvmEnvironment
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.table_writer import create_table
from tests.connectors.toolkit.storage.test_remote_storage import file_system
from tests.hive_corpus import canonical_rows
from tests.paths import CORPUS
from tests.rows import assert_same_table
from tests.s3_server import S3Server, s3_server
from tests.written_tables import (
    check_acid_writes,
    check_buckets_and_batches,
    check_leftovers,
    check_plain_writes,
    make_schema,
)

HUDI = ("v9_basic_cow", "v9_basic_mor")
ROWS = pa.table(
    {
        "id": pa.array(range(40), pa.int64()),
        "name": [None if n % 7 == 0 else f"é {n}" for n in range(40)],
        "p": [["a/b", "c d", "e%2F", None][n % 4] for n in range(40)],
    }
)
KINDS = ("parquet", "orc", "text")


@dataclass(frozen=True)
class Lake:
    """Sessions over the tables of the bucket ``one``: by its own user, and by that of another bucket."""

    session: Session
    server: S3Server
    catalogs: Path


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("s3")
    local = make_connector(folder)
    (folder / "tables").mkdir()
    for kind in ("parquet", "orc"):
        create_table(local.metastore, folder / "tables", "s", kind, ROWS, ["p"], file_format=kind)
    write_text(local.metastore, folder / "tables")
    for case in HUDI:
        if (CORPUS / "hudi" / f"{case}.zip").exists():
            with zipfile.ZipFile(CORPUS / "hudi" / f"{case}.zip") as packed:
                packed.extractall(folder / "hudi" / case)
    catalogs = folder / "catalogs"
    catalogs.mkdir()
    with s3_server() as server:
        server.upload(folder / "tables", "one/tables")
        if (folder / "hudi").is_dir():
            server.upload(folder / "hudi", "one/hudi")
        for name, connector, user in (("hive", "hive", "one"), ("hudi", "hudi", "one"), ("other", "hive", "two")):
            given = server.properties(user) | {
                "connector.name": connector,
                "hive.metastore": "embedded",
                "hive.metastore.embedded.path": str(folder / "s3.db"),
            }
            (catalogs / f"{name}.properties").write_text("".join(f"{key}={text}\n" for key, text in given.items()))
        with lakeport.connect(spark.newSession(), catalogs) as session:
            metastore = cast(HiveConnector, session.catalogs.get("hive")).metastore
            move_tables(local.metastore, metastore, f"file://{folder}/tables", "s3a://one/tables")
            for case in HUDI:
                for table in (folder / "hudi" / case).glob("*/.hoodie"):
                    place = f"s3://one/hudi/{case}/{table.parent.name}"
                    names = f"schema_name => 'h', table_name => '{case}', table_location => '{place}'"
                    session.sql(f"CALL hudi.system.register_table({names})")
            yield Lake(session, server, catalogs)
    local.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_partitioned_table(lake: Lake, kind: str) -> None:
    with lake.session.arrow(f"hive.s.{kind}") as reader:
        assert canonical_rows(reader.read_all()) == canonical_rows(ROWS)
    # Spark itself cannot open the files, and says nothing of it: tasks read them.
    assert canonical_rows(lake.session.sql(f"SELECT * FROM hive.s.{kind}").toArrow()) == canonical_rows(ROWS)
    counted = lake.session.sql(f"SELECT count(*), sum(id), max(name) FROM hive.s.{kind} WHERE p = 'a/b' AND id > 10")
    assert [tuple(row) for row in counted.collect()] == [(7, sum(range(12, 40, 4)), "é 36")]
    joined = lake.session.sql(f"SELECT count(*) FROM hive.s.{kind} a JOIN hive.s.parquet b ON a.id = b.id")
    assert joined.collect()[0][0] == 40


@pytest.mark.slow
@pytest.mark.parametrize("case", HUDI)
def test_a_hudi_table(lake: Lake, case: str) -> None:
    from tests.connectors.hudi.corpus import expected

    if not (CORPUS / "hudi" / f"{case}.zip").exists():
        pytest.skip("the corpus is not here")
    answer = expected(case, "snapshot")
    assert_same_table(lake.session.sql(f"SELECT * FROM hudi.h.{case}").toArrow().select(answer.column_names), answer)
    with lake.session.arrow(f"hudi.h.{case}") as reader:
        assert_same_table(reader.read_all().select(answer.column_names), answer)
    # A hive catalog hands the table on, with what it knows of the storage.
    assert lake.session.sql(f"SELECT count(*) FROM hive.h.{case}").collect()[0][0] == answer.num_rows


def test_catalogs_have_identities_of_their_own(lake: Lake) -> None:
    assert lake.session.sql("SELECT count(*) FROM hive.s.orc").collect()[0][0] == 40
    with pytest.raises(StorageError, match="ACCESS_DENIED"):
        lake.session.arrow("other.s.orc").read_all()
    with pytest.raises(Exception, match="ACCESS_DENIED") as refused:
        lake.session.sql("SELECT count(*) FROM other.s.orc").collect()
    secrets = [secret for pair in lake.server.keys.values() for secret in pair]
    assert not any(secret in str(refused.value) for secret in secrets)


@pytest.mark.slow
def test_a_user_reaches_storage_with_keys_given_along(lake: Lake, spark: SparkSession) -> None:
    key, secret = lake.server.keys["one"]
    alice = Identity("alice", extra_credentials=(("s3.aws-access-key", key), ("s3.aws-secret-key", secret)))
    bob = Identity("bob", extra_credentials=(("s3.aws-access-key", key), ("s3.aws-secret-key", "no such secret")))
    text = "SELECT count(*), sum(id) FROM other.s.orc WHERE id > 3"
    with lakeport.connect(spark.newSession(), lake.catalogs, identity=alice) as session:
        frame = session.sql(text)
        assert [tuple(row) for row in frame.collect()] == [(36, sum(range(4, 40)))]
        assert secret not in frame._jdf.queryExecution().toString()
        if (CORPUS / "hudi" / f"{HUDI[0]}.zip").exists():
            # Of another connector, which the catalog hands it to.
            assert session.sql(f"SELECT count(*) FROM other.h.{HUDI[0]}").collect()[0][0]
    with lakeport.connect(spark.newSession(), lake.catalogs, identity=bob) as session:
        with pytest.raises(Exception, match=r"SIGNATURE|ACCESS_DENIED") as refused:
            session.sql(text).collect()
        assert "no such secret" not in str(refused.value)
    with (
        lakeport.connect(catalogs=lake.catalogs, engine="duckdb", identity=alice) as local,
        local.arrow("other.s.orc") as reader,
    ):
        assert canonical_rows(reader.read_all()) == canonical_rows(ROWS)


def test_plans_and_splits_hold_no_keys(lake: Lake) -> None:
    frame = lake.session.sql("SELECT * FROM hive.s.orc WHERE id > 3")
    plans = f"{frame.collect()}{frame._jdf.queryExecution().toString()}"
    assert "reader" in plans
    assert not any(secret in plans for pair in lake.server.keys.values() for secret in pair)


@pytest.mark.slow
def test_tables_are_written(lake: Lake) -> None:
    make_schema(lake.session, "hive", "s3a://one/lake")
    check_plain_writes(lake.session, "hive")
    check_leftovers(lake.session, "hive", file_system(lake.server.properties("one")), "s3a://one/lake")
    check_acid_writes(lake.session, "hive")
    check_buckets_and_batches(lake.session, "hive")
    with pytest.raises(Exception, match="ACCESS_DENIED"):
        lake.session.sql("INSERT INTO other.w.plain VALUES (1, 'v', 'a/b')")
    key, secret = lake.server.keys["one"]
    place = lake.server.endpoint.removeprefix("http://")
    store = pafs.S3FileSystem(access_key=key, secret_key=secret, endpoint_override=place, scheme="http")
    found = store.get_file_info(pafs.FileSelector("one/lake", recursive=True))
    assert not [one.path for one in found if "/.lakeport" in one.path]
    # Another reader, of the files alone.
    met = dataset("one/lake/w/plain", format="parquet", filesystem=store).to_table().column("id").to_pylist()
    assert sorted(met) == [1000, 1002]


def write_text(metastore: Metastore, root: Path) -> None:
    """The rows as delimited text, registered beside the others."""
    like = metastore.reads.get_table("s", "parquet")
    assert like is not None
    storage = StorageDescriptor(
        (FieldSchema("id", "bigint"), FieldSchema("name", "string")),
        f"file://{root}/s/text",
        "org.apache.hadoop.mapred.TextInputFormat",
        serde=SerDeInfo("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", Parameters.of({"field.delim": "|"})),
    )
    table = Table("s", "text", storage, like.partition_keys, Parameters(), "EXTERNAL_TABLE")
    metastore.writes.create_table(table)
    for partition in metastore.reads.get_partitions_by_names(
        "s", "parquet", metastore.reads.get_partition_names("s", "parquet")
    ):
        [value] = partition.values
        key = None if value == "__HIVE_DEFAULT_PARTITION__" else value
        place = Path(str(partition.storage.location).removeprefix("file://").replace("/s/parquet/", "/s/text/"))
        place.mkdir(parents=True)
        lines = [f"{row['id']}|{row['name'] or chr(92) + 'N'}\n" for row in ROWS.to_pylist() if row["p"] == key]
        (place / "000000_0").write_text("".join(lines))
        own = replace(storage, location=f"file://{place}")
        metastore.writes.add_partitions("s", "text", [Partition("s", "text", partition.values, own, Parameters())])


def move_tables(source: Metastore, target: Metastore, old: str, new: str) -> None:
    """Registers the tables of one metastore in another, below another root."""
    database = source.reads.get_database("s")
    assert database is not None
    target.writes.create_database(database)

    def moved(storage: StorageDescriptor) -> StorageDescriptor:
        return replace(storage, location=str(storage.location).replace(old, new))

    for kind in KINDS:
        table = source.reads.get_table("s", kind)
        assert table is not None
        target.writes.create_table(replace(table, storage=moved(table.storage)))
        names = source.reads.get_partition_names("s", kind)
        partitions = source.reads.get_partitions_by_names("s", kind, names)
        target.writes.add_partitions("s", kind, [replace(one, storage=moved(one.storage)) for one in partitions])


@pytest.mark.parametrize(("scheme", "opened"), [("file", True), ("s3a", False), ("gs", False), ("abfss", False)])
def test_spark_is_asked_what_it_can_open(spark: SparkSession, scheme: str, opened: bool) -> None:
    # Without settings of the catalog's own only this keeps Spark's reader from what it cannot open.
    assert JvmEnvironment(Jvm(spark)).has_file_system(scheme) is opened
