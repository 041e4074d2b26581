"""Queries by DuckDB and by Spark over the same tables: equal rows, names and types."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import UserError
from connector_spi.names import SchemaTableName
from lakeport.duckdb.engine import DuckDbEngine
from lakeport.session import Session
from lakeport.spark.results import arrow_result
from tests.lakeport.memory_session import memory_session, put

pytestmark = pytest.mark.slow

_DAYS = [date(2024, 1, 1), date(1969, 12, 31), None, date(2024, 2, 29)]
_ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, None], pa.int64()),
        "n": pa.array([7, None, -3, 7], pa.int32()),
        "s": pa.array(["a", "b", None, "ä"]),
        "d": pa.array([Decimal("1.50"), Decimal("-2.25"), None, Decimal("3.00")], pa.decimal128(10, 2)),
        "f": pa.array([1.5, float("nan"), None, -0.0]),
        "day": pa.array(_DAYS),
        "at": pa.array([None if one is None else datetime(one.year, one.month, one.day, 5) for one in _DAYS],
                       pa.timestamp("us")),
        "yes": pa.array([True, False, None, True]),
        "Big": pa.array([1, 2, 3, 4], pa.int16()),
    }
)  # fmt: skip
_PAIR = pa.struct([("c", pa.list_(pa.string())), ("D e", pa.float64())])
_NESTED = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "k": ["x", "y", None, "x"],
        "i": pa.array([0, 1, None, 0], pa.int32()),
        "a": pa.array([[1, 2], [3, None], None, [4]], pa.list_(pa.int32())),
        "m": pa.array([[("x", 1)], [("z", None)], None, []], pa.map_(pa.string(), pa.int64())),
        "w": pa.array([[(5, "five")], [], [(0, None)], None], pa.map_(pa.int32(), pa.string())),
        "s": pa.array(
            [{"A": 1, "b": {"c": ["p"], "D e": 1.5}}, {"A": None, "b": None}, None, {"A": 4, "b": {"c": [None]}}],
            pa.struct([("A", pa.int64()), ("b", _PAIR)]),
        ),
        "l": pa.array([[{"x": 1}], [None], None, [{"x": 3}]], pa.list_(pa.struct([("x", pa.int16())]))),
    }
)
_DECIMALS = pa.table(
    {
        "n": pa.array([1, -7, None, 123_456_789], pa.int64()),
        "w": pa.array([Decimal("1234567890123456789.123456789012345"), Decimal("-0.000000000000001"),
                       Decimal("-98765432109876543.999999999999999"), Decimal("1")], pa.decimal128(34, 15)),
        "v": pa.array([Decimal("5000000000.1234567891"), None, Decimal("-77.5"), Decimal("0.0000000003")],
                      pa.decimal128(30, 10)),
    }
)  # fmt: skip
_ZEROS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5, 6, 7], pa.int32()),
        "f": [-0.0, 0.0, float("nan"), -float("nan"), 1.5, None, -0.0],
        "g": pa.array([-0.0, 0.0, float("nan"), float("inf"), 1.5, None, -0.0], pa.float32()),
    }
)
QUERIES = (
    "SELECT * FROM mem.s.t ORDER BY Big",
    "SELECT id, Big FROM mem.s.t ORDER BY id",
    "SELECT s FROM mem.s.t ORDER BY s DESC",
    "SELECT f FROM mem.s.t ORDER BY f",
    "SELECT count(*), count(id), count(DISTINCT n), sum(id), sum(n), sum(d), avg(id), min(s), max(day) FROM mem.s.t",
    "SELECT n, sum(d) AS x FROM mem.s.t GROUP BY n HAVING sum(d) > 1.5 ORDER BY n",
    "SELECT n AS k, count(*) AS c FROM mem.s.t GROUP BY 1 ORDER BY 2, 1",
    "SELECT d * 2 AS x, d + n AS y, d * (1 - d) AS z, -d AS m FROM mem.s.t ORDER BY id",
    "SELECT id + 1 AS a, n * 2 AS b, id / 2 AS c, f + 1 AS e FROM mem.s.t ORDER BY Big",
    "SELECT a.id, b.s FROM mem.s.t a LEFT JOIN mem.s.t b ON a.id = b.id + 1 ORDER BY a.Big",
    "SELECT id FROM mem.s.t WHERE day >= '2024-01-01' AND at < '2024-02-01 00:00:00' ORDER BY id",
    "SELECT id FROM mem.s.t WHERE s LIKE 'a%' OR s IN ('b', 'c') OR d BETWEEN 2 AND 4 ORDER BY id",
    "SELECT id FROM mem.s.t WHERE NOT yes OR id IS NULL ORDER BY id",
    "SELECT id FROM mem.s.t WHERE f > 1 AND d IN (1.5, -2.25, 7) ORDER BY id",
    "SELECT Big FROM mem.s.t WHERE n <> 7 OR s NOT IN ('a', 'z') ORDER BY Big",
    "SELECT id <=> NULL AS missing, coalesce(id, 0) AS z, CASE WHEN yes THEN s ELSE 'no' END AS c FROM mem.s.t "
    "ORDER BY Big",
    "WITH t AS (SELECT id, d FROM mem.s.t WHERE id > 1) SELECT count(*) AS c, sum(d) AS x FROM t",
    "SELECT id FROM mem.s.t WHERE id NOT IN (SELECT id FROM mem.s.t WHERE id IS NOT NULL AND id > 1) ORDER BY id",
    "SELECT id FROM mem.s.t WHERE id NOT IN (SELECT id FROM mem.s.t)",
    "SELECT id FROM mem.s.t t WHERE EXISTS (SELECT 1 FROM mem.s.t u WHERE u.id = t.id + 1) ORDER BY id",
    "SELECT s FROM mem.s.t UNION ALL SELECT 'z' ORDER BY s",
    "SELECT n FROM mem.s.t UNION SELECT n FROM mem.s.t ORDER BY n",
    "SELECT n FROM mem.s.t INTERSECT SELECT n FROM mem.s.t WHERE n > 0",
    "SELECT n FROM mem.s.t EXCEPT SELECT n FROM mem.s.t WHERE n > 0 ORDER BY n",
    "SELECT id, row_number() OVER (PARTITION BY n ORDER BY id) AS r, sum(id) OVER (PARTITION BY n) AS x FROM mem.s.t "
    "ORDER BY id",
    "SELECT year(day) AS y, month(day) AS m, day(day) AS d, length(s) AS l FROM mem.s.t ORDER BY Big",
    "SELECT CAST(NULL AS STRING) AS a, CAST(NULL AS SMALLINT) AS b, CAST(NULL AS DECIMAL(7, 2)) AS c, "
    "CAST(NULL AS DATE) AS d, CAST(NULL AS FLOAT) AS e, CAST(NULL AS BOOLEAN) AS f, CAST(NULL AS BINARY) AS g, "
    "CAST(NULL AS TIMESTAMP_NTZ) AS h",
    "SELECT CAST(n AS STRING) AS a, CAST(n AS DOUBLE) AS b, CAST(day AS STRING) AS c FROM mem.s.t ORDER BY Big",
    "SELECT 1, 1.5, 'x', date'2024-02-29' AS day, 2L AS l, 1.5D AS f, -3 AS m",
    "SELECT x.a FROM (SELECT id / 2 AS a FROM mem.s.t) x WHERE x.a > 0.5 ORDER BY x.a",
    "SELECT DISTINCT n FROM mem.s.t ORDER BY n LIMIT 2",
    "SELECT max(x) AS m FROM (SELECT sum(id) AS x FROM mem.s.t GROUP BY n)",
    "SELECT avg(d) AS a, sum(d * d * d) AS s, avg(d * 1.5) AS b, avg(DISTINCT d) AS c FROM mem.s.t",
    "SELECT n, avg(d) AS a FROM mem.s.t GROUP BY n HAVING avg(d) > 1 ORDER BY a",
    "SELECT mean(id) AS a, some(yes) AS b, round(std(id), 6) AS c, now() > TIMESTAMP '2024-01-01 00:00:00' AS d "
    "FROM mem.s.t",
    "SELECT n, array_sort(collect_list(named_struct('i', id, 'b', Big)), (l, r) -> "
    "CASE WHEN l.i IS NOT DISTINCT FROM r.i THEN CASE WHEN l.b IS NOT DISTINCT FROM r.b THEN 0 WHEN l.b IS NULL THEN 1 "
    "WHEN r.b IS NULL THEN -1 WHEN l.b < r.b THEN -1 ELSE 1 END WHEN l.i IS NULL THEN -1 WHEN r.i IS NULL THEN 1 "
    "WHEN l.i > r.i THEN -1 ELSE 1 END) AS x FROM mem.s.t GROUP BY n ORDER BY n",
    "SELECT array_sort(collect_set(named_struct('n', n)), (l, r) -> CASE WHEN l.n IS NOT DISTINCT FROM r.n THEN 0 "
    "WHEN l.n IS NULL THEN 1 WHEN r.n IS NULL THEN -1 WHEN l.n < r.n THEN -1 ELSE 1 END) AS x FROM mem.s.t",
    "SELECT d / 3 AS a, d / d AS b, 1 / d AS c, -d / 7.0 AS e, sum(d) OVER () / 3 AS s FROM mem.s.t ORDER BY id",
    "SELECT d * -3 AS a, d - 1 AS b, 100.00 * sum(d) OVER () / 7 AS c FROM mem.s.t ORDER BY id",
    "SELECT sum(x.a) / avg(x.a) AS q, max(x.a) AS m FROM (SELECT d * (1 - d) AS a FROM mem.s.t) x",
    "WITH x AS (SELECT n, sum(d) AS a FROM mem.s.t GROUP BY n) SELECT n FROM x WHERE a = (SELECT max(a) FROM x)",
    "SELECT avg(w) AS a, avg(v) AS b, avg(w) / 7 AS c, sum(v) / 3 AS e FROM mem.s.d",
    "SELECT w / 3 AS a, v / -7 AS b, v / n AS c, w / 1.5 AS f FROM mem.s.d ORDER BY n",
    "SELECT n, avg(w) AS a, avg(v) AS b, sum(w) / 1000 AS c FROM mem.s.d GROUP BY n ORDER BY n",
    "SELECT id / n AS a, f / 2 AS b, id % 2 AS c, n % -2 AS e, -n % 3 AS g FROM mem.s.t ORDER BY Big",
    "SELECT CASE WHEN yes THEN d * 2 ELSE 0 END AS a, if(yes, d, 1) AS b, coalesce(d, 0) AS c, nullif(d, 1.5) AS e, "
    "if(yes, s, 'x') AS g FROM mem.s.t ORDER BY Big",
    "SELECT round(d) AS a, round(d, 1) AS b, round(d, 5) AS c, round(d * 0.333, 2) AS e FROM mem.s.t ORDER BY Big",
    "SELECT CAST(d AS DECIMAL(20, 5)) AS a, CAST(n AS DECIMAL(12, 1)) AS b, d + CAST(1 AS DECIMAL(3, 1)) AS c "
    "FROM mem.s.t ORDER BY Big",
    "SELECT day + INTERVAL '1' DAY AS a, day - INTERVAL 1 MONTH AS b, day + INTERVAL '1' YEAR AS c, "
    "DATE '2024-03-31' - INTERVAL '1' MONTH AS e FROM mem.s.t ORDER BY Big",
    "SELECT extract(YEAR FROM day) AS y, quarter(day) AS q, extract(DAY FROM day) AS d FROM mem.s.t ORDER BY Big",
    "SELECT substring(s, 1, 1) AS a, substring(s, 2) AS b, concat(s, '-', s) AS c, s || 'x' AS e FROM mem.s.t "
    "ORDER BY Big",
    "SELECT x.k, count(*) AS c FROM (SELECT substring(s, 1, 1) AS k FROM mem.s.t UNION ALL SELECT 'b') x GROUP BY x.k "
    "ORDER BY c, k",
    "SELECT n, rank() OVER (ORDER BY sum(d) DESC) AS r FROM mem.s.t GROUP BY n ORDER BY r, n",
    "SELECT CAST(d AS DECIMAL(5, 1)) AS a, CAST(d AS INT) AS b, CAST(-d * 0.999 AS BIGINT) AS c, "
    "CAST('1.50' AS DECIMAL(5, 2)) AS e, CAST(d / 3 AS DECIMAL(10, 1)) AS g FROM mem.s.t ORDER BY Big",
    "SELECT id FROM mem.s.t WHERE day >= DATE '2024-1-1' ORDER BY id",
    "SELECT Big * 100000 AS a, Big + 1 AS b, 7 - Big AS c, Big % 2 AS e, -Big AS g, Big + Big AS h, Big + n AS i, "
    "Big + id AS j, Big * d AS k, -30000 * Big AS l FROM mem.s.t ORDER BY Big",
    "SELECT CASE WHEN yes THEN Big ELSE 0 END AS a, coalesce(Big, n, 1) AS b, if(yes, Big, id) AS c, "
    "nullif(Big, 2) AS e, coalesce(NULL, Big) AS g FROM mem.s.t ORDER BY Big",
    "SELECT n, yes, count(*) AS c, sum(d) AS x, grouping(n) AS g FROM mem.s.t GROUP BY ROLLUP (n, yes) "
    "ORDER BY n, yes, g, c",
    "SELECT n, yes, avg(d) AS x, 2 * grouping(n) + grouping(yes) AS g FROM mem.s.t GROUP BY CUBE (n, yes) "
    "ORDER BY g, n, yes",
    "SELECT a.id, b.n, c.s FROM (mem.s.t a LEFT JOIN mem.s.t b ON a.id = b.id + 1), mem.s.t c WHERE c.id = 1 "
    "ORDER BY a.Big",
    "SELECT a.id FROM mem.s.t c, (mem.s.t a LEFT JOIN mem.s.t b ON a.id = b.id + 1) WHERE b.n IS NULL AND c.id = 2 "
    "ORDER BY a.Big",
    "SELECT id, id, s AS id FROM mem.s.t ORDER BY Big",
    "SELECT id FROM mem.s.t VERSION AS OF 1 AS old ORDER BY old.Big",
    "SELECT count(*) AS c FROM mem.s.t VERSION AS OF '1' a JOIN mem.s.t b ON a.id = b.id",
    "SELECT id, s.a AS a, t.s.b.`d e` AS d, t.id AS i, t.s.b.c AS c FROM mem.s.n t ORDER BY t.id",
    "SELECT s.A, s.b.c FROM mem.s.n ORDER BY id",
    "SELECT s.n.id AS x, n.s.a AS y, mem.s.n.s.a AS z, s.a + 1 AS p FROM mem.s.n ORDER BY x",
    "SELECT a[0] AS x, a[i] AS y, a[CAST(0 AS TINYINT)] AS z FROM mem.s.n ORDER BY id",
    "SELECT a[0], a[i], m['x'] FROM mem.s.n ORDER BY id",
    "SELECT m['x'] AS x, m['z'] AS z, m[k] AS y, w[5] AS v, w[i] AS u FROM mem.s.n ORDER BY id",
    "SELECT l[0].x AS x, s.b.c[0] AS c FROM mem.s.n ORDER BY id",
    "SELECT id FROM mem.s.n WHERE s.a > 1 OR m['x'] = 1 OR s.b.c[0] = 'q' ORDER BY id",
    "SELECT s.a AS g, count(*) AS c, max(a[0]) AS m FROM mem.s.n GROUP BY s.a ORDER BY g",
    "SELECT x.r.`d e` AS d, x.q FROM (SELECT s.b AS r, a[0] AS q FROM mem.s.n) x ORDER BY x.q",
    "SELECT yes, count_if(n > 0) AS a, bool_and(n > 0) AS b, every(Big > 0) AS c, bool_or(n > 0) AS d, median(n) AS e, "
    "max_by(s, Big) AS g, min_by(n, Big) AS h, count(DISTINCT n, s) AS i FROM mem.s.t GROUP BY yes ORDER BY yes",
    "SELECT sum(n) FILTER (WHERE yes) AS a, count(*) FILTER (WHERE Big > 1) AS b, avg(d) FILTER (WHERE n > 0) AS c, "
    "count(DISTINCT n) FILTER (WHERE yes OR Big = 3) AS e FROM mem.s.t",
    "SELECT stddev(n) AS a, stddev_pop(Big) AS b, variance(Big) AS c, var_pop(n) AS e, stddev_samp(d) AS g "
    "FROM mem.s.t WHERE Big < 3",
    "SELECT Big, lag(n) OVER (ORDER BY Big) AS a, lead(s, 2, 'z') OVER (ORDER BY Big) AS b, "
    "first_value(n) OVER (PARTITION BY yes ORDER BY Big DESC) AS c,"
    "last_value(n) IGNORE NULLS OVER (ORDER BY Big) AS e, ntile(3) OVER (ORDER BY Big) AS g, "
    "percent_rank() OVER (ORDER BY n) AS h, cume_dist() OVER (ORDER BY n) AS i, "
    "nth_value(s, 2) OVER (ORDER BY Big) AS j, first(s) OVER (ORDER BY Big) AS k FROM mem.s.t ORDER BY Big",
    "SELECT Big, sum(d) OVER (ORDER BY Big ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a, "
    "avg(d) OVER (ORDER BY Big ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) AS b, "
    "avg(n) OVER (PARTITION BY yes) AS c,"
    "max(n) OVER (ORDER BY n RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS e FROM mem.s.t ORDER BY Big",
    "SELECT n, rank() OVER (ORDER BY sum(d) / count(*)) AS r FROM mem.s.t GROUP BY n ORDER BY n",
    "SELECT yes, n, count(*) AS c FROM mem.s.t GROUP BY GROUPING SETS ((yes), (yes, n), ()) ORDER BY yes, n, c",
    "SELECT id, row_number() OVER (PARTITION BY yes ORDER BY Big) AS r FROM mem.s.t QUALIFY r = 1 ORDER BY id",
    "SELECT x + 1 AS z, y FROM VALUES (1, 'a'), (2, NULL), (3, 'c') AS t(x, y) ORDER BY z",
    "VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    "SELECT id, el FROM mem.s.n LATERAL VIEW explode(a) x AS el ORDER BY id, el",
    "SELECT id, explode(a) AS el FROM mem.s.n ORDER BY id, el",
    "SELECT id, l.x AS x, size(l.x) AS n FROM mem.s.n ORDER BY id",
    "SELECT nvl(s, 'x'), concat(s, '-', 'b'), substr(s, 2), year(day), split(s, 'a'), (n + 1) * 2, round(n / 2, 1), "
    "CAST(d AS DECIMAL(12,3)) FROM mem.s.t ORDER BY Big",
    "SELECT CASE Big WHEN 1 THEN 0 ELSE f END AS a, greatest(Big, n, 2) AS b FROM mem.s.t ORDER BY Big",
    "SELECT W * 1.5 AS a, (w + v) * 2 AS c FROM mem.s.d WHERE n = 1 OR n = -7 ORDER BY n",
    "SELECT ID FROM (SELECT id AS Id, s AS Name FROM mem.s.t) x WHERE Name IS NULL",
    "SELECT * FROM (SELECT id AS Id, s AS Name FROM mem.s.t) x ORDER BY Name",
    "SELECT yes, sort_array(collect_list(n)) AS a, sort_array(collect_set(s)) AS b, sort_array(array_agg(d)) AS c, "
    "sort_array(collect_list(DISTINCT n)) AS e, sort_array(collect_list(n) FILTER (WHERE id > 1)) AS g, "
    "size(collect_list(f)) AS h FROM mem.s.t GROUP BY yes ORDER BY yes",
    "SELECT collect_list(n) AS a, collect_set(s) AS b FROM mem.s.t WHERE id > 100",
    "SELECT id, collect_list(a) AS a, collect_list(s.a) AS b FROM mem.s.n GROUP BY id ORDER BY id",
    "SELECT count(n, s) AS a, count(DISTINCT n, s) AS b, count(n, s, id) FILTER (WHERE yes) AS c FROM mem.s.t",
    "SELECT concat_ws(s) AS a, concat_ws('-') AS b FROM mem.s.t ORDER BY Big",
    "SELECT n, yes, count(*) AS c, grouping_id(n, yes) AS g FROM mem.s.t GROUP BY n, yes WITH ROLLUP "
    "ORDER BY g, n, yes",
    "SELECT n, yes, sum(Big) AS c, grouping_id() AS g FROM mem.s.t GROUP BY 1, 2 WITH CUBE ORDER BY g, n, yes, c",
    "SELECT /*+ BROADCAST(t) */ max(id) AS m FROM mem.s.t t",
    "SELECT id, el FROM mem.s.n LATERAL VIEW OUTER explode(a) x AS el ORDER BY id, el",
    "SELECT id, p, el + 1 AS e FROM mem.s.n LATERAL VIEW posexplode(a) x AS p, el ORDER BY id, p",
    "SELECT id, p, kk, vv FROM mem.s.n LATERAL VIEW OUTER posexplode(m) x AS p, kk, vv ORDER BY id, p",
    "SELECT id, kk, vv, x2.el FROM mem.s.n LATERAL VIEW explode(w) x AS kk, vv LATERAL VIEW OUTER explode(a) x2 AS el "
    "ORDER BY id, kk, el",
    "SELECT u.id, t.s, el FROM mem.s.n u JOIN mem.s.t t ON u.id = t.id LATERAL VIEW OUTER explode(u.a) x AS el "
    "WHERE el IS NULL OR el > 1 ORDER BY u.id, el",
    "SELECT id, explode_outer(a) AS el FROM mem.s.n ORDER BY id, el",
    "SELECT id, r.x AS x FROM mem.s.n LATERAL VIEW explode_outer(l) q AS r ORDER BY id",
    "SELECT el, count(*) AS c FROM mem.s.t LATERAL VIEW explode(split('a,b', ',')) x AS el GROUP BY el ORDER BY el",
    "SELECT id, explode(m) AS (kk, vv), k FROM mem.s.n ORDER BY id",
    "SELECT id, posexplode(a) AS (p, el) FROM mem.s.n ORDER BY id, p",
    "SELECT t.id, u.r, v.x1, w.c, y.q FROM mem.s.n t LEFT JOIN LATERAL (SELECT explode(t.a) AS r) AS u ON TRUE "
    "LEFT JOIN LATERAL (SELECT inline(t.l) AS (x1)) AS v ON TRUE, "
    "LATERAL (SELECT count(*) AS c FROM mem.s.t b WHERE b.id <= t.id) AS w "
    "LEFT JOIN LATERAL (SELECT x.id AS q FROM mem.s.n x WHERE x.id = t.id - 1 AND t.id > 2) AS y ON TRUE "
    "ORDER BY t.id, u.r, v.x1",
    "SELECT x, u.y FROM VALUES (1, array('a', 'b')), (2, array()), (NULL, NULL) AS t(x, l), "
    "LATERAL (SELECT explode(t.l)) AS u(y) ORDER BY y",
    "SELECT * FROM VALUES ('a', 1, 5) AS t(x, k, j) JOIN VALUES (1, 'c') AS u(k, y) USING (k) "
    "LEFT JOIN VALUES ('d', 5) AS v(z, j) USING (j)",
    "SELECT sum(x) AS s, max(x) AS m FROM VALUES (1.5), (NULL), (2.25), (NULL) AS t(x)",
    "SELECT yes, listagg(s, '/') WITHIN GROUP (ORDER BY Big DESC) AS l, max(any_value) AS a FROM "
    "(SELECT yes, s, Big, 7 AS any_value FROM mem.s.t) GROUP BY yes ORDER BY yes",
    "SELECT yes, any_value(7 * Big DIV Big) AS a, any_value(CASE WHEN Big = 2 THEN 'x' END, true) AS b FROM mem.s.t "
    "GROUP BY yes ORDER BY yes",
    "SELECT Big, sum(n) OVER w AS s, count(*) OVER w AS c, max(id) OVER v AS m FROM mem.s.t "
    "WINDOW w AS (PARTITION BY yes ORDER BY Big ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), v AS (PARTITION BY n) "
    "ORDER BY Big",
    "SELECT f, count(*) AS c, sum(id) AS s FROM mem.s.z GROUP BY f ORDER BY f",
    "SELECT g, count(*) AS c FROM mem.s.z WHERE id = 7 GROUP BY g",
    "SELECT f * 2 AS x, max(id) AS m, count(*) AS c FROM mem.s.z GROUP BY f * 2 HAVING f * 2 < 9 ORDER BY x",
    "SELECT f, g, count(*) AS c, grouping(f) AS b FROM mem.s.z GROUP BY f, g WITH ROLLUP ORDER BY b, f, g, c",
    "SELECT DISTINCT f FROM mem.s.z ORDER BY f",
    "SELECT DISTINCT g, f FROM mem.s.z WHERE id < 3",
    "SELECT f FROM mem.s.z WHERE id <> 2 UNION SELECT f FROM mem.s.z WHERE id = 1 ORDER BY f",
    "SELECT f FROM mem.s.z INTERSECT SELECT f FROM mem.s.z WHERE id <> 2 ORDER BY f",
    "SELECT f FROM mem.s.z EXCEPT SELECT f FROM mem.s.z WHERE id > 2 AND id < 7 ORDER BY f",
    "SELECT f, 1 AS o FROM mem.s.z WHERE id = 1 UNION ALL SELECT f, 2 FROM mem.s.z WHERE id = 2 ORDER BY o",
    "SELECT count(DISTINCT f) AS c, max(f) AS m, min(f) AS n, max(g) AS o, sum(DISTINCT id) AS s FROM mem.s.z "
    "WHERE id > 2 AND id < 7",
    "SELECT a.id, b.id AS o FROM mem.s.z a JOIN mem.s.z b ON a.f = b.f ORDER BY a.id, o",
    "SELECT id, f = 0 AS z, f > 1e300 AS n, f IN (0, 1.5) AS i, rank() OVER (ORDER BY f) AS r, "
    "count(*) OVER (PARTITION BY g) AS p FROM mem.s.z ORDER BY id",
    "SELECT * FROM (SELECT n, yes, d FROM mem.s.t) PIVOT (sum(d) FOR n IN (7, -3, 8)) ORDER BY yes",
    "SELECT * FROM (SELECT s, yes, Big, d FROM mem.s.t) x PIVOT (count(*) AS c, avg(d) AS A FOR s IN ('a', 'Z' AS zz)) "
    "AS p ORDER BY Big",
    "SELECT * FROM (SELECT n, d, s FROM mem.s.t) PIVOT (max(s) AS m, min(d) AS k FOR n IN (7 AS x, 8 AS y))",
    "SELECT p.Big, `7` AS seven, u.id FROM (SELECT n, Big, id FROM mem.s.t) PIVOT (count(id) FOR n IN (7, 8)) AS p "
    "JOIN mem.s.t u ON u.Big = p.Big ORDER BY p.Big",
    "SELECT * FROM (SELECT f, id FROM mem.s.z) PIVOT (count(DISTINCT id) FOR id IN (1, 2, 9)) ORDER BY f",
    "SELECT Big, A FROM mem.s.t PIVOT (sum(id) FOR s IN ('a' AS A, 'b' AS B)) ORDER BY Big",
    "SELECT * FROM (SELECT n FROM mem.s.t WHERE Big > 99) PIVOT (count(*) FOR n IN (1, 2))",
    "SELECT id | n & 3 ^ 1 AS x, n & 6 | 1 AS y, n ^ Big & 3 + 1 AS z FROM mem.s.t ORDER BY Big",
    "SELECT 'it''s' AS x, \"a\"\"b\" AS y, 'a' 'b' AS z, count(*) AS c FROM mem.s.t WHERE s <> 'O''a'",
    "SELECT n + 3000000000 AS a, id - 3000000000 AS b, -2147483648 * id AS c, n * 2147483648 AS d FROM mem.s.t "
    "ORDER BY Big",
    "SELECT 99999999999999999999 AS a, id + 9223372036854775808 AS b, -9223372036854775808 AS c, "
    "CASE WHEN yes THEN 1 ELSE 3000000000 END AS e FROM mem.s.t ORDER BY Big",
    "SELECT f, count(*) AS c FROM mem.s.z GROUP BY ALL ORDER BY f",
    "SELECT n AS s FROM mem.s.t WHERE s = 'a'",
    "SELECT id FROM mem.s.t t WHERE EXISTS (SELECT k AS id FROM mem.s.n u WHERE u.k = 'x' AND t.id = 4 - 3)",
    "SELECT * FROM mem.s.t a LEFT JOIN (SELECT id, n AS m FROM mem.s.t) b USING (id) "
    "JOIN (SELECT id, s AS k FROM mem.s.t) c USING (id) ORDER BY id",
    "SELECT *, 1 AS x FROM mem.s.t a JOIN (SELECT n AS m, id FROM mem.s.t) b USING (id) ORDER BY id",
    "SELECT * FROM (SELECT * FROM (SELECT s, id FROM mem.s.t) a JOIN (SELECT n, id FROM mem.s.t) b USING (id)) q "
    "ORDER BY id",
    "SELECT * FROM mem.s.t a RIGHT JOIN (SELECT k, id, s AS z FROM mem.s.n) b USING (id) ORDER BY id, Big",
    "SELECT * FROM (SELECT n, s, Big FROM mem.s.t) a FULL JOIN (SELECT Big, id, n FROM mem.s.t) b USING (Big, n) "
    "ORDER BY Big",
    "SELECT * FROM (SELECT s, n, id FROM mem.s.t) NATURAL LEFT JOIN (SELECT yes, id, n FROM mem.s.t) ORDER BY id",
    "SHOW CATALOGS LIKE 'm*'",
    "SHOW SCHEMAS IN mem",
    "SHOW TABLES IN mem.s",
    "SHOW COLUMNS IN mem.s.t",
)


@pytest.fixture(scope="module")
def engines(spark: SparkSession) -> Iterator[tuple[Session, DuckDbEngine]]:
    with memory_session(spark.newSession()) as (session, memory):
        session.spark.conf.set("spark.sql.session.timeZone", "UTC")
        put(memory, "t", _ROWS.slice(0, 2))
        memory.insert(SchemaTableName("s", "t"), _ROWS.slice(2))
        put(memory, "n", _NESTED)
        put(memory, "d", _DECIMALS)
        put(memory, "z", _ZEROS)
        engine = DuckDbEngine(session.catalogs)
        yield session, engine
        engine.close()


@pytest.mark.parametrize("query", QUERIES)
def test_equal_answers(engines: tuple[Session, DuckDbEngine], query: str) -> None:
    session, engine = engines
    spark = arrow_result(session.sql(query))
    expected = pa.Table.from_batches(spark.batches, spark.schema)
    found = engine.plan(query).arrow()
    assert found.schema.names == expected.schema.names
    assert [field.type for field in found.schema] == [field.type for field in expected.schema]
    # NaN differs from itself.
    assert str(found.to_pylist()) == str(expected.to_pylist())


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a[1] AS x FROM mem.s.n",
        "SELECT a[-1] AS x FROM mem.s.n WHERE id = 1",
        "SELECT s.b.c[i + 1] AS x FROM mem.s.n",
    ],
)
def test_equal_errors(engines: tuple[Session, DuckDbEngine], query: str) -> None:
    """An array has no element there."""
    session, engine = engines
    with pytest.raises(Exception, match="INVALID_ARRAY_INDEX"):
        session.sql(query).collect()
    with pytest.raises(UserError, match="INVALID_ARRAY_INDEX"):
        engine.plan(query).arrow()
