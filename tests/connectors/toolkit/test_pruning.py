"""Skipping parts of files by statistics, against a brute-force check of the rows."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import Reader, whole_file
from tests.sampling import examples

_DAYS = st.dates(date(1500, 1, 1), date(9999, 12, 31))
_MOMENTS = st.datetimes(datetime(1890, 1, 1), datetime(2100, 1, 1))
_VALUES: dict[pa.DataType, st.SearchStrategy[Value]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.int32(): st.integers(-5, 5) | st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32) | st.sampled_from([0.0, -0.0, float("nan")]),
    pa.float64(): st.floats() | st.sampled_from([0.0, -0.0, float("nan"), float("inf")]),
    pa.decimal128(20, 3): st.decimals(-1000, 1000, places=3),
    pa.string(): st.text(max_size=3) | st.sampled_from(["", "a", "ä", "\U0001f600", "\uffff", "z" * 40]),
    pa.binary(): st.binary(max_size=3),
    pa.date32(): _DAYS,
    pa.timestamp("us"): _MOMENTS,
    pa.timestamp("us", "UTC"): _MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC)),
}
# What a table may have become since the file was written.
_WIDER = {
    pa.int8(): [pa.int16(), pa.int64()],
    pa.int32(): [pa.int64(), pa.float64(), pa.float32(), pa.decimal128(12, 1), pa.int8(), pa.string()],
    pa.int64(): [pa.float64(), pa.int16()],
    pa.float32(): [pa.float64()],
    pa.decimal128(20, 3): [pa.decimal128(30, 5), pa.decimal128(10, 1), pa.float64()],
}
_ROWS = 12


def _domains(arrow: pa.DataType, values: st.SearchStrategy[Value]) -> st.SearchStrategy[Domain]:
    def ranges(pair: tuple[Value, Value]) -> ValueSet:
        one, other = pair
        low, high = (
            (one, other)
            if ValueSet.of_ranges(arrow, [Range.less_or_equal(arrow, other)]).contains_value(one)
            else (other, one)
        )
        return ValueSet.of_ranges(arrow, [Range.between(arrow, low, True, high, True)])

    sets = st.one_of(
        st.lists(values, max_size=3).map(lambda chosen: ValueSet.of(arrow, chosen)),
        values.map(lambda value: ValueSet.of_ranges(arrow, [Range.less_than(arrow, value)])),
        values.map(lambda value: ValueSet.of_ranges(arrow, [Range.greater_or_equal(arrow, value)])),
        st.tuples(values, values).map(ranges),
        st.just(ValueSet.all(arrow)),
    )
    return st.builds(Domain.create, sets, st.booleans())


_TARGETS: dict[pa.DataType, st.SearchStrategy[Value]] = {
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.decimal128(12, 1): st.decimals(-10, 10, places=1),
    pa.decimal128(30, 5): st.decimals(-10, 10, places=5),
    pa.decimal128(10, 1): st.decimals(-10, 10, places=1),
}
_VALUES_OF_TARGETS: dict[pa.DataType, st.SearchStrategy[Value]] = {**_VALUES, **_TARGETS}


def _write_parquet(path: Path, data: pa.Table) -> None:
    pq.write_table(data, path, row_group_size=3, store_schema=False)


def _write_orc(path: Path, data: pa.Table) -> None:
    # Numbers are encoded at the end of a stripe only and count as nothing before; texts fill it.
    filler = pa.array([f"{row}" * 99 for row in range(data.num_rows)])
    orc.write_table(data.append_column("filler", filler), str(path), stripe_size=1, batch_size=3)


@pytest.mark.parametrize(
    ("write", "source"), [(_write_parquet, parquet_page_source), (_write_orc, orc_page_source)], ids=["parquet", "orc"]
)
@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_row_of_the_predicate_is_skipped(
    tmp_path: Path,
    write: Callable[[Path, pa.Table], None],
    source: Reader,
    data: st.DataObject,
) -> None:
    kind = data.draw(st.sampled_from(list(_VALUES)))
    target = data.draw(st.sampled_from([kind, *_WIDER.get(kind, [])]))
    values = data.draw(st.lists(st.none() | _VALUES[kind], min_size=_ROWS, max_size=_ROWS))
    domain = data.draw(_domains(target, _VALUES_OF_TARGETS[target]))
    path = tmp_path / "file"
    write(path, pa.table({"v": pa.array(values, kind)}))
    column = ColumnHandle("v", target)

    def read(predicate: TupleDomain[ColumnHandle]) -> list[Value | None]:
        with source(FileSystem(), whole_file(path, (column,), predicate=predicate)) as pages:
            found: list[Value | None] = pa.Table.from_batches(list(pages), pages.schema)["v"].to_pylist()
        return found

    every = read(TupleDomain.all())
    assert len(every) == _ROWS
    pruned = read(TupleDomain.with_column_domains({column: domain}))
    assert [repr(v) for v in pruned if domain.includes_value(v)] == [repr(v) for v in every if domain.includes_value(v)]


@pytest.mark.parametrize(
    ("write", "source"), [(_write_parquet, parquet_page_source), (_write_orc, orc_page_source)], ids=["parquet", "orc"]
)
@pytest.mark.parametrize(
    ("values", "wanted", "rows"),
    [
        (pa.array(range(12)), 4, 3),
        (pa.array([f"k{number:02}" for number in range(12)]), "k04", 3),
        (pa.array([Decimal(number) / 10 for number in range(12)], pa.decimal128(5, 1)), Decimal("0.4"), 3),
        (pa.array([date(2024, 1, 1) + timedelta(number) for number in range(12)]), date(2024, 1, 5), 3),
        (
            pa.array([datetime(2024, 1, 1 + number) for number in range(12)], pa.timestamp("us")),
            datetime(2024, 1, 5),
            3,
        ),
        # A NaN may be in any group, but not below a number.
        (pa.array([float(number) for number in range(12)]), 4.0, 6),
        (pa.array([None] * 3 + list(range(9)), pa.int64()), None, 3),
    ],
    ids=["int", "string", "decimal", "date", "timestamp", "double", "null"],
)
def test_groups_without_the_value_are_skipped(
    tmp_path: Path,
    write: Callable[[Path, pa.Table], None],
    source: Reader,
    values: pa.Array,
    wanted: Value | None,
    rows: int,
) -> None:
    path = tmp_path / "file"
    write(path, pa.table({"v": values}))
    column = ColumnHandle("v", values.type)
    domain = Domain.only_null(values.type) if wanted is None else Domain.single_value(values.type, wanted)
    predicate = TupleDomain.with_column_domains({column: domain})
    with source(FileSystem(), whole_file(path, (column,), predicate=predicate)) as pages:
        assert sum(batch.num_rows for batch in pages) == rows


_LATE = pytest.mark.parametrize(
    ("write", "source"), [(_write_parquet, parquet_page_source), (_write_orc, orc_page_source)], ids=["parquet", "orc"]
)


@_LATE
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_reading_the_filter_first_gives_whole_rows_and_all_of_the_predicate(
    tmp_path: Path,
    write: Callable[[Path, pa.Table], None],
    source: Reader,
    data: st.DataObject,
) -> None:
    kinds = [data.draw(st.sampled_from(list(_VALUES))) for _ in range(2)]
    values = [data.draw(st.lists(st.none() | _VALUES[kind], min_size=_ROWS, max_size=_ROWS)) for kind in kinds]
    domains = [data.draw(_domains(kind, _VALUES[kind])) for kind in kinds]
    rows = pa.table(
        {
            "at": pa.array(range(_ROWS)),
            "v": pa.array(values[0], kinds[0]),
            "list": pa.array([[row] * (row % 3) if row % 4 else None for row in range(_ROWS)]),
            "w": pa.array(values[1], kinds[1]),
        }
    )
    path = tmp_path / "file"
    write(path, rows)
    names = data.draw(st.permutations(rows.schema.names))
    asked = (*(ColumnHandle(name, rows.schema.field(name).type) for name in names), ColumnHandle("absent", pa.int8()))
    told = {ColumnHandle("v", kinds[0]): domains[0]}
    if data.draw(st.booleans()):
        told[ColumnHandle("w", kinds[1])] = domains[1]

    def read(predicate: TupleDomain[ColumnHandle], batch_rows: int) -> list[dict[str, object]]:
        asked_read = whole_file(path, asked, predicate, batch_rows=batch_rows, skips_rows=True)
        with source(FileSystem(), asked_read) as pages:
            batches = list(pages)
            assert all(0 < batch.num_rows <= batch_rows for batch in batches)
            found: list[dict[str, object]] = pa.Table.from_batches(batches, pages.schema).to_pylist()
        return found

    every = {row["at"]: repr(row) for row in read(TupleDomain.all(), 100)}
    given = read(TupleDomain.with_column_domains(told), data.draw(st.sampled_from([1, 2, 5, 100])))
    assert all(every[row["at"]] == repr(row) for row in given)
    places = [row["at"] for row in given]
    assert places == sorted(set(places), key=lambda place: cast(int, place))
    for at in range(_ROWS):
        if all(told[column].includes_value(rows[column.name][at].as_py()) for column in told):
            assert at in places


@_LATE
def test_other_columns_are_left_alone_where_no_row_passes(
    tmp_path: Path, write: Callable[[Path, pa.Table], None], source: Reader
) -> None:
    # Each group spans all values, so that statistics skip nothing.
    path = tmp_path / "file"
    write(path, pa.table({"v": [0, 3, 9] * 4, "text": ["x" * 100] * 12}))
    columns = (ColumnHandle("text", pa.string()), ColumnHandle("v", pa.int64()))
    found = []
    for wanted in (5, 3):
        predicate = TupleDomain.with_column_domains({columns[1]: Domain.single_value(pa.int64(), wanted)})
        with source(FileSystem(), whole_file(path, columns, predicate, skips_rows=True)) as pages:
            rows = pa.Table.from_batches(list(pages), pages.schema)
            found.append((rows["v"].to_pylist(), set(rows["text"].to_pylist()), pages.completed_bytes))
    assert found[0][0] == []
    assert found[1][:2] == ([3] * 4, {"x" * 100})
    if source is parquet_page_source:
        assert 0 < found[0][2] < found[1][2]


@pytest.mark.parametrize(
    ("writer", "skips"), [("parquet-mr version 1.6.0", False), ("parquet-mr version 1.13.1", True)]
)
def test_statistics_of_texts_that_old_writers_got_wrong_skip_nothing(tmp_path: Path, writer: str, skips: bool) -> None:
    # PARQUET-251: parquet-mr before 1.8 noted a buffer that was written over, and compared bytes with their sign.
    path = tmp_path / "file"
    _write_parquet(path, pa.table({"v": ["a"] * 3}))
    told = pq.read_metadata(path).created_by.encode()
    path.write_bytes(path.read_bytes().replace(told, writer.ljust(len(told)).encode()))
    column = ColumnHandle("v", pa.string())
    predicate = TupleDomain.with_column_domains({column: Domain.single_value(pa.string(), "b")})
    with parquet_page_source(FileSystem(), whole_file(path, (column,), predicate=predicate)) as pages:
        assert sum(batch.num_rows for batch in pages) == (0 if skips else 3)


def test_ranges_that_cover_a_file_give_each_row_once(tmp_path: Path) -> None:
    data = pa.table({"v": pa.array(range(1000))})
    buffer = io.BytesIO()
    pq.write_table(data, buffer, row_group_size=10)
    (tmp_path / "p").write_bytes(buffer.getvalue())
    orc.write_table(data, str(tmp_path / "o"), stripe_size=1, batch_size=10)
    for name, source in (("p", parquet_page_source), ("o", orc_page_source)):
        path = tmp_path / name
        size = path.stat().st_size
        for step in (1 + size // 7, 1 + size // 3, size):
            found: list[int] = []
            for start in range(0, size, step):
                part = FileRange(str(path), start, min(step, size - start))
                with source(FileSystem(), FileRead(part, (_V,))) as pages:
                    found += [value for batch in pages for value in batch.column(0).to_pylist()]
            assert sorted(found) == list(range(1000))


_V = ColumnHandle("v", pa.int64())
