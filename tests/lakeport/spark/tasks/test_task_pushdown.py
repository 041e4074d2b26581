"""What tasks filter and aggregate is what Spark makes of the same rows itself."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.errors import ArithmeticException
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HivePlugin
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.spark.catalog.install import install
from tests.lakeport.spark.scan.test_pushdown import filters
from tests.sampling import examples

NAN = float("nan")
VALUES: dict[str, tuple[pa.DataType, list[object]]] = {
    "id": (pa.int32(), [0, 7, 59, 2**31 - 1, -(2**31)]),
    "flag": (pa.bool_(), [True, False]),
    "tiny": (pa.int8(), [-128, 0, 127]),
    "small": (pa.int16(), [-32768, 0, 1000]),
    "big": (pa.int64(), [-(2**63), 0, 2**63 - 1, 10**12]),
    "amount": (pa.int64(), [-(10**12), 3, 10**15]),
    # Sums of these are exact in any order.
    "real": (pa.float32(), [NAN, 0.0, -0.0, 0.5, 2.0, math.inf]),
    "double": (pa.float64(), [NAN, 0.0, -0.0, -0.5, 1024.0, -math.inf]),
    "price": (pa.decimal128(12, 2), [Decimal("0.50"), Decimal("-1.00"), Decimal("9999999999.99")]),
    "short": (pa.decimal128(7, 2), [Decimal("99999.99"), Decimal("99999.98"), Decimal("-0.01")]),
    "wide": (pa.decimal128(38, 4), [Decimal("1" + "0" * 27 + ".0003"), Decimal("0.0000"), Decimal("-7.5000")]),
    "name": (pa.string(), ["", "a0", "ab1", "żółw0", "\U0001f4221", "\ufffd"]),
    "raw": (pa.binary(), [b"", b"\x07\x00\xff", b"\xff"]),
    "day": (pa.date32(), [dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "at": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(2024, 3, 12, tzinfo=dt.UTC), dt.datetime(1970, 1, 1, tzinfo=dt.UTC)],
    ),
    "wall": (pa.timestamp("us"), [dt.datetime(2024, 3, 12), dt.datetime(2024, 3, 10, 2, 59, 59, 999999)]),
    "part": (pa.string(), ["north", "south"]),
}
SUMMED = ["tiny", "small", "id", "amount", "real", "double", "price", "short", "wide"]
AVERAGED = ["tiny", "id", "real", "double", "price", "short", "wide"]
KEYS = ["part", "flag", "tiny", "name", "double", "real", "day", "price", "raw", "at", "id"]
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # Spark's Parquet reader skips row groups by statistics that leave NaN out: the judge must not.
    "spark.sql.parquet.filterPushdown": "false",
    "spark.lakeport.hive.native_reader": "false",
}


def varied(rows: int, seed: int) -> pa.Table:
    """Few different values, at the edges, and NULLs."""
    choice = random.Random(seed)
    return pa.table(
        {
            name: pa.array([choice.choice([None, *values]) for _ in range(rows)], data_type)
            for name, (data_type, values) in VALUES.items()
        }
    )


@dataclass(frozen=True)
class Tables:
    """``varied``, ``legacy``, and ``nothing`` with no rows: in catalogs ``mem`` and ``hive``, and as Spark's own views.

    The files of ``legacy`` say that a Spark with old settings wrote them.
    """

    spark: SparkSession

    def rows(self, text: str) -> list[str]:
        """The rows of a statement, sorted as a multiset."""
        return sorted(repr(tuple(row)) for row in self.spark.sql(text).collect())

    def plan(self, text: str) -> str:
        return str(self.spark.sql(f"EXPLAIN {text}").collect()[0][0])

    def agree(self, text: str, table: str = "varied") -> None:
        """The statement has Spark's own answer, pushed and not."""
        expected = self.rows(text.format(t=f"plain_{table}"))
        for catalog in ("mem.sales", "hive.sales"):
            assert self.rows(text.format(t=f"{catalog}.{table}")) == expected, (catalog, text)
        with self.setting("spark.lakeport.mem.task_pushdown", "false"):
            assert self.rows(text.format(t=f"mem.sales.{table}")) == expected, text

    @contextmanager
    def setting(self, name: str, value: str) -> Iterator[None]:
        before = self.spark.conf.get(name, None)
        self.spark.conf.set(name, value)
        try:
            yield
        finally:
            self.spark.conf.unset(name) if before is None else self.spark.conf.set(name, before)


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    folder = tmp_path_factory.mktemp("pushdown")
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin(), HivePlugin()), "test")
    registry.register("mem", "memory", {})
    metastore = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    registry.register("hive", "hive", metastore)
    session = spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    install(session, registry)
    memory = registry.get("mem")
    assert isinstance(memory, MemoryConnector)
    legacy = {"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}
    for name, data, marks in (
        ("varied", varied(300, 1), None),
        ("nothing", varied(1, 2).slice(0, 0), None),
        ("legacy", varied(50, 3), legacy),
    ):
        memory.create_table(SchemaTableName("sales", name), data, ("part",), chunk_rows=40)
        (folder / name).mkdir()
        pq.write_table(data.replace_schema_metadata(marks), folder / name / "all.parquet")
        session.read.parquet(str(folder / name)).createOrReplaceTempView(f"plain_{name}")
        arguments = f"schema_name => 'sales', table_name => '{name}', table_location => '{folder / name}'"
        session.sql(f"CALL hive.system.register_table({arguments})")
    yield Tables(session)
    registry.shutdown()


def statements() -> st.SearchStrategy[str]:
    """An aggregation with all of its values in one text, so that several make one UNION ALL."""
    columns = st.sampled_from(sorted(VALUES))
    aggregate = st.one_of(
        st.just("count(*)"),
        st.builds(lambda f, c: f"{f}({c})", st.sampled_from(["count", "min", "max"]), columns),
        st.builds(lambda f, c: f"{f}({c})", st.sampled_from(["sum", "try_sum"]), st.sampled_from(SUMMED)),
        st.builds(lambda c: f"avg({c})", st.sampled_from(AVERAGED)),
    )

    def text(aggregates: list[str], keys: list[str], where: str | None) -> str:
        # The least of -0.0 and 0.0 is either of them.
        shown = [f"{a} + 0.0D" if a.endswith(("(real)", "(double)")) else a for a in aggregates]
        values = ", ".join(["0 AS z", *keys, *(f"{a} AS a{i}" for i, a in enumerate(shown))])
        tail = f"{f' WHERE {where}' if where else ''}{f' GROUP BY {chr(44).join(keys)}' if keys else ''}"
        return f"SELECT cast(struct({values}) AS string) AS r FROM {{t}}{tail}"

    aggregates = st.lists(aggregate, min_size=1, max_size=5, unique=True)
    keys = st.lists(st.sampled_from(KEYS), max_size=2, unique=True)
    return st.builds(text, aggregates, keys, st.none() | filters())


@pytest.mark.slow
# A smaller failing example costs minutes of Spark.
@settings(
    max_examples=examples(8),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(asked=st.lists(statements(), min_size=4, max_size=4))
def test_random_aggregations(tables: Tables, asked: list[str]) -> None:
    """One by one tasks do all of it; as one query with several scans Spark checks filters again."""
    numbered = [text.replace("cast(", f"{n} AS n, cast(", 1) for n, text in enumerate(asked)]
    tables.agree(" UNION ALL ".join(numbered))
    for text in numbered:
        expected = tables.rows(text.format(t="plain_varied"))
        assert tables.rows(text.format(t="hive.sales.varied")) == expected, text


@pytest.mark.slow
@pytest.mark.parametrize("where", ["", " WHERE id > 5", " WHERE part = 'west'", " WHERE name = 'no such name'"])
@pytest.mark.parametrize("table", ["varied", "nothing"])
def test_no_rows(tables: Tables, table: str, where: str) -> None:
    tables.agree("SELECT count(*), count(id), sum(price), min(day), avg(double) FROM {t}" + where, table)
    tables.agree("SELECT part, count(*) FROM {t}" + where + " GROUP BY part", table)


PUSHED = [
    ("SELECT count(*) FROM {t}", "count(*)"),
    ("SELECT sum(price), max(name) FROM {t} WHERE id > 3 AND name <> 'a0'", "sum(price), max(name)"),
    ("SELECT part, avg(tiny) FROM {t} WHERE double >= 0.0D GROUP BY part", "sum(tiny), count(tiny) by part"),
    ("SELECT DISTINCT flag, day FROM {t}", "distinct by flag, day"),
    ("SELECT min(price) + max(price) FROM {t} GROUP BY part HAVING count(*) > 2", "min(price), max(price)"),
]
NOT_PUSHED = [
    "SELECT count(DISTINCT id) FROM {t}",
    "SELECT count(*) FILTER (WHERE id > 3) FROM {t}",
    "SELECT sum(tiny + 1), max(upper(name)) FROM {t}",
    "SELECT length(name), count(*) FROM {t} GROUP BY length(name)",
    "SELECT max(name COLLATE UNICODE_CI) FROM {t}",
    "SELECT count(*) FROM {t} GROUP BY name COLLATE UNICODE_CI",
    "SELECT count(*) FROM {t} WHERE name COLLATE UNICODE_CI = 'A0'",
    "SELECT count(*) FROM {t} WHERE length(name) > 1",
    # The sum of longs overflows where their average does not; short decimals are averaged as doubles.
    "SELECT cast(avg(big) / 1e9D AS bigint) FROM {t}",
    "SELECT avg(short) FROM {t}",
]


@pytest.mark.parametrize(("text", "shown"), PUSHED)
def test_pushed(tables: Tables, text: str, shown: str) -> None:
    assert f"aggregated in tasks: {shown}" in tables.plan(text.format(t="mem.sales.varied"))
    # Footers of files without deletes answer the count.
    by = "by the connector" if shown == "count(*)" else "in tasks"
    assert f"aggregated {by}: {shown}" in tables.plan(text.format(t="hive.sales.varied"))
    tables.agree(text)


@pytest.mark.slow
@pytest.mark.parametrize("text", NOT_PUSHED)
def test_left_to_spark(tables: Tables, text: str) -> None:
    assert "aggregated in tasks" not in tables.plan(text.format(t="mem.sales.varied"))
    tables.agree(text)


def test_filters_are_checked_in_tasks(tables: Tables) -> None:
    text = "SELECT id FROM {t} WHERE (name = 'a0' OR id > 3) AND NOT (price < 1) AND length(name) = 2"
    plan = tables.plan(text.format(t="hive.sales.varied"))
    assert "filter checked in tasks: " in plan
    left = plan.split("filter left to Spark: ")[1].split(", ")[0]
    assert "price" not in left
    assert "length" in left.lower()
    tables.agree(text)


@pytest.mark.slow
def test_columns_of_checked_filters_need_not_be_shown(tables: Tables) -> None:
    tables.agree("SELECT name FROM {t} WHERE id > 3")
    tables.agree("SELECT 1 FROM {t} WHERE id > 3")
    tables.agree("SELECT count(*) + 1 FROM (SELECT id FROM {t} WHERE flag LIMIT 1000)")


def test_counting_reads_no_columns(tables: Tables) -> None:
    assert "columns: 0 of" in tables.plan("SELECT count(*) FROM mem.sales.varied")
    assert "columns: 1 of" in tables.plan("SELECT count(*) FROM hive.sales.varied WHERE id > 3")


def test_limit_counts_rows_that_pass(tables: Tables) -> None:
    """The connector must not stop at a limit that it cannot count to."""
    every = len(tables.rows("SELECT id FROM plain_varied WHERE name = 'ab1' AND id >= 0"))
    assert every > 6
    for catalog in ("mem", "hive"):
        text = f"SELECT id FROM {catalog}.sales.varied WHERE name = 'ab1' AND id >= 0 LIMIT {every - 1}"
        assert len(tables.rows(text)) == every - 1


@pytest.mark.slow
def test_aggregations_of_one_table_are_distinguished(tables: Tables) -> None:
    tables.agree("SELECT sum(id) AS s FROM {t} UNION ALL SELECT sum(tiny) FROM {t}")


@pytest.mark.slow
def test_filters_of_one_tables_aggregations_are_distinguished(tables: Tables) -> None:
    tables.agree("SELECT count(*) FROM {t} WHERE tiny > 0 UNION ALL SELECT count(*) FROM {t} WHERE tiny >= 0")
    tables.agree("SELECT (SELECT max(id) FROM {t} WHERE flag), (SELECT max(id) FROM {t}), (SELECT min(id) FROM {t})")


@pytest.mark.slow
def test_a_join_with_groups(tables: Tables) -> None:
    """Keys that a join learns while it runs leave out rows, and never groups by halves."""
    tables.agree(
        "SELECT /*+ BROADCAST(d) */ g.part, g.n FROM (SELECT part, count(*) AS n FROM {t} GROUP BY part) g "
        "JOIN (SELECT 'south' AS p, id FROM {t} WHERE id = 7) d ON g.part = d.p"
    )
    tables.agree(
        "SELECT /*+ BROADCAST(d) */ count(*) FROM {t} f "
        "JOIN (SELECT DISTINCT part AS p FROM {t} WHERE name = 'ab1' AND part = 'south') d ON f.part = d.p "
        "WHERE f.id > 3"
    )


def test_a_join_still_sees_its_filters(tables: Tables) -> None:
    """Spark prunes the partitions of one table by what a filter leaves of another only where it sees the filter."""
    text = "SELECT count(*) FROM hive.sales.varied f JOIN hive.sales.varied d ON f.part = d.part WHERE d.id = 7"
    plan = tables.plan(text)
    assert "filter checked in tasks: id IS NOT NULL AND id = 7" in plan
    assert "filter left to Spark: id IS NOT NULL AND id = 7" in plan


@pytest.mark.slow
def test_sums_of_longs_overflow_as_sparks(tables: Tables) -> None:
    with tables.setting("spark.sql.ansi.enabled", "false"):
        tables.agree("SELECT sum(big) FROM {t}")
    with tables.setting("spark.sql.ansi.enabled", "true"):
        for table in ("plain_varied", "mem.sales.varied", "hive.sales.varied"):
            with pytest.raises(ArithmeticException, match="ARITHMETIC_OVERFLOW"):
                tables.rows(f"SELECT sum(big) FROM {table} WHERE big > 0")


def test_switched_off(tables: Tables) -> None:
    with tables.setting("spark.lakeport.hive.task_pushdown", "false"):
        plan = tables.plan("SELECT count(*) FROM hive.sales.varied WHERE id > 3")
    assert "in tasks:" not in plan
    assert "filter left to Spark: id IS NOT NULL AND id > 3" in plan


@pytest.mark.slow
@pytest.mark.parametrize("text", ["SELECT sum(id) FROM {t}", "SELECT sum(id) FROM {t} WHERE id > 3"])
def test_native_files_stay_with_sparks_reader(tables: Tables, text: str) -> None:
    with tables.setting("spark.lakeport.hive.native_reader", "true"):
        plan = tables.plan(text.format(t="hive.sales.varied"))
        assert "reader: native" in plan
        assert "in tasks:" not in plan
        tables.agree(text)


@pytest.mark.slow
def test_files_that_only_tasks_can_read_are_found_out(tables: Tables) -> None:
    """Times of a file that may count in the Julian calendar are never native; whether they are read decides."""
    with tables.setting("spark.lakeport.hive.native_reader", "true"):
        for where in ("", " WHERE at > TIMESTAMP'2000-01-01 00:00:00Z'"):
            text = "SELECT max(at), count(*) FROM {t}" + where
            assert "aggregated in tasks" in tables.plan(text.format(t="hive.sales.legacy"))
            tables.agree(text, "legacy")
        tables.agree("SELECT at, id FROM {t} WHERE id > 3", "legacy")
