"""The tour prints what Hive and Hudi themselves answer."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from datetime import date
from importlib import resources
from pathlib import PurePosixPath

import pyspark
import pytest

from lakeport.demo.sample_warehouse import TABLES, SampleWarehouse
from tests.lakeport.demo.answers import Row, hive_row_ids, hive_rows, hudi_rows
from tests.lakeport.demo.command import outputs, rows, run_lakeport
from tests.lakeport.demo.conftest import TourRun

# ``make demo`` runs the same tour for a newcomer.
pytestmark = pytest.mark.slow


def output(run: TourRun, start: str) -> list[str]:
    [found] = [lines for statement, lines in outputs(run.text).items() if statement.startswith(start)]
    return found


def text(value: object) -> str:
    return "NULL" if value is None else str(value).replace("\t", "\\t")


def test_tables_are_listed(tour_run: TourRun) -> None:
    assert [row[1] for row in rows(output(tour_run, "SHOW TABLES"))] == sorted(table.name for table in TABLES)


def test_a_filter_on_partitions(tour_run: TourRun) -> None:
    kept = [row for row in hudi_rows("visits") if row["region"] == "eu" and row["day"] == date(2024, 1, 1)]
    expected = sorted(kept, key=lambda row: row["sub"])
    assert len(expected) < len(hudi_rows("visits"))
    columns = ("id", "sub", "price", "region", "day")
    assert rows(output(tour_run, "SELECT id, sub")) == [tuple(text(row[name]) for name in columns) for row in expected]


def test_a_join_of_a_hive_table_and_a_hudi_table(tour_run: TourRun) -> None:
    prices: dict[int, list[float]] = defaultdict(list)
    for item in hudi_rows("items"):
        if item["part"] == "p1":
            prices[item["id"]].append(item["price"])
    joined = {int(str(product["id"])): product for product in hive_rows("products")}
    expected = [
        (str(key), text(joined[key]["s"]), text(joined[key]["amt"]), str(len(prices[key])), str(sum(prices[key])))
        for key in sorted(joined.keys() & prices.keys())
    ]
    assert len(expected) == 5
    assert rows(output(tour_run, "SELECT p.id")) == expected


def test_explain_says_what_was_skipped(tour_run: TourRun) -> None:
    lines = [line.strip() for line in output(tour_run, "EXPLAIN")]
    labels, items = lines.index("Scan hive.sales.labels"), lines.index("Scan hudi.sales.items")
    # Labels has a partition for each of its ten ids; items has two.
    assert "partitions: 3 of 10" in lines[labels:items]
    assert "partitions: 1 of 2" in lines[items:]
    assert "filtered again at run time, by the other side of the join" in lines[labels:items]
    assert any(line.startswith("filter pushed: part = 'p1' AND id IN (3, 5, 7)") for line in lines[items:])


def test_the_timeline_is_the_one_on_storage(tour_run: TourRun) -> None:
    with (resources.files("lakeport.demo") / "data" / "items.zip").open("rb") as packed, zipfile.ZipFile(packed) as z:
        paths = [PurePosixPath(name) for name in z.namelist()]
    completed = [
        path.stem.split("_") for path in paths if path.parts[1:3] == (".hoodie", "timeline") and "_" in path.stem
    ]
    expected = [(requested, "commit", "COMPLETED", at) for requested, at in sorted(completed)]  # fmt: skip
    assert len(expected) == 4
    assert rows(output(tour_run, "SELECT * FROM `items$timeline`")) == expected


def test_a_transactional_table_with_row_ids(tour_run: TourRun) -> None:
    ids = hive_row_ids("notes")
    few = sorted((row for row in hive_rows("notes") if int(str(row["id"])) < 5), key=lambda row: str(row["id"]))
    expected = [(str(row["id"]), text(row["s"]), *ids[str(row["id"])]) for row in few]
    assert rows(output(tour_run, "SELECT id, s, `$row_id`")) == expected


def test_the_folders_of_a_transactional_table(tour_run: TourRun) -> None:
    with (resources.files("lakeport.demo") / "data" / "notes.zip").open("rb") as packed, zipfile.ZipFile(packed) as z:
        folders = {PurePosixPath(name).parts[1] for name in z.namelist()}
    shown = rows(output(tour_run, "SELECT path, kind"))
    assert {row[0] for row in shown} == folders
    assert [row[1] for row in shown] == ["base", "delete_delta", "delete_delta", "delta", "delta"]
    assert {row[3] for row in shown} == {"true"}


def test_an_older_version_is_what_hive_answered_then(tour_run: TourRun) -> None:
    then = [(str(row["id"]), text(row["s"])) for row in hive_rows("notes.version_6") if int(str(row["id"])) < 5]
    assert rows(output(tour_run, "SELECT id, s FROM hive.sales.notes VERSION AS OF 6")) == sorted(then)


@pytest.mark.skipif(pyspark.__version__ < "4.2", reason="CHANGES is of Spark 4.2 and later")
def test_changes_lead_from_one_answer_of_hive_to_the_other(tour_run: TourRun) -> None:
    table = {(str(row["id"]), text(row["s"])) for row in hive_rows("notes.version_6")}
    for key, value, change, _ in rows(output(tour_run, "SELECT id, s, _change_type")):
        if change == "delete":
            table.remove((key, value))
        else:
            table.add((key, value))
    assert table == {(str(row["id"]), text(row["s"])) for row in hive_rows("notes")}


def test_logs_beside_base_files(tour_run: TourRun) -> None:
    now = {row["id"]: row for row in hudi_rows("prices")}
    base = {row["id"]: row for row in hudi_rows("prices.read_optimized")}
    nothing: Row = {"name": None, "price": None}
    expected = [
        (str(key), *(text(side.get(key, nothing)[name]) for side in (now, base) for name in ("name", "price")))
        for key in sorted(now | base)
    ]
    assert len(now) < len(base)
    assert rows(output(tour_run, "SELECT id, now.name")) == expected


def test_errors_are_one_line_with_the_way_out(tour_run: TourRun) -> None:
    [not_found] = output(tour_run, "SELECT * FROM hudi.sales.visit")
    assert not_found == "error: [TABLE_NOT_FOUND] no table hudi.sales.visit; did you mean visits?"


@pytest.mark.slow
def test_the_tour_ends_with_the_way_into_the_shell(tour_run: TourRun) -> None:
    *_, command = tour_run.text.splitlines()
    assert command.endswith("lakeport shell --catalogs lakeport-warehouse/catalogs")
    done = run_lakeport(
        "sql", "--catalogs", "lakeport-warehouse/catalogs", "--output-format", "csv",
        "SELECT id FROM hive.sales.labels WHERE id < 3 ORDER BY id", folder=tour_run.folder,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "id\n1\n2\n")


@pytest.mark.slow
def test_the_tour_can_be_repeated(tour_run: TourRun) -> None:
    again = run_lakeport("demo", folder=tour_run.folder)
    # EXPLAIN tells how long the metastore took.
    first, second = (re.sub(r"in [\d.]+ ms\b", "in some ms", text) for text in (tour_run.text, again.stdout))
    assert (again.returncode, second) == (0, first)


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_the_tour_registers_every_table(tour_run: TourRun, table: str) -> None:
    warehouse = SampleWarehouse(tour_run.folder / "lakeport-warehouse")
    [statement] = [one for one in warehouse.registrations() if f"'{table}'" in one]
    assert rows(outputs(tour_run.text)[statement])[0][:2] == ("sales", table)
