"""Rows that Spark hands to the Python of writing tasks, by our Java class and by Spark's own, or to the driver's."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeport import Session
from lakeport.spark.bridge import writers
from tests.lakeport.spark.embedded_hive import embedded_hive

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_TYPES = {"a": (1, 1), "b": (9, 0), "c": (18, 0), "d": (18, 18), "e": (19, 2), "f": (38, 38)}
_COLUMNS = ", ".join(f"{name} decimal({digits},{scale})" for name, (digits, scale) in _TYPES.items())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("handed")


@pytest.fixture(scope="module")
def session(spark: SparkSession, folder: Path) -> Iterator[Session]:
    with embedded_hive(spark, folder) as opened:
        yield opened


@pytest.fixture(params=["driver", "ours", "theirs"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who hands the rows over: to the driver where they are few; else to the task's Python."""
    if request.param == "theirs":
        monkeypatch.setattr(writers, "columns_unavailable", lambda jvm: "the test says so")
    elif request.param == "ours":
        monkeypatch.setattr(writers, "FEW_ROWS", 0)
    return str(request.param)


def new_table(session: Session, folder: Path, name: str, columns: str, more: str = "") -> Path:
    place = folder / name
    place.mkdir()
    session.sql(f"CREATE TABLE hive.s.{name} ({columns}) USING orc LOCATION '{place}' {more}")
    return place


def test_decimals_of_all_widths(session: Session, folder: Path, way: str) -> None:
    """Those of up to 18 digits go to Python as whole numbers: from files, from memory, and where rows are changed."""
    most = [Decimal("9" * digits).scaleb(-scale, Context(38)) for digits, scale in _TYPES.values()]
    least = [value.copy_negate() for value in most]
    values: list[list[Decimal | None]] = [[*most], [*least], [Decimal(0)] * 6, [None] * 6]
    frame = session.spark.createDataFrame([(number, *row) for number, row in enumerate(values)], f"id int, {_COLUMNS}")
    columns = f"id int, {_COLUMNS}, at struct<d: decimal(5,2)>"
    place = new_table(session, folder, f"plain_{way}", columns)
    frame.createOrReplaceTempView("given")
    frame.write.parquet(str(folder / f"given_{way}"))
    struct = "named_struct('d', CAST(id AS decimal(5,2)))"
    session.sql(f"INSERT INTO hive.s.plain_{way} SELECT *, {struct} FROM given")
    session.sql(f"INSERT INTO hive.s.plain_{way} SELECT *, {struct} FROM parquet.`{folder / f'given_{way}'}`")
    found = [tuple(row) for row in session.spark.read.orc(str(place)).orderBy("id").collect()]
    assert [(row[0], *row[1:7]) for row in found] == [(n, *row) for n, row in enumerate(values) for _ in range(2)]
    assert [row[7].d for row in found] == [n for n in range(4) for _ in range(2)]

    changed = f"changed_{way}"
    new_table(session, folder, changed, f"id int, {_COLUMNS}", "TBLPROPERTIES ('transactional' = 'true')")
    session.sql(f"INSERT INTO hive.s.{changed} SELECT * FROM given")
    session.sql(f"UPDATE hive.s.{changed} SET id = id + 10, c = -c, b = NULL")
    updated = [
        (number + 10, row[0], None, None if row[2] is None else -row[2], *row[3:]) for number, row in enumerate(values)
    ]
    assert [tuple(row) for row in session.sql(f"SELECT * FROM hive.s.{changed} ORDER BY id").collect()] == updated


def test_rows_that_fill_several_batches(session: Session, folder: Path, way: str) -> None:
    """A batch ends by its rows, and by its bytes."""
    place = new_table(session, folder, f"batches_{way}", "id bigint, v string")
    text = "IF(id % 1000 = 0, repeat('x', 1000000 + CAST(id AS INT)), CAST(id AS STRING))"
    session.sql(f"INSERT INTO hive.s.batches_{way} SELECT id, {text} FROM range(0, 25000, 1, 1)")
    found = session.spark.read.orc(str(place)).selectExpr("count(DISTINCT id)", "sum(id)", "sum(length(v))").first()
    lengths = sum(1_000_000 + n if n % 1000 == 0 else len(str(n)) for n in range(25_000))
    assert found is not None
    assert tuple(found) == (25_000, sum(range(25_000)), lengths)


def test_no_rows(session: Session, folder: Path, way: str) -> None:
    new_table(session, folder, f"none_{way}", "id bigint")
    session.sql(f"INSERT INTO hive.s.none_{way} SELECT id FROM range(0, 10, 1, 3) WHERE id < 0")
    assert session.sql(f"SELECT * FROM hive.s.none_{way}").collect() == []


def test_tasks_of_few_rows_need_no_python(session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that no worker can run fails where one runs it."""
    place = new_table(session, folder, "few", "id bigint, v string")
    monkeypatch.setattr(writers, "_command", lambda writer: b"no pickle")
    session.sql("INSERT INTO hive.s.few SELECT id, 'a' FROM range(0, 400, 1, 4)")
    session.sql("INSERT INTO hive.s.few VALUES (1000, repeat('x', 3000000))")
    sums = session.spark.read.orc(str(place)).selectExpr("count(DISTINCT id)", "sum(length(v))").first()
    assert sums is not None
    assert tuple(sums) == (401, 3_000_400)
    assert len([path for path in place.iterdir() if path.suffix == ".orc"]) == 2
    for rows in ("SELECT id, 'a' FROM range(0, 101, 1, 1)", "SELECT 1, repeat('x', 5000000)"):
        with pytest.raises(Exception, match="pickle"):
            session.sql(f"INSERT INTO hive.s.few {rows}")


def test_tasks_of_many_rows_beside_tasks_of_few(session: Session, folder: Path) -> None:
    """Each row is there once, with an id of its own."""
    new_table(session, folder, "mixed", "id bigint", "TBLPROPERTIES ('transactional' = 'true')")
    ranges = ("0, 5", "100, 600", "600, 600", "1000, 1010", "2000, 2300")
    query = " UNION ALL ".join(f"SELECT id FROM range({ends}, 1, 1)" for ends in ranges)
    session.sql(f"INSERT INTO hive.s.mixed {query}")
    counts = session.sql("SELECT count(*), count(DISTINCT id), sum(id), count(DISTINCT `$row_id`) FROM hive.s.mixed")
    total = sum(sum(range(*map(int, ends.split(",")))) for ends in ranges)
    assert tuple(counts.collect()[0]) == (815, 815, total, 815)


def test_without_java_classes_of_the_driver(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark asks Python everything, and runs the defaults of its interfaces, by the proxies alone."""
    monkeypatch.setenv("LAKEPORT_JAVA_ADAPTERS", "false")
    with embedded_hive(spark, tmp_path) as session:
        new_table(session, tmp_path, "t", "id bigint, v string", "TBLPROPERTIES ('transactional' = 'true')")
        session.sql("INSERT INTO hive.s.t SELECT id, 'a' FROM range(4)")
        session.sql("UPDATE hive.s.t SET v = 'b' WHERE id > 1")
        session.sql("DELETE FROM hive.s.t WHERE id = 3")
        rows = session.sql("SELECT * FROM hive.s.t ORDER BY id").collect()
        assert [tuple(row) for row in rows] == [(0, "a"), (1, "a"), (2, "b")]
        session.sql("INSERT OVERWRITE hive.s.t VALUES (9, 'c')")
        assert [tuple(row) for row in session.sql("SELECT * FROM hive.s.t").collect()] == [(9, "c")]
