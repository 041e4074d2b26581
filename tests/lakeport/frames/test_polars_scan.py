"""Lazy frames over tables: the same answers as Polars has over the rows, and what is pushed down."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeport.arrow.filters.conditions import RowTest
from lakeport.frames.polars_scan import lazy_frame, needed_by_polars
from lakeport.session import Session
from tests.lakeport.frames.samples import ROWS
from tests.lakeport.memory_session import memory_session, put

NAN = float("nan")
SCHEMA = ROWS.schema


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with memory_session() as (made, connector):
        put(connector, "t", ROWS, "part", chunk_rows=2)
        yield made


def leaves() -> st.SearchStrategy[pl.Expr]:
    numbers = st.builds(
        lambda column, compare, value: getattr(pl.col(column), compare)(value),
        st.sampled_from(["i", "f"]),
        st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge", "eq_missing"]),
        st.sampled_from([0, 1, 2, 3, 1.5, NAN, -0.0, pl.lit(None)]),
    )
    texts = st.builds(
        lambda column, compare, value: getattr(pl.lit(value), compare)(pl.col(column)),
        st.sampled_from(["s", "part"]),
        st.sampled_from(["eq", "ne", "lt", "ge"]),
        st.sampled_from(["", "a", "b", "ż"]),
    )
    lists = st.builds(
        lambda values, nulls: pl.col("i").is_in(values, nulls_equal=nulls),
        st.lists(st.sampled_from([0, 1, 2, None]), max_size=3),
        st.booleans(),
    )
    days = st.sampled_from([pl.col("d") > dt.date(2024, 1, 2), pl.col("t") <= dt.datetime(2024, 1, 2, tzinfo=dt.UTC)])
    others = st.sampled_from(
        [pl.col("s").is_null(), pl.col("f").is_not_null(), pl.col("f").is_nan(), pl.col("i") + 1 > 2,
         pl.col("i").cast(pl.Int8) == 1, pl.col("s").str.starts_with("a"), pl.col("i") == pl.col("f")]
    )  # fmt: skip
    return st.one_of(numbers, texts, lists, days, others)


PREDICATES = st.recursive(
    leaves(),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda e: ~e),
    ),
    max_leaves=5,
)


@given(PREDICATES, st.sampled_from([None, 0, 1, 5]))
def test_random_queries_answer_as_over_the_rows(session: Session, predicate: pl.Expr, limit: int | None) -> None:
    def ask(frame: pl.LazyFrame) -> list[dict[str, object]]:
        found = frame.filter(predicate).select("n", "s").sort("n")
        return (found if limit is None else found.head(limit)).collect().to_dicts()

    plain = pl.from_arrow(ROWS)
    assert isinstance(plain, pl.DataFrame)
    assert ask(session.scan("mem.s.t").to_polars()) == ask(plain.lazy())


def test_a_filter_on_a_limited_scan_comes_after_the_limit(session: Session) -> None:
    scan = session.scan("mem.s.t").limit(3)
    first = scan.to_arrow().column("n").to_pylist()
    last = max(first)
    assert scan.to_polars().filter(pl.col("n") >= last).select("n").collect().to_series().to_list() == [last]
    assert scan.to_polars().filter(pl.col("n") > last).collect().height == 0


def test_columns_filter_and_limit_are_pushed_down() -> None:
    asked: list[tuple[object, ...]] = []

    def open_reader(
        columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        asked.append((columns, None if needed is None else str(needed.domain()), limit))
        return (ROWS if columns is None else ROWS.select(columns)).to_reader()

    frame = lazy_frame(SCHEMA, open_reader, may_filter=True)
    frame.filter(pl.col("i") > 1, pl.col("part") == "a").select("s").collect()
    frame.select("s").head(2).collect()
    frame.select(pl.len()).collect()
    (columns, needed, limit), *others = asked
    assert isinstance(columns, list)
    assert set(columns) <= {"s", "i", "part"}
    assert (needed, limit) == ("i in {(1, +inf)} and part in {'a'}", None)
    assert others[0] == (["s"], None, 2)
    assert isinstance(others[1][0], list)
    assert len(others[1][0]) == 1


@pytest.mark.parametrize(
    ("predicate", "needed"),
    [
        (pl.col("i").is_in([1, 2]), "i in {1, 2}"),
        (pl.lit(2) <= pl.col("i"), "i in {[2, +inf)}"),
        (pl.col("s").is_null(), "s in null"),
        ((pl.col("i") == 1) | (pl.col("i") == 3), "i in {1, 3}"),
        ((pl.col("i") == 1) | (pl.col("s") == "a"), "all"),
        (pl.col("i") + 1 == 2, "all"),
        (pl.col("i") == 1.5, "all"),
        (~(pl.col("i") == 1), "all"),
    ],
    ids=str,
)
def test_what_is_understood_of_a_predicate(predicate: pl.Expr, needed: str) -> None:
    assert str(needed_by_polars(predicate, SCHEMA).domain()) == needed
