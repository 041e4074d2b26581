"""Bloom filters of Parquet files, written by Arrow, against a brute-force check of the rows."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, Value, ValueSet
from connectors.toolkit.codecs.xxhash import xxh64
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file
from tests.sampling import examples

_FIRST_DAY, _FIRST_MOMENT = date(1890, 1, 1), datetime(1890, 1, 1)
_VALUES: dict[pa.DataType, st.SearchStrategy[Value]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int32(): st.integers(-50, 50) | st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1),
    pa.string(): st.text(max_size=3) | st.sampled_from(["", "ä" * 20, "x" * 40]),
    pa.binary(): st.binary(max_size=3),
    pa.date32(): st.dates(_FIRST_DAY, date(2030, 1, 1)),
    pa.timestamp("us"): st.datetimes(_FIRST_MOMENT, datetime(2030, 1, 1)),
    pa.timestamp("ms"): st.datetimes(_FIRST_MOMENT, datetime(2030, 1, 1)).map(lambda at: at.replace(microsecond=0)),
    pa.timestamp("us", "UTC"): st.datetimes(_FIRST_MOMENT, datetime(2030, 1, 1)).map(lambda at: at.replace(tzinfo=UTC)),
}
_TARGETS = {
    pa.int8(): pa.int64(),
    pa.int32(): pa.int64(),
    pa.int64(): pa.int32(),
    pa.timestamp("ms"): pa.timestamp("us"),
}
_ARROW_WRITES_BLOOMS = "bloom_filter_options" in inspect.signature(pq.ParquetWriter).parameters
_WRITTEN = pytest.mark.skipif(not _ARROW_WRITES_BLOOMS, reason="this pyarrow writes no Bloom filters")


def _write(path: Path, values: Sequence[object], kind: pa.DataType, group_rows: int) -> None:
    table = pa.table({"v": pa.array(values, kind)})
    options = {"v": {"ndv": 1000, "fpp": 0.001}}
    pq.write_table(table, path, row_group_size=group_rows, store_schema=False, bloom_filter_options=options)


def _read(path: Path, kind: pa.DataType, domain: Domain) -> list[Value | None]:
    column = ColumnHandle("v", kind)
    predicate = TupleDomain.with_column_domains({column: domain})
    with parquet_page_source(FileSystem(), whole_file(path, (column,), predicate=predicate)) as pages:
        found: list[Value | None] = pa.Table.from_batches(list(pages), pages.schema)["v"].to_pylist()
    return found


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # The test vectors of xxHash, and those that tools print for these words.
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_hashes_are_xxh64(content: bytes, expected: int) -> None:
    assert xxh64(content) == expected


@_WRITTEN
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_row_of_the_predicate_is_skipped(tmp_path: Path, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(_VALUES)))
    target = data.draw(st.sampled_from([kind, _TARGETS.get(kind, kind)]))
    values = data.draw(st.lists(st.none() | _VALUES[kind], min_size=9, max_size=9))
    _write(tmp_path / "file", values, kind, 3)
    every = _read(tmp_path / "file", target, Domain.all(target))
    present = [value for value in every if value is not None]
    chosen = data.draw(st.lists(st.sampled_from(present), max_size=6)) if present else []
    domain = Domain.create(ValueSet.of(target, chosen), data.draw(st.booleans()))
    given = _read(tmp_path / "file", target, domain)
    assert [v for v in given if domain.includes_value(v)] == [v for v in every if domain.includes_value(v)]


@_WRITTEN
@pytest.mark.parametrize(
    ("values", "absent"),
    [
        (pa.array([number * 2 for number in range(300)]), 301),
        (pa.array([number * 2 for number in range(300)], pa.int32()), 301),
        (pa.array([f"k{number * 2:04}" for number in range(300)]), "k0301"),
        (pa.array([date(2000, 1, 1) + timedelta(2 * number) for number in range(300)]), date(2000, 1, 2)),
        (
            pa.array([datetime(2000, 1, 1) + timedelta(2 * number) for number in range(300)], pa.timestamp("us")),
            datetime(2000, 1, 2),
        ),
    ],
)
def test_row_groups_without_the_value_are_skipped(tmp_path: Path, values: pa.Array, absent: Value) -> None:
    # Statistics tell nothing: each group spans all.
    shuffled = [values[number * 7 % 300].as_py() for number in range(300)]
    _write(tmp_path / "file", shuffled, values.type, 100)
    assert _read(tmp_path / "file", values.type, Domain.single_value(values.type, absent)) == []
    many = Domain.multiple_values(values.type, [absent, *shuffled[:5]])
    assert len(_read(tmp_path / "file", values.type, many)) == 100


@_WRITTEN
def test_a_filter_that_is_not_understood_skips_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    _write(path, [2, 4, 6], pa.int64(), 3)
    wanted = Domain.single_value(pa.int64(), 5)
    assert _read(path, pa.int64(), wanted) == []
    place = pq.read_metadata(path).row_group(0).column(0).bloom_filter_offset
    content = bytearray(path.read_bytes())
    # The hash is of a kind that the specification does not know.
    kinds = content.index(b"\x1c\x1c\x00\x00" * 3, place)
    content[kinds + 5] = 0x2C
    path.write_bytes(bytes(content))
    assert _read(path, pa.int64(), wanted) == [2, 4, 6]
