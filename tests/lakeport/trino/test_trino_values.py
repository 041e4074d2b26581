"""Values of a shop in Trino's SQL: times, texts, JSON and arrays.

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
        # There, some of the times in the tables do not exist.
        session.spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        put_shop(memory)
        yield session


QUERIES: list[tuple[str, list[tuple[object, ...]]]] = [
    (
        (
            "SELECT o.id, date_diff('day', c.joined, o.day), date_diff('month', c.joined, o.day), "
            "date_diff('year', c.joined, o.day) FROM mem.s.orders o JOIN mem.s.customers c ON c.id = "
            "o.customer_id ORDER BY o.id"
        ),
        [(1, 36, 1, 0), (2, 62, 2, 0), (3, 29, 1, 0), (4, 1471, 48, 4), (5, 60, 2, 0)],
    ),
    (
        (
            "SELECT id FROM mem.s.orders WHERE ordered_at >= TIMESTAMP '2024-02-29 12:00:00' AND ordered_at < "
            "TIMESTAMP '2024-02-29 12:00:00' + INTERVAL '30' DAY ORDER BY id"
        ),
        [(3,), (4,)],
    ),
    (
        (
            "SELECT id, date_trunc('hour', ordered_at), date_format(ordered_at, '%Y-%m-%dT%H:%i:%s'), "
            "date_format(ordered_at, '%a %e %b %Y') FROM mem.s.orders WHERE id IN (1, 5) ORDER BY id"
        ),
        [
            (1, at(2024, 1, 5, 9, 0), "2024-01-05T09:15:30", "Fri 5 Jan 2024"),
            (5, at(2024, 3, 31, 2, 0), "2024-03-31T02:30:00", "Sun 31 Mar 2024"),
        ],
    ),
    (
        (
            "SELECT id, day_of_week(day), week(day), year_of_week(day), extract(DOY FROM day), "
            "last_day_of_month(day) FROM mem.s.orders WHERE id IN (3, 6) ORDER BY id"
        ),
        [(3, 4, 9, 2024, 60, day(2024, 2, 29)), (6, 1, 1, 2025, 365, day(2024, 12, 31))],
    ),
    (
        (
            "SELECT id, date_add('month', 1, day), date_add('hour', -3, ordered_at), ordered_at + INTERVAL '1' "
            "YEAR FROM mem.s.orders WHERE id IN (2, 3, 5) ORDER BY id"
        ),
        [
            (2, day(2024, 2, 29), at(2024, 1, 31, 20, 59, 59), at(2025, 1, 31, 23, 59, 59)),
            (3, day(2024, 3, 29), at(2024, 2, 29, 9, 0), at(2025, 2, 28, 12, 0)),
            (5, day(2024, 4, 30), at(2024, 3, 30, 23, 30), at(2025, 3, 31, 2, 30)),
        ],
    ),
    (
        (
            "SELECT id, CAST(ordered_at AS date) = day, hour(ordered_at), minute(ordered_at), "
            "second(ordered_at), millisecond(ordered_at) FROM mem.s.orders WHERE id IN (1, 4) ORDER BY id"
        ),
        [(1, True, 9, 15, 30, 250), (4, True, 2, 30, 0, 0)],
    ),
    (
        (
            "SELECT date_parse('2024-3-9 7:05', '%Y-%m-%d %H:%i'), CAST(date_parse('20240309', '%Y%m%d') AS "
            "date), from_iso8601_date('2024-03-09'), date('2024-03-09')"
        ),
        [(at(2024, 3, 9, 7, 5), day(2024, 3, 9), day(2024, 3, 9), day(2024, 3, 9))],
    ),
    (
        (
            "SELECT CAST(from_unixtime(1709287200) AS date), to_unixtime(TIMESTAMP '2024-03-01 10:00:00.5'), "
            "format_datetime(TIMESTAMP '2024-03-01 10:00:00', 'yyyy/MM/dd HH:mm')"
        ),
        [(day(2024, 3, 1), 1709287200.5, "2024/03/01 10:00")],
    ),
    (
        (
            "SELECT d, count(o.id) FROM UNNEST(sequence(DATE '2024-01-30', DATE '2024-02-01', INTERVAL '1' "
            "DAY)) AS t(d) LEFT JOIN mem.s.orders o ON o.day = d GROUP BY d ORDER BY d"
        ),
        [(day(2024, 1, 30), 0), (day(2024, 1, 31), 1), (day(2024, 2, 1), 0)],
    ),
    (
        (
            "SELECT count(*) FROM mem.s.orders WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-01-01' + "
            "INTERVAL '1' MONTH - INTERVAL '1' DAY"
        ),
        [(2,)],
    ),
    (
        (
            "SELECT count(*) FROM mem.s.orders WHERE ordered_at < current_timestamp - INTERVAL '1' DAY AND day "
            "< current_date"
        ),
        [(6,)],
    ),
    (
        (
            "SELECT id, split_part(email, '@', 1), split_part(email, '@', 2), split_part(email, '@', 3) FROM "
            "mem.s.customers ORDER BY id"
        ),
        [
            (10, "ana", "example.com", None),
            (11, "bob", "mail.example.org", None),
            (12, "", None, None),
            (14, None, None, None),
        ],
    ),
    (
        (
            "SELECT lower(name), upper(substr(name, 1, 1)) || substr(name, 2), substr(name, -3), length(name), "
            "strpos(name, ' ') FROM mem.s.customers ORDER BY id"
        ),
        [
            ("ana nowak", "Ana Nowak", "wak", 9, 4),
            ("bob o'neil", "Bob O'Neil", "eil", 10, 4),
            ("cy", "Cy", "", 2, 0),
            ("dora", "Dora", "ora", 4, 0),
        ],
    ),
    (
        (
            r"SELECT regexp_extract(line, '^(\w+) (\S+) (\d+)', 2) AS path, CAST(regexp_extract(line, ' (\d{3}) "
            "', 1) AS integer) AS code FROM mem.s.log ORDER BY at"
        ),
        [("/shop/pens?id=7&sort=price", 200), ("/cart", 201), ("/shop/ink", 404), ("/shop/caps?id=12", 200)],
    ),
    (
        r"SELECT regexp_replace(line, '\d+', '#'), regexp_count(line, '\d+') FROM mem.s.log ORDER BY at",
        [
            ("GET /shop/pens?id=#&sort=price # #.#", 4),
            ("POST /cart # #.#", 3),
            ("GET /shop/ink # -", 1),
            ("GET /shop/caps?id=# # #.#", 4),
        ],
    ),
    (
        (
            r"SELECT regexp_extract_all(line, '(\w+)=(\w+)', 2), regexp_split(line, '\s+') FROM mem.s.log WHERE "
            "regexp_like(line, '(?i)get .*[?]') ORDER BY at"
        ),
        [
            (["7", "price"], ["GET", "/shop/pens?id=7&sort=price", "200", "0.125"]),
            (["12"], ["GET", "/shop/caps?id=12", "200", "1.25"]),
        ],
    ),
    (
        (
            "SELECT who, sum(try_cast(element_at(split(line, ' '), -1) AS double)) FROM mem.s.log GROUP BY who "
            "ORDER BY who"
        ),
        [("ana", 1.875), ("bob", None)],
    ),
    (
        ("SELECT element_at(split(line, ' '), 1) AS method, count(*) FROM mem.s.log GROUP BY 1 ORDER BY 2 DESC, 1"),
        [("GET", 3), ("POST", 1)],
    ),
    (
        (
            r"SELECT name FROM mem.s.customers WHERE name LIKE '%o%' AND email NOT LIKE '%\_%' ESCAPE '\' ORDER "
            "BY 1"
        ),
        [("Ana Nowak",), ("Bob O'Neil",)],
    ),
    (
        (
            "SELECT concat_ws(', ', name, country), lpad(CAST(id AS varchar), 5, '0'), "
            "coalesce(nullif(trim(email), ''), '-') FROM mem.s.customers ORDER BY id"
        ),
        [
            ("Ana Nowak, PL", "00010", "ana@example.com"),
            ("Bob O'Neil, US", "00011", "bob@mail.example.org"),
            ("Cy, US", "00012", "-"),
            ("Dora, DE", "00014", "-"),
        ],
    ),
    (
        (
            r"SELECT regexp_replace('2024-03-09', '(\d+)-(\d+)-(\d+)', '$3.$2.$1'), regexp_extract('none', "
            r"'\d+'), translate('a-b', '-', '_'), reverse('abc')"
        ),
        [("09.03.2024", None, "a_b", "cba")],
    ),
    (
        "SELECT lower(to_hex(md5(to_utf8(name)))) FROM mem.s.customers WHERE id = 12",
        [("249468b3d9d629f117ae5d4cf259acdb",)],
    ),
    (
        (
            "SELECT json_extract_scalar(note, '$.channel') AS channel, count(*) FROM mem.s.orders GROUP BY 1 "
            "ORDER BY 2 DESC, 1"
        ),
        [(None, 3), ("web", 2), ("app", 1)],
    ),
    (
        (
            "SELECT id, json_extract_scalar(note, '$.coupon.code'), json_extract_scalar(note, '$.weights[1]'), "
            "json_extract_scalar(note, '$.weights'), CAST(json_extract_scalar(note, '$.paid') AS decimal(8,2)) "
            "FROM mem.s.orders ORDER BY id"
        ),
        [
            (1, "A-17", "2", None, None),
            (2, None, None, None, None),
            (3, None, None, None, None),
            (4, None, None, None, None),
            (5, None, None, None, None),
            (6, None, None, None, D("12.50")),
        ],
    ),
    (
        (
            "SELECT sum(try_cast(json_extract_scalar(note, '$.stars') AS integer)), try(CAST('x' AS integer)), "
            "try(10 / 0), try_cast('2024-02-30' AS date) FROM mem.s.orders"
        ),
        [(4, None, None, None)],
    ),
    (
        (
            "SELECT CAST(amount AS bigint), CAST(amount AS varchar), CAST(qty AS double) / 2, CAST(1.005e0 AS "
            "decimal(10, 2)), CAST(name AS varchar(3)) FROM mem.s.orders o JOIN mem.s.customers c ON c.id = "
            "customer_id WHERE o.id IN (1, 4) ORDER BY o.id"
        ),
        [(121, "120.50", 1.5, D("1.01"), "Ana"), (300, "300.00", 2.5, D("1.01"), "Cy")],
    ),
    (
        (
            "SELECT round(amount, 1), round(amount), ceil(amount), floor(discount * 10), truncate(discount * "
            "15), mod(qty, 2), power(qty, 2) FROM mem.s.orders WHERE id IN (1, 6) ORDER BY id"
        ),
        [(D("120.50"), D("121"), D("121"), 1.0, 1.0, 1, 9.0), (D("100.00"), D("100"), D("100"), 0.0, 0.0, 0, 16.0)],
    ),
    (
        ("SELECT tag, count(*) FROM mem.s.orders CROSS JOIN UNNEST(tags) AS t(tag) GROUP BY tag ORDER BY 2 DESC, 1"),
        [("gift", 3), ("bulk", 2), ("new", 2)],
    ),
    (
        (
            "SELECT o.id, i.sku, i.price * i.pieces AS total FROM mem.s.orders o, UNNEST(o.items) AS i(sku, "
            "price, pieces) ORDER BY 1, 2"
        ),
        [(1, "ink", 9.25), (1, "pen", 3.0), (2, "pen", 15.0), (5, "cap", 20.0), (6, "cap", 40.0), (6, "ink", 27.75)],
    ),
    (
        (
            "SELECT o.id, tag, n FROM mem.s.orders o LEFT JOIN UNNEST(tags) WITH ORDINALITY AS t(tag, n) ON "
            "TRUE WHERE o.id IN (3, 4, 5) ORDER BY 1, 3"
        ),
        [(3, None, None), (4, None, None), (5, "bulk", 1), (5, "gift", 2), (5, "new", 3)],
    ),
    (
        (
            "SELECT id, i.sku FROM mem.s.orders CROSS JOIN UNNEST(items) WITH ORDINALITY AS i(sku, price, "
            "pieces, n) WHERE n = 2 ORDER BY id"
        ),
        [(1, "ink"), (6, "cap")],
    ),
    ("SELECT a, b FROM UNNEST(ARRAY[1, 2, 3], ARRAY['x', 'y']) AS t(a, b) ORDER BY a", [(1, "x"), (2, "y"), (3, None)]),
    (
        (
            "SELECT id, cardinality(tags), contains(tags, 'gift'), array_join(tags, '+'), tags[1] FROM "
            "mem.s.orders WHERE cardinality(tags) > 0 ORDER BY id"
        ),
        [
            (1, 2, True, "new+gift", "new"),
            (2, 1, True, "gift", "gift"),
            (5, 3, True, "bulk+gift+new", "bulk"),
            (6, 1, False, "bulk", "bulk"),
        ],
    ),
    (
        (
            "SELECT id, filter(tags, x -> x LIKE '%w'), transform(tags, x -> upper(x)), any_match(tags, x -> x "
            "= 'bulk') FROM mem.s.orders WHERE id IN (3, 5) ORDER BY id"
        ),
        [(3, [], [], False), (5, ["new"], ["BULK", "GIFT", "NEW"], True)],
    ),
    (
        (
            "SELECT id, reduce(items, 0e0, (s, x) -> s + x.price * x.pieces, s -> s) AS total FROM mem.s.orders"
            " WHERE items IS NOT NULL ORDER BY id"
        ),
        [(1, 12.25), (2, 15.0), (3, 0.0), (5, 20.0), (6, 67.75)],
    ),
    ("SELECT array_sort(array_distinct(flatten(array_agg(tags)))) FROM mem.s.orders", [(["bulk", "gift", "new"],)]),
    (
        (
            "SELECT id, array_max(transform(items, x -> x.price)), slice(tags, 1, 1), array_position(tags, "
            "'gift') FROM mem.s.orders WHERE id IN (1, 6) ORDER BY id"
        ),
        [(1, 9.25, ["new"], 2), (6, 20.0, ["bulk"], 0)],
    ),
    (
        (
            "SELECT zip_with(ARRAY[1, 2], ARRAY[10, 20], (x, y) -> x + y), array_union(ARRAY[1], ARRAY[2, 1]), "
            "array_except(ARRAY[1, 2], ARRAY[2]), arrays_overlap(ARRAY[1], ARRAY[1]), map_filter(map(ARRAY['a',"
            " 'b'], ARRAY[1, 2]), (k, v) -> v > 1)"
        ),
        [([11, 22], [1, 2], [1], True, {"b": 2})],
    ),
    (
        (
            "SELECT map_keys(m), element_at(m, 'b'), element_at(m, 'z'), cardinality(m) FROM (SELECT map_agg(k,"
            " v) AS m FROM (VALUES ('b', 2)) AS t(k, v))"
        ),
        [(["b"], 2, None, 1)],
    ),
]


@pytest.mark.parametrize(("text", "expected"), QUERIES)
def test_answers_are_trinos(session: Session, text: str, expected: list[tuple[object, ...]]) -> None:
    rows = [tuple(row) for row in session.sql(text, dialect="trino").collect()]
    assert rows == expected
