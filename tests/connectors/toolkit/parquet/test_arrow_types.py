"""Files whose metadata hold an Arrow schema: they are read by the table's types, whatever the writer had in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from connectors.toolkit.parquet.reader import parquet_page_source, read_parquet_schema
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file

_ID = ColumnHandle("id", pa.int64())
_INSTANT = pa.timestamp("us", "UTC")
_MOMENT = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
_LENGTH = timedelta(days=1, microseconds=5)

_Shown = Callable[[Any], object]


def _same(value: object) -> object:
    return value


# What the column is in memory, what it is in the table, two values, and what the table shows of one.
_LEAVES: tuple[tuple[pa.DataType, pa.DataType, tuple[object, object], _Shown], ...] = (
    *((arrow, pa.string(), ("", "zwölf Bytes und mehr"), _same) for arrow in (
        pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint32(), pa.large_string()), pa.json_(), pa.opaque(pa.string(), "type", "vendor"),
    )),
    *((arrow, pa.binary(), (b"", b"\xff\x00 and more than twelve"), _same) for arrow in (
        pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int16(), pa.binary()),
    )),
    (pa.binary(3), pa.binary(), (b"abc", b"\xff\x00\x01"), _same),
    (pa.uuid(), pa.binary(), (b"0123456789abcdef", b"\xff" * 16), _same),
    *((arrow, table, (0, 100), _same) for arrow, table in (
        (pa.int8(), pa.int8()), (pa.uint8(), pa.int16()), (pa.uint16(), pa.int32()), (pa.uint32(), pa.int64()),
        (pa.int16(), pa.int32()), (pa.dictionary(pa.int32(), pa.int64()), pa.int64()),
    )),
    (pa.uint64(), pa.decimal128(20, 0), (0, 2**64 - 1), Decimal),
    (pa.bool8(), pa.int8(), (0, 1), _same),
    (pa.float16(), pa.float32(), (0.5, -2048.0), _same),
    *((arrow, pa.decimal128(arrow.precision, arrow.scale), (Decimal("-1.25"), Decimal("0.75")), _same) for arrow in (
        pa.decimal32(7, 2), pa.decimal64(15, 2), pa.decimal128(30, 2), pa.decimal256(38, 2),
    )),
    (pa.date64(), pa.date32(), (date(1969, 1, 2), date(2024, 2, 29)), _same),
    *((pa.timestamp(unit, zone), _INSTANT, (_MOMENT.replace(microsecond=0), _MOMENT.replace(microsecond=0, year=1931)),
       _same) for unit in ("s", "ms", "us", "ns") for zone in ("UTC", "Asia/Kathmandu", "+07:30", "-00:01")),
    *((pa.timestamp(unit), pa.timestamp("us"), (datetime(2024, 1, 2), datetime(1931, 1, 2)), _same)
      for unit in ("s", "ms", "us", "ns")),
    (pa.duration("us"), pa.int64(), (_LENGTH, -_LENGTH), lambda value: value // timedelta(microseconds=1)),
    (pa.duration("s"), pa.int64(), (timedelta(1), timedelta(-1)), lambda value: value // timedelta(seconds=1)),
    (pa.time64("us"), pa.time64("us"), (time(1, 2, 3, 4), time(23)), _same),
    (pa.time32("s"), pa.time64("us"), (time(1, 2, 3), time(23)), _same),
)  # fmt: skip
_LISTS: tuple[Callable[[pa.DataType], pa.DataType], ...] = (
    pa.list_, pa.large_list, pa.list_view, pa.large_list_view, lambda arrow: pa.list_(arrow, 2)
)  # fmt: skip


class _Column:
    """A column in memory, and how a table shows it."""

    def __init__(self, arrow: pa.DataType, table: pa.DataType, values: st.SearchStrategy[Any], shown: _Shown) -> None:
        self.arrow = arrow
        self.table = table
        self.values = st.none() | values
        self._shown = shown

    def shown(self, value: object) -> object:
        return None if value is None else self._shown(value)


def _leaf(at: int) -> _Column:
    arrow, table, values, shown = _LEAVES[at]
    return _Column(arrow, table, st.sampled_from(values), shown)


def _list_of(inner: _Column, make: Callable[[pa.DataType], pa.DataType]) -> _Column:
    # Arrow makes no views of lists of extensions.
    views = make in (pa.list_view, pa.large_list_view)
    arrow = make(_stored(inner.arrow) if views else inner.arrow)
    fixed = 2 if pa.types.is_fixed_size_list(arrow) else None
    values = st.lists(inner.values, min_size=fixed or 0, max_size=fixed or 3)
    return _Column(arrow, pa.list_(inner.table), values, lambda value: [inner.shown(one) for one in value])


def _struct_of(parts: list[_Column]) -> _Column:
    named = {f"f{number}": part for number, part in enumerate(parts)}
    return _Column(
        pa.struct([(name, part.arrow) for name, part in named.items()]),
        pa.struct([(name, part.table) for name, part in named.items()]),
        st.fixed_dictionaries({name: part.values for name, part in named.items()}),
        lambda value: {name: part.shown(value[name]) for name, part in named.items()},
    )


def _map_of(items: _Column) -> _Column:
    return _Column(
        pa.map_(pa.string_view(), items.arrow),
        pa.map_(pa.string(), items.table),
        st.lists(st.tuples(st.sampled_from("ab"), items.values), max_size=2, unique_by=lambda pair: pair[0]),
        lambda value: [(key, items.shown(item)) for key, item in value],
    )


_COLUMNS = st.recursive(
    st.integers(0, len(_LEAVES) - 1).map(_leaf),
    lambda inner: st.one_of(
        st.builds(_list_of, inner, st.sampled_from(_LISTS)),
        st.builds(_struct_of, st.lists(inner, min_size=1, max_size=3)),
        st.builds(_map_of, inner),
    ),
    max_leaves=4,
)


def _stored(arrow: pa.DataType) -> pa.DataType:
    """A type without extensions, of which Arrow makes no nested arrays."""
    if isinstance(arrow, pa.BaseExtensionType):
        return arrow.storage_type
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_stored(field.type)) for field in arrow])
    if pa.types.is_map(arrow):
        return pa.map_(arrow.key_type, _stored(arrow.item_type))
    if pa.types.is_nested(arrow):
        make = next(one for one in _LISTS if one(pa.null()).id == arrow.id)
        return make(_stored(arrow.value_type))
    return arrow


def _write(path: Path, column: _Column, values: list[object]) -> None:
    stored = pa.array(values, _stored(column.arrow))
    table = pa.table(
        {"id": range(len(values)), "c": stored if stored.type == column.arrow else stored.cast(column.arrow)}
    )
    pq.write_table(table, path, row_group_size=7)


def _read(read: FileRead) -> list[dict[str, object]]:
    with parquet_page_source(FileSystem(), read) as pages:
        batches = list(pages)
    for batch in batches:
        batch.validate(full=True)
        assert batch.schema == read.schema
    return pa.Table.from_batches(batches, read.schema).to_pylist()  # type: ignore[no-any-return]


def _check(path: Path, column: _Column, values: list[object]) -> None:
    _write(path, column, values)
    asked = ColumnHandle("c", column.table)
    expected = [{"id": number, "c": column.shown(value)} for number, value in enumerate(values)]
    assert _read(whole_file(path, (_ID, asked), batch_rows=3)) == expected
    # Late: the columns of the filter are decoded first.
    chosen = TupleDomain.with_column_domains({_ID: Domain.multiple_values(pa.int64(), [1, 4])})
    late = _read(whole_file(path, (_ID, asked), chosen, skips_rows=True))
    assert [row for row in late if row["id"] in (1, 4)] == [expected[at] for at in (1, 4)]


@pytest.mark.parametrize("at", range(len(_LEAVES)), ids=lambda at: str(_LEAVES[at][0]))
@pytest.mark.parametrize("shape", ["plain", "list", "struct"])
def test_each_type(tmp_path: Path, at: int, shape: str) -> None:
    one, other = _LEAVES[at][2]
    column, values = _leaf(at), [one, other, None, one, other, None]
    if shape == "list":
        column, values = _list_of(column, pa.list_), [[one, None], [], None, [other], [one, other], [None]]
    if shape == "struct":
        column, values = _struct_of([column]), [None if value is None else {"f0": value} for value in values]
    _check(tmp_path / "f.parquet", column, values)


@given(st.data())
def test_any_nested_type(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    column = data.draw(_COLUMNS)
    values = data.draw(st.lists(column.values, min_size=5, max_size=12))
    path = tmp_path_factory.mktemp("any") / "f.parquet"
    try:
        _write(path, column, values)
    except (pa.ArrowNotImplementedError, pa.ArrowIndexError):
        reject()  # pyarrow writes neither views nor dictionaries of NULLs alone in a struct
    _check(path, column, values)


def test_a_narrowed_struct_with_views(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    inner = pa.struct([("x", pa.string_view()), ("y", pa.list_view(pa.binary_view())), ("z", pa.duration("ns"))])
    pq.write_table(pa.table({"c": pa.array([{"x": "a", "y": [b"b"], "z": 5}, None], inner)}), path)
    asked = ColumnHandle("c", pa.struct([("z", pa.int64()), ("y", pa.list_(pa.binary()))]))
    assert _read(whole_file(path, (asked,))) == [{"c": {"z": 5, "y": [b"b"]}}, {"c": None}]


def test_the_schema_is_that_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    arrow = {"a": pa.string_view(), "b": pa.large_list(pa.large_binary()), "c": pa.timestamp("ms", "+01:00")}
    pq.write_table(pa.table({name: pa.nulls(1, one) for name, one in arrow.items()}), path)
    found = read_parquet_schema(FileSystem(), str(path))
    assert [one.type for one in found] == [
        pa.string(),
        pa.list_(pa.field("element", pa.binary())),
        pa.timestamp("ms", "UTC"),
    ]


def test_an_arrow_schema_that_arrow_cannot_read_is_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"id": [1, 2]}), path)
    content = path.read_bytes()
    # The text of the schema follows the name of its entry.
    at = content.rindex(b"ARROW:schema") + 60
    path.write_bytes(content[:at] + b"AAAAAAAAAAAA" + content[at + 12 :])
    with pytest.raises(OSError, match="flatbuffer"):
        pq.ParquetFile(path)
    assert _read(whole_file(path, (_ID,))) == [{"id": 1}, {"id": 2}]


def test_a_long_footer(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    names = [f"column_{number:04}" for number in range(1500)]
    pq.write_table(pa.table({name: pa.array([name], pa.string_view()) for name in names}), path)
    columns = tuple(ColumnHandle(name, pa.string()) for name in (names[3], names[1400]))
    assert _read(whole_file(path, columns)) == [{names[3]: names[3], names[1400]: names[1400]}]
