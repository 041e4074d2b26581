"""Conditions on years and days of columns never leave a value out for which they are true, in whatever zone."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from connector_spi.handles import ColumnHandle
from lakeport.spark.bridge.plan_words.nodes import CastNode, ExtractNode, FieldNode, LiteralNode, OtherNode, PlanNode
from lakeport.spark.scan.date_parts import date_part_domain
from tests.connectors.hive.table_writer import create_table
from tests.lakeport.spark.tables.warehouse import Warehouse

COLUMNS = {
    "day": ColumnHandle("day", pa.date32()),
    "at": ColumnHandle("at", pa.timestamp("us", "UTC")),
    "wall": ColumnHandle("wall", pa.timestamp("us")),
    "text": ColumnHandle("text", pa.string()),
}
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<=>": operator.eq,
    "IN": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ZONES = ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York", "Asia/Kolkata"]
MOMENTS = st.one_of(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),
    st.builds(
        lambda year, seconds: datetime(year, 1, 1) + timedelta(seconds=seconds),
        st.integers(2020, 2026),
        st.integers(-90_000, 90_000),
    ),
)
DAYS = '"date"'


def number(year: int) -> LiteralNode:
    return LiteralNode('"integer"', str(year))


def epoch_day(day: date) -> LiteralNode:
    return LiteralNode(DAYS, str((day - date(1970, 1, 1)).days))


@given(
    st.sampled_from(["day", "at", "wall"]),
    st.sampled_from(sorted(TESTS)),
    st.one_of(st.integers(2019, 2027), st.integers(-10, 10_010)),
    MOMENTS,
    st.sampled_from(ZONES),
)
@example("at", "=", 2024, datetime(2023, 12, 31, 10, 0), "Pacific/Kiritimati")
def test_no_value_of_a_year_is_left_out(name: str, test: str, year: int, moment: datetime, zone: str) -> None:
    found = date_part_domain(test, (ExtractNode("YEAR", as_days(name)), number(year)), COLUMNS)
    value, day = seen(name, moment, zone)
    if found is not None and TESTS[test](day.year, year):
        assert found[1].includes_value(value)


@given(st.sampled_from(["at", "wall"]), st.sampled_from(sorted(TESTS)), st.dates(), MOMENTS, st.sampled_from(ZONES))
def test_no_value_of_a_day_is_left_out(name: str, test: str, day: date, moment: datetime, zone: str) -> None:
    found = date_part_domain(test, (as_days(name), epoch_day(day)), COLUMNS)
    value, met = seen(name, moment, zone)
    if found is not None and TESTS[test](met, day):
        assert found[1].includes_value(value)


def as_days(name: str) -> PlanNode:
    """As Spark says it: of times the day is taken first."""
    return FieldNode((name,)) if name == "day" else CastNode(DAYS, FieldNode((name,)))


def seen(name: str, moment: datetime, zone: str) -> tuple[date | datetime, date]:
    """The value of a column, and the day that it is on for a session of a zone."""
    if name == "day":
        return moment.date(), moment.date()
    if name == "wall":
        return moment, moment.date()
    instant = moment.replace(tzinfo=UTC)
    return instant, instant.astimezone(ZoneInfo(zone)).date()


def test_far_values_are_left_out() -> None:
    found = date_part_domain("=", (ExtractNode("YEAR", FieldNode(("day",))), number(2024)), COLUMNS)
    assert found is not None
    column, domain = found
    assert column == COLUMNS["day"]
    inside = [date(2024, 1, 1), date(2024, 12, 31)]
    assert all(domain.includes_value(day) for day in inside)
    assert not any(domain.includes_value(day) for day in (date(2023, 12, 31), date(2025, 1, 1)))
    assert not domain.null_allowed


@pytest.mark.parametrize(
    "children",
    [
        (ExtractNode("MONTH", FieldNode(("day",))), number(3)),
        (ExtractNode("YEAR", FieldNode(("text",))), number(2024)),
        (ExtractNode("YEAR", CastNode(DAYS, FieldNode(("text",)))), number(2024)),
        (ExtractNode("YEAR", FieldNode(("day",))), LiteralNode('"long"', "2024")),
        (ExtractNode("YEAR", FieldNode(("day",))), LiteralNode('"integer"', None)),
        (ExtractNode("YEAR", FieldNode(("at", "inner"))), number(2024)),
        (CastNode('"timestamp"', FieldNode(("day",))), LiteralNode('"timestamp"', "0")),
        (ExtractNode("YEAR", OtherNode("Cast")), number(2024)),
        (FieldNode(("day",)), FieldNode(("at",))),
        (),
    ],
)
def test_nothing_follows_from_other_conditions(children: tuple[PlanNode, ...]) -> None:
    assert date_part_domain("=", children, COLUMNS) is None


@pytest.fixture
def warehouse(spark: SparkSession, tmp_path: Path) -> Iterator[Warehouse]:
    opened = Warehouse(spark, tmp_path)
    yield opened
    opened.registry.shutdown()


@pytest.mark.spark
def test_partitions_of_other_years_are_left_out(warehouse: Warehouse) -> None:
    days = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 12, 31), date(2025, 1, 1)]
    rows = pa.table({"id": pa.array(range(4), pa.int64()), "day": pa.array(days, pa.date32())})
    hive = warehouse.registry.get("hive")
    create_table(hive.metastore, warehouse.folder, "s", "t", rows, ["day"])  # type: ignore[attr-defined]
    for condition, kept, ids in (
        ("year(day) = 2024", 2, [1, 2]),
        ("year(day) IN (2023, 2025)", 2, [0, 3]),
        ("2024 < year(day)", 1, [3]),
        ("NOT year(day) = 2024", 4, [0, 3]),
    ):
        query = f"SELECT id FROM hive.s.t WHERE {condition}"
        assert f"partitions: {kept} of 4" in warehouse.plan(query), condition
        assert sorted(warehouse.rows(query)) == [(one,) for one in ids]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_lists_of_many_values_choose_partitions_and_parts_of_files(warehouse: Warehouse, file_format: str) -> None:
    """A range that spans them would leave nothing out."""
    keys = [0, 7, 8, 24_000, 50_000]
    ids = [n * 1000 + at for n in range(40) for at in range(100)]
    rows = pa.table({"id": pa.array(ids * len(keys), pa.int64()), "k": [k for k in keys for _ in ids]})
    hive = warehouse.registry.get("hive")
    create_table(hive.metastore, warehouse.folder, "s", "t", rows, ["k"], file_format=file_format, group_rows=100)  # type: ignore[attr-defined]
    even = ", ".join(map(str, [*range(0, 18_000, 2), 50_000]))
    query = f"SELECT count(*), sum(k) FROM hive.s.t WHERE k IN ({even})"
    assert "partitions: 3 of 5" in warehouse.plan(query)
    assert warehouse.rows(query) == [(3 * len(ids), 50_008 * len(ids))]
    warehouse.native_reader("hive", False)
    some = ", ".join(map(str, [*range(500, 1000), *range(20_150, 20_999), 39_050, *range(60_000, 67_000)]))
    assert warehouse.rows(f"SELECT id FROM hive.s.t WHERE k = 7 AND id IN ({some})") == [(39_050,)]
