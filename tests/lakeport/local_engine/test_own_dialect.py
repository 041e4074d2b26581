"""Queries in DuckDB's own SQL: tables of the catalogs in one transaction, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeport
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import (
    ColumnNotFoundError,
    ConnectorError,
    InvalidArgumentError,
    NotSupportedError,
    TableNotFoundError,
    UserError,
)
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from lakeport.sql.dialects import to_spark_sql
from tests.lakeport.memory_session import put

_ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", "b", None], "n": pa.array([1, 1, 7], pa.int32())})


@pytest.fixture
def session() -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as made:
        connector = registry.get("mem")
        assert isinstance(connector, MemoryConnector)
        put(connector, "t", _ROWS)
        put(connector, "u", _ROWS.slice(1))
        made.dialect = "duckdb"
        made.sql("USE mem.s")
        yield made


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("FROM t ORDER BY id LIMIT 1", [(1, "a", 1)]),
        ("SELECT n, list(id ORDER BY id DESC) AS l FROM mem.s.t GROUP BY ALL ORDER BY ALL", [(1, [2, 1]), (7, [3])]),
        # What means something else in Spark means here what it means in DuckDB.
        ("SELECT 7 // 2 AS a, [5, 6][1] AS b, 'ab'[1:1] AS c, s FROM t ORDER BY s LIMIT 1", [(3, 5, "a", "a")]),
        ("SELECT s.t.id, mem.s.u.s AS x FROM mem.s.t JOIN mem.s.u USING (id) ORDER BY 1", [(2, "b"), (3, None)]),
        ("SELECT * EXCLUDE (s), COLUMNS('n') + 1 AS m FROM t WHERE id IN (2, 3) ORDER BY id", [(2, 1, 2), (3, 7, 8)]),
        ("WITH t AS (FROM mem.s.t WHERE id > 2), v AS (FROM t) FROM v", [(3, None, 7)]),
        ("WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r, t WHERE i < 3 AND t.id = 1) FROM r",
         [(1,), (2,), (3,)]),
        ("SELECT (SELECT max(id) FROM u WHERE u.n = t.n) AS m FROM t ORDER BY t.id", [(2,), (2,), (3,)]),
        ("FROM (PIVOT t ON n IN (1, 7) USING count(*) GROUP BY s) WHERE s = 'a'", [("a", 1, 0)]),
        ("SELECT i, x FROM range(2) r(i), unnest([5]) q(x) ORDER BY i", [(0, 5), (1, 5)]),
        ("SELECT count(*) FROM t a POSITIONAL JOIN u b WHERE b.id = 3", [(1,)]),
        ("SELECT count(*) FROM t AS x AT (VERSION => 1), t", [(9,)]),
        ("SELECT t FROM t WHERE id = 1", [({"id": 1, "s": "a", "n": 1},)]),
        ("SELECT id FROM t QUALIFY row_number() OVER (PARTITION BY n ORDER BY id DESC) = 1 ORDER BY 1", [(2,), (3,)]),
        ("VALUES (1, 'x')", [(1, "x")]),
        ('SELECT "$row_id" IS NULL AS a FROM t LIMIT 1', [(False,)]),
    ],
)  # fmt: skip
def test_queries(session: LocalSession, query: str, rows: list[object]) -> None:
    assert session.sql(query).fetchall() == rows


@pytest.mark.parametrize(
    "query",
    [
        "FROM 'part.parquet'",
        'FROM "/etc/*.csv"',
        "SELECT * FROM read_parquet('part.parquet')",
        "SELECT id FROM t WHERE id IN (SELECT a FROM read_csv('x.csv'))",
        "SELECT * FROM t, LATERAL (FROM parquet_scan('x'))",
        "FROM read_text('/etc/passwd')",
        "FROM glob('/*')",
        "FROM parquet_schema('x')",
        "FROM sniff_csv('x')",
        "FROM query('SELECT 1')",
        "FROM query_table('t')",
        "FROM duckdb_settings()",
        "FROM duckdb_secrets()",
        "FROM json_execute_serialized_sql('{}')",
        "FROM pragma_table_info('t')",
        "FROM python_arrow_scan(1, 2, 3)",
        "SELECT current_setting('temp_directory')",
        "SELECT getvariable('x')",
        "SELECT pg_get_viewdef(1)",
        "SELECT write_log('x')",
        "SELECT CASE WHEN n = 1 THEN (SELECT max(a) FROM read_json('x')) END FROM t",
        'WITH "x.parquet" AS (SELECT 1) FROM "x.parquet"',
        "SUMMARIZE t",
        "FROM (DESCRIBE t)",
        "PIVOT t ON n USING count(*)",
        "ATTACH 'x.db' AS x",
        "COPY t TO 'x.csv'",
        "COPY (FROM t) TO 'x.csv'",
        "EXPORT DATABASE 'x'",
        "PRAGMA database_list",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SET VARIABLE x = 1",
        "CREATE TABLE x AS FROM t",
        "INSERT INTO t VALUES (1)",
        "DELETE FROM t",
        "CALL pragma_version()",
        "FROM t; FROM u",
        'SELECT *, "$row_id" FROM t',
        "FROM t AT (VERSION => 1 + 1)",
        "",
    ],
)
def test_what_is_no_table_is_refused(session: LocalSession, query: str) -> None:
    with pytest.raises((NotSupportedError, InvalidArgumentError)):
        session.sql(query)


def test_a_name_is_never_a_variable_of_python(session: LocalSession) -> None:
    frame = pa.table({"x": [1]})
    assert frame.num_rows
    for query in ("FROM frame", "WITH x AS (FROM frame) FROM x", "FROM duckdb_tables", "FROM (WITH u AS (SELECT 1) "
                  "FROM u) a, duckdb_views", "FROM sqlite_master"):  # fmt: skip
        with pytest.raises(TableNotFoundError):
            session.sql(query)
    with pytest.raises(ConnectorError):
        session.sql("FROM memory.main.t")


def test_errors_of_duckdb(session: LocalSession) -> None:
    with pytest.raises(InvalidArgumentError, match="not understood"):
        session.sql("SELECT FROM WHERE")
    with pytest.raises(ColumnNotFoundError, match="no column 'idd'; did you mean 'id'"):
        session.sql("SELECT idd FROM t")
    with pytest.raises(UserError, match="nope"):
        session.sql("SELECT nope(id) FROM t")


def test_parameters(session: LocalSession) -> None:
    assert session.sql("SELECT ? AS a, id FROM t WHERE id = ?", ["it's", 2]).fetchall() == [("it's", 2)]
    assert session.sql("SELECT $1 AS a, $1 + $2 AS b", [1, Decimal("1.5")]).fetchall() == [(1, Decimal("2.5"))]
    assert session.sql("SELECT $x AS a", {"x": None}).fetchall() == [(None,)]
    with pytest.raises(InvalidArgumentError, match="has no value"):
        session.sql("SELECT $x AS a", {"y": 1})


def test_one_transaction(session: LocalSession) -> None:
    connector = session.catalogs.get("mem")
    assert isinstance(connector, MemoryConnector)
    result = session.sql("SELECT count(*) FROM t a, t b")
    connector.insert(SchemaTableName("s", "t"), _ROWS)
    assert result.fetchall() == [(9,)]
    assert session.sql("SELECT count(*) FROM t a, t b").fetchall() == [(36,)]


def test_spark_does_not_run_it(session: LocalSession) -> None:
    with pytest.raises(NotSupportedError, match="dialect duckdb is that of the engine duckdb"):
        to_spark_sql("SELECT 1", "duckdb", lambda parts: None, lambda name: None)
    session.dialect = "spark"
    assert session.sql("SELECT 7 / 2 AS a", dialect="duckdb").fetchall() == [(3.5,)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSession]:
    """``hive.s.t``: Parquet files in two partitions."""
    monkeypatch.chdir(tmp_path)
    for part in ("x", "y"):
        (tmp_path / "t" / f"p={part}").mkdir(parents=True)
        at = pa.array([None, 2, 3], pa.timestamp("us"))
        pq.write_table(_ROWS.append_column("time", at), tmp_path / "t" / f"p={part}" / "part.parquet")
    with lakeport.connect(engine="duckdb") as made:
        made.sql(f"CALL hive.system.register_table('s', 't', '{tmp_path / 't'}')")
        made.dialect = "duckdb"
        yield made


@pytest.mark.parametrize(
    ("query", "read", "rows"),
    [
        ("SELECT count(*) FROM hive.s.t WHERE p = 'x'", 1, 3),
        ("SELECT count(*) FROM hive.s.t x WHERE 'x' = x.p AND id BETWEEN 2 AND 9", 1, 2),
        ("SELECT count(*) FROM hive.s.t x, hive.s.t y WHERE x.p = 'x'", 2, 18),
        ("SELECT count(*) FROM hive.s.t x LEFT JOIN (SELECT 1 AS id) y USING (id) WHERE p = 'x'", 2, 3),
        ("SELECT count(*) FROM hive.s.t WHERE p IN ('x', 'z') AND s IS NOT NULL", 1, 2),
        ("SELECT count(*) FROM hive.s.t WHERE upper(p) = 'X' OR p = 'y'", 2, 6),
        ("SELECT count(*) FROM hive.s.t TABLESAMPLE reservoir(100 ROWS) WHERE p = 'x'", 2, 3),
        ("SELECT count(*) FROM hive.s.t WHERE (p = 'x' OR p = 'q') AND p <> 'y'", 1, 3),
        ("SELECT sum(a) FROM (SELECT n AS a, p AS q FROM hive.s.t WHERE p = 'y') WHERE q = 'y'", 1, 9),
        # A comparison of a text with a number casts the text, which may fail.
        ("SELECT count(*) FROM hive.s.t WHERE n = 1 AND p < 'y'", 1, 2),
    ],
)
def test_partitions_and_native_files(files: LocalSession, query: str, read: int, rows: int) -> None:
    [(plan,)] = files.sql(f"EXPLAIN {query}").fetchall()
    assert {line.strip() for line in str(plan).splitlines() if "partitions:" in line} == {f"partitions: {read} of 2"}
    assert files.sql(query).fetchall() == [(rows,)]


def test_explain_analyze(files: LocalSession) -> None:
    [(text,)] = files.sql("EXPLAIN ANALYZE SELECT id FROM hive.s.t WHERE id < 2 AND p = 'x'").fetchall()
    assert "reader: native (DuckDB)" in str(text)
    assert "partitions: 1 of 2" in str(text)
    [(text,)] = files.sql("EXPLAIN SELECT time FROM hive.s.t").fetchall()
    assert "reader: Lakeport, as Arrow" in str(text)
