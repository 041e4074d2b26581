"""Filters in SQL and expressions of pyarrow: against conditions that say the same, and a brute-force LIKE."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from lakeport.arrow.filters.expression_filter import expression_filter
from lakeport.arrow.filters.where import parse_where
from tests.lakeport.frames.samples import ROWS

# Column k is of 32 bits, b of booleans with NULL, l a time without a zone, x binary.
TABLE = (
    ROWS.append_column("k", pa.array([[0.1, 0.5, None][n % 3] for n in range(len(ROWS))], pa.float32()))
    .append_column("b", pa.array([[True, False, None][n % 3] for n in range(len(ROWS))], pa.bool_()))
    .append_column("l", pa.array([dt.datetime(2024, 1, 1 + n % 3) for n in range(len(ROWS))], pa.timestamp("us")))
    .append_column("x", pa.array([[b"\xab", b""][n % 2] for n in range(len(ROWS))], pa.binary()))
)
Row: TypeAlias = dict[str, Any]
BATCH = TABLE.combine_chunks().to_batches()[0]
PYTHON: list[Row] = TABLE.to_pylist()
F32 = pa.scalar(0.1, pa.float32()).as_py()


def find(name: str) -> tuple[str, pa.DataType]:
    if name.lower() not in TABLE.schema.names:
        raise ColumnNotFoundError(f"no column {name}")
    return name.lower(), TABLE.schema.field(name.lower()).type


def numbers(where: str) -> list[int]:
    """The numbers of the rows that pass; checks that the domain keeps them."""
    found = parse_where(where, find)
    assert found is not None
    domain = found.domain()
    kept = found.apply(BATCH).to_pylist()
    for row in kept:
        assert all(one.includes_value(row[column]) for column, one in dict(domain.domains or {}).items())
        assert not domain.is_none
    return [row["n"] for row in kept]


def of(row: Row, name: str, test: Callable[[Any], bool]) -> bool:
    """As a comparison in SQL: never true for NULL."""
    return row[name] is not None and test(row[name])


def above(value: object, bound: float) -> bool:
    """In Spark's order NaN is above all numbers."""
    assert isinstance(value, float)
    return value != value or value > bound


D2 = dt.date(2024, 1, 2)
T2 = dt.datetime(2024, 1, 2, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("i > 0 AND I <= 1", lambda r: of(r, "i", lambda v: v == 1)),
        ("0 < i", lambda r: of(r, "i", lambda v: v > 0)),
        ("i = -1 OR i = 2L", lambda r: of(r, "i", lambda v: v == 2)),
        ("NOT (i > 0 AND s = 'a')", lambda r: of(r, "i", lambda v: v <= 0) or of(r, "s", lambda v: v != "a")),
        ("s = 'it''s' OR s <> 'x''y' AND i > 0", lambda r: of(r, "s", lambda v: r["i"] is not None and r["i"] > 0)),
        ("NOT NOT i <> 1", lambda r: of(r, "i", lambda v: v != 1)),
        ("i IS NULL OR `s` IS NOT NULL", lambda r: r["i"] is None or r["s"] is not None),
        ("NOT s IS NULL", lambda r: r["s"] is not None),
        ("i BETWEEN 1 AND 2", lambda r: of(r, "i", lambda v: 1 <= v <= 2)),
        ("i NOT BETWEEN 1 AND 1", lambda r: of(r, "i", lambda v: v != 1)),
        ("i IN (1, 2.0, 2.5)", lambda r: of(r, "i", lambda v: v in (1, 2))),
        ("i NOT IN (1, 2.5)", lambda r: of(r, "i", lambda v: v != 1)),
        ("i NOT IN (2.5)", lambda r: r["i"] is not None),
        ("i > 1.5", lambda r: of(r, "i", lambda v: v == 2)),
        ("i <= 1.5", lambda r: of(r, "i", lambda v: v <= 1)),
        ("i = 1.5", lambda r: False),
        ("i < 1e0", lambda r: of(r, "i", lambda v: v == 0)),
        ("f > 1.5", lambda r: of(r, "f", lambda v: above(v, 1.5))),
        ("NOT f <= 1.5", lambda r: of(r, "f", lambda v: above(v, 1.5))),
        ("f = 0", lambda r: r["f"] == 0),
        # Of 32 bits the nearest to 0.1 is above it, and Spark compares as doubles.
        ("k > 0.1", lambda r: of(r, "k", lambda v: v >= F32)),
        ("k <= 0.1", lambda r: False),
        ("k = 0.1", lambda r: False),
        ("k != 0.1", lambda r: r["k"] is not None),
        ("k = 0.5", lambda r: r["k"] == 0.5),
        ('s = "a" -- quoted as Spark does', lambda r: r["s"] == "a"),
        ("s > 'a'", lambda r: of(r, "s", lambda v: v > "a")),
        ("s LIKE 'a%'", lambda r: of(r, "s", lambda v: v.startswith("a"))),
        ("s NOT LIKE '_'", lambda r: of(r, "s", lambda v: len(v) != 1)),
        ("NOT s NOT LIKE '_'", lambda r: of(r, "s", lambda v: len(v) == 1)),
        ("d >= '2024-01-02' AND d < DATE '2024-01-04'", lambda r: D2 <= r["d"] < dt.date(2024, 1, 4)),
        ("t < TIMESTAMP '2024-01-02 00:00:00Z'", lambda r: r["t"] < T2),
        ("t = '2024-01-02T02:00:00+02:00'", lambda r: r["t"] == T2),
        ("l > '2024-01-02'", lambda r: r["l"] > dt.datetime(2024, 1, 2)),
        ("l = TIMESTAMP '2024-01-02 00:00:00'", lambda r: r["l"] == dt.datetime(2024, 1, 2)),
        ("b", lambda r: r["b"] is True),
        ("NOT b", lambda r: r["b"] is False),
        ("b IS NOT TRUE", lambda r: r["b"] is not True),
        ("b = false OR (n = 0)", lambda r: r["b"] is False or r["n"] == 0),
        ("x = X'AB'", lambda r: r["x"] == b"\xab"),
    ],
)
def test_it_means_what_where_means(where: str, holds: Callable[[Row], bool]) -> None:
    assert numbers(where) == [row["n"] for row in PYTHON if holds(row)]


PATTERNS = st.lists(st.sampled_from(["a", "b", "X", "%", "_", "ż", "\n", "\\%", "\\_", "\\\\"]), max_size=5).map(
    "".join
)
TEXTS = ["", "a", "ab", "aXb", "a%b", "a\nb", "żb", "a\\b"]


@given(PATTERNS)
def test_like_is_sparks(pattern: str) -> None:
    expected = re.compile(
        "".join(
            {"%": "(?s:.*)", "_": "(?s:.)"}.get(piece, re.escape(piece[-1]))
            for piece in re.findall(r"\\?.", pattern, re.DOTALL)
        )
    )
    batch = pa.record_batch({"s": TEXTS})
    literal = pattern.replace("\\", "\\\\")
    found = parse_where(f"s LIKE '{literal}'", lambda name: (name, pa.string()))
    assert found is not None
    assert found.apply(batch)["s"].to_pylist() == [text for text in TEXTS if expected.fullmatch(text)]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("i <", "cannot read the filter 'i <'"),
        ("i > 1 GROUP BY i", "at 'GROUP BY'"),
        ("i > 1; DROP TABLE x", "cannot read the filter"),
        ("", "cannot read the filter ''"),
        ("upper(s) = 'A'", r"cannot read .*UPPER\(s\).* expected comparisons of a column or field with"),
        ("i > n", "cannot read 'n'"),
        ("i IN (SELECT 1)", "cannot read 'i IN"),
        ("a.i = 1", "cannot read 'a.i': no column a"),
        ("i.a = 1", "column 'i' is int32, and has no field 'a'"),
        ("1 = 1", "cannot read '1 = 1'"),
        ("s RLIKE 'a'", "cannot read .s RLIKE"),
        ("s LIKE 'a!%' ESCAPE '!'", "ESCAPE"),
        ("i = NULL", "column 'i' cannot be compared with NULL.* write i IS NULL"),
        ("i <=> 1", "cannot read"),
        ("s", "cannot read 's'"),
        ("i = 'x'", "column 'i' is int32: 'x'"),
        ("i = 99999999999", "column 'i' is int32"),
        ("s = 1", "column 's' is string: 1"),
        ("i LIKE '1'", "column 'i' is int32"),
        ("s LIKE 'a\\\\b'", r"has a \\ that is not before"),
        ("d = '2024-1-2'", "column 'd' is date32"),
        ("d = '2024-02-30'", "column 'd' is date32.*day is out of range"),
        ("t = '2024-01-02'", "has no zone; expected one, such as"),
        ("t = '2024-01-02 00:00:00'", "has no zone; expected one, such as"),
        ("l = '2024-01-02 00:00:00Z'", "has a zone; expected none"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_part(where: str, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        parse_where(where, find)


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(ColumnNotFoundError, match="no column zz"):
        parse_where("zz = 1", find)


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        (pc.field("i") > 0, ("i",)),
        ((pc.field("f") > 1.5) | pc.field("s").is_null(), ("f", "s")),
        (pc.equal(pc.utf8_length(pc.field("s")), 2), ("s",)),
        (pc.bit_wise_and(pc.field("i"), 1) == 1, ("i",)),
    ],
)
def test_an_expression_means_what_it_means_in_pyarrow(expression: pc.Expression, columns: tuple[str, ...]) -> None:
    found = expression_filter(expression, TABLE.schema, find)
    assert found.columns == columns
    kept = found.apply(BATCH.select([*found.columns, "n"] if "n" not in found.columns else list(found.columns)))
    expected = TABLE.filter(expression)
    assert kept["n"].to_pylist() == expected["n"].to_pylist()
    for row in expected.to_pylist():
        assert all(one.includes_value(row[name]) for name, one in dict(found.domain().domains or {}).items())


@pytest.mark.parametrize(
    ("expression", "error", "says"),
    [
        (pc.field("zz") > 1, ColumnNotFoundError, "no column zz"),
        (pc.field("I") > 1, InvalidArgumentError, "names column 'I'; pyarrow knows it as 'i'"),
        (pc.field(0) > 1, InvalidArgumentError, "give their names"),
        (pc.field("i") + 1, InvalidArgumentError, "must evaluate to bool"),
        (pc.field("s") > 1, InvalidArgumentError, "does not fit the table"),
    ],
)
def test_an_expression_that_does_not_fit(expression: pc.Expression, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        expression_filter(expression, TABLE.schema, find)


def test_an_expression_that_fails_for_a_row() -> None:
    found = expression_filter(pc.divide(pc.scalar(1), pc.field("n")) > 0, TABLE.schema, find)
    with pytest.raises(InvalidArgumentError, match="divide by zero"):
        found.apply(BATCH)
