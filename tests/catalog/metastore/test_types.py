"""Hive's type text against the types that Hive's and Arrow's documents say."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.metastore.types import hive_type_text, parse_hive_type
from connector_spi.errors import ConnectorError, MetastoreError, NotSupportedError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tinyint", pa.int8()),
        ("SMALLINT", pa.int16()),
        ("int", pa.int32()),
        ("integer", pa.int32()),
        ("bigint", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("double precision", pa.float64()),
        ("decimal", pa.decimal128(10, 0)),
        ("decimal(5)", pa.decimal128(5, 0)),
        ("Decimal( 38 , 38 )", pa.decimal128(38, 38)),
        ("string", pa.string()),
        ("varchar(65535)", pa.string()),
        ("char(1)", pa.string()),
        ("binary", pa.binary()),
        ("boolean", pa.bool_()),
        ("date", pa.date32()),
        ("timestamp", pa.timestamp("us")),
        ("timestamp with local time zone", pa.timestamp("us", "UTC")),
        ("array<timestamp with local time zone>", pa.list_(pa.timestamp("us", "UTC"))),
        ("map<string,array<int>>", pa.map_(pa.string(), pa.list_(pa.int32()))),
        ("struct<>", pa.struct([])),
        ("struct<a:int,b:char(3)>", pa.struct([("a", pa.int32()), ("b", pa.string())])),
        ("struct< a : int , b : array< int > >", pa.struct([("a", pa.int32()), ("b", pa.list_(pa.int32()))])),
        ("struct<two words:int,x.y:int,ü-1:int>", pa.struct([(n, pa.int32()) for n in ("two words", "x.y", "ü-1")])),
        ("struct<`a:b`:int,`c``d`:int>", pa.struct([("a:b", pa.int32()), ("c`d", pa.int32())])),
        (
            "array<uniontype<int, UNIONTYPE<string,char(3)>>>",
            pa.list_(
                pa.struct(
                    [
                        ("tag", pa.int8()),
                        ("field0", pa.int32()),
                        ("field1", pa.struct([("tag", pa.int8()), ("field0", pa.string()), ("field1", pa.string())])),
                    ]
                )
            ),
        ),
        (
            "struct<int:int,map:struct<string:date>>",
            pa.struct([("int", pa.int32()), ("map", pa.struct([("string", pa.date32())]))]),
        ),
    ],
)
def test_reads_every_type(text: str, expected: pa.DataType) -> None:
    assert parse_hive_type(text) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("array<uniontype<int,void>>", "void"),
        ("void", "void"),
        ("interval_day_time", "interval_day_time"),
        ("struct<a:interval_year_month>", "interval_year_month"),
    ],
)
def test_refuses_by_name_what_it_does_not_read(text: str, name: str) -> None:
    with pytest.raises(NotSupportedError, match=name):
        parse_hive_type(text)


@pytest.mark.parametrize(
    "text",
    ["", "strin", "int int", "int>", "array<int", "array<>", "array<int,int>", "map<int>", "struct<a>",
     "struct<a:int,>", "struct<:int>", "uniontype", "uniontype<>", "uniontype<int,>",
     "decimal(39,1)", "decimal(5,6)", "decimal(0,0)", "decimal(1,2,3)",
     "decimal(a)", "decimal(", "varchar", "varchar(0)", "varchar(65536)", "char(256)",
     "decimal(-1)", "int(3)", "array<int>>"],
)  # fmt: skip
def test_refuses_what_is_no_type(text: str) -> None:
    with pytest.raises(MetastoreError):
        parse_hive_type(text)


@pytest.mark.parametrize(
    "arrow", [pa.uint64(), pa.time64("us"), pa.duration("s"), pa.null(), pa.date64(), pa.decimal256(50, 2)]
)
def test_writes_no_type_that_hive_lacks(arrow: pa.DataType) -> None:
    with pytest.raises(NotSupportedError, match="Hive has no type"):
        hive_type_text(arrow)


_simple = st.sampled_from(
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.bool_(),
     pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")]
)  # fmt: skip
_decimals = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: pa.decimal128(p, s)))
_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
_types = st.recursive(
    _simple | _decimals,
    lambda inner: (
        inner.map(pa.list_)
        | st.tuples(inner, inner).map(lambda pair: pa.map_(*pair))
        | st.lists(st.tuples(_names, inner), max_size=4, unique_by=lambda field: field[0]).map(pa.struct)
    ),
    max_leaves=12,
)


@given(_types)
def test_what_is_written_is_read_again(arrow: pa.DataType) -> None:
    assert parse_hive_type(hive_type_text(arrow)) == arrow


@given(st.text("abintsruc<>:,()`1 0map", max_size=40))
def test_any_text_is_a_type_or_an_error_in_words(text: str) -> None:
    with suppress(ConnectorError):
        parse_hive_type(text)
