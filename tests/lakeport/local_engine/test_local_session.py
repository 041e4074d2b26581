"""Sessions whose statements run in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import lakeport
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import (
    ColumnNotFoundError,
    ConnectorError,
    InvalidArgumentError,
    NotSupportedError,
    ProcedureNotFoundError,
    SchemaNotFoundError,
    TableNotFoundError,
    UserError,
)
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from lakeport.engine import default_engine
from lakeport.shell.running import open_session
from tests.lakeport.memory_session import put
from tests.lakeport.sample_session import sample_session

_ROWS = pa.table(
    {"id": pa.array([1, 2, 3]), "s": ["a", "b", None], "d": pa.array([[1], [], None], pa.list_(pa.int8()))}
)

_PAIR = pa.struct([("a", pa.int32()), ("b", pa.int32())])
_NESTED = pa.schema(
    [
        ("id", pa.int64()),
        ("m", pa.map_(pa.string(), pa.int32())),
        ("f", pa.map_(pa.float64(), pa.int32())),
        ("w", pa.map_(pa.int32(), pa.int32())),
        ("p", _PAIR),
        ("l", pa.list_(_PAIR)),
    ]
).empty_table()


@pytest.fixture
def session() -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as made:
        connector = registry.get("mem")
        assert isinstance(connector, MemoryConnector)
        put(connector, "t", _ROWS)
        put(connector, "n", _NESTED)
        put(connector, "bare", _ROWS.select([]))
        yield made


def test_a_result_is_read_many_times(session: LocalSession) -> None:
    result = session.sql("SELECT id, s FROM mem.s.t WHERE id > 1 ORDER BY id")
    assert result.columns == ["id", "s"]
    for _ in range(2):
        assert result.fetchall() == [(2, "b"), (3, None)]
    assert result.arrow().to_pylist() == [{"id": 2, "s": "b"}, {"id": 3, "s": None}]
    assert result.polars().rows() == [(2, "b"), (3, None)]
    assert result.pandas(dtype_backend="pyarrow")["id"].tolist() == [2, 3]
    assert pa.table(result).num_rows == 2


def test_names_without_a_catalog(session: LocalSession) -> None:
    with pytest.raises(InvalidArgumentError, match="'t' names no catalog"):
        session.sql("SELECT id FROM t")
    session.sql("USE mem.s")
    assert (session.engine.current_catalog(), session.engine.current_schema()) == ("mem", "s")
    assert session.sql("SELECT max(id) AS m FROM t").fetchall() == [(3,)]
    assert session.sql("SHOW TABLES").fetchall() == [
        ("s", "bare", False),
        ("s", "n", False),
        ("s", "t", False),
    ]
    assert session.sql("DESCRIBE t").fetchall()[0] == ("id", "bigint", None)
    # The name of a WITH hides a table from the query, not from its own definition.
    assert session.sql("WITH t AS (SELECT id FROM t WHERE id = 2) SELECT id FROM t").fetchall() == [(2,)]


def test_a_comment_before_a_query_with_names(session: LocalSession) -> None:
    """The rows of a table that is named twice are put before the names of the query."""
    twice = "SELECT count(*) AS c FROM w JOIN mem.s.t a ON w.id = a.id JOIN mem.s.t b ON a.id = b.id"
    text = f"-- first\n/* WITH */ WITH w AS (SELECT 3 AS id) {twice}"
    assert session.sql(text).fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("SELECT id FROM mem.s.nope", TableNotFoundError, "mem.s.nope"),
        ("SELECT idd FROM mem.s.t", ColumnNotFoundError, "idd"),
        ("USE mem.nope", SchemaNotFoundError, "mem.nope"),
        ("SELECT cont(*) FROM mem.s.t", NotSupportedError, "runs no function cont; did you mean 'count'"),
        ("SELECT count(*) FROM mem.s.bare", NotSupportedError, "no columns"),
        ("SELECT FROM WHERE", InvalidArgumentError, "not understood"),
        ("SELECT soundex(s) FROM mem.s.t", NotSupportedError, "SOUNDEX"),
        ("SELECT id FROM mem.s.t WHERE s = 1", NotSupportedError, "integer and string"),
        ("SELECT id % 1.5 FROM mem.s.t", NotSupportedError, "whole numbers"),
        ("SELECT id div 2.5 FROM mem.s.t", NotSupportedError, "whole numbers"),
        ("SELECT d[id] FROM mem.s.t", NotSupportedError, "by something else than an int"),
        ("SELECT d['a'] FROM mem.s.t", NotSupportedError, "by something else than an int"),
        ("SELECT s[0] FROM mem.s.t", NotSupportedError, "no array or map"),
        ("SELECT s.x FROM mem.s.t", NotSupportedError, "no struct"),
        ("SELECT m[1] FROM mem.s.n", NotSupportedError, "of the kind integer in a map by string"),
        ("SELECT f[1.5D] FROM mem.s.n", NotSupportedError, "of the kind double in a map by double"),
        ("SELECT w[id] FROM mem.s.n", NotSupportedError, "a wider type"),
        ("SELECT p.c FROM mem.s.n", NotSupportedError, "expected one field of this name among a, b"),
        ("SELECT l.zz FROM mem.s.n", NotSupportedError, "zz"),
        ("SELECT s.t.id FROM mem.s.t t, mem.s.n s", NotSupportedError, "more than one part"),
        ("SELECT id FROM mem.s.t ORDER BY d", NotSupportedError, "order"),
        ("SELECT s RLIKE '(?m)a' FROM mem.s.t", NotSupportedError, "regular expression"),
        ("SELECT s LIKE 'a\\\\b' FROM mem.s.t", NotSupportedError, "backslash"),
        ("SELECT id FROM range(3)", NotSupportedError, "RANGE"),
        ("SELECT DISTINCT array(0.5D) AS a FROM mem.s.t", NotSupportedError, "nested floating-point"),
        ("SELECT current_timestamp(3)", NotSupportedError, "a number of digits"),
        ("SELECT id FROM mem.s.t TABLESAMPLE (5 ROWS)", NotSupportedError, "sample"),
        ("SELECT id FROM mem.s.t TABLESAMPLE (5 PERCENT) x", NotSupportedError, "sample"),
        ("SELECT CAST(s AS FLOAT) FROM mem.s.t", NotSupportedError, "cast"),
        ("SELECT CAST(id AS TIMESTAMP) FROM mem.s.t", NotSupportedError, "cast"),
        ("SELECT id FROM mem.s.t LATERAL VIEW OUTER explode(array(1, 'a')) x AS y", NotSupportedError, "ARRAY"),
        ("SELECT id FROM mem.s.t LATERAL VIEW explode(d) x", NotSupportedError, "AS 1 names of columns"),
        ("SELECT id FROM mem.s.t LATERAL VIEW explode(s) x AS y", NotSupportedError, "no array or map"),
        ("SELECT * FROM mem.s.t UNPIVOT (v FOR k IN (id))", NotSupportedError, "UNPIVOT of a table"),
        ("SELECT * FROM mem.s.t a, mem.s.t PIVOT (sum(id) FOR s IN ('a'))", NotSupportedError, "several tables"),
        ("SELECT * FROM mem.s.t PIVOT (stddev(id) FOR s IN ('a'))", NotSupportedError, "something else than sum"),
        ("SELECT * FROM mem.s.t PIVOT (sum(id), max(id) FOR s IN ('a'))", NotSupportedError, "named if there are more"),
        ("SELECT * FROM mem.s.t PIVOT (count(*) AS a, max(s) AS b FOR id IN (1))", NotSupportedError, "beside min"),
        ("SELECT * FROM mem.s.t PIVOT (sum(id) FOR (s, id) IN (('a', 1)))", NotSupportedError, "than one column"),
        ("SELECT * FROM mem.s.t PIVOT (sum(id) FOR s IN (upper('a')))", NotSupportedError, "written out"),
        ("SELECT * FROM mem.s.t PIVOT (sum(id) FOR s IN (1))", NotSupportedError, "write 1 AS name"),
        ("SELECT * FROM mem.s.t PIVOT (sum(id) FOR s IN (1 AS x))", NotSupportedError, "integer and string"),
        (
            "WITH w AS (SELECT id, s FROM mem.s.t) SELECT * FROM w PIVOT (sum(id) FOR s IN ('a'))",
            NotSupportedError,
            "not known",
        ),
        ("SELECT id FROM mem.s.t JOIN mem.s.t u ON id = u.id", InvalidArgumentError, "several tables have it"),
        ("SELECT id AS x FROM mem.s.t WHERE x > 1", ColumnNotFoundError, "WHERE does not know"),
        (
            "SELECT id FROM mem.s.t WHERE EXISTS (SELECT s AS id FROM (SELECT s FROM mem.s.t) WHERE id = 'a')",
            ColumnNotFoundError,
            "no column 'id': WHERE does not know",
        ),
        (
            "SELECT id FROM mem.s.t RIGHT JOIN mem.s.t a USING (id) JOIN mem.s.t b USING (id)",
            NotSupportedError,
            "behind a RIGHT or FULL JOIN",
        ),
        ("SELECT a.* FROM mem.s.t a JOIN mem.s.t b USING (id)", NotSupportedError, "a star beside USING"),
        ("SELECT * FROM mem.s.t a LEFT SEMI JOIN mem.s.t b USING (s)", NotSupportedError, "a star beside USING"),
        (
            "SELECT x.* FROM (SELECT * FROM mem.s.t a JOIN mem.s.t b ON a.id = b.id) x",
            NotSupportedError,
            "two of its columns have one name",
        ),
        ("SELECT id FROM mem.s.t WHERE id IS TRUE", NotSupportedError, "a condition that is integer"),
        (f"SELECT 1{'0' * 38} AS x", NotSupportedError, "a number of 39 digits"),
        ("SELECT coalesce() FROM mem.s.t", InvalidArgumentError, "an argument of Coalesce is missing"),
        ("SELECT s FROM mem.s.t GROUP BY id", InvalidArgumentError, "neither in GROUP BY nor in an aggregate"),
        ("SELECT s FROM mem.s.t WHERE sum(id) > 1", InvalidArgumentError, "behind HAVING"),
        ("SELECT sum(max(id)) FROM mem.s.t", InvalidArgumentError, "in a subquery"),
        ("SELECT (SELECT id, s FROM mem.s.t) AS x", InvalidArgumentError, "gives 2 columns"),
        ("SELECT id FROM mem.s.t UNION SELECT id, s FROM mem.s.t", InvalidArgumentError, "numbers of columns"),
        ("SELECT grouping(s) FROM mem.s.t", InvalidArgumentError, "needs GROUP BY"),
        ("SELECT row_number() AS r FROM mem.s.t", InvalidArgumentError, "has no OVER"),
        ("SELECT id FROM mem.s.t WHERE id", NotSupportedError, "a condition that is integer"),
        ("SELECT id AS a FROM mem.s.t WHERE try_divide(id, 0) IS NULL", NotSupportedError, "0"),
        ("CREATE TABLE mem.s.u (a INT)", NotSupportedError, "CREATE TABLE"),
        ("SELECT id FROM mem.s.t VERSION AS OF 1 + 1", NotSupportedError, "written out"),
        ("SELECT id FROM mem.s.t TIMESTAMP AS OF 'soon'", InvalidArgumentError, "soon"),
        ("SELECT nope, `$path` FROM mem.s.t", ColumnNotFoundError, "nope"),
        ("CALL mem.system.x()", ProcedureNotFoundError, "system.x"),
        ("CALL mem.system.x(", InvalidArgumentError, "not understood"),
        ("CALL x()", InvalidArgumentError, "names no procedure"),
        ("SET a = 1", NotSupportedError, "SET"),
        ("SHOW PARTITIONS mem.s.t", NotSupportedError, "PARTITIONS"),
        ("", NotSupportedError, "queries"),
    ],
)
def test_what_is_refused(session: LocalSession, text: str, error: type[ConnectorError], words: str) -> None:
    with pytest.raises(error, match="(?s)" + words.replace("(", r"\(")):
        session.sql(text)


def test_a_value_that_does_not_fit_fails(session: LocalSession) -> None:
    result = session.sql("SELECT CAST(id * 100 AS TINYINT) AS a FROM mem.s.t ORDER BY a")
    with pytest.raises(UserError, match="DuckDB failed"):
        result.fetchall()


@pytest.mark.parametrize("quotient", ["id / (id - id)", "id / (id * 1.5 - id * 1.5)", "1.5 / (id - id)"])
def test_a_division_by_zero_fails(session: LocalSession, quotient: str) -> None:
    result = session.sql(f"SELECT {quotient} AS a FROM mem.s.t")
    with pytest.raises(UserError, match="DIVIDE_BY_ZERO"):
        result.fetchall()


def test_what_only_spark_has(session: LocalSession) -> None:
    with pytest.raises(NotSupportedError, match="Spark session"):
        _ = session.spark
    with pytest.raises(NotSupportedError, match="table"):
        session.engine.table("mem.s.t")
    with pytest.raises(InvalidArgumentError, match="unknown engine 'duck'"):
        lakeport.connect(engine="duck")  # type: ignore[call-overload]


def test_functions_are_described(session: LocalSession) -> None:
    names = session.engine.function_names()
    assert {"sum", "substring", "nvl"} < set(names)
    usages = {one.name: one for one in session.engine.function_usages(names)}
    assert list(usages) == names
    assert usages["abs"].signature == "x"


def test_trino_s_dialect(session: LocalSession) -> None:
    asked = "SELECT approx_distinct(id) AS c FROM mem.s.t"
    with pytest.raises(InvalidArgumentError, match="unknown dialect"):
        session.sql("SELECT 1", dialect="oracle")
    with pytest.raises(NotSupportedError):
        session.sql(asked, dialect="trino")
    found = session.sql("SELECT id FROM mem.s.t WHERE s IS NOT NULL ORDER BY id DESC OFFSET 1 LIMIT 1", dialect="trino")
    assert found.fetchall() == [(1,)]
    session.sql("USE mem.s", dialect="trino")
    assert session.sql('SELECT "id" FROM t ORDER BY 1', dialect="trino").fetchall() == [(1,), (2,), (3,)]


def test_filters_and_columns_reach_the_table(session: LocalSession) -> None:
    [(plan,)] = session.sql("EXPLAIN SELECT s FROM mem.s.t WHERE id = 2").fetchall()
    assert isinstance(plan, str)
    assert '"id" = 2' in plan


def test_tables_of_hive_and_hudi_in_one_statement(tmp_path: Path) -> None:
    sample_session(tmp_path).close()
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as session:
        notes = session.scan("hive.sales.notes").to_arrow()
        assert session.sql("SELECT * FROM hive.sales.notes ORDER BY id").arrow().equals(notes.sort_by("id"))
        labels = set(session.scan("hive.sales.labels").to_arrow()["id"].to_pylist())
        items = session.scan("hudi.sales.items").to_arrow()["id"].to_pylist()
        joined = session.sql("SELECT count(*) FROM hudi.sales.items i JOIN hive.sales.labels l ON l.id = i.id")
        assert joined.fetchall() == [(sum(one in labels for one in items),)]
        with session.transaction():
            assert session.sql("SELECT count(*) FROM hive.sales.notes").fetchall() == [(notes.num_rows,)]


def test_older_versions_and_hidden_columns(tmp_path: Path) -> None:
    sample_session(tmp_path).close()
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as session:
        timeline = session.sql("SELECT timestamp FROM hudi.sales.`items$timeline` ORDER BY timestamp").arrow()
        first = timeline["timestamp"][0].as_py()
        old = session.scan("hudi.sales.items", version=first).count()
        assert session.sql(f"SELECT count(*) FROM hudi.sales.items VERSION AS OF '{first}'").fetchall() == [(old,)]
        paths = session.scan("hive.sales.notes").select("id", "$path").to_arrow()
        found = session.sql("SELECT *, `$path` FROM hive.sales.notes").arrow()
        assert found.column_names == [*session.scan("hive.sales.notes").columns, "$path"]
        assert found.select(["id", "$path"]).sort_by("id").equals(paths.sort_by("id"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("schema_name => 'sales'", "register_table needs table_name, table_location"),
        ("'sales', 'notes', '/x', schema_name => 'sales'", "schema_name of register_table is given twice"),
        ("schema => 'sales'", "no argument schema; did you mean 'schema_name'"),
        ("1, 'notes', '/x'", "the argument schema_name is 1"),
        ("'a', 'b', 'c', TRUE, 1, 2, 3, 4, 5, 6", "takes"),
        ("table_name => 'a', 'b'", "a value without a name follows"),
        ("id + 1", "is no value of an argument"),
    ],
)
def test_wrong_arguments_of_a_procedure(tmp_path: Path, arguments: str, words: str) -> None:
    sample_session(tmp_path).close()
    with (
        lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as session,
        pytest.raises(InvalidArgumentError, match=words),
    ):
        session.sql(f"CALL hive.system.register_table({arguments})")


def test_a_procedure_changes_the_catalog(tmp_path: Path) -> None:
    sample_session(tmp_path).close()
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as session:
        session.sql("USE hive.sales")
        assert session.sql("SHOW TABLES LIKE 'labels'").fetchall() == [("sales", "labels", False)]
        session.sql("CALL system.unregister_table('sales', table_name => 'labels')")
        assert session.sql("SHOW TABLES LIKE 'labels'").fetchall() == []


def test_without_java_the_command_line_uses_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_session(None, debug=False) as session:
        assert session.engine.name == "duckdb"
        assert session.plan("SELECT 1 AS a").first(2).to_pylist() == [{"a": 1}]
    assert "no Java is found: the engine duckdb runs the statements" in capsys.readouterr().err
    assert default_engine() == "duckdb"
    # Whoever names a Java is told what is wrong with it.
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert default_engine() == "spark"
