"""Filters on fields of structs, and by an OR over columns: which rows pass, and what connectors are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakeport
from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connector_spi.scan_counters import ScanCounts, counting
from connector_spi.testing.reference_queries import rows_that_fit_expression
from lakeport.arrow.filters.expression_filter import row_filters
from lakeport.arrow.filters.pushed_conditions import pushed_conditions
from lakeport.arrow.filters.where import Where
from tests.lakeport.memory_session import memory_session, put

Row: TypeAlias = dict[str, object]

_INNER = pa.struct([("c", pa.string()), ("n", pa.int64())])
_STRUCT = pa.struct([("b", pa.int64()), ("A", pa.int64()), ("x", pa.float64()), ("in", _INNER)])
ROWS = pa.table(
    {
        "n": pa.array(range(7), pa.int64()),
        "a": pa.array([9, 9, 1, None, 3, 3, 3], pa.int64()),
        "s": pa.array(
            [
                {"b": 1, "A": 2, "x": 0.5, "in": {"c": "k1", "n": 5}},
                None,
                {"b": 5, "A": None, "x": float("nan"), "in": None},
                {"b": None, "A": 4, "x": -0.0, "in": {"c": None, "n": 1}},
                {"b": 4, "A": 1, "x": None, "in": {"c": "k2", "n": None}},
                {"b": None, "A": None, "x": None, "in": {"c": "", "n": 0}},
                {"b": 2, "A": 9, "x": float("inf"), "in": {"c": "k1", "n": 9}},
            ],
            _STRUCT,
        ),
        "l": pa.array([[{"b": 1}]] * 7, pa.list_(pa.struct([("b", pa.int64())]))),
        "s.b": pa.array([0, 0, 0, 0, 0, 0, 7], pa.int64()),
    }
)
_HANDLES = {field.name: ColumnHandle(field.name, field.type) for field in ROWS.schema}


def find(written: str) -> tuple[str, pa.DataType]:
    if written.lower() not in _HANDLES:
        raise ColumnNotFoundError(f"no column {written}")
    return written.lower(), _HANDLES[written.lower()].type


def numbers(where: Where) -> list[int]:
    """The rows that pass, which fit what connectors are told."""
    [rows] = row_filters([where], ROWS.schema, find)
    batch = ROWS.combine_chunks().to_batches()[0]
    passed = pa.Table.from_batches([rows.apply(batch.select(list(dict.fromkeys([*rows.columns, "n"]))))])
    kept: list[int] = passed["n"].to_pylist()
    for condition in pushed_conditions(rows.needed, _HANDLES):
        assert set(kept) <= set(rows_that_fit_expression(ROWS, condition)["n"].to_pylist()), str(condition)
    return kept


def told(where: Where) -> list[str]:
    [rows] = row_filters([where], ROWS.schema, find)
    return [str(one) for one in pushed_conditions(rows.needed, _HANDLES)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("s.b > 1", [2, 4, 6]),
        ("S.a > 1", [0, 3, 6]),
        ("s.a <= 2 OR s.b = 5", [0, 2, 4]),
        ("NOT s.b = 1", [2, 4, 6]),
        ("s.b IS NULL", [1, 3, 5]),
        ("s.b IS NOT NULL", [0, 2, 4, 6]),
        ("s.in.c = 'k1'", [0, 6]),
        ("s.in.c IS NULL", [1, 2, 3]),
        ("s.in IS NULL", [1, 2]),
        ("s.in.c LIKE 'k%'", [0, 4, 6]),
        ("s.in.n IN (5, 9)", [0, 6]),
        ("s.in.n NOT IN (5, 9)", [3, 5]),
        ("s.x > 100", [2, 6]),
        ("s.x = 0.0", [3]),
        ("`s.b` = 7", [6]),
        ("s.b BETWEEN 2 AND 4", [4, 6]),
        ("5 = s.b", [2]),
        ("s.b = 1 OR a = 3", [0, 4, 5, 6]),
        ("a = 1 OR n = 6", [2, 6]),
    ],
)
def test_sql(where: str, expected: list[int]) -> None:
    assert numbers(where) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (pc.field("s", "b") > 1, [2, 4, 6]),
        (pc.field(("s", "A")) > 1, [0, 3, 6]),
        (pc.field("s", "in", "c") == "k1", [0, 6]),
        (pc.field("s", "in", "n").isin([5, 9]), [0, 6]),
        (pc.field("s", "b").is_valid(), [0, 2, 4, 6]),
        (pc.field("s", "b").is_null(), [1, 3, 5]),
        # Of pyarrow's comparisons none with NaN is true.
        (pc.field("s", "x") > 100, [6]),
        ((pc.field("s", "b") == 1) | (pc.field("a") == 3), [0, 4, 5, 6]),
        ((pc.field("a") == 1) | (pc.field("n") == 6), [2, 6]),
        (~(pc.field("s", "x") > 100), [0, 2, 3]),
    ],
    ids=str,
)
def test_expressions_of_pyarrow(where: pc.Expression, expected: list[int]) -> None:
    assert numbers(where) == expected


@pytest.mark.parametrize(
    ("where", "conditions"),
    [
        ("a = 1", []),
        ("a = 1 AND n > 3", []),
        ("a = 1 OR n > 3", ["((a = 1) OR (n > 3))"]),
        ("a = 1 AND s.b = 5", ["(s.b = 5)"]),
        ("S.a IN (1, 2) AND s.in.c LIKE 'k%'", ["s.A IN (1, 2)", "NOT (s.in.c IS NULL)"]),
        (pc.field("s", "b") > 1, ["(s.b > 1)"]),
        ((pc.field("a") == 1) | (pc.field("n") == 6), ["((a = 1) OR (n = 6))"]),
        # One branch may be true of any row.
        ((pc.field("a") == 1) | (pc.field("n") * 2 == 6), []),
        (~(pc.field("s", "x") > 100), []),
        ([[("a", "=", 1)], [("n", "=", 6)]], ["((a = 1) OR (n = 6))"]),
    ],
    ids=str,
)
def test_connectors_are_told_what_domains_cannot_say(where: Where, conditions: list[str]) -> None:
    assert told(where) == conditions


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("s.z = 1", "column 's' has no fields 'z'; it has b, A, x, in"),
        ("s.in.c.d = 1", "column 's.in.c' is string, and has no field 'd'"),
        ("l.b = 1", "column 'l' is list.* and has no field 'b'"),
        ("s = 1", "column 's' is struct"),
        ("s.b = 'x'", "column 's.b' is int64"),
    ],
)
def test_what_is_no_field_is_refused(where: str, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        row_filters([where], ROWS.schema, find)


_FIELDS = [pc.field("s", "b"), pc.field("s", "A"), pc.field("s", "in", "n"), pc.field("a"), pc.field("n")]
_LEAVES = st.one_of(
    st.builds(
        lambda field, compare, value: getattr(field, compare)(value),
        st.sampled_from(_FIELDS),
        st.sampled_from(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]),
        st.sampled_from([0, 1, 4, 9]),
    ),
    st.builds(
        lambda compare, value: getattr(pc.field("s", "x"), compare)(value),
        st.sampled_from(["__eq__", "__ne__", "__lt__", "__ge__"]),
        st.sampled_from([0.0, -0.0, 0.5, float("nan"), float("inf")]),
    ),
    st.sampled_from([pc.field("s", "in", "c") > "k1", pc.field("s", "A").is_null(), pc.field("s", "in").is_valid()]),
)


@given(
    st.recursive(
        _LEAVES,
        lambda inner: st.one_of(
            st.builds(lambda a, b: a & b, inner, inner),
            st.builds(lambda a, b: a | b, inner, inner),
            inner.map(lambda one: ~one),
        ),
        max_leaves=5,
    )
)
def test_no_row_that_passes_is_outside_of_what_connectors_are_told(expression: pc.Expression) -> None:
    assert numbers(expression) == ROWS.filter(expression)["n"].to_pylist()


def test_a_connector_leaves_parts_out_by_an_or_over_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory_session() as (session, connector):
        put(connector, "t", ROWS.drop_columns(["s.b"]), chunk_rows=1)
        read = _counted_rows(monkeypatch)
        for where in ("a = 1 OR n = 6", (pc.field("a") == 1) | (pc.field("n") == 6)):
            read.clear()
            assert session.arrow("mem.s.t", columns=["n"], where=where).read_all()["n"].to_pylist() == [2, 6]
            assert sum(read) == 2
        scan = session.scan("mem.s.t")
        assert scan.where("s.b = 1 OR a = 1").count() == 2
        assert scan.where(pc.field("s", "b") > 1).select("n").to_arrow()["n"].to_pylist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("where", "numbers", "skipped"),
    [
        ("s.A = 4", [3], 6),
        ("s.in.c = 'k1' OR n = 2", [0, 2, 6], 4),
        (pc.field("s", "b") > 4, [2], 6),
        ((pc.field("a") == 1) | (pc.field("s", "b") == 1), [0, 2], 5),
        ("s.b IS NULL", [1, 3, 5], 0),
    ],
    ids=str,
)
def test_row_groups_are_skipped(
    where: Where, numbers: list[int], skipped: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").mkdir()
    pq.write_table(ROWS.select(["n", "a", "s"]), tmp_path / "t" / "part-0.parquet", row_group_size=1)
    counts = ScanCounts()
    with lakeport.connect(engine="duckdb") as session:
        session.sql(f"CALL hive.system.register_table('s', 't', '{tmp_path / 't'}')")
        with counting(counts):
            found = session.arrow("hive.s.t", columns=["n"], where=where, threads=1).read_all()
    assert found["n"].to_pylist() == numbers
    assert counts.as_mapping().get("row groups skipped", 0) == skipped


def _counted_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    from connectors.memory import page_source

    read: list[int] = []
    stored: Callable[..., object] = page_source._stored_batches

    def counted(split: object) -> object:
        read.append(getattr(split, "row_count", 0))
        return stored(split)

    monkeypatch.setattr(page_source, "_stored_batches", counted)
    return read
