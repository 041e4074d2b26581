"""Tables of real Hive and real Hudi through SQL, against Hive's and Hudi's own answers; by both readers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connectors.hive.connector import HiveConnector
from lakeport.spark.bridge.compiled import java_classes
from tests.connectors.hive.table_writer import storage
from tests.hive_corpus import PLAIN_CASES, canonical_rows, expected_answer, require_corpus
from tests.lakeport.spark.tables.warehouse import Warehouse
from tests.paths import CORPUS
from tests.rows import assert_same_table

HUDI_CASES = [
    "v6_basic_cow",
    "v6_alltypes_cow",
    "v6_insertoverwrite_cow",
    "v6_addcol_cow",
    "v6_widen_cow",
    "v8_multipart_cow",
    "v8_droppartcols_cow",
    "v8_tskg_datestr_cow",
    "v8_virtualkeys_cow",
    "v8_archived_cow",
    "v8_rolledback_failed_cow",
    "v9_basic_cow",
    "v9_alltypes_cow",
    "v9_pendingclustering_cow",
    "v9_manygroups_cow",
    "v9_caps_cow",
    "v9_upgraded_from_v8_cow",
    "v6_pendingcompaction_mor",
    "v6_rollback_call_mor",
    "v6_virtualkeys_mor",
    "v8_alltypes_parquetlog_mor",
    "v8_logcompaction_mor",
    "v8_partialupdate_part_mor",
    "v9_alltypes_mor",
    "v9_basic_mor",
    "v9_conshash_mor",
    "v9_eventtime_mor",
    "v9_payload_partial_mor",
    "v9_widen_mor",
]


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    require_corpus()
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    warehouse.add_hive_corpus()
    warehouse.add_hudi_corpus(case for case in HUDI_CASES if (CORPUS / "hudi" / f"{case}.zip").exists())
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize("case", PLAIN_CASES)
def test_hive_table(warehouse: Warehouse, case: str, native: bool) -> None:
    warehouse.native_reader("hive", native)
    answer = expected_answer(case)
    frame = warehouse.spark.table(f"hive.corpus.{case}")
    assert frame.columns == [name for name, _ in answer.columns]
    assert canonical_rows(frame.toArrow()) == answer.rows


@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize("case", HUDI_CASES)
def test_hudi_table(warehouse: Warehouse, case: str, native: bool) -> None:
    warehouse.native_reader("hudi", native)
    expected = pq.read_table(CORPUS / "hudi" / f"{case}.expected_snapshot.parquet")
    assert_same_table(_one_form(warehouse.spark.table(f"hudi.hudi_corpus.{case}").toArrow()), _one_form(expected))


def test_hudi_table_met_in_the_hive_catalog(warehouse: Warehouse) -> None:
    """Read as plain Parquet the table would give old versions of its rows, too."""
    expected = pq.read_table(CORPUS / "hudi" / "v9_basic_cow.expected_snapshot.parquet")
    assert_same_table(_one_form(warehouse.spark.table("hive.hudi_corpus.v9_basic_cow").toArrow()), _one_form(expected))
    assert warehouse.rows("SELECT count(*) FROM hive.hudi_corpus.`v9_basic_cow$timeline`")[0][0] > 0  # type: ignore[operator]


@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, s, count(*) FROM hive.corpus.ext_parquet_snappy WHERE id > 3 AND s IS NOT NULL GROUP BY id, s",
        "SELECT * FROM hive.corpus.ext_orc_none_part WHERE id BETWEEN 1 AND 5 OR id IS NULL ORDER BY id LIMIT 3",
        "SELECT max(id), avg(id) FROM hudi.hudi_corpus.v9_basic_cow WHERE id IN (1, 2, 3) AND name LIKE 'a%'",
    ],
)
def test_a_query_is_the_same_without_classes_of_java(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, query: str, native: bool
) -> None:
    warehouse.native_reader("hive", native)
    warehouse.native_reader("hudi", native)
    expected = warehouse.rows(query)
    with monkeypatch.context() as patch:
        patch.setattr(java_classes, "function", lambda *given: None)
        assert warehouse.rows(query) == expected


def test_native_files_are_read_natively(warehouse: Warehouse) -> None:
    warehouse.native_reader("hive", True)
    warehouse.native_reader("hudi", True)
    assert "reader: native" in warehouse.plan("SELECT id, name FROM hudi.hudi_corpus.v9_basic_cow")
    assert "reader: native" in warehouse.plan("SELECT id, s FROM hive.corpus.ext_parquet_snappy WHERE id > 3")
    assert "reader: Python" in warehouse.plan("SELECT * FROM hive.corpus.orc_alltypes")


def test_hidden_columns_by_both_readers(warehouse: Warehouse) -> None:
    query = "SELECT `$path`, `$file_size`, `$file_modified_time`, `$partition`, id FROM hive.corpus.ext_orc_none_part"
    answers = []
    for native in (True, False):
        warehouse.native_reader("hive", native)
        answers.append(sorted(warehouse.rows(query), key=repr))
    assert answers[0] == answers[1]
    assert len(answers[0]) == 10
    assert all(f"/id={row[4]}/" in str(row[0]) and row[3] == f"id={row[4]}" for row in answers[0])


def test_partition_filter_skips_folders(warehouse: Warehouse) -> None:
    plan = warehouse.plan("SELECT * FROM hive.corpus.ext_orc_none_part WHERE id IN (2, 5)")
    assert "partitions: 2 of 10" in plan
    assert warehouse.rows("SELECT count(*) FROM hive.corpus.ext_orc_none_part WHERE id IN (2, 5)") == [(2,)]
    assert len(warehouse.rows("SHOW PARTITIONS hive.corpus.ext_orc_none_part")) == 10


def test_join_of_hive_and_hudi(warehouse: Warehouse) -> None:
    hive = expected_answer("ext_parquet_snappy")
    ids = {row[[name for name, _ in hive.columns].index("id")] for row in hive.rows}
    hudi = pq.read_table(CORPUS / "hudi" / "v9_basic_cow.expected_snapshot.parquet")
    both = len([value for value in hudi.column("id").to_pylist() if value in ids])
    query = "SELECT count(*) FROM hive.corpus.ext_parquet_snappy a JOIN hudi.hudi_corpus.v9_basic_cow b ON a.id = b.id"
    assert warehouse.rows(query) == [(both,)]


def test_merge_on_read_table_met_in_the_hive_catalog(warehouse: Warehouse) -> None:
    """Its base files alone would be stale rows without a word."""
    expected = pq.read_table(CORPUS / "hudi" / "v9_basic_mor.expected_snapshot.parquet")
    assert_same_table(_one_form(warehouse.spark.table("hive.hudi_corpus.v9_basic_mor").toArrow()), _one_form(expected))
    assert warehouse.rows("SELECT count(*), count(name) FROM hudi.hudi_corpus.v9_basic_mor") == [
        (expected.num_rows, expected.num_rows - expected.column("name").null_count)
    ]
    newest = max(expected.column("ts").to_pylist())
    query = f"SELECT count(*) FROM hudi.hudi_corpus.v9_basic_mor WHERE ts = {newest}"
    assert warehouse.rows(query) == [(expected.column("ts").to_pylist().count(newest),)]


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_odd_partition_values(warehouse: Warehouse, file_format: str, native: bool) -> None:
    """Spark writes the folders; names with blanks, signs, other scripts and NULL have to come back as they were."""
    values = ["a b", "100%", "x=y", "ü", "a:b", "'q'", "[1]", "%20", "a+b", "#", "?", "{x}", None]
    rows = [(number, value) for number, value in enumerate(values)]
    folder = warehouse.folder / f"odd_{file_format}_{native}"
    frame = warehouse.spark.createDataFrame(rows, "id int, p string")
    frame.coalesce(1).write.partitionBy("p").format(file_format).save(str(folder))
    name = f"odd_{file_format}_{str(native).lower()}"
    warehouse.call("hive", "spark_tables", name, folder)
    warehouse.native_reader("hive", native)
    assert sorted(warehouse.rows(f"SELECT id, p FROM hive.spark_tables.{name}")) == rows
    for number, value in rows[:-1]:
        literal = str(value).replace("'", "\\'")
        assert warehouse.rows(f"SELECT id FROM hive.spark_tables.{name} WHERE p = '{literal}'") == [(number,)]


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
def test_a_join_reads_only_the_partitions_it_needs(warehouse: Warehouse, native: bool) -> None:
    """Sizes make Spark broadcast the small side, whose keys then prune the large side while the query runs."""
    spark, folder = warehouse.spark, warehouse.folder / f"star_{native}"
    spark.range(1000).selectExpr("id", "concat('x', id % 10) AS p").write.partitionBy("p").parquet(f"{folder}/fact")
    spark.range(10).selectExpr("concat('x', id) AS p", "id AS k").write.parquet(f"{folder}/dimension")
    for name in ("fact", "dimension"):
        warehouse.call("hive", f"star_{str(native).lower()}", name, folder / name)
    warehouse.native_reader("hive", native)
    schema = f"hive.star_{str(native).lower()}"
    frame = spark.sql(
        f"SELECT sum(f.id) FROM {schema}.fact f JOIN {schema}.dimension d ON f.p = d.p WHERE d.k IN (3, 4)"
    )
    assert frame.collect() == [(sum(n for n in range(1000) if n % 10 in (3, 4)),)]
    plan = str(frame._jdf.queryExecution().executedPlan().toString())
    final = plan.split("Initial Plan")[0]
    assert "BroadcastHashJoin" in final
    assert "partitions: 2 of 10" in plan


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_nan_survives_the_native_reader(warehouse: Warehouse, file_format: str) -> None:
    """Statistics of files leave NaN out; Spark itself loses these rows when it reads the Parquet file."""
    folder = warehouse.folder / f"nan_{file_format}"
    rows = [(1, 1.0), (2, float("nan")), (3, 3.0)]
    warehouse.spark.createDataFrame(rows, "id int, d double").coalesce(1).write.format(file_format).save(str(folder))
    warehouse.call("hive", "spark_tables", f"nan_{file_format}", folder)
    warehouse.native_reader("hive", True)
    query = f"SELECT id FROM hive.spark_tables.nan_{file_format} WHERE "
    assert "reader: native" in warehouse.plan(query + "d > 5")
    assert warehouse.rows(query + "d > 5") == [(2,)]
    assert warehouse.rows(query + "d = double('NaN')") == [(2,)]
    assert sorted(warehouse.rows(query + "NOT d < 3")) == [(2,), (3,)]


def test_columns_of_orc_that_have_other_names_than_at_their_place(warehouse: Warehouse) -> None:
    """Spark's reader goes by names, so it may have a file only for the columns whose names are at their places."""
    folder = warehouse.folder / "places"
    folder.mkdir()
    shutil.copy(Path(__file__).parents[3] / "connectors/hive/formats/place_answers/mixed.orc", folder / "000000_0")
    hive = warehouse.registry.get("hive")
    assert isinstance(hive, HiveConnector)
    hive.metastore.writes.create_database(Database("place_tables"))
    columns = [FieldSchema("a", "int"), FieldSchema("bb", "string"), FieldSchema("c", "double")]
    told = storage(columns, folder, "orc")
    hive.metastore.writes.create_table(Table("place_tables", "places", told, (), Parameters(), "EXTERNAL_TABLE"))
    warehouse.native_reader("hive", True)
    query = "SELECT a, bb, c FROM hive.place_tables.places"
    assert "reader: Python" in warehouse.plan(query)
    assert sorted(warehouse.rows(query)) == [(1, "one", 1.5), (2, "two", 2.5)]
    assert warehouse.rows(f"{query} WHERE bb = 'two'") == [(2, "two", 2.5)]
    assert "reader: native" in warehouse.plan("SELECT a, c FROM hive.place_tables.places")
    assert sorted(warehouse.rows("SELECT a, c FROM hive.place_tables.places")) == [(1, 1.5), (2, 2.5)]
    # A session may tell Spark's reader to count places, which it does among the columns that are asked.
    warehouse.spark.conf.set("orc.force.positional.evolution", "true")
    try:
        assert sorted(warehouse.rows("SELECT c FROM hive.place_tables.places")) == [(1.5,), (2.5,)]
    finally:
        warehouse.spark.conf.unset("orc.force.positional.evolution")


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_names_of_another_case_are_found_whatever_sparks_setting(warehouse: Warehouse, file_format: str) -> None:
    folder = warehouse.folder / f"case_{file_format}"
    warehouse.spark.createDataFrame([(1, "a"), (2, "b")], "Id int, Name string").write.format(file_format).save(
        str(folder)
    )
    warehouse.call("hive", "spark_tables", f"case_{file_format}", folder)
    warehouse.native_reader("hive", True)
    query = f"SELECT id, name FROM hive.spark_tables.case_{file_format}"
    assert "reader: native" in warehouse.plan(query)
    assert sorted(warehouse.rows(query)) == [(1, "a"), (2, "b")]
    warehouse.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert "reader: Python" in warehouse.plan(query)
        assert sorted(warehouse.rows(query)) == [(1, "a"), (2, "b")]
        assert warehouse.rows(f"{query} WHERE name = 'b'") == [(2, "b")]
    finally:
        warehouse.spark.conf.unset("spark.sql.caseSensitive")


def _one_form(table: pa.Table) -> pa.Table:
    """The same values with Spark's names and nullability of nested fields."""

    def plain(data_type: pa.DataType) -> pa.DataType:
        if pa.types.is_struct(data_type):
            return pa.struct([pa.field(field.name, plain(field.type)) for field in data_type])
        if pa.types.is_list(data_type):
            return pa.list_(pa.field("element", plain(data_type.value_type)))
        if pa.types.is_map(data_type):
            return pa.map_(plain(data_type.key_type), plain(data_type.item_type))
        return data_type

    return table.cast(pa.schema([pa.field(field.name, plain(field.type)) for field in table.schema]))
