"""Relations over tables: the same answers as DuckDB has over the rows, and what is pushed down."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import NotSupportedError
from lakeport.arrow.filters.conditions import RowTest
from lakeport.frames.duckdb_scan import ScanDataset
from tests.lakeport.frames.samples import ROWS
from tests.lakeport.memory_session import memory_session, put


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with memory_session() as (session, connector), duckdb.connect() as made:
        put(connector, "t", ROWS, "part", chunk_rows=2)
        session.scan("mem.s.t").to_duckdb(made).create_view("ours")
        session.scan("mem.s.t").limit(3).to_duckdb(made).create_view("three")
        made.sql("SET TimeZone = 'UTC'")
        made.register("rows", ROWS)
        made.execute("CREATE TABLE plain AS SELECT * FROM rows")
        yield made


LEAVES = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(["i", "f", "n"]), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
              st.sampled_from(["0", "1", "2", "1.5", "'nan'::DOUBLE", "-0.0", "NULL"])),
    st.builds("{} {} {}".format, st.sampled_from(["s", "part"]), st.sampled_from(["=", "<>", "<", ">="]),
              st.sampled_from(["''", "'a'", "'b'", "'ż'"])),
    st.sampled_from(["i IN (1, 2)", "i NOT IN (0, 1)", "s IN ('a', NULL)", "s IS NULL", "f IS NOT NULL", "isnan(f)",
                     "s LIKE 'a%'", "d > DATE '2024-01-02'", "t <= TIMESTAMPTZ '2024-01-02 00:00:00+00'",
                     "i BETWEEN 1 AND 2", "i + 1 > 2", "i IS DISTINCT FROM 1"]),
)  # fmt: skip
PREDICATES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT ({})".format, inner),
    ),
    max_leaves=5,
)


@given(PREDICATES)
def test_random_queries_answer_as_over_the_rows(connection: duckdb.DuckDBPyConnection, predicate: str) -> None:
    query = "SELECT n, s FROM {} WHERE " + predicate + " ORDER BY n"
    assert connection.execute(query.format("ours")).fetchall() == connection.execute(query.format("plain")).fetchall()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM {}",
        "SELECT part, count(*), max(f)::VARCHAR FROM {} GROUP BY part ORDER BY part",
        "SELECT a.n FROM {0} a JOIN {0} b ON a.i = b.n WHERE b.s IS NULL ORDER BY a.n",
        "SELECT n FROM {} WHERE i = 1 ORDER BY f DESC, n LIMIT 3",
    ],
)
def test_queries_answer_as_over_the_rows(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    assert connection.execute(query.format("ours")).fetchall() == connection.execute(query.format("plain")).fetchall()


def test_a_filter_on_a_limited_scan_comes_after_the_limit(connection: duckdb.DuckDBPyConnection) -> None:
    numbers = sorted(row[0] for row in connection.execute("SELECT n FROM three").fetchall())
    found = connection.execute(f"SELECT n FROM three WHERE n >= {numbers[-1]}").fetchall()
    assert found == [(numbers[-1],)]


def test_columns_and_filter_are_pushed_down() -> None:
    asked: list[tuple[object, ...]] = []

    def open_reader(
        columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        asked.append((columns, None if needed is None else str(needed.domain()), limit))
        return open_rows(columns)

    with duckdb.connect() as connection:
        relation = connection.from_arrow(ScanDataset(ROWS.schema, open_reader, may_filter=True))
        relation.filter("i > 1 AND part IN ('a', 'b')").project("s").fetchall()
    [(columns, needed, limit)] = asked
    assert isinstance(columns, list)
    assert set(columns) == {"s", "i", "part"}
    assert sorted(str(needed).split(" and ")) == ["i in {(1, +inf)}", "part in {'a', 'b'}"]
    assert limit is None


def open_rows(
    columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
) -> pa.RecordBatchReader:
    return (ROWS if columns is None else ROWS.select(columns)).to_reader()


@pytest.mark.parametrize("asked", [None, pc.field("n") >= 0])
def test_no_more_is_read_than_is_taken(asked: pc.Expression | None) -> None:
    """A reader of pyarrow would read 1 GiB ahead."""
    read = 0

    def open_reader(
        columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal read
            for number in range(50):
                read += 1
                yield pa.record_batch([pa.array([number] * 1000)], names=["n"])

        return pa.RecordBatchReader.from_batches(schema, batches())

    schema = pa.schema([("n", pa.int64())])
    reader = ScanDataset(schema, open_reader, may_filter=True).scanner(columns=["n"], filter=asked).to_reader()
    for taken in range(1, 4):
        assert reader.read_next_batch().num_rows == 1000
        assert read == taken
    assert reader.read_all().num_rows == 47_000


def test_what_pyarrow_would_answer_with_no_rows_is_refused() -> None:
    dataset = ScanDataset(ROWS.schema, open_rows, may_filter=True)
    assert dataset.count_rows() == ROWS.num_rows
    assert dataset.to_table(columns=["n"]).num_rows == ROWS.num_rows
    for method in ("get_fragments", "filter", "replace_schema", "sort_by", "join", "join_asof"):
        with pytest.raises(NotSupportedError, match="to_arrow"):
            getattr(dataset, method)(None)
