"""What is damaged or missing gives an error that names it, by both readers; never fewer rows."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import ConnectorError, CorruptFileError, FileMissingError, MetastoreError
from lakeport.spark.bridge.errors import original
from tests.lakeport.spark.tables.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("damaged"))
    # Each test stands alone: tables of this schema are looked for before one is made.
    warehouse.spark.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
    yield warehouse
    warehouse.registry.shutdown()


def written(warehouse: Warehouse, name: str, file_format: str) -> Path:
    """A partitioned table of 100 rows; gives one of its files."""
    folder = warehouse.folder / name
    frame = warehouse.spark.range(100).selectExpr("id", "cast(id AS string) AS s", "id % 2 AS p")
    frame.coalesce(1).write.partitionBy("p").format(file_format).save(str(folder))
    warehouse.call("hive", "s", name, folder)
    [file] = (folder / "p=1").glob("part-*")
    return file


def failure(warehouse: Warehouse, query: str) -> tuple[str, ConnectorError | None]:
    """The text of the error of a query, and the error of ours behind it."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - Spark raises several classes
        warehouse.spark.sql(query).collect()
    return str(caught.value), original(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-20], lambda data: b"hello, I am no data file at all" * 9, lambda data: data[: len(data) // 2]],
    ids=["cut", "other", "half"],
)
def test_damaged_file(
    warehouse: Warehouse,
    damage: Callable[[bytes], bytes],
    file_format: str,
    native: bool,
    request: pytest.FixtureRequest,
) -> None:
    name = "damaged_" + "_".join(request.node.callspec.id.split("-"))
    file = written(warehouse, name, file_format)
    file.write_bytes(damage(file.read_bytes()))
    warehouse.native_reader("hive", native)
    text, ours = failure(warehouse, f"SELECT count(s), sum(id) FROM hive.s.{name}")
    assert file.name in text
    assert isinstance(ours, CorruptFileError)


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_file_that_vanished_after_planning(warehouse: Warehouse, file_format: str, native: bool) -> None:
    name = f"vanished_{file_format}_{str(native).lower()}"
    file = written(warehouse, name, file_format)
    warehouse.native_reader("hive", native)
    frame = warehouse.spark.sql(f"SELECT count(s), sum(id) FROM hive.s.{name}")
    frame._jdf.queryExecution().executedPlan()
    file.unlink()
    with pytest.raises(Exception, match=file.name) as caught:
        frame.collect()
    if native:
        assert "FAILED_READ_FILE.FILE_NOT_EXIST" in str(caught.value)
    else:
        assert isinstance(original(caught.value), FileMissingError)
        assert "Traceback" not in str(original(caught.value))


@pytest.mark.slow
def test_partition_folder_that_is_missing(warehouse: Warehouse) -> None:
    file = written(warehouse, "no_folder", "parquet")
    shutil.rmtree(file.parent)
    text, ours = failure(warehouse, "SELECT * FROM hive.s.no_folder")
    assert "p=1" in text
    assert isinstance(ours, FileMissingError)
    warehouse.spark.sql("SET spark.lakeport.hive.ignore_absent_partitions=true")
    try:
        assert warehouse.rows("SELECT count(*) FROM hive.s.no_folder") == [(50,)]
    finally:
        warehouse.spark.sql("RESET spark.lakeport.hive.ignore_absent_partitions")


def test_metastore_that_is_down(warehouse: Warehouse) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    properties = {"hive.metastore.uri": f"thrift://127.0.0.1:{port}", "hive.metastore.thrift.client.max-retries": "0"}
    warehouse.registry.register("down", "hive", properties)
    for statement in ("SHOW SCHEMAS IN down", "SELECT * FROM down.s.t", "SHOW TABLES IN down.s"):
        text, ours = failure(warehouse, statement)
        assert f"127.0.0.1:{port}" in text
        assert isinstance(ours, MetastoreError)
        assert "\tat " not in text, "no page of Java stack"
    warehouse.registry.drop("down")
    assert ("down",) not in warehouse.rows("SHOW CATALOGS")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("SELECT * FROM hive.s.nope", ["TABLE_OR_VIEW_NOT_FOUND", "nope"]),
        ("SELECT * FROM hive.nope.t", ["TABLE_OR_VIEW_NOT_FOUND", "nope"]),
        ("USE hive.nope", ["SCHEMA_NOT_FOUND", "nope"]),
        ("SELECT nope FROM hive.s.here", ["UNRESOLVED_COLUMN", "nope"]),
        ("SELECT * FROM hive.s.here VERSION AS OF 3", ["NOT_SUPPORTED", "older state"]),
        ("SELECT * FROM hive.s.here WITH (mergeSchema = true)", ["INVALID_ARGUMENT", "mergeschema"]),
        ("CALL hive.system.register_tabel(schema_name => 's')", ["register_tabel"]),
        ("CALL hive.system.register_table(schema_name => 's')", ["table_name"]),
        ("INSERT INTO hive.s.here REPLACE WHERE id = 1 VALUES (1, 'x', 1)", ["NOT_SUPPORTED", "partition key"]),
        ("INSERT INTO hive.s.here VALUES (1, 'x')", ["INSERT_COLUMN_ARITY_MISMATCH"]),
        ("CREATE TABLE hive.s.here AS SELECT 1 AS a", ["TABLE_OR_VIEW_ALREADY_EXISTS", "here"]),
        ("CREATE TABLE hive.s.new USING avro AS SELECT map(1, 1) AS a", ["HIVE_UNSUPPORTED_TYPE", "keys are strings"]),
        ("CREATE TABLE hive.nope.new AS SELECT 1 AS a", ["nope"]),
        ("CREATE OR REPLACE TABLE hive.s.here AS SELECT 1 AS a", ["NOT_SUPPORTED", "it is an external table"]),
        ("ALTER TABLE hive.s.here ADD COLUMN z INT", ["NOT_SUPPORTED", "AddColumn"]),
        ("ALTER TABLE hive.s.here DROP PARTITION (p = 77)", ["PARTITIONS_NOT_FOUND", "77"]),
        ("ALTER TABLE hive.s.here SET TBLPROPERTIES ('transactional' = 'true')", ["NOT_SUPPORTED", "transactional"]),
        ("CREATE SCHEMA hive.s", ["SCHEMA_ALREADY_EXISTS"]),
        ("DROP SCHEMA hive.s", ["METASTORE_NOT_EMPTY", "CASCADE"]),
        ("DELETE FROM hive.s.here WHERE id = 1", ["NOT_SUPPORTED", "not a transactional table"]),
        ("TRUNCATE TABLE hive.s.here PARTITION (p = 77)", ["INVALID_ARGUMENT", "SHOW PARTITIONS hive.s.here"]),
    ],
)
def test_statement_is_refused_in_words(warehouse: Warehouse, statement: str, words: list[str]) -> None:
    if not warehouse.rows("SHOW TABLES IN hive.s LIKE 'here'"):
        written(warehouse, "here", "parquet")
    text, _ = failure(warehouse, statement)
    assert all(word in text for word in words), text
    assert "\tat " not in text, "no page of Java stack"
    assert warehouse.rows("SELECT count(*) FROM hive.s.here") == [(100,)]


def test_unknown_session_property_names_the_closest(warehouse: Warehouse) -> None:
    written(warehouse, "set", "parquet")
    warehouse.spark.sql("SET spark.lakeport.hive.natve_reader=true")
    try:
        text, _ = failure(warehouse, "SELECT * FROM hive.s.set")
    finally:
        warehouse.spark.sql("RESET spark.lakeport.hive.natve_reader")
    assert "INVALID_PROPERTY" in text
    assert "did you mean 'native_reader'?" in text
