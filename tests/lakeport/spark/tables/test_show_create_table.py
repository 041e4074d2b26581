"""What Spark shows of a table's definition: it is true, and what ``SHOW CREATE TABLE`` shows can be run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from catalog.metastore.model import FieldSchema, StorageDescriptor, Table
from connectors.hive.connector import HiveConnector
from lakeport.demo.sample_warehouse import prepare
from tests.hive_corpus import (
    FULL_ACID_CASES,
    INSERT_ONLY_CASES,
    INSERT_ONLY_TEXT_CASES,
    PLAIN_CASES,
    TEXT_CASES,
    require_corpus,
)
from tests.lakeport.spark.tables.warehouse import Warehouse

CASES = (*PLAIN_CASES, *TEXT_CASES, *FULL_ACID_CASES, *INSERT_ONLY_CASES, *INSERT_ONLY_TEXT_CASES)


@pytest.fixture(scope="module")
def corpus(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    require_corpus()
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("corpus"))
    warehouse.add_hive_corpus(cases=CASES)
    warehouse.spark.sql("CREATE SCHEMA hive.again")
    yield warehouse
    warehouse.registry.shutdown()


@pytest.fixture(scope="module")
def samples(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """The tables of ``lakeport demo``."""
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("samples"))
    for statement in prepare(warehouse.folder).registrations():
        warehouse.spark.sql(statement)
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_text_makes_the_same_table(corpus: Warehouse, case: str) -> None:
    again = _run_again(corpus, f"hive.corpus.{case}", f"hive.again.{case}")
    before, after = _entry(corpus, "corpus", case), _entry(corpus, "again", case)
    assert _kinds(after.storage) == _kinds(before.storage)
    assert after.storage.columns == before.storage.columns
    assert after.partition_keys == before.partition_keys
    assert _create(corpus, f"hive.again.{case}") == again


@pytest.mark.parametrize(
    "name", ["hive.sales.products", "hive.sales.labels", "hive.sales.notes", "hudi.sales.items", "hudi.sales.visits"]
)
def test_tables_of_the_demo_read_the_same(samples: Warehouse, name: str) -> None:
    rows = sorted(samples.rows(f"SELECT * FROM {name}"), key=repr)
    again = f"{name}_again"
    _run_again(samples, name, again)
    if "partition" in _create(samples, again).lower() and name.startswith("hive"):
        table = again.rpartition(".")[2]
        samples.spark.sql(f"CALL hive.system.sync_partition_metadata('sales', '{table}', 'ADD')")
    assert sorted(samples.rows(f"SELECT * FROM {again}"), key=repr) == rows
    assert rows


def test_declared_texts_delimiters_and_buckets_come_again(samples: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("1;abcdef;x\n")
    name = "hive.sales.`odd name`"
    samples.spark.sql(
        f"CREATE TABLE {name} (id INT COMMENT 'the ''key''', v VARCHAR(3), c CHAR(4)) USING hive "
        "OPTIONS (FILEFORMAT 'textfile', fieldDelim ';') COMMENT 'it''s odd' "
        f"TBLPROPERTIES ('bucketed_by' = 'id', 'bucket_count' = '4', 'team' = 'a=b') LOCATION '{tmp_path}'"
    )
    assert samples.rows(f"SELECT * FROM {name}") == [(1, "abc", "x   ")]
    again = _run_again(samples, name, "hive.sales.even")
    for part in (
        "`v` VARCHAR(3)",
        "CHAR(4)",
        "'field.delim' = ';'",
        "PARTITIONED BY (bucket(4, id))",
        "'team' = 'a=b'",
    ):
        assert part.replace("`", "") in again.replace("`", "")
    assert samples.rows("SELECT * FROM hive.sales.even") == [(1, "abc", "x   ")]
    entry = _entry(samples, "sales", "even")
    assert (entry.storage.bucket_columns, entry.storage.bucket_count) == (("id",), 4)
    assert (entry.parameters["comment"], entry.parameters["team"]) == ("it's odd", "a=b")
    assert "bucketed_by" not in entry.parameters


def test_instants_inside_of_nested_types_come_again(samples: Warehouse, tmp_path: Path) -> None:
    instant = "timestamp with local time zone"
    nested = (
        f"struct<at:{instant},plain:timestamp>",
        f"array<map<{instant},struct<a:{instant}>>>",
        "array<timestamp>",
        instant,
    )
    metastore = samples.registry.get("hive")
    assert isinstance(metastore, HiveConnector)
    fields = tuple(FieldSchema(f"c{at}", kind) for at, kind in enumerate(nested))
    given = _entry(samples, "sales", "labels")
    storage = replace(given.storage, columns=fields, location=tmp_path.as_uri())
    made = replace(given, name="nested_instants", storage=storage, partition_keys=(), table_type="EXTERNAL_TABLE")
    metastore.metastore.writes.create_table(made)
    text = _run_again(samples, "hive.sales.nested_instants", "hive.sales.nested_again")
    paths = "c0.at,c1.element.key,c1.element.value.a,c3"
    assert f"'timestamp_with_local_time_zone' = '{paths}'" in text
    assert tuple(field.type for field in _entry(samples, "sales", "nested_again").storage.columns) == nested
    with pytest.raises(Exception, match=r"'c2.element' is no TIMESTAMP of it; expected some of: c0.at, .* c3"):
        samples.spark.sql(f"CREATE TABLE hive.sales.nested_wrong{text.replace(paths, 'c2.element,c9')}")


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ("(id STRING)", "column 'id' of type string"),
        ("(nope INT)", "column 'nope'"),
        ("TBLPROPERTIES ('type' = 'cow')", "'type' = 'cow'"),
        ("COMMENT 'x'", "COMMENT 'x'"),
    ],
)
def test_what_a_hudi_table_is_not_is_refused(samples: Warehouse, says: str, expected: str) -> None:
    columns, rest = (says, "") if says.startswith("(") else ("", says)
    location = samples.folder / "sales" / "items"
    with pytest.raises(Exception, match=r"says .*but the Hudi table at") as caught:
        samples.spark.sql(f"CREATE TABLE hudi.sales.x {columns} USING hudi {rest} LOCATION '{location}'")
    assert expected in str(caught.value)


@pytest.mark.parametrize("buckets", ["'bucketed_by' = 'nope', 'bucket_count' = '4'", "'bucket_count' = '4'"])
def test_buckets_that_cannot_be_are_refused(samples: Warehouse, tmp_path: Path, buckets: str) -> None:
    with pytest.raises(Exception, match="a number of buckets"):
        samples.spark.sql(
            f"CREATE TABLE hive.sales.b (id INT) USING orc TBLPROPERTIES ({buckets}) LOCATION '{tmp_path}'"
        )


def test_external_tables_are_told_as_such(samples: Warehouse) -> None:
    kinds = {one.name: one.tableType for one in samples.spark.catalog.listTables("hive.sales")}
    assert kinds["labels"] == "EXTERNAL"
    for name in ("hive.sales.labels", "hudi.sales.items"):
        described = {row[0]: row[1] for row in samples.rows(f"DESCRIBE EXTENDED {name}")}
        assert described["Type"] == "EXTERNAL"
        assert described["Provider"] == ("hudi" if name.startswith("hudi") else "orc")


def test_managed_tables_are_told_as_such(corpus: Warehouse) -> None:
    described = {row[0]: row[1] for row in corpus.rows(f"DESCRIBE EXTENDED hive.corpus.{FULL_ACID_CASES[0]}")}
    assert described["Type"] == "MANAGED"


def _create(warehouse: Warehouse, name: str) -> str:
    """The text, without the name."""
    [[text]] = warehouse.rows(f"SHOW CREATE TABLE {name}")
    head, brace, rest = str(text).partition(" (")
    assert head.startswith("CREATE TABLE ")
    return brace + rest


def _run_again(warehouse: Warehouse, name: str, new_name: str) -> str:
    text = _create(warehouse, name)
    warehouse.spark.sql(f"CREATE TABLE {new_name}{text}")
    return text


def _entry(warehouse: Warehouse, schema: str, name: str) -> Table:
    hive = warehouse.registry.get("hive")
    assert isinstance(hive, HiveConnector)
    found = hive.metastore.reads.get_table(schema, name)
    assert found is not None
    return found


def _kinds(storage: StorageDescriptor) -> tuple[object, ...]:
    parameters = {"serialization.format": "1", **storage.serde.parameters}
    parameters.pop("path", None)
    classes = (storage.input_format, storage.output_format, storage.serde.serialization_lib)
    buckets = (storage.bucket_columns, max(storage.bucket_count, 0) if storage.bucket_columns else 0)
    return (storage.location, *classes, parameters, *buckets)
