"""Functions, operators and casts over random values, in DuckDB and in Spark: equal values and types."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from connector_spi.errors import ConnectorError
from lakeport.duckdb.engine import DuckDbEngine
from lakeport.duckdb.functions import FUNCTION_NAMES
from lakeport.duckdb.query.queries import parsed
from lakeport.session import Session
from lakeport.spark.results import arrow_result
from tests.lakeport.local_engine.calls import CALLS, CLOSE_CALLS
from tests.lakeport.local_engine.random_values import random_table
from tests.lakeport.memory_session import memory_session, put

pytestmark = pytest.mark.slow

_TEXTS = (
    "1", " 12 ", "+7", "-0", "1.5", "1e3", "0x1f", "", " ", "abc", "128", "-129", "2147483648", "9223372036854775808",
    "1_0", ".5", "5.", "NaN", "inf", "1d", "1e400", "0.005", "99999999999", "true", "YES", "t", "on", "2024-02-29",
    "2023-02-29", "2024-2-9", "2024", "2024-05", " 2024-01-02 ", "2024-01-02T03:04:05", "2024-01-02 03:04:05.123456",
    "2024-13-01",
    "2024-01-02 25:00:00", "2024-01-02 03:04", "2024-01-02 xyz", "20240102", "+12024-01-01", "1\u00a0", "\u0661",
)  # fmt: skip
# What Spark takes and this engine does not: it fails by name.
_RARE = {
    "DOUBLE": ("1d",),
    "DECIMAL(10, 2)": ("1e3", "\u0661"),
    "DATE": ("+12024-01-01",),
    "TIMESTAMP": ("2024-2-9", "2024", "2024-05", "+12024-01-01"),
    "TIMESTAMP_NTZ": ("2024-2-9", "2024", "2024-05", "+12024-01-01"),
}
_TARGETS = ("TINYINT", "INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BOOLEAN")


@pytest.fixture(scope="module")
def engines(spark: SparkSession) -> Iterator[tuple[Session, DuckDbEngine]]:
    with memory_session(spark.newSession()) as (session, memory):
        session.spark.conf.set("spark.sql.session.timeZone", "UTC")
        put(memory, "v", random_table(400, seed=3))
        texts = pa.table({"i": pa.array(range(len(_TEXTS)), pa.int32()), "s": pa.array(_TEXTS)})
        put(memory, "texts", texts)
        session.sql("USE mem.s")
        engine = DuckDbEngine(session.catalogs)
        engine.plan("USE mem.s")
        yield session, engine
        engine.close()


@pytest.mark.parametrize("calls", CALLS)
def test_equal_values(engines: tuple[Session, DuckDbEngine], calls: str) -> None:
    """All calls of a line in one query."""
    session, engine = engines
    written = ", ".join(f"{one} AS x{at}" for at, one in enumerate(_apart(calls)))
    query = f"SELECT id, {written} FROM v ORDER BY id"
    rows = arrow_result(session.sql(query))
    expected = pa.Table.from_batches(rows.batches, rows.schema)
    found = engine.plan(query).arrow()
    assert [field.type for field in found.schema] == [field.type for field in expected.schema]
    for name in expected.schema.names:
        # NaN differs from itself.
        pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        assert [(one, other) for one, other in pairs if str(one) != str(other)] == [], name


@pytest.mark.parametrize("calls", CLOSE_CALLS)
def test_close_values(engines: tuple[Session, DuckDbEngine], calls: str) -> None:
    """NULL, NaN, infinities and signs are equal; numbers differ by a few of the last binary digits at most."""
    session, engine = engines
    written = ", ".join(f"{one} AS x{at}" for at, one in enumerate(_apart(calls)))
    query = f"SELECT id, {written} FROM v ORDER BY id"
    rows = arrow_result(session.sql(query))
    expected = pa.Table.from_batches(rows.batches, rows.schema)
    found = engine.plan(query).arrow()
    assert [field.type for field in found.schema] == [field.type for field in expected.schema]
    for name in expected.schema.names[1:]:
        pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        assert [pair for pair in pairs if not _is_close(*pair)] == [], name


def _is_close(one: float | None, other: float | None) -> bool:
    if one is None or other is None or not (math.isfinite(one) and math.isfinite(other)) or not one or not other:
        return str(one) == str(other)
    return abs(one - other) <= 4 * math.ulp(other)


def test_all_functions_are_called() -> None:
    called = {
        node.name.lower()
        for line in (*CALLS, *CLOSE_CALLS)
        for call in _apart(line)
        for node in parsed(f"SELECT {call}").find_all(exp.Anonymous)
    }
    assert sorted(set(FUNCTION_NAMES) - called) == []


@pytest.mark.parametrize("target", _TARGETS)
def test_casts_of_texts(engines: tuple[Session, DuckDbEngine], target: str) -> None:
    """A text that Spark does not take fails; one that it takes gives its value, or fails if its form is rare."""
    session, engine = engines
    # Python has no year of five digits.
    query = f"SELECT i, try_cast(nullif(s, '+12024-01-01') AS {target}) AS x FROM texts ORDER BY i"
    expected = [row["x"] for row in session.sql(query).collect()]
    taken = 0
    for at, value in enumerate(expected):
        result = engine.plan(f"SELECT CAST(s AS {target}) AS x FROM texts WHERE i = {at}")
        if value is None or _TEXTS[at] in _RARE.get(target, ()):
            with pytest.raises(ConnectorError, match=r"CAST_INVALID_INPUT|Conversion Error"):
                result.arrow()
            continue
        taken += 1
        [found] = result.arrow()["x"].to_pylist()
        plain = found.replace(tzinfo=None) if target == "TIMESTAMP" else found
        assert str(plain) == str(value), _TEXTS[at]
    assert taken >= 3


# Texts of which Spark may make a value: they fail by name, or are NULL as there.
_UNSURE = {
    "DOUBLE": r"(?i).*[0-9][df]$",
    "DECIMAL(10, 2)": r"(?i).*e|[^\x00-\x7f]+",
    "DATE": r"\s*[+-]?\d{4,7}(-|\s*$)",
    "TIMESTAMP": r"\s*[+-]?\d{4,7}(-|\s*$)",
    "TIMESTAMP_NTZ": r"\s*[+-]?\d{4,7}(-|\s*$)",
}


@pytest.mark.parametrize("target", _TARGETS)
def test_tried_casts_of_texts(engines: tuple[Session, DuckDbEngine], target: str) -> None:
    """A text that is no value is NULL, and one of a form that Spark alone may take fails."""
    session, engine = engines
    query = f"SELECT i, CAST(try_cast(nullif(s, '+12024-01-01') AS {target}) AS STRING) AS x FROM texts ORDER BY i"
    expected = [row["x"] for row in session.sql(query).collect()]
    unsure = [at for at, text in enumerate(_TEXTS) if target in _UNSURE and re.match(_UNSURE[target], text)]
    known = ", ".join(str(at) for at in range(len(_TEXTS)) if at not in unsure)
    text = f"SELECT i, CAST(try_cast(s AS {target}) AS STRING) AS x FROM texts WHERE i IN ({known}) ORDER BY i"
    if target == "DOUBLE":
        # Of doubles the engines write other texts.
        text = text.replace("CAST(try_cast(s AS DOUBLE) AS STRING)", "try_cast(s AS DOUBLE)")
        expected = [None if one is None else float(one) for one in expected]
    found = engine.plan(text).arrow()["x"].to_pylist()
    # NaN differs from itself.
    assert list(map(str, found)) == [str(one) for at, one in enumerate(expected) if at not in unsure]
    for at in unsure:
        result = engine.plan(f"SELECT try_cast(s AS {target}) AS x FROM texts WHERE i = {at}")
        if _TEXTS[at] in _RARE.get(target, ()):
            with pytest.raises(ConnectorError, match="CAST_INVALID_INPUT"):
                result.arrow()
            continue
        with suppress(ConnectorError):
            [found] = result.arrow()["x"].to_pylist()
            assert (found is None) == (expected[at] is None), _TEXTS[at]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("n % (k - k)", "REMAINDER_BY_ZERO"),
        ("n div (k - k)", "DIVIDE_BY_ZERO"),
        ("pmod(n, k - k)", "REMAINDER_BY_ZERO"),
        ("element_at(ai, 0)", "INVALID_INDEX_OF_ZERO"),
        ("element_at(ai, 99)", "INVALID_ARRAY_INDEX"),
        ("to_date('2024/02/30', 'yyyy-MM-dd')", "CANNOT_PARSE_TIMESTAMP"),
        ("CAST('x' || s AS INT)", "CAST_INVALID_INPUT"),
    ],
)
def test_equal_errors(engines: tuple[Session, DuckDbEngine], call: str, code: str) -> None:
    session, engine = engines
    with pytest.raises(Exception, match=code):
        session.sql(f"SELECT {call} AS x FROM v").collect()
    with pytest.raises(ConnectorError, match=code):
        engine.plan(f"SELECT {call} AS x FROM v").arrow()


@pytest.mark.parametrize(
    "call",
    [
        "upper(n)",
        "s RLIKE t",
        "s RLIKE '(?m)a'",
        "s RLIKE '(?iu)ä'",
        "s RLIKE '(?i)[A-z]'",
        "array_union(ai, at2)",
        "array_append(ai, b)",
        "array_union(af, af)",
        "day + make_dt_interval(k)",
        "to_timestamp_ntz(s, 'yyyyM')",
        "reduce(ai, 0, (a, x) -> a + b)",
        "substring(s, b)",
        "array_sort(ai, (l, r) -> r - l)",
        "regexp_replace(s, 'a*', 'b')",
        "regexp_replace(s, '(a)', '$2')",
        "transform(ai, (x, i) -> x + i)",
        "array(n, s)",
        "sequence(p, p)",
        "regexp_extract(s, 'a$', 0)",
        "split(s, 'a*')",
        "split_part(s, ',', 0)",
        "date_format(at, 'yyyy-QQ')",
        "to_date(s, 'MMM dd yyyy')",
        "trunc(day, 'century')",
        "round(f, -1)",
        "sum(n) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "first(n)",
        "lag(n, k) OVER (ORDER BY id)",
        "array_contains(af, f)",
        "collect_set(f)",
        "collect_list(DISTINCT r)",
        "grouping_id(n)",
        "posexplode(ai)",
        "CASE WHEN n THEN 1 END",
        "if(s, 1, 2)",
        "NOT n",
        "yes AND s",
        "n IN ()",
        "count(*, 1)",
        "max_by(n)",
        "row_number(1) OVER (ORDER BY id)",
        "percentile(n, 0.3)",
    ],
)
def test_what_may_differ_is_refused(engines: tuple[Session, DuckDbEngine], call: str) -> None:
    _, engine = engines
    with pytest.raises(ConnectorError, match="UNSUPPORTED_LOCAL_SQL"):
        engine.plan(f"SELECT {call} AS x FROM v")


@pytest.mark.parametrize("text", ["ŉ", "ΰ", "ﬃ", "𐐨"])
def test_letters_that_java_turns_apart(engines: tuple[Session, DuckDbEngine], text: str) -> None:
    _, engine = engines
    with pytest.raises(ConnectorError, match="UNSUPPORTED_LOCAL_SQL"):
        engine.plan(f"SELECT upper(concat(s, '{text}')) AS x FROM v").arrow()


def _apart(line: str) -> list[str]:
    """The expressions of a list."""
    found, depth, quote = [""], 0, ""
    for character in line:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        depth += (character in "([") - (character in ")]") if not quote else 0
        if character == "," and not depth and not quote:
            found.append("")
        else:
            found[-1] += character
    return [one.strip() for one in found]
