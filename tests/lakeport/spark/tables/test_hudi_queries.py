"""What Hudi tables can be asked beyond their newest state, through Spark, against Hudi's own answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC

import pyarrow.compute as pc
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from connectors.hudi.timeline.instant_text import time_of_instant
from tests.connectors.hudi.changes.test_incremental import history
from tests.connectors.hudi.corpus import CASES, answers, expected, find_bootstrapped
from tests.lakeport.spark.tables.warehouse import Warehouse
from tests.rows import assert_same_table

COW, MOR, ADDED = "v9_basic_cow", "v9_basic_mor", "v9_addcol_cow"
BOOTSTRAPPED = ["v6_bootstrap_meta_cow", "v8_bootstrap_meta_mor", "v9_bootstrap_meta_mor", "v9_bootstrap_full_mor"]
TABLE = f"hudi.hudi_corpus.{COW}"
TYPE = "hoodie.datasource.query.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"

pytestmark = pytest.mark.skipif(COW not in CASES, reason="the corpus is not here")


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    warehouse.add_hudi_corpus([COW, MOR, ADDED, *FEEDS, *BOOTSTRAPPED])
    for case in BOOTSTRAPPED:
        find_bootstrapped(warehouse.folder / "hudi" / case / case)
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
def test_time_travel(warehouse: Warehouse, native: bool) -> None:
    warehouse.native_reader("hudi", native)
    for instant in answers(COW, "asof"):
        answer = expected(COW, f"asof_{instant}")
        time = time_of_instant(instant, UTC)
        assert time is not None
        for clause in (f"VERSION AS OF '{instant}'", f"TIMESTAMP AS OF '{time:%Y-%m-%d %H:%M:%S.%f}'"):
            assert_same_table(warehouse.spark.sql(f"SELECT * FROM {TABLE} {clause}").toArrow(), answer)
        by_option = warehouse.spark.read.option("as.of.instant", instant).table(TABLE)
        assert_same_table(by_option.toArrow(), answer)
        sparks = warehouse.spark.read.option("versionAsOf", instant).table(TABLE)
        assert_same_table(sparks.toArrow(), answer)


@pytest.mark.parametrize("case", [COW, MOR])
def test_bounds_of_a_partition_field_by_footers(warehouse: Warehouse, case: str) -> None:
    parts = [part for part in expected(case, "snapshot").column("part").to_pylist() if part is not None]
    query = f"SELECT min(part), max(part), count(part), count(*) FROM hudi.hudi_corpus.{case}"
    rows = expected(case, "snapshot").num_rows
    assert warehouse.rows(query) == [(min(parts), max(parts), len(parts), rows)]
    assert "aggregated by the connector" in warehouse.plan(query)


@pytest.mark.slow
def test_an_incremental_query(warehouse: Warehouse) -> None:
    for between in answers(COW, "incremental"):
        begin, _, end = between.partition("_")
        answer = expected(COW, f"incremental_{between}")
        reader = warehouse.spark.read.option(TYPE, "incremental").option(BEGIN, begin).option(END, end)
        assert_same_table(reader.table(TABLE).toArrow(), answer)
        options = f"'{TYPE}' = 'incremental', '{BEGIN}' = '{begin}', '{END}' = '{end}'"
        frame = warehouse.spark.sql(f"SELECT * FROM {TABLE} WITH ({options})")
        assert_same_table(frame.toArrow(), answer)
        assert frame.count() == answer.num_rows
        cheap = frame.where("price < 50").select("id").toArrow().column("id").to_pylist()
        prices = answer.select(["id", "price"]).to_pylist()
        assert sorted(cheap) == sorted(row["id"] for row in prices if row["price"] is not None and row["price"] < 50)


FEEDS = ["v9_cdc_beforeafter_cow", "v9_cdc_key_mor"]
FORMAT = "hoodie.datasource.query.incremental.format"


@pytest.mark.slow
@pytest.mark.parametrize("case", FEEDS)
def test_the_change_feed(warehouse: Warehouse, case: str) -> None:
    if warehouse.spark.version < "4.3":
        pytest.skip("this Spark does not load tables with options")
    name = f"hudi.hudi_corpus.{case}"
    for between in answers(case, "cdc"):
        begin, _, end = between.partition("_")
        answer = expected(case, f"cdc_{between}")
        given = {TYPE: "incremental", FORMAT: "cdc", BEGIN: begin, END: end}
        assert_same_table(warehouse.spark.read.options(**given).table(name).toArrow(), answer)
        clause = ", ".join(f"'{key}' = '{text}'" for key, text in given.items())
        # In one statement with the table itself, which has other columns.
        query = (
            f"SELECT op, count(*) FROM {name} WITH ({clause}) f, (SELECT count(*) n FROM {name}) WHERE n = 5 GROUP BY 1"
        )
        counts = Counter(answer.column("op").to_pylist())
        assert sorted(warehouse.rows(query)) == sorted(counts.items())


def test_the_columns_of_the_end(warehouse: Warehouse) -> None:
    if warehouse.spark.version < "4.3":
        pytest.skip("this Spark does not load tables with options")
    answer = expected(ADDED, f"asof_{answers(ADDED, 'asof')[0]}")
    completed = history(warehouse.folder / "hudi" / ADDED / ADDED)
    reader = warehouse.spark.read.option(TYPE, "incremental").option(BEGIN, "000")
    reader = reader.option(END, completed[answers(ADDED, "asof")[0]])
    reader = reader.option("hoodie.datasource.read.schema.use.end.instanttime", "true")
    assert_same_table(reader.table(f"hudi.hudi_corpus.{ADDED}").toArrow(), answer)


def test_two_uses_of_one_table_with_different_options(warehouse: Warehouse) -> None:
    """Options of one use must not leak into another, be it of the same statement."""
    first, second, _ = answers(COW, "incremental")
    parts = []
    for between in (first, second):
        begin, _, end = between.partition("_")
        options = f"'{TYPE}' = 'incremental', '{BEGIN}' = '{begin}', '{END}' = '{end}'"
        parts.append(f"SELECT '{between}' AS asked, id FROM {TABLE} WITH ({options})")
    parts.append(f"SELECT 'snapshot' AS asked, id FROM {TABLE}")
    met = warehouse.rows(" UNION ALL ".join(parts))
    wanted = [(between, f"incremental_{between}") for between in (first, second)] + [("snapshot", "snapshot")]
    assert sorted(met) == sorted(
        (asked, key) for asked, query in wanted for key in expected(COW, query).column("id").to_pylist()
    )


def test_changes(warehouse: Warehouse) -> None:
    """Hudi's snapshots at two instants are the judge: what changed makes one of the other."""
    first, _, third = answers(COW, "asof")
    if warehouse.spark.version < "4.2":
        pytest.skip("this Spark has no CHANGES clause")
    clause = f"CHANGES FROM VERSION '{first}' EXCLUSIVE TO VERSION '{third}'"
    rows = warehouse.rows(f"SELECT _change_type, id, name, price FROM {TABLE} {clause}")
    counts: Counter[tuple[object, ...]] = Counter()
    for kind, *row in rows:
        counts[tuple(row)] += 1 if kind in ("insert", "update_postimage") else -1
    before, after = (
        Counter(tuple(row[name] for name in ("id", "name", "price")) for row in expected(COW, query).to_pylist())
        for query in (f"asof_{first}", f"asof_{third}")
    )
    before.update(counts)
    assert +before == after
    assert {kind for kind, *_ in rows} == {"insert", "update_preimage", "update_postimage"}


@pytest.mark.slow
@pytest.mark.parametrize("case", BOOTSTRAPPED)
def test_rows_of_bootstrapped_tables(warehouse: Warehouse, case: str) -> None:
    name, answer = f"hudi.hudi_corpus.{case}", expected(case, "snapshot")
    assert_same_table(warehouse.spark.table(name).toArrow(), answer)
    [[count, least]] = warehouse.rows(f"SELECT count(*), min(_hoodie_commit_time) FROM {name} WHERE id > 2")
    newer = answer.filter(pc.greater(answer.column("id"), 2))
    assert (count, least) == (newer.num_rows, pc.min(newer.column("_hoodie_commit_time")).as_py())
    instant = answers(case, "asof")[0]
    clause = f"VERSION AS OF '{instant}'"
    assert_same_table(
        warehouse.spark.sql(f"SELECT * FROM {name} {clause}").toArrow(), expected(case, f"asof_{instant}")
    )


def test_read_optimized(warehouse: Warehouse) -> None:
    answer = expected(MOR, "read_optimized")
    name = f"hudi.hudi_corpus.{MOR}"
    assert_same_table(warehouse.spark.read.option(TYPE, "read_optimized").table(name).toArrow(), answer)
    warehouse.native_reader("hudi", True)
    warehouse.spark.sql("SET spark.lakeport.hudi.read_optimized=true")
    try:
        assert_same_table(warehouse.spark.table(name).toArrow(), answer)
        assert "reader: native" in str(warehouse.rows(f"EXPLAIN SELECT * FROM {name}"))
    finally:
        warehouse.spark.sql("SET spark.lakeport.hudi.read_optimized=false")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hoodie.datasource.query.typ": "incremental"}, "did you mean"),
        ({TYPE: "incremental", BEGIN: "soon"}, "'soon' is no instant"),
    ],
)
def test_options_that_are_refused(warehouse: Warehouse, options: dict[str, str], message: str) -> None:
    with pytest.raises((PySparkException, Py4JJavaError), match=message):
        warehouse.spark.read.options(**options).table(TABLE).collect()


def test_instants_that_are_not_there(warehouse: Warehouse) -> None:
    with pytest.raises((PySparkException, Py4JJavaError), match=r"no write as of .* there are 4 writes from"):
        warehouse.spark.sql(f"SELECT * FROM {TABLE} VERSION AS OF '2020-01-01'").collect()


def test_file_slices_and_files(warehouse: Warehouse) -> None:
    slices = warehouse.rows(f"SELECT size(log_paths), base_path IS NULL FROM hudi.hudi_corpus.`{MOR}$file_slices`")
    files = warehouse.rows(f"SELECT kind, count(*) FROM hudi.hudi_corpus.`{MOR}$files` GROUP BY kind")
    logs = sum(count for count, _ in slices if isinstance(count, int))
    assert sorted(files) == [("base", sum(not is_null for _, is_null in slices)), ("log", logs)]
    assert logs > 0
