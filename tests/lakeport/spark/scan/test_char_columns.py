"""Columns of type ``char``: Spark compares them as its own tables', whose literals it pads, and skips by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import NotSupportedError
from lakeport.duckdb.engine import DuckDbEngine
from tests.lakeport.spark.tables.warehouse import Warehouse

_COLUMNS = "id INT, c CHAR(5), v VARCHAR(5)"
_VALUES = ["ab", "ab ", "abc", "abcde", "", None, "ab\t", "b"]
_QUERIES = [
    "SELECT id, c, length(c), v FROM {t}",
    "SELECT id FROM {t} WHERE c = 'ab'",
    "SELECT id FROM {t} WHERE c = 'ab  '",
    "SELECT id FROM {t} WHERE 'ab        ' = c",
    "SELECT id FROM {t} WHERE c <=> 'abc' OR c <=> NULL",
    "SELECT id FROM {t} WHERE c IN ('ab', 'b', 'x', '')",
    "SELECT id FROM {t} WHERE NOT c IN ('ab', 'b')",
    "SELECT id FROM {t} WHERE c <> 'ab' AND id > 1",
    "SELECT id FROM {t} WHERE c > 'ab' AND c <= 'abcde'",
    "SELECT id FROM {t} WHERE v = 'ab' OR c = 'b' OR k = 'y'",
    "SELECT id FROM {t} WHERE k = 'x' AND c = 'ab'",
    "SELECT id, k FROM {t} WHERE k IN ('x', 'zz')",
    "SELECT c, count(*) FROM {t} GROUP BY c",
    "SELECT count(*) FROM {t} WHERE c = 'ab'",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.c = b.c WHERE a.c = 'ab'",
]
_KEYS = ["ab", "ab ", "abc", "abcd", "é€", "b", "a%09", "__HIVE_DEFAULT_PARTITION__"]
# With whether the partitions that are read are just those with rows.
_OF_KEYS = [
    ("k = 'ab'", True),
    ("'abcd' = k", True),
    ("k IN ('ab', 'é€', 'zz')", True),
    ("k IN ('a','b','c','d','e','f','g','h','i','j','m','ab')", True),
    ("k NOT IN ('ab', 'b')", True),
    ("k > 'ab'", True),
    ("k >= 'abc' AND k < 'b'", True),
    ("k BETWEEN 'ab' AND 'b'", True),
    ("k LIKE 'ab%'", True),
    ("k LIKE '%b '", False),
    ("k LIKE 'ab %' OR l = 'zz'", False),
    ("l LIKE 'ab%' OR k = 'b'", True),
    ("k IS NULL", True),
    ("k <=> NULL OR k <=> 'é€'", True),
    ("NOT (k = 'ab' OR k = 'b')", True),
    ("k = 'ab    '", False),
    ("k IN ('ab', 'zz', NULL)", True),
    ("coalesce(k, 'x') = 'x'", False),
    ("k = 'ab' AND l = 'ab'", True),
    ("k = 'ab' OR c = 'abc'", False),
    ("l = 'ab '", True),
    ("l > 'ab' AND v <> 'b'", True),
    ("l IS NULL", True),
]


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("char")
    warehouse = Warehouse(spark, folder)
    for at, key in enumerate(("x", "y")):
        ids = pa.array(range(at * 10, at * 10 + len(_VALUES)), pa.int32())
        _write(folder / "t" / f"k={key}" / "000000_0", pa.table({"id": ids, "c": _VALUES, "v": _VALUES}))
    warehouse.spark.sql("CREATE SCHEMA hive.s")
    warehouse.spark.sql(
        f"CREATE TABLE hive.s.t ({_COLUMNS}, k CHAR(3)) STORED AS PARQUET PARTITIONED BY (k) LOCATION '{folder}/t'"
    )
    warehouse.spark.sql("CALL hive.system.sync_partition_metadata(schema_name => 's', table_name => 't')")
    warehouse.spark.sql(
        f"CREATE TABLE own_chars ({_COLUMNS}, k CHAR(3)) USING parquet PARTITIONED BY (k) LOCATION '{folder}/t'"
    )
    warehouse.spark.sql("ALTER TABLE own_chars RECOVER PARTITIONS")
    _add_keys(warehouse, folder / "keys")
    yield warehouse
    warehouse.spark.sql("DROP TABLE own_chars")
    warehouse.spark.sql("DROP TABLE own_keys")
    warehouse.registry.shutdown()


def _add_keys(warehouse: Warehouse, folder: Path) -> None:
    for at, key in enumerate(_KEYS):
        ids = pa.array(range(at * 10, at * 10 + len(_VALUES)), pa.int32())
        path = folder / f"k={key}" / f"l={key}" / "000000_0"
        _write(path, pa.table({"id": ids, "c": _VALUES, "v": _VALUES}))
    columns = f"({_COLUMNS}, k CHAR(4), l VARCHAR(4))"
    end = f"PARTITIONED BY (k, l) LOCATION '{folder}'"
    warehouse.spark.sql(f"CREATE TABLE hive.s.keys {columns} STORED AS PARQUET {end}")
    warehouse.spark.sql("CALL hive.system.sync_partition_metadata(schema_name => 's', table_name => 'keys')")
    warehouse.spark.sql(f"CREATE TABLE own_keys {columns} USING parquet {end}")
    warehouse.spark.sql("ALTER TABLE own_keys RECOVER PARTITIONS")


@pytest.mark.slow
def test_chars_are_compared_as_those_of_sparks_own_tables(warehouse: Warehouse) -> None:
    for at, query in enumerate(_QUERIES):
        warehouse.native_reader("hive", at % 2 == 0)
        own = warehouse.rows(query.format(t="own_chars"))
        found = warehouse.rows(query.format(t="hive.s.t"))
        assert sorted(map(str, found)) == sorted(map(str, own)), query
        assert found, query


@pytest.mark.slow
def test_the_engine_duckdb_compares_chars_alike(warehouse: Warehouse) -> None:
    of_keys = [
        f"SELECT id FROM {{t}} WHERE {where}"
        for where, _ in _OF_KEYS
        if "BETWEEN" not in where and "NULL)" not in where
    ]
    more = [
        "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.c = b.k",
        "SELECT a.id FROM {t} a WHERE a.c IN (SELECT k FROM {t})",
        "SELECT d, count(*) FROM (SELECT c AS d FROM {t} WHERE c >= 'ab' AND c < 'abcd') WHERE d <> 'ab' GROUP BY d",
        "SELECT count(*) FROM {t} WHERE c = v OR c = 'ab         '",
        "SELECT max(c) FROM {t} GROUP BY k HAVING max(c) = 'b' OR k IN ('b', 'abc')",
        "SELECT c, CASE WHEN c = 'b' THEN 1 END, c LIKE 'ab', coalesce(c, 'x') FROM {t}",
    ]
    engine = DuckDbEngine(warehouse.registry)
    cases = [(one, "own_chars", "hive.s.t") for one in _QUERIES]
    cases += [(one, "own_keys", "hive.s.keys") for one in (*of_keys, *more)]
    for query, own, name in cases:
        expected = warehouse.rows(query.format(t=own))
        found = list(zip(*(one.to_pylist() for one in engine.plan(query.format(t=name)).arrow().columns), strict=True))
        assert sorted(map(str, found)) == sorted(map(str, expected)), query
    for where in (
        "nullif(c, 'ab') = 'x'",
        "CASE c WHEN 'ab' THEN true END",
        "c BETWEEN 'a' AND 'b'",
        "c IN ('a', NULL)",
    ):
        with pytest.raises(NotSupportedError, match="blanks do not count"):
            engine.plan(f"SELECT id FROM hive.s.t WHERE {where}")
    engine.close()


@pytest.mark.slow
def test_partitions_are_chosen_by_chars_and_varchars(warehouse: Warehouse) -> None:
    warehouse.native_reader("hive", True)
    own = _by_query(warehouse.rows(_all_queries("own_keys")))
    asked = warehouse.spark.sql(_all_queries("hive.s.keys"))
    assert _by_query([tuple(row) for row in asked.collect()]) == own
    plan = str(asked._jdf.queryExecution().executedPlan().toString())
    read = [int(number) for number in re.findall(r"partitions: (\d+) of 8", plan)]
    assert len(read) == len(_OF_KEYS)
    for at, (where, is_exact) in enumerate(_OF_KEYS):
        if is_exact and _is_pushed(warehouse, where):
            assert read[at] == len({id_ // 10 for id_ in own.get(at, [])}), where


@pytest.mark.slow
def test_a_query_alone_hands_its_filters_on_chars_over(warehouse: Warehouse) -> None:
    """Of several scans Spark checks what tasks could; of one it does not."""
    for where in ("k > 'ab' AND (c = 'abc' OR c IS NULL)", "c IN ('é€', 'b', '') OR k = 'b'"):
        own = warehouse.rows(f"SELECT id, c, k FROM own_keys WHERE {where}")
        asked = warehouse.spark.sql(f"SELECT id, c, k FROM hive.s.keys WHERE {where}")
        assert sorted(map(str, map(tuple, asked.collect()))) == sorted(map(str, own))
        if _is_pushed(warehouse, where):
            plan = str(asked._jdf.queryExecution().executedPlan().toString())
            assert "filter left to Spark: none" in plan


@pytest.mark.slow
def test_keys_that_files_hold_otherwise_skip_nothing_in_them(warehouse: Warehouse) -> None:
    """As files of a writer that leaves the key in the rows, without the blanks of a char."""
    folder = warehouse.folder / "held"
    _write(
        folder / "k=ab" / "p=x" / "000000_0",
        pa.table({"id": pa.array([1, 2], pa.int32()), "k": ["ab"] * 2, "p": ["y"] * 2}),
    )
    warehouse.spark.sql(
        "CREATE TABLE hive.s.held (id INT, k CHAR(4), p STRING) STORED AS PARQUET PARTITIONED BY (k, p) "
        f"LOCATION '{folder}'"
    )
    warehouse.spark.sql("CALL hive.system.sync_partition_metadata(schema_name => 's', table_name => 'held')")
    for native in (True, False):
        warehouse.native_reader("hive", native)
        for where in ("k = 'ab'", "p = 'x'", "k = 'ab' AND p = 'x' AND id > 0"):
            assert warehouse.rows(f"SELECT id FROM hive.s.held WHERE {where}") == [(1,), (2,)], where
    warehouse.native_reader("hive", True)


def test_chars_are_strings_that_spark_knows_the_length_of(warehouse: Warehouse) -> None:
    own, found = (warehouse.spark.table(name).select("id", "c", "k").schema for name in ("own_chars", "hive.s.t"))
    assert found.jsonValue() == own.jsonValue()


def _all_queries(table: str) -> str:
    """One statement of all queries, each row with the number of its own."""
    numbered = enumerate(where for where, _ in _OF_KEYS)
    return " UNION ALL ".join(f"SELECT {at}, id FROM {table} WHERE {where}" for at, where in numbered)


def _by_query(rows: list[tuple[Any, ...]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for at, id_ in sorted(rows):
        found.setdefault(at, []).append(id_)
    return found


def _is_pushed(warehouse: Warehouse, where: str) -> bool:
    """Spark 4.0 offers no filters on chars."""
    return not warehouse.spark.version.startswith("4.0") or "k" not in where


def _write(path: Path, rows: pa.Table) -> None:
    path.parent.mkdir(parents=True)
    pq.write_table(rows, path)
