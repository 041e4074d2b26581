"""Queries in Trino's SQL through Spark: the answers are Trino's, as its documentation defines them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.session import Session
from lakeport.trino.statements import translate_trino
from tests.lakeport.memory_session import memory_session
from tests.lakeport.trino.shop import put_numbers

D = Decimal
DAY = dt.date(2024, 2, 29)


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[Session]:
    with memory_session(spark.newSession()) as (session, memory):
        put_numbers(memory)
        yield session


# What each query gives is worked out by hand from Trino's documentation of the functions.
QUERIES: list[tuple[str, list[tuple[object, ...]]]] = [
    ("SELECT 7 / 2, -7 / 2, 7 % 2, -7 % 2", [(3, -3, 1, -1)]),
    ("SELECT 7 / 2e0, CAST(7 AS double) / 2", [(3.5, 3.5)]),
    ("VALUES (1, 'a'), (2, 'b')", [(1, "a"), (2, "b")]),
    ("SELECT n + 1 FROM (VALUES 1, 2) AS t(n) ORDER BY n DESC", [(3,), (2,)]),
    ("SELECT n / 2 FROM (VALUES 5, 7) AS t(n) ORDER BY 1", [(2,), (3,)]),
    ("SELECT n / 2 FROM mem.s.t ORDER BY n", [(-3,), (3,), (None,)]),
    ("SELECT x FROM (VALUES 2, NULL, 1) AS t(x) ORDER BY x", [(1,), (2,), (None,)]),
    ("SELECT x FROM (VALUES 2, NULL, 1) AS t(x) ORDER BY x DESC", [(2,), (1,), (None,)]),
    ("SELECT x FROM (VALUES 2, NULL) AS t(x) ORDER BY x NULLS FIRST", [(None,), (2,)]),
    (r"SELECT 'a\nb', 'it''s', length('a\n')", [("a\\nb", "it's", 3)]),
    ('SELECT "x y" FROM (VALUES 1) AS t("x y")', [(1,)]),
    ("SELECT x FROM UNNEST(ARRAY[10, 20]) AS t(x) ORDER BY 1", [(10,), (20,)]),
    ("SELECT x, i FROM UNNEST(ARRAY['a', 'b']) WITH ORDINALITY AS t(x, i) ORDER BY i", [("a", 1), ("b", 2)]),
    ("SELECT k, x FROM (VALUES (1, ARRAY['a', 'b']), (2, ARRAY[])) AS t(k, v) CROSS JOIN UNNEST(v) AS u(x) ORDER BY x",
     [(1, "a"), (1, "b")]),
    ("SELECT d, x FROM mem.s.t LEFT JOIN UNNEST(tags) AS u(x) ON TRUE ORDER BY d, x",
     [(1.0, "a"), (1.0, "b"), (2.0, None), (3.0, None)]),
    ("SELECT d, x, i FROM mem.s.t CROSS JOIN UNNEST(tags) WITH ORDINALITY AS u(x, i) ORDER BY i",
     [(1.0, "a", 1), (1.0, "b", 2)]),
    ("SELECT k, v FROM UNNEST(map(ARRAY['a', 'b'], ARRAY[1, 2])) AS t(k, v) ORDER BY k", [("a", 1), ("b", 2)]),
    ("SELECT k, v, i FROM UNNEST(map(ARRAY['a', 'b'], ARRAY[1, 2])) WITH ORDINALITY AS t(k, v, i) ORDER BY i",
     [("a", 1, 1), ("b", 2, 2)]),
    ("SELECT x, k, v, y, i FROM UNNEST(ARRAY[1, 2, 3], map(ARRAY['a'], ARRAY[true]), ARRAY[DATE '2024-02-29']) "
     "WITH ORDINALITY AS t(x, k, v, y, i) ORDER BY i",
     [(1, "a", True, DAY, 1), (2, None, None, None, 2), (3, None, None, None, 3)]),
    ("SELECT d, x, y FROM mem.s.t LEFT JOIN UNNEST(tags, ARRAY[CAST(d AS integer)]) AS u(x, y) ON TRUE ORDER BY d, x",
     [(1.0, "a", 1), (1.0, "b", None), (2.0, None, 2), (3.0, None, 3)]),
    ("SELECT greatest(1, NULL), least(2, 1), greatest(3, 4)", [(None, 1, 4)]),
    ("SELECT coalesce(NULL, 2), nullif(1, 1), if(1 > 2, 'a', 'b')", [(2, None, "b")]),
    ("SELECT CAST(2.5e0 AS bigint), CAST(-2.5e0 AS bigint), CAST(1.5 AS integer)", [(3, -3, 2)]),
    ("SELECT CAST('12' AS integer), CAST(12 AS varchar), CAST(true AS varchar)", [(12, "12", "true")]),
    ("SELECT CAST(1.50 AS varchar), CAST(DATE '2024-02-29' AS varchar)", [("1.50", "2024-02-29")]),
    ("SELECT try_cast('x' AS integer), try_cast(' 1' AS integer), try_cast('-7' AS bigint)", [(None, 1, -7)]),
    ("SELECT TRY(CAST('x' AS integer))", [(None,)]),
    ("SELECT CAST(1.005 AS decimal(10, 2)), 1.5 + 2", [(D("1.01"), D("3.5"))]),
    ("SELECT array_agg(x) FROM (VALUES 1, NULL) AS t(x)", [([1, None],)]),
    ("SELECT array_agg(x) FROM (VALUES 1) AS t(x) WHERE x > 1", [(None,)]),
    ("SELECT count(*), count(x), count(DISTINCT x) FROM (VALUES 1, 1, NULL) AS t(x)", [(3, 2, 1)]),
    ("SELECT sum(x), min(x), max(x), avg(x) FROM (VALUES 1, 2, 4) AS t(x)", [(7, 1, 4, 7 / 3)]),
    ("SELECT sum(x) FROM (VALUES 1.5, 2.25) AS t(x)", [(D("3.75"),)]),
    ("SELECT count_if(x > 1), bool_and(x > 0), bool_or(x > 3) FROM (VALUES 1, 2, 3) AS t(x)", [(2, True, False)]),
    ("SELECT max_by(a, b), min_by(a, b) FROM (VALUES ('x', 1), ('y', 2)) AS t(a, b)", [("y", "x")]),
    ("SELECT arbitrary(x) FROM (VALUES CAST(NULL AS integer), 5) AS t(x)", [(5,)]),
    ("SELECT a, sum(b) FILTER (WHERE b > 1) FROM (VALUES (1, 1), (1, 2), (2, 3)) AS t(a, b) GROUP BY a ORDER BY a",
     [(1, 2), (2, 3)]),
    ("SELECT a, count(*) FROM (VALUES 1, 1, 2) AS t(a) GROUP BY 1 HAVING count(*) > 1", [(1, 2)]),
    ("SELECT a, sum(b) FROM (VALUES (1, 2), (2, 3)) AS t(a, b) GROUP BY ROLLUP (a) ORDER BY a",
     [(1, 2), (2, 3), (None, 5)]),
    ("SELECT a, b, count(*) FROM (VALUES (1, 2)) AS t(a, b) GROUP BY GROUPING SETS ((a), (b)) ORDER BY a",
     [(1, None, 1), (None, 2, 1)]),
    ("SELECT x, row_number() OVER (ORDER BY x), sum(x) OVER (ORDER BY x) FROM (VALUES 2, 3, NULL) AS t(x) ORDER BY 2",
     [(2, 1, 2), (3, 2, 5), (None, 3, 5)]),
    ("SELECT lag(x) OVER (ORDER BY x), lead(x, 1, 0) OVER (ORDER BY x) FROM (VALUES 1, 2) AS t(x) ORDER BY 2 DESC",
     [(None, 2), (1, 0)]),
    ("SELECT a.x, b.y FROM (VALUES 1, 2) a(x) LEFT JOIN (VALUES (2, 'z')) b(x, y) ON a.x = b.x ORDER BY 1",
     [(1, None), (2, "z")]),
    ("SELECT x FROM (VALUES 1, 2, 3) t(x) EXCEPT SELECT x FROM (VALUES 2) t(x) ORDER BY x", [(1,), (3,)]),
    ("WITH c AS (SELECT 5 AS a), e AS (SELECT a / 2 AS b FROM c) SELECT b FROM e", [(2,)]),
    ("SELECT x FROM (VALUES 1, 2, 3, 4) t(x) ORDER BY x OFFSET 1 LIMIT 2", [(2,), (3,)]),
    ("SELECT x FROM (VALUES 3, 1) t(x) ORDER BY x FETCH FIRST 1 ROW ONLY", [(1,)]),
    ("SELECT x FROM (VALUES 1, 2) t(x) WHERE x IN (SELECT 2) AND EXISTS (SELECT 1)", [(2,)]),
    ("SELECT 1 IS DISTINCT FROM NULL, NULL IS DISTINCT FROM NULL", [(True, False)]),
    ("SELECT 'abc' LIKE 'a%', 'a%c' LIKE 'a!%c' ESCAPE '!', 'abc' LIKE 'a!%c' ESCAPE '!'", [(True, True, False)]),
    ("SELECT substr('hello', 2), substring('hello', 2, 3), substr('hello', 9)", [("ello", "ell", "")]),
    ("SELECT strpos('hello', 'l'), position('x' IN 'hello'), 'a' || 'b', concat('c', 'd')", [(3, 0, "ab", "cd")]),
    ("SELECT split('a.b.c', '.'), replace('aXbX', 'X', '-'), reverse('abc')", [(["a", "b", "c"], "a-b-", "cba")]),
    ("SELECT trim('\t a '), ltrim(' a '), rtrim(' a\n'), lpad('7', 3, '0')", [("a", "a ", " a", "007")]),
    ("SELECT upper('a'), lower('B'), starts_with('abc', 'ab'), length('żółw')", [("A", "b", True, 4)]),
    ("SELECT regexp_like('abc123', '[0-9]+$'), regexp_like('abc', '^b')", [(True, False)]),
    ("SELECT ARRAY[1, 2, 3][2], element_at(ARRAY[1], 5), element_at(ARRAY[1, 2], -1), cardinality(ARRAY[1, 2])",
     [(2, None, 2, 2)]),
    ("SELECT element_at(map(ARRAY['a'], ARRAY[1]), 'a'), element_at(map(ARRAY['a'], ARRAY[1]), 'b')", [(1, None)]),
    ("SELECT contains(ARRAY[1, 2], 2), array_distinct(ARRAY[1, 1, 2]), array_join(ARRAY['a', 'b'], '-')",
     [(True, [1, 2], "a-b")]),
    ("SELECT transform(ARRAY[1, 2], x -> x + 1), filter(ARRAY[1, 2], x -> x > 1), any_match(ARRAY[1], x -> x > 1)",
     [([2, 3], [2], False)]),
    ("SELECT reduce(ARRAY[1, 2, 3], 0, (s, x) -> s + x, s -> s), sequence(1, 3)", [(6, [1, 2, 3])]),
    ("SELECT CAST(ROW(1, 'a') AS ROW(x integer, y varchar)).y", [("a",)]),
    ("SELECT year(DATE '2024-02-29'), extract(month FROM DATE '2024-02-29'), day(DATE '2024-02-29')", [(2024, 2, 29)]),
    ("SELECT day_of_week(DATE '2024-02-29'), day_of_week(DATE '2024-03-03'), week(DATE '2024-12-30')", [(4, 7, 1)]),
    ("SELECT DATE '2024-02-28' + INTERVAL '1' DAY, DATE '2024-01-31' + INTERVAL '1' MONTH", [(DAY, DAY)]),
    ("SELECT date_add('month', 1, DATE '2024-01-31'), date_add('week', -1, DATE '2024-03-07')", [(DAY, DAY)]),
    ("SELECT date_diff('day', DATE '2024-02-28', DATE '2024-03-01'), date_trunc('month', DATE '2024-02-29')",
     [(2, dt.date(2024, 2, 1))]),
    ("SELECT date_format(TIMESTAMP '2024-02-29 13:05:09', '%Y/%m/%d %H:%i:%s')", [("2024/02/29 13:05:09",)]),
    ("SELECT CAST(TIMESTAMP '2024-02-29 13:05:09' AS date), TIMESTAMP '2024-02-29 13:05:09'",
     [(DAY, dt.datetime(2024, 2, 29, 13, 5, 9))]),
    ("SELECT ceil(1.2e0), floor(-1.2e0), round(2.5e0), round(-2.5e0), abs(-3)", [(2.0, -2.0, 3.0, -3.0, 3)]),
    # MathFunctions.round: Math.round(num * 10^digits) / 10^digits, and 1.005e0 * 100 is 100.49999999999999.
    ("SELECT round(1.005e0, 2), round(-1.005e0, 2), round(2.675e0, 2), round(1.15e0, 1), round(7, 1)",
     [(1.0, -1.0, 2.68, 1.2, 7)]),
    # Of the same scale in both, for as long as 38 digits hold them.
    ("SELECT price * 1.5, price + 1.5, 2 * (price - 1), sum(price * 2) + 1 FROM mem.s.t WHERE n = 7 GROUP BY price",
     [(D("12345678.18510"), D("8230453.6234"), D("16460902.2468"), D("16460905.2468"))]),
    ("SELECT whole * whole, whole + 1, whole * price, coalesce(huge, 1), max(whole) OVER () * 2 FROM mem.s.t LIMIT 1",
     [(9, 4, D("24691356.3702"), D("1.0000000001"), 6)]),
    ("SELECT ln(0), log10(1000), log2(8), power(2, 3), sqrt(4)", [(-math.inf, 3.0, 3.0, 8.0, 2.0)]),
    ("SELECT bitwise_and(6, 3), bitwise_or(6, 3), bitwise_xor(6, 3)", [(2, 7, 5)]),
    ("SELECT bitwise_and(bitwise_or(4, 1), 3), bitwise_and(6, 3) + 1, bitwise_or(8, bitwise_xor(5, 1)) * 2",
     [(1, 3, 24)]),
    ("SELECT chr(65), chr(233)", [("A", "é")]),
    ("SELECT if(1 > 2, 'a'), if(2 > 1, 'b')", [(None, "b")]),
    # A star shows the columns that tables are joined by once, and first.
    ("SELECT * FROM (VALUES ('a', 1), ('b', 2)) t(x, k) JOIN (VALUES (2, 'c')) u(k, y) USING (k)", [(2, "b", "c")]),
    ("SELECT * FROM (VALUES ('a', 1)) t(x, k) NATURAL JOIN (VALUES (1, 'c')) u(k, y)", [(1, "a", "c")]),
    ("SELECT k, x, z FROM (VALUES ('a', 1)) t(x, k) RIGHT JOIN (VALUES 1, 2) u(k) USING (k) JOIN (VALUES (2, 'z')) "
     "v(k, z) USING (k) WHERE k > 0 ORDER BY k", [(2, None, "z")]),
    ("SELECT k, count(*) FROM (VALUES 1, 2) t(k) FULL JOIN (VALUES 2, 3) u(k) USING (k) GROUP BY k HAVING k > 1 "
     "ORDER BY k", [(2, 1), (3, 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), QUERIES)
def test_answers_are_trinos(session: Session, text: str, expected: list[tuple[object, ...]]) -> None:
    rows = [tuple(row) for row in session.sql(text, dialect="trino").collect()]
    assert rows == expected


@pytest.mark.parametrize(
    ("text", "part", "says"),
    [
        ("SELECT approx_distinct(x) FROM (VALUES 1) t(x)", "APPROX_DISTINCT(t.x)", "count(DISTINCT"),
        ("SELECT a / b FROM nowhere.at.all", "a / b", "cast one side to DOUBLE"),
        ("SELECT a * 1.5 FROM nowhere.at.all", "a * CAST('1.5' AS DECIMAL(2, 1))", "not known"),
        ("SELECT round(2.5e0, d) FROM mem.s.t", 'ROUND(2.5e0, "t".d)', "a literal from 0 to 15"),
        ("SELECT CAST(1e0 AS varchar)", "CAST(1e0 AS VARCHAR)", "differs"),
        ("SELECT TRY(sequence(1, 0))", "TRY(", "NULLIF"),
        ("SELECT json_extract_scalar('{}', '$..a')", "JSON", "path"),
        ("SELECT json_extract('{}', '$.a')", "JSON_EXTRACT", "no translation"),
        ("SELECT from_unixtime(0, 'UTC')", "FROM_UNIXTIME(0", "zone"),
        ("SELECT ROW(1, 2)", "ROW(1, 2)", "CAST(ROW"),
        ("SELECT map(ARRAY['a'], ARRAY[1])['b']", "", "element_at"),
        ("SELECT substr(s, t) FROM nowhere.at.all", "SUBSTR", "start"),
        ("SELECT regexp_extract('ab', '(a)|(b)', 2)", "REGEXP_EXTRACT", "NULL in Trino"),
        ("SELECT regexp_extract('ab', 'a++')", "REGEXP_EXTRACT", "'++'"),
        ("SELECT regexp_like('ab', '\\p{Lu}')", "REGEXP_LIKE", "Java"),
        ("SELECT regexp_split('ab', 'x*')", "REGEXP_SPLIT", "matches nothing"),
        ("SELECT regexp_replace('ab', 'a', '$1')", "REGEXP_REPLACE", "0 groups"),
        ("SELECT split_part('a,b', ',', 0)", "SPLIT_PART", "from 1"),
        ("SELECT date_format(DATE '2024-01-01', '%v')", "", "pattern"),
        ("SELECT date_diff('hour', DATE '2024-01-01', DATE '2024-01-01')", "DATE_DIFF", "HOUR"),
        ("SELECT date_trunc('month', x) FROM nowhere.at.all", "DATE_TRUNC", "cast"),
        ("SELECT current_timestamp AT TIME ZONE 'UTC'", "AT_TIMEZONE", ""),
        ("SELECT 1 = ALL (SELECT 1)", "ALL (", "= ANY and <> ALL"),
        ("SELECT 1 FROM t, u RIGHT JOIN v ON u.a = v.a", "RIGHT JOIN v", "behind a comma"),
        ("SELECT 1 FROM t, u JOIN v USING (a)", "JOIN v USING (a)", "CROSS JOIN"),
        ("SELECT a FROM t ORDER BY a FETCH FIRST 1 ROW WITH TIES", "FETCH FIRST", "rank()"),
        ("SELECT chr(8364)", "CHR(8364)", "the character itself"),
        ("SELECT t.* FROM t JOIN u USING (a)", "t.*", "write *"),
        ("SELECT * FROM t TABLESAMPLE BERNOULLI (10)", "", ""),
        ("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c", "", "RECURSIVE"),
        ("INSERT INTO mem.s.t VALUES (1)", "INSERT INTO mem.s.t", "only queries"),
    ],
)
def test_what_may_differ_is_refused_by_name(session: Session, text: str, part: str, says: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        session.sql(text, dialect="trino")
    assert caught.value.code.name == "UNSUPPORTED_TRINO_SQL"
    assert part in str(caught.value)
    assert says in str(caught.value)


def test_grants_are_the_catalogs_answer(session: Session) -> None:
    """Trino's words for them are those that every dialect has here."""
    with pytest.raises(NotSupportedError, match="mem has no grants and roles"):
        session.sql("GRANT SELECT ON mem.s.t TO x", dialect="trino")


@pytest.mark.parametrize(
    ("version", "spark"),
    [
        ("FOR VERSION AS OF 6", "VERSION AS OF 6 AS"),
        ("FOR VERSION AS OF '20240101120000000'", "VERSION AS OF '20240101120000000' AS"),
        (
            "FOR TIMESTAMP AS OF TIMESTAMP '2024-01-01 12:00:00'",
            "TIMESTAMP AS OF CAST('2024-01-01 12:00:00' AS TIMESTAMP) AS",
        ),
        (
            "FOR TIMESTAMP AS OF TIMESTAMP '2024-01-01 12:00:00 UTC'",
            "TIMESTAMP AS OF CAST('2024-01-01 12:00:00 UTC' AS TIMESTAMP) AS",
        ),
        ("FOR TIMESTAMP AS OF DATE '2024-01-01'", "TIMESTAMP AS OF CAST('2024-01-01' AS TIMESTAMP) AS"),
    ],
)
def test_versions_of_tables(version: str, spark: str) -> None:
    text = translate_trino(f"SELECT id FROM hive.sales.notes {version} WHERE id < 5", lambda _: {"id": pa.int64()})
    assert f"FROM `hive`.`sales`.`notes` {spark} `notes` WHERE" in text


def test_approximations_are_allowed_in_a_session(session: Session) -> None:
    query = "SELECT approx_distinct(x), approx_percentile(x, 0.5) FROM (VALUES 1, 2, 3, 3) AS t(x)"
    session.sql("SET SESSION approximate_functions = true", dialect="trino")
    try:
        assert [tuple(row) for row in session.sql(query, dialect="trino").collect()] == [(3, 2)]
    finally:
        session.sql("SET SESSION approximate_functions = false", dialect="trino")
    with pytest.raises(NotSupportedError, match="SET SESSION approximate_functions = true"):
        session.sql(query, dialect="trino")


def test_results_are_named_as_in_trino(session: Session) -> None:
    frame = session.sql("SELECT 1, d, d + 1, n AS k FROM mem.s.t", dialect="trino")
    assert frame.columns == ["_col0", "d", "_col2", "k"]


def test_other_statements(session: Session) -> None:
    session.sql('USE mem."s"', dialect="trino")
    assert [row[1] for row in session.sql("SHOW TABLES", dialect="trino").collect()] == ["t"]
    assert session.sql("SELECT n / 2 FROM t WHERE n = 7", dialect="trino").collect()[0][0] == 3
    session.sql("SET SESSION mem.task_pushdown = false", dialect="trino")
    assert session.spark.conf.get("spark.lakeport.mem.task_pushdown") == "false"
    session.sql("RESET SESSION mem.task_pushdown", dialect="trino")
    assert session.spark.conf.get("spark.lakeport.mem.task_pushdown", None) is None
    columns = [row[0] for row in session.sql("SHOW COLUMNS FROM mem.s.t", dialect="trino").collect()]
    assert columns[:3] == ["n", "d", "price"]
    assert "t$files" not in columns


def test_the_sessions_dialect(session: Session) -> None:
    session.dialect = "TRINO"
    try:
        assert session.sql("SELECT 7 / 2").collect()[0][0] == 3
        assert session.sql("SELECT 7 / 2", dialect="spark").collect()[0][0] == 3.5
    finally:
        session.dialect = "spark"
    with pytest.raises(InvalidArgumentError, match="did you mean 'trino'"):
        session.dialect = "trno"


def test_text_that_is_not_sql_is_an_error_with_its_place(session: Session) -> None:
    with pytest.raises(InvalidArgumentError, match=r"line 2, pos \d+"):
        session.sql("SELECT 1\nFROM WHERE", dialect="trino")
