"""Hive's binary values against an encoder that writes one value after the other."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive.formats.lazy.binary_serde import LazyBinaryRowSerDe
from connectors.hive.formats.row_serde import RowLayout
from connectors.toolkit.codecs.hadoop_vints import read_vint, read_vints, vint_chain
from connectors.toolkit.schema.union_structs import union_struct
from tests.connectors.hive.formats.hadoop_writer import lazy_binary_row, vint
from tests.sampling import examples

NUMBERS = st.one_of(st.integers(-130, 140), st.integers(-(1 << 63), (1 << 63) - 1))
DECIMALS = st.decimals(min_value=-(10**16), max_value=10**16, places=2).map(lambda one: one.quantize(Decimal("0.01")))
LEAVES: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int16(), st.integers(-(1 << 15), (1 << 15) - 1)),
    (pa.int32(), st.integers(-(1 << 31), (1 << 31) - 1)),
    (pa.int64(), NUMBERS),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), st.text(max_size=300, alphabet=st.characters(exclude_categories=["Cs"]))),
    (pa.binary(), st.binary(max_size=10)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.decimal128(20, 2), DECIMALS),
]


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[object]]:
    """A type and a strategy for its values, NULLs included."""
    kind = draw(st.sampled_from(["leaf", "leaf", "list", "map", "struct", "union"] if depth else ["leaf"]))
    if kind == "leaf":
        arrow, values = draw(st.sampled_from(LEAVES))
    elif kind == "list":
        inner, items = draw(typed(depth - 1))
        arrow, values = pa.list_(inner), st.lists(items, max_size=20)
    elif kind == "map":
        inner, items = draw(typed(depth - 1))
        arrow, values = pa.map_(pa.int32(), inner), st.lists(st.tuples(st.integers(-200, 200), items), max_size=9)
    elif kind == "union":
        branches = draw(st.lists(typed(depth - 1), min_size=1, max_size=4))
        arrow = union_struct([one[0] for one in branches])
        values = st.one_of(*(_tagged(tag, len(branches), one[1]) for tag, one in enumerate(branches)))
    else:
        fields = draw(st.lists(typed(depth - 1), min_size=1, max_size=10))
        names = [f"f{index}" for index in range(len(fields))]
        arrow = pa.struct(list(zip(names, (one[0] for one in fields), strict=True)))
        values = st.fixed_dictionaries(dict(zip(names, (one[1] for one in fields), strict=True)))
    return arrow, st.none() | values


def _tagged(tag: int, count: int, values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Unions of a branch."""
    none: dict[str, object] = {"tag": tag, **{f"field{at}": None for at in range(count)}}
    return values.map(lambda value: none | {f"field{tag}": value})


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[pa.DataType], list[list[object]]]:
    """Types of columns, and rows."""
    columns = draw(st.lists(typed(), min_size=1, max_size=10))
    rows = draw(st.lists(st.tuples(*(values for _, values in columns)), max_size=8))
    return [arrow for arrow, _ in columns], [list(row) for row in rows]


def decode_rows(types: list[pa.DataType], records: list[bytes], wanted: list[int]) -> list[list[object]]:
    declared = pa.schema([(f"c{index}", arrow) for index, arrow in enumerate(types)])
    decoder = LazyBinaryRowSerDe().decoder(RowLayout(declared, tuple(wanted), {}, "UTC", "the file"))
    arrays = decoder(pa.array(records, pa.binary()))
    for position, array in zip(wanted, arrays, strict=True):
        array.validate(full=True)
        assert array.type == types[position]
    return [list(row) for row in zip(*(array.to_pylist() for array in arrays), strict=True)]


@settings(max_examples=examples(60), deadline=None)
@given(tables(), st.data())
def test_rows_come_back(table: tuple[list[pa.DataType], list[list[object]]], data: st.DataObject) -> None:
    types, rows = table
    records = [lazy_binary_row(row, types) for row in rows]
    assert decode_rows(types, records, list(range(len(types)))) == rows
    wanted = sorted(data.draw(st.sets(st.integers(0, len(types) - 1), min_size=1)))
    assert decode_rows(types, records, wanted) == [[row[at] for at in wanted] for row in rows]


@settings(max_examples=examples(60), deadline=None)
@given(tables(), st.data())
def test_damaged_rows_end_in_values_or_in_an_error(
    table: tuple[list[pa.DataType], list[list[object]]], data: st.DataObject
) -> None:
    types, rows = table
    records = [bytearray(lazy_binary_row(row, types)) for row in rows]
    for record in records:
        record[data.draw(st.integers(0, len(record) - 1))] = data.draw(st.integers(0, 255))
        del record[data.draw(st.integers(1, len(record))) :]
    try:
        assert len(decode_rows(types, [bytes(record) for record in records], [0])) == len(rows)
    except CorruptFileError as error:
        assert error.message.startswith("the file holds a row")  # noqa: PT017


def test_fields_behind_the_end_of_a_row_are_null() -> None:
    types = [pa.int32(), pa.string(), *[pa.int64()] * 8]
    records = [lazy_binary_row([1, "a"], types[:2])]
    assert decode_rows(types, records, list(range(10))) == [[1, "a", *[None] * 8]]


def test_types_that_the_serde_does_not_write_are_refused() -> None:
    layout = RowLayout(pa.schema([("a", pa.list_(pa.duration("s")))]), (0,), {}, "UTC", "table s.t")
    with pytest.raises(NotSupportedError, match=r"table s\.t .*duration"):
        LazyBinaryRowSerDe().decoder(layout)


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=200))
def test_numbers_come_back(numbers: list[int]) -> None:
    parts = [vint(number) for number in numbers]
    data = np.frombuffer(b"".join(parts), dtype=np.uint8)
    starts = np.cumsum([0] + [len(part) for part in parts])[:-1]
    values, sizes = read_vints(data, starts)
    assert values.tolist() == numbers
    assert sizes.tolist() == [len(part) for part in parts]
    assert vint_chain(data).tolist() == numbers
    assert [read_vint(data.tobytes(), at)[0] for at in starts.tolist()] == numbers


def test_a_chain_of_numbers_that_is_cut_is_an_error() -> None:
    with pytest.raises(ValueError, match="goes on"):
        vint_chain(np.frombuffer(vint(5) + vint(1 << 40)[:-1], dtype=np.uint8))


def test_seconds_far_from_1970() -> None:
    moments = [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)]
    moments += [datetime.datetime(2038, 1, 19, 3, 14, 8), datetime.datetime(1969, 12, 31, 23, 59, 59, 1)]
    types: list[pa.DataType] = [pa.timestamp("us")]
    assert decode_rows(types, [lazy_binary_row([one], types) for one in moments], [0]) == [[one] for one in moments]
