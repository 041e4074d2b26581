"""Statistics of columns that the optimizer gets are those that Spark finds of the same rows by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakeport
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters
from connector_spi.errors import AccessDeniedError
from connector_spi.statistics import ColumnStatistics, TableStatistics
from connectors.hive.connector import HiveConnector
from connectors.hive.statistics.accuracy import is_current
from lakeport.session import Session
from lakeport.spark.scan.scan import PushedScan, Scan
from lakeport.spark.scan.statistics.columns import plausible_columns
from lakeport.spark.tasks.task import TaskWork
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hudi.metadata_table.writer import MetadataWriter, file_stats
from tests.connectors.hudi.writer import HudiWriter
from tests.lakeport.spark.scan.fakes import FOR_TASKS, FakeSpark, scanned

pytestmark = pytest.mark.spark

_PLAIN = "spark_catalog.default.by_cost"
COUNT = 40
DAY, INSTANT = date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)
ROWS = pa.table(
    {
        "i8": pa.array([n % 5 for n in range(COUNT)], pa.int8()),
        "i16": pa.array([n * 100 for n in range(COUNT)], pa.int16()),
        "i32": pa.array([None if n % 4 == 0 else n for n in range(COUNT)], pa.int32()),
        "i64": pa.array([-(10**12) * n for n in range(COUNT)], pa.int64()),
        "f32": pa.array([n / 4 for n in range(COUNT)], pa.float32()),
        "f64": pa.array([n / 8 for n in range(COUNT)], pa.float64()),
        "amount": pa.array([Decimal(n).scaleb(-2) for n in range(COUNT)], pa.decimal128(9, 2)),
        "flag": pa.array([n % 2 == 0 for n in range(COUNT)], pa.bool_()),
        "day": pa.array([DAY + timedelta(days=n) for n in range(COUNT)], pa.date32()),
        "text": pa.array(["abc"] * COUNT, pa.string()),
    }
)
KEYED = pa.table({"id": pa.array(range(COUNT), pa.int64()), "p": pa.array([n % 4 for n in range(COUNT)], pa.int32())})


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("by_cost")
    (folder / "catalogs").mkdir()
    text = f"hive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    for name in ("hive", "hudi"):
        (folder / "catalogs" / f"{name}.properties").write_text(f"connector.name={name}\n{text}")
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        create_table(metastore(opened), folder, "s", "t", ROWS)
        create_table(metastore(opened), folder, "s", "keyed", KEYED, ["p"])
        for table in ("t", "keyed"):
            opened.sql(f"ANALYZE TABLE hive.s.{table} COMPUTE STATISTICS")
        plain = folder / "plain"
        plain.mkdir()
        pq.write_table(ROWS, plain / "1.parquet")
        opened.spark.sql(f"CREATE TABLE spark_catalog.default.by_cost USING parquet LOCATION '{plain}'")
        opened.spark.sql("ANALYZE TABLE spark_catalog.default.by_cost COMPUTE STATISTICS FOR ALL COLUMNS")
        opened.spark.sql("SET spark.sql.cbo.enabled=true")
        yield opened
        opened.spark.sql("SET spark.sql.cbo.enabled=false")
        opened.spark.sql("DROP TABLE spark_catalog.default.by_cost")


def metastore(session: Session) -> Metastore:
    return cast(HiveConnector, session.catalogs.get("hive")).metastore


def known(session: Session, query: str) -> dict[str, tuple[object, ...]]:
    """By column: distinct values, NULLs, bounds with their classes in Java, and length, of an optimized plan."""
    stats = session.spark.sql(query)._jdf.queryExecution().optimizedPlan().stats()
    found: dict[str, tuple[object, ...]] = {}
    entries = stats.attributeStats().toSeq()
    for position in range(entries.size()):
        attribute, one = entries.apply(position)._1(), entries.apply(position)._2()
        bounds = [option(bound) for bound in (one.min(), one.max())]
        found[attribute.name()] = (option(one.distinctCount()), option(one.nullCount()), *bounds, option(one.avgLen()))
    return found


def option(value: object) -> str | None:
    """A value as Java writes it, with its class: those of one kind are compared by their class."""
    if value.isEmpty():  # type: ignore[attr-defined]
        return None
    return str(value.toString())  # type: ignore[attr-defined]


@pytest.mark.slow
def test_bounds_and_counts_are_those_that_spark_finds(session: Session) -> None:
    ours, expected = (known(session, f"SELECT * FROM {name}") for name in ("hive.s.t", "spark_catalog.default.by_cost"))
    assert ours.keys() == expected.keys()
    for name, found in ours.items():
        # Of fixed sizes Spark keeps the length, which it knows from the type as well. Hive keeps no bounds of booleans.
        length = {"text": 5, "flag": 2}.get(name, 4)
        assert found[:length] == expected[name][:length], name


def test_filters_unions_and_joins_are_estimated_as_over_spark_s_own_table(session: Session) -> None:
    """A union compares bounds in the classes of their types: others would fail."""
    for query in (
        "SELECT * FROM {t} WHERE i32 < 10",
        "SELECT * FROM {t} WHERE day >= DATE'2024-02-01' AND amount < 0.2",
        "SELECT * FROM {t} UNION ALL SELECT * FROM {t}",
        "SELECT a.i64 FROM {t} a JOIN {t} b ON a.i16 = b.i16",
        "SELECT i8, count(*) FROM {t} GROUP BY i8",
    ):
        ours, expected = (
            rows_of(session, query.format(t=name)) for name in ("hive.s.t", "spark_catalog.default.by_cost")
        )
        assert ours == pytest.approx(expected, abs=1), query


def rows_of(session: Session, query: str) -> int:
    # Spark checks filters again, as it does for its own table.
    session.spark.sql("SET spark.lakeport.hive.task_pushdown=false")
    plan = session.spark.sql(query)._jdf.queryExecution().optimizedPlan()
    return int(plan.stats().rowCount().get())


def test_a_join_begins_with_the_smallest(session: Session) -> None:
    """Of three tables in a bad order, the optimizer joins the two that leave few rows first."""
    session.spark.sql("SET spark.sql.cbo.joinReorder.enabled=true")
    query = """
        SELECT count(*) FROM hive.s.t a, hive.s.t b, hive.s.keyed c
        WHERE a.i8 = b.i8 AND b.i64 = c.id AND c.p = 1
    """
    try:
        plan = session.spark.sql(query)._jdf.queryExecution().optimizedPlan().toString()
    finally:
        session.spark.sql("SET spark.sql.cbo.joinReorder.enabled=false")
    joins = [line for line in plan.splitlines() if "Join Inner" in line]
    # The outer one comes first.
    assert "i8" in joins[0]
    assert "id" in joins[1]


def test_keys_of_partitions_are_exact(session: Session) -> None:
    assert known(session, "SELECT * FROM hive.s.keyed WHERE p IN (1, 2)")["p"][:4] == (
        "Some(2)",
        "Some(0)",
        "Some(1)",
        "Some(2)",
    )


def test_without_the_setting_no_column_is_asked_for(session: Session) -> None:
    session.spark.sql("SET spark.sql.cbo.enabled=false")
    try:
        assert known(session, "SELECT * FROM hive.s.t") == {}
    finally:
        session.spark.sql("SET spark.sql.cbo.enabled=true")


def test_what_hive_says_is_old_is_not_used(session: Session, tmp_path: Path) -> None:
    """Hive takes the names of columns out of COLUMN_STATS when it adds rows."""
    said = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}'}
    table = create_table(metastore(session), tmp_path, "s", "partly", KEYED)
    # A metastore says it of all columns whose statistics are set.
    metastore(session).writes.alter_table("s", "partly", replace(table, parameters=Parameters.of(said)))
    session.spark.sql("SET spark.lakeport.hive.footer_statistics_max_files=0")
    try:
        found = known(session, "SELECT * FROM hive.s.partly")
    finally:
        session.spark.sql("SET spark.lakeport.hive.footer_statistics_max_files=128")
    assert "id" in found
    assert "p" not in found


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_nobody_has_analyzed_the_table_but_its_files_know(session: Session, tmp_path: Path, file_format: str) -> None:
    name = f"bare_{file_format}"
    table = create_table(metastore(session), tmp_path, "s", name, ROWS, file_format=file_format)
    metastore(session).writes.drop_table_statistics("s", name, ROWS.column_names)
    metastore(session).writes.alter_table("s", name, replace(table, parameters=Parameters.of({"EXTERNAL": "TRUE"})))
    ours, expected = (known(session, f"SELECT * FROM {one}") for one in (f"hive.s.{name}", _PLAIN))
    for column in ("i8", "i16", "i32", "i64", "flag", "day"):
        assert ours[column][1:4] == expected[column][1:4], column
    # Where rows and bounds leave little doubt.
    distinct = {column: found[0] for column, found in ours.items() if found[0] is not None}
    assert distinct == {name: f"Some({count})" for name, count in {"i8": 5, "amount": 40, "flag": 2, "day": 40}.items()}
    assert ours["text"][:4] == (None, "Some(0)", None, None)
    for query in ("SELECT * FROM {t}", "SELECT * FROM {t} WHERE day >= DATE'2024-02-01' AND i8 < 3"):
        ours_rows, expected_rows = (rows_of(session, query.format(t=one)) for one in (f"hive.s.{name}", _PLAIN))
        assert ours_rows == pytest.approx(expected_rows, abs=1), query
    session.spark.sql("SET spark.lakeport.hive.footer_statistics_max_files=0")
    try:
        assert known(session, f"SELECT * FROM hive.s.{name}") == {}
    finally:
        session.spark.sql("SET spark.lakeport.hive.footer_statistics_max_files=128")


def test_a_histogram_knows_what_bounds_do_not(session: Session, tmp_path: Path) -> None:
    numbers = [n % 10 if n % 8 else n * 100 for n in range(800)]
    dates = [DAY + timedelta(days=number // 10) for number in numbers]
    rows = pa.table({"n": pa.array(numbers, pa.int64()), "day": pa.array(dates, pa.date32())})
    create_table(metastore(session), tmp_path, "s", "skewed", rows)
    parts = [round(part * (len(numbers) - 1) / 32) for part in range(33)]
    quantiles = {
        "n": [float(sorted(numbers)[at]) for at in parts],
        # A sketch of 32 bits is a little off, also beyond the bounds.
        "day": [(sorted(dates)[at] - date(1970, 1, 1)).days * (1 + 1e-6) for at in parts],
    }
    known = metastore(session).reads.get_table_statistics("s", "skewed", ["n", "day"])
    distinct = {"n": len(set(numbers)), "day": len(set(dates))}
    n, day = (replace(one, distinct_count=distinct[one.column]) for one in known)
    changed = [replace(one, quantiles=tuple(quantiles[one.column])) for one in (n, day)]
    for condition, within, expected in (
        ("n < 5", changed, sum(number < 5 for number in numbers)),
        ("n >= 40000", changed, sum(number >= 40000 for number in numbers)),
        ("day > DATE'2024-02-01'", changed, sum(day > date(2024, 2, 1) for day in dates)),
        ("n BETWEEN 3 AND 60000", changed, sum(3 <= number <= 60000 for number in numbers)),
        # By bounds alone all values are taken to be spread evenly.
        ("n < 5", [n, day], 0),
    ):
        metastore(session).writes.set_table_statistics("s", "skewed", within)
        found = rows_of(session, f"SELECT * FROM hive.s.skewed WHERE {condition}")
        assert found == pytest.approx(expected, abs=40), condition


def test_files_of_changed_tables_know_nothing_of_deleted_rows(session: Session) -> None:
    session.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
    session.sql("CREATE TABLE hive.s.acid (id INT) USING orc TBLPROPERTIES ('transactional' = 'true')")
    session.sql("INSERT INTO hive.s.acid SELECT id FROM range(10)")
    metastore(session).writes.drop_table_statistics("s", "acid", ["id"])
    assert known(session, "SELECT * FROM hive.s.acid")["id"][2:4] == ("Some(0)", "Some(9)")
    session.sql("DELETE FROM hive.s.acid WHERE id > 3")
    assert known(session, "SELECT * FROM hive.s.acid") == {}


@pytest.mark.parametrize(
    ("parameters", "current"),
    [
        ({}, True),
        ({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"c":"true"}}'}, True),
        ({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"d":"true"}}'}, False),
        ({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}, False),
        ({"COLUMN_STATS_ACCURATE": "true"}, True),
        ({"COLUMN_STATS_ACCURATE": "false"}, False),
        ({"COLUMN_STATS_ACCURATE": "{"}, True),
    ],
)
def test_hive_s_word_on_statistics(parameters: dict[str, str], current: bool) -> None:
    assert is_current(parameters, "c") is current


def test_statistics_that_contradict_themselves_are_left_out() -> None:
    schema = pa.schema([(name, pa.int64()) for name in ("good", "many", "turned", "share")])
    columns = {
        "good": ColumnStatistics(0.5, 3.0, None, 1, 2),
        "many": ColumnStatistics(0.0, 500.0, None, 1, 2),
        "turned": ColumnStatistics(0.0, 3.0, None, 2, 1),
        "share": ColumnStatistics(1.5, 3.0),
        "unread": ColumnStatistics(0.0, 1.0),
    }
    found = dict(plausible_columns(TableStatistics(10.0, 100, tuple(columns.items())), schema))
    assert found.keys() == {"good", "many"}
    assert found["good"] == columns["good"]
    assert found["many"].distinct_values == pytest.approx(11)


def test_who_may_not_see_all_columns_plans_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """An access control refuses to show statistics of columns that a user may not select."""

    def refuse(*_: object) -> TableStatistics:
        raise AccessDeniedError("Access Denied: Cannot select from columns")

    with scanned(lambda columns: [FOR_TASKS]) as (table, _):
        monkeypatch.setattr(type(table.plan.access.metadata), "get_column_statistics", refuse, raising=False)
        monkeypatch.setattr(FakeSpark, "uses_column_statistics", lambda spark: True)
        output = pa.schema([("id", pa.int64())])
        scan = Scan(PushedScan(table, table.plan, output, TaskWork()), FakeSpark())
        found = scan.statistics()
    assert found.row_count == 1


def test_a_hudi_table_has_those_of_its_index(session: Session, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "h", version=9).create()
    metadata = MetadataWriter(writer, indexes=("files", "column_stats")).create()
    instant = writer.insert(pa.table({"id": pa.array([3, 7], pa.int64())}))
    [file] = writer.folder.glob("*.parquet")
    metadata.note(instant, column_stats=file_stats("id", "", file.name, 3, 7, 2))
    location = str(writer.folder)
    session.sql(
        f"CALL hudi.system.register_table(schema_name => 's', table_name => 'h', table_location => '{location}')"
    )
    assert known(session, "SELECT id FROM hudi.s.h")["id"][:4] == (None, "Some(0)", "Some(3)", "Some(7)")
