"""Odd records of text, CSV, JSON, regular expressions and RCFiles, against what SerDes of Hive 4.0.1 read in them.

They are the smallest of some 250,000 at random that Lakeport once read otherwise (``record_answers``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive.formats.lazy.parameters import lazy_parameters
from connectors.hive.formats.lazy.texts import decode_column
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde

_Decode = Callable[[Sequence[Sequence[bytes]]], Sequence[pa.Array]]


@dataclass(frozen=True)
class _Case:
    serde: str
    schema: pa.Schema
    properties: Mapping[str, str]
    rows: Sequence[tuple[str, Sequence[bytes]]]


_BLOCKS = (
    (Path(__file__).parent / "record_answers" / "answers.tsv").read_text().removeprefix("case\t").split("\ncase\t")
)


@pytest.mark.parametrize("block", _BLOCKS, ids=lambda block: block.splitlines()[0].rsplit(".")[-1])
def test_records_are_read_as_hive_reads_them(block: str) -> None:
    case = _case(block)
    decode = _decoder(case)
    good: list[tuple[Sequence[bytes], list[object]]] = []
    for answer, record in case.rows:
        if answer in ("ERROR", "VARIES"):
            with pytest.raises(CorruptFileError):
                decode([record])
            continue
        # The answer for a row of NULLs may be NULL.
        found = json.loads(answer) or [None] * len(case.schema)
        expected = [_hive_value(*pair) for pair in zip(found, case.schema.types, strict=True)]
        assert _rows(decode([record]), case.schema) == [expected], record
        good.append((record, expected))
    # Together they go other ways than alone.
    assert _rows(decode([record for record, _ in good]), case.schema) == [expected for _, expected in good]


def test_the_separator_of_elements_may_have_the_name_that_hive_2_gives_it() -> None:
    # Answers of Hive 2.3.10; Hive 4 knows the other name alone, and renames it when a metastore is upgraded.
    schema = pa.schema([("c0", pa.list_(pa.string())), ("c1", pa.map_(pa.string(), pa.int32()))])
    properties = {"colelction.delim": "-", "field.delim": ","}
    layout = RowLayout(schema, (0, 1), properties, "UTC", "t")
    decode = find_row_serde("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "t").decoder(layout)
    lists, maps = decode(pa.array([b"a-b,x\x031-y\x032", b"a\x02b,x\x031"]))
    assert lists.to_pylist() == [["a", "b"], ["a\x02b"]]
    assert maps.to_pylist() == [[("x", 1), ("y", 2)], [("x", 1)]]


def test_an_escape_that_is_a_separator_is_refused() -> None:
    properties = {"field.delim": "|", "mapkey.delim": "#", "escape.delim": "#"}
    serde = find_row_serde("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "t")
    plain, nested = pa.schema([("c", pa.string())]), pa.schema([("c", pa.map_(pa.string(), pa.string()))])
    (column,) = serde.decoder(RowLayout(plain, (0,), properties, "UTC", "t"))(pa.array([b"a#|b"]))
    assert column.to_pylist() == ["a|b"]
    with pytest.raises(NotSupportedError, match=r"escape\.delim"):
        serde.decoder(RowLayout(nested, (0,), properties, "UTC", "t"))
    with pytest.raises(NotSupportedError, match=r"escape\.delim"):
        serde.decoder(RowLayout(plain, (0,), properties | {"field.delim": "#"}, "UTC", "t"))


def _case(block: str) -> _Case:
    (serde, types, told), *lines = [line.split("\t") for line in block.splitlines()]
    pairs = [pair.split("=", 1) for pair in told.split(";") if pair]
    return _Case(
        serde,
        pa.schema([(f"c{at}", parse_hive_type(kind)) for at, kind in enumerate(types.split(";"))]),
        {key: _bytes(value).decode() for key, value in pairs},
        [(answer, [_bytes(cell) for cell in cells]) for _, answer, *cells in lines],
    )


def _decoder(case: _Case) -> _Decode:
    if "Columnar" in case.serde:
        told = lazy_parameters(case.properties, "UTC", "the file")
        return lambda rows: [
            decode_column(pa.array([row[at] for row in rows], pa.binary()), kind, told)
            for at, kind in enumerate(case.schema.types)
        ]
    layout = RowLayout(case.schema, tuple(range(len(case.schema))), case.properties, "UTC", "the file")
    decode = find_row_serde(case.serde, "the file").decoder(layout)
    return lambda rows: decode(pa.array([row[0] for row in rows], pa.binary()))


def _rows(arrays: Sequence[pa.Array], schema: pa.Schema) -> list[list[object]]:
    columns = []
    for array, kind in zip(arrays, schema.types, strict=True):
        array.validate(full=True)
        assert array.type == kind
        columns.append([_own_value(value, kind) for value in array])
    return [list(row) for row in zip(*columns, strict=True)]


def _own_value(value: pa.Scalar, kind: pa.DataType) -> object:
    if not value.is_valid:
        return None
    if pa.types.is_struct(kind):
        return [_own_value(value[field.name], field.type) for field in kind]
    if pa.types.is_list(kind):
        return [_own_value(item, kind.value_type) for item in value.values]
    if pa.types.is_map(kind):
        return [
            (_own_value(entry["key"], kind.key_type), _own_value(entry["value"], kind.item_type))
            for entry in value.values
        ]
    if pa.types.is_temporal(kind):
        return _fraction(value.cast(pa.string()).as_py().removesuffix("Z"), kind)
    if pa.types.is_floating(kind):
        return str(value.as_py())
    return value.as_py().hex() if pa.types.is_binary(kind) else value.as_py()


def _hive_value(value: object, kind: pa.DataType) -> object:
    """A value as Hive gave it, in the form of ``_own_value``."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return [
            _hive_value(*pair) for pair in zip(cast(list[object], value), (field.type for field in kind), strict=True)
        ]
    if pa.types.is_list(kind):
        return [_hive_value(item, kind.value_type) for item in cast(list[object], value)]
    if pa.types.is_map(kind):
        pairs = cast(list[tuple[object, object]], value)
        return [(_hive_value(key, kind.key_type), _hive_value(item, kind.item_type)) for key, item in pairs]
    text = str(value)
    if pa.types.is_temporal(kind):
        return _fraction(text.removesuffix(" UTC"), kind)
    if pa.types.is_floating(kind):
        return str(float(np.float32(text)) if kind == pa.float32() else float(text))
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_integer(kind):
        return int(text)
    return text == "true" if pa.types.is_boolean(kind) else text


def _fraction(text: str, kind: pa.DataType) -> str:
    """A time with six digits of its second."""
    if pa.types.is_date(kind):
        return text
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.ljust(6, '0')[:6]}"


def _bytes(text: str) -> bytes:
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
