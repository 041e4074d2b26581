"""Reports over a shop in Trino's SQL: groups, joins and windows.

The answers are those that Trino 483 gave, each compared with its documentation.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from lakeport.session import Session
from tests.lakeport.memory_session import memory_session
from tests.lakeport.trino.shop import put_shop

pytestmark = pytest.mark.slow

D = Decimal
at = dt.datetime
day = dt.date


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[Session]:
    with memory_session(spark.newSession()) as (session, memory):
        put_shop(memory)
        yield session


QUERIES: list[tuple[str, list[tuple[object, ...]]]] = [
    (
        (
            "SELECT region, count(*) AS orders, sum(amount) AS total, avg(amount) AS mean FROM mem.s.orders "
            "GROUP BY region ORDER BY region"
        ),
        [("apac", 1, D("99.99"), D("99.99")), ("eu", 3, D("246.25"), D("82.08")), ("us", 2, D("315.25"), D("157.63"))],
    ),
    (
        ("SELECT date_trunc('month', ordered_at) AS month, sum(amount) FROM mem.s.orders GROUP BY 1 ORDER BY 1"),
        [
            (at(2024, 1, 1, 0, 0), D("200.50")),
            (at(2024, 2, 1, 0, 0), D("15.25")),
            (at(2024, 3, 1, 0, 0), D("345.75")),
            (at(2024, 12, 1, 0, 0), D("99.99")),
        ],
    ),
    (
        (
            "SELECT date_trunc('quarter', day), count(DISTINCT customer_id) FROM mem.s.orders GROUP BY "
            "date_trunc('quarter', day) ORDER BY 1"
        ),
        [(day(2024, 1, 1), 3), (day(2024, 10, 1), 1)],
    ),
    (
        (
            "SELECT status, round(100.0 * count(*) / sum(count(*)) OVER (), 2) AS share FROM mem.s.orders GROUP"
            " BY status ORDER BY share DESC, status"
        ),
        [
            ("paid", D("66.6700000000000000")),
            ("open", D("16.6700000000000000")),
            ("returned", D("16.6700000000000000")),
        ],
    ),
    (
        ("SELECT region, sum(amount) / sum(qty) AS per_piece FROM mem.s.orders GROUP BY region ORDER BY region"),
        [("apac", D("24.997500")), ("eu", D("49.250000")), ("us", D("45.035714"))],
    ),
    (
        ("SELECT id, amount * (1 - CAST(coalesce(discount, 0) AS decimal(4,2))) AS net FROM mem.s.orders ORDER BY id"),
        [
            (1, D("108.4500")),
            (2, D("80.0000")),
            (3, D("15.2500")),
            (4, D("225.0000")),
            (5, D("45.7500")),
            (6, D("94.9905")),
        ],
    ),
    (
        (
            "SELECT region, count_if(status = 'paid') AS paid, sum(amount) FILTER (WHERE status = 'paid') AS "
            "total FROM mem.s.orders GROUP BY region ORDER BY region"
        ),
        [("apac", 1, D("99.99")), ("eu", 2, D("200.50")), ("us", 1, D("300.00"))],
    ),
    (
        (
            "SELECT region, status, sum(amount), grouping(region, status) FROM mem.s.orders GROUP BY ROLLUP "
            "(region, status) ORDER BY 4, 1, 2"
        ),
        [
            ("apac", "paid", D("99.99"), 0),
            ("eu", "open", D("45.75"), 0),
            ("eu", "paid", D("200.50"), 0),
            ("us", "paid", D("300.00"), 0),
            ("us", "returned", D("15.25"), 0),
            ("apac", None, D("99.99"), 1),
            ("eu", None, D("246.25"), 1),
            ("us", None, D("315.25"), 1),
            (None, None, D("661.49"), 3),
        ],
    ),
    (
        (
            "SELECT region, sum(CASE WHEN status = 'paid' THEN amount ELSE 0 END) / sum(amount) AS paid_share "
            "FROM mem.s.orders GROUP BY region HAVING count(*) > 1 ORDER BY 1"
        ),
        [("eu", D("0.814213")), ("us", D("0.951626"))],
    ),
    (
        (
            "SELECT year(day) AS y, month(day) AS m, max_by(id, amount) AS best, min(amount) FROM mem.s.orders "
            "GROUP BY year(day), month(day) ORDER BY 1, 2"
        ),
        [(2024, 1, 1, D("80.00")), (2024, 2, 3, D("15.25")), (2024, 3, 4, D("45.75")), (2024, 12, 6, D("99.99"))],
    ),
    (
        (
            "SELECT customer_id, array_agg(id ORDER BY ordered_at DESC) AS ids FROM mem.s.orders GROUP BY "
            "customer_id ORDER BY customer_id"
        ),
        [(10, [2, 1]), (11, [5, 3]), (12, [4]), (13, [6])],
    ),
    (
        (
            "SELECT region, listagg(status, '/') WITHIN GROUP (ORDER BY id DESC) FROM mem.s.orders GROUP BY "
            "region ORDER BY region"
        ),
        [("apac", "paid"), ("eu", "open/paid/paid"), ("us", "paid/returned")],
    ),
    (
        "SELECT region, map_agg(id, status) FROM mem.s.orders WHERE id <> 3 GROUP BY region ORDER BY region",
        [("apac", {6: "paid"}), ("eu", {1: "paid", 2: "paid", 5: "open"}), ("us", {4: "paid"})],
    ),
    (
        (
            "SELECT array_agg(DISTINCT region ORDER BY region), array_agg(discount ORDER BY discount DESC NULLS"
            " FIRST, id) FROM mem.s.orders"
        ),
        [(["apac", "eu", "us"], [None, None, 0.25, 0.1, 0.05, 0.0])],
    ),
    (
        (
            "SELECT any_value(status), arbitrary(region), bool_and(qty > 0), every(qty > 1) FROM mem.s.orders "
            "WHERE id = 1"
        ),
        [("paid", "eu", True, True)],
    ),
    (
        "SELECT stddev(qty), variance(qty), var_pop(qty) FROM mem.s.orders WHERE id IN (1, 6)",
        [(0.7071067811865476, 0.5, 0.25)],
    ),
    (
        (
            "SELECT c.name, count(o.id) AS orders, coalesce(sum(o.amount), 0) AS total FROM mem.s.customers c "
            "LEFT JOIN mem.s.orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY total DESC, c.name"
        ),
        [("Cy", 1, D("300.00")), ("Ana Nowak", 2, D("200.50")), ("Bob O'Neil", 2, D("61.00")), ("Dora", 0, D("0.00"))],
    ),
    (
        (
            "SELECT o.id FROM mem.s.orders o WHERE NOT EXISTS (SELECT 1 FROM mem.s.customers c WHERE c.id = "
            "o.customer_id)"
        ),
        [(6,)],
    ),
    (
        (
            "SELECT name FROM mem.s.customers WHERE id = ANY (SELECT customer_id FROM mem.s.orders WHERE status"
            " = 'paid') ORDER BY name"
        ),
        [("Ana Nowak",), ("Cy",)],
    ),
    (
        ("SELECT name FROM mem.s.customers WHERE id <> ALL (SELECT customer_id FROM mem.s.orders) ORDER BY name"),
        [("Dora",)],
    ),
    (
        (
            "SELECT o.id, o.amount FROM mem.s.orders o WHERE o.amount > (SELECT avg(i.amount) FROM mem.s.orders"
            " i WHERE i.region = o.region) ORDER BY 1"
        ),
        [(1, D("120.50")), (4, D("300.00"))],
    ),
    (
        (
            "SELECT * FROM (SELECT region, amount, rank() OVER (PARTITION BY region ORDER BY amount DESC) AS r "
            "FROM mem.s.orders) WHERE r = 1 ORDER BY 1, 3"
        ),
        [("apac", D("99.99"), 1), ("eu", D("120.50"), 1), ("us", D("300.00"), 1)],
    ),
    (
        (
            "SELECT c.country, o.region, count(*) FROM mem.s.customers c JOIN mem.s.orders o ON c.id = "
            "o.customer_id GROUP BY GROUPING SETS ((c.country), (o.region)) ORDER BY 1, 2"
        ),
        [("PL", None, 2), ("US", None, 3), (None, "eu", 3), (None, "us", 2)],
    ),
    (
        (
            "SELECT id FROM mem.s.orders WHERE region = 'eu' INTERSECT SELECT id FROM mem.s.orders WHERE status"
            " = 'paid' ORDER BY 1"
        ),
        [(1,), (2,)],
    ),
    (
        (
            "SELECT a.id, b.id FROM mem.s.orders a JOIN mem.s.orders b ON a.customer_id = b.customer_id AND "
            "a.id < b.id ORDER BY 1"
        ),
        [(1, 2), (3, 5)],
    ),
    (
        (
            "WITH paid AS (SELECT * FROM mem.s.orders WHERE status = 'paid'), days AS (SELECT day, sum(amount) "
            "AS total FROM paid GROUP BY day) SELECT day, total, sum(total) OVER (ORDER BY day) AS running FROM"
            " days ORDER BY day"
        ),
        [
            (day(2024, 1, 5), D("120.50"), D("120.50")),
            (day(2024, 1, 31), D("80.00"), D("200.50")),
            (day(2024, 3, 10), D("300.00"), D("500.50")),
            (day(2024, 12, 30), D("99.99"), D("600.49")),
        ],
    ),
    (
        "SELECT id, amount - lag(amount) OVER (ORDER BY day) AS change FROM mem.s.orders ORDER BY day",
        [(1, None), (2, D("-40.50")), (3, D("-64.75")), (4, D("284.75")), (5, D("-254.25")), (6, D("54.24"))],
    ),
    (
        (
            "SELECT id, avg(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS moving FROM "
            "mem.s.orders ORDER BY id"
        ),
        [(1, D("120.50")), (2, D("100.25")), (3, D("47.63")), (4, D("157.63")), (5, D("172.88")), (6, D("72.87"))],
    ),
    (
        (
            "SELECT id, first_value(id) OVER w AS first, last_value(id) OVER w AS last, ntile(2) OVER (ORDER BY"
            " id) FROM mem.s.orders WINDOW w AS (PARTITION BY region ORDER BY id ROWS BETWEEN UNBOUNDED "
            "PRECEDING AND UNBOUNDED FOLLOWING) ORDER BY id"
        ),
        [(1, 1, 5, 1), (2, 1, 5, 1), (3, 3, 4, 1), (4, 3, 4, 2), (5, 1, 5, 2), (6, 6, 6, 2)],
    ),
    (
        (
            "SELECT id, percent_rank() OVER (ORDER BY qty), dense_rank() OVER (ORDER BY qty) FROM mem.s.orders "
            "WHERE region = 'eu' ORDER BY id"
        ),
        [(1, 1.0, 2), (2, 0.0, 1), (5, 0.0, 1)],
    ),
    (
        (
            "SELECT who, at, date_diff('minute', lag(at) OVER (PARTITION BY who ORDER BY at), at) AS pause FROM"
            " mem.s.log ORDER BY at"
        ),
        [
            ("ana", at(2024, 3, 1, 10, 0), None),
            ("ana", at(2024, 3, 1, 10, 20), 20),
            ("bob", at(2024, 3, 1, 11, 30), None),
            ("ana", at(2024, 3, 2, 0, 5), 825),
        ],
    ),
    (
        (
            "SELECT who, at, sum(CASE WHEN gap THEN 1 ELSE 0 END) OVER (PARTITION BY who ORDER BY at) AS visit "
            "FROM (SELECT who, at, coalesce(date_diff('second', lag(at) OVER (PARTITION BY who ORDER BY at), "
            "at) > 1800, true) AS gap FROM mem.s.log) ORDER BY at"
        ),
        [
            ("ana", at(2024, 3, 1, 10, 0), 1),
            ("ana", at(2024, 3, 1, 10, 20), 1),
            ("bob", at(2024, 3, 1, 11, 30), 1),
            ("ana", at(2024, 3, 2, 0, 5), 2),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), QUERIES)
def test_answers_are_trinos(session: Session, text: str, expected: list[tuple[object, ...]]) -> None:
    rows = [tuple(row) for row in session.sql(text, dialect="trino").collect()]
    assert rows == expected
