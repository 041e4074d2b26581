"""Functions of Trino at their edges: many digits, no rows, NULLs, odd texts and the ends of months.

The answers are those that Trino 483 gave.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from lakeport.session import Session
from tests.lakeport.memory_session import memory_session
from tests.lakeport.trino.shop import put_numbers

D = Decimal
at = dt.datetime
day = dt.date


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[Session]:
    with memory_session(spark.newSession()) as (session, memory):
        put_numbers(memory)
        yield session


QUERIES: list[tuple[str, list[tuple[object, ...]]]] = [
    (
        ("SELECT huge + 1, p * p / 7 FROM (SELECT huge, CAST(price AS decimal(20, 6)) AS p FROM mem.s.t WHERE n = 7)"),
        [(D("2.0000000001"), D("9677191736511.3669753657"))],
    ),
    (
        (
            "SELECT avg(x), avg(x) FILTER (WHERE x > 1), avg(DISTINCT x) FROM (VALUES CAST(0.01 AS decimal(38, "
            "2)), 0.00, 0.00, 5.00) AS t(x)"
        ),
        [(D("1.25"), D("5.00"), D("1.67"))],
    ),
    (
        (
            "SELECT 1.5 / 2, 2 / 3.0, 10.00 / 3, CAST(1 AS decimal(38, 2)) / 3, -7.00 / 3, CAST(2 AS "
            "decimal(31,20)) / 3 * 100"
        ),
        [
            (
                D("0.750000000000"),
                D("0.666667"),
                D("3.3333333333333"),
                D("0.333333"),
                D("-2.3333333333333"),
                D("66.66666666666666667"),
            )
        ],
    ),
    (
        (
            "SELECT avg(x) OVER (ORDER BY x), avg(y) OVER (PARTITION BY y) FROM (VALUES (CAST(1 AS decimal(20, "
            "1)), 1.25), (2, 1.30)) AS t(x, y) ORDER BY 1"
        ),
        [(D("1.0"), D("1.25")), (D("1.5"), D("1.30"))],
    ),
    (
        ("SELECT DECIMAL '10' / 4, DECIMAL '-1.50' * 2, CAST(2.5 AS decimal), round(-2.45, 1), round(DECIMAL '2.5')"),
        [(D("2.50000000000"), D("-3.00"), D("3"), D("-2.50"), D("3"))],
    ),
    (
        (
            "SELECT try_cast(x AS double), try_cast(x AS decimal(6, 1)), try_cast(x AS boolean), try_cast(x AS "
            "date), try_cast(x AS timestamp) FROM (VALUES ' 1.5', 'inf', '1e2', 't', '2024-2-9', '2024-02-09 "
            "10:00', 'NaN', '1.5d') AS t(x) WHERE x <> 'NaN'"
        ),
        [
            (1.5, None, None, None, None),
            (None, None, None, None, None),
            (100.0, D("100.0"), None, None, None),
            (None, None, True, None, None),
            (None, None, None, day(2024, 2, 9), at(2024, 2, 9, 0, 0)),
            (None, None, None, None, at(2024, 2, 9, 10, 0)),
            (1.5, None, None, None, None),
        ],
    ),
    (
        (
            r"SELECT regexp_like(x, 'a$'), regexp_like(x, '^.a'), regexp_like(x, '\w\b'), regexp_like(x, "
            "'(?i)Ż') FROM (VALUES 'a' || chr(13), 'ba' || chr(10), 'ż') AS t(x)"
        ),
        [(False, False, True, False), (True, True, True, False), (False, False, False, True)],
    ),
    (
        (
            "SELECT array_max(ARRAY[1, NULL]), array_min(ARRAY[2, 1]), flatten(ARRAY[ARRAY[1], NULL]), "
            "none_match(ARRAY[1], x -> x > 1), repeat('a', 2), map_concat(map(ARRAY['a'], ARRAY[1]), "
            "map(ARRAY['b'], ARRAY[2]))"
        ),
        [(None, 1, [1], True, ["a", "a"], {"b": 2, "a": 1})],
    ),
    (
        (
            "SELECT x, array_agg(y ORDER BY y NULLS FIRST) OVER (PARTITION BY x) FROM (VALUES (1, 2), (1, "
            "NULL), (2, 3)) AS t(x, y) ORDER BY 1"
        ),
        [(1, [None, 2]), (1, [None, 2]), (2, [3])],
    ),
    (
        (
            "SELECT array_agg(y) FILTER (WHERE y > 5), map_agg(x, y) FILTER (WHERE y > 5), array_agg(y ORDER BY"
            " x DESC, y) FROM (VALUES (1, 2), (1, NULL), (2, 3)) AS t(x, y)"
        ),
        [(None, None, [3, 2, None])],
    ),
    (
        (
            "SELECT date_diff('month', a, b), date_diff('month', b, a), date_diff('year', a, b), "
            "date_diff('hour', CAST(a AS timestamp), CAST(b AS timestamp)), date_diff('week', b, a) FROM "
            "(VALUES (DATE '2024-01-31', DATE '2024-02-29'), (DATE '2024-02-29', DATE '2025-02-28'), (DATE "
            "'2024-03-31', DATE '2024-02-29')) AS t(a, b) ORDER BY a"
        ),
        [(1, -1, 0, 696, -4), (12, -12, 1, 8760, -52), (-1, 1, 0, -744, 4)],
    ),
    (
        (
            "SELECT extract(DOW FROM d), extract(SECOND FROM TIMESTAMP '2024-03-03 01:02:03.9'), "
            "date_trunc('day', d), date_trunc('minute', TIMESTAMP '2024-03-31 02:30:45') FROM (VALUES DATE "
            "'2024-03-03') AS t(d)"
        ),
        [(7, 3, day(2024, 3, 3), at(2024, 3, 31, 2, 30))],
    ),
    (
        (
            """SELECT json_extract_scalar(x, '$.a'), json_extract_scalar(x, '$["b c"][0]') FROM (VALUES '{"a": """
            """"[1]"}', '{"a": [1], "b c": [true]}', '{"a": {"b": 1}}', '{"a": "1.50"}', '[') AS t(x)"""
        ),
        [("[1]", None), (None, "true"), (None, None), ("1.50", None), (None, None)],
    ),
    (
        "SELECT substr('hello', i), substr('hello', i, 2) FROM (VALUES 0, -9, -2, 3) AS t(i) ORDER BY i",
        [("", ""), ("lo", "lo"), ("", ""), ("llo", "ll")],
    ),
    (
        (
            "SELECT split('a,b,c', ',', 2), split_part('', ',', 1), regexp_position('abc', 'c'), "
            r"regexp_position('abc', 'x'), regexp_replace('a1', '\d'), to_hex(sha256(to_utf8('abc')))"
        ),
        [(["a", "b,c"], "", 3, -1, "a", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), QUERIES)
def test_answers_are_trinos(session: Session, text: str, expected: list[tuple[object, ...]]) -> None:
    rows = [tuple(row) for row in session.sql(text, dialect="trino").collect()]
    assert rows == expected
