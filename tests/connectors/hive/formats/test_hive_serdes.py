"""Records that the SerDes of Hive 4.0.1 itself were given, and what they answered.

``hive_serde_answers.json`` holds for each SerDe and its properties the records (as Latin-1 text of their bytes) with
``SerDeUtils.getJSONString`` of what ``deserialize`` gave, ``null``, or ``ERROR`` with the exception. Left out are
timestamps of years that Hive prints wrong (before 1 and after 9999).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.errors import CorruptFileError
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde
from connectors.toolkit.schema.union_structs import is_union_struct

_Case = Mapping[str, object]
_CASES: list[_Case] = json.loads((Path(__file__).parent / "hive_serde_answers.json").read_text())


@pytest.mark.parametrize("case", _CASES, ids=lambda case: str(case["name"]))
def test_records_are_read_as_hive_reads_them(case: _Case) -> None:
    columns, types = (
        cast(list[str], case["columns"]),
        [parse_hive_type(text) for text in cast(list[str], case["types"])],
    )
    schema = pa.schema(list(zip(columns, types, strict=True)))
    properties = cast(Mapping[str, str], case["properties"])
    layout = RowLayout(schema, tuple(range(len(types))), properties, "UTC", "the file")
    decode = find_row_serde(str(case["serde"]), "the file").decoder(layout)
    good: list[tuple[bytes, list[object]]] = []
    for text, answer in cast(list[tuple[str, str]], case["rows"]):
        record = text.encode("latin-1")
        if answer.startswith("ERROR"):
            with pytest.raises(CorruptFileError):
                decode(pa.array([record], pa.binary()))
            continue
        expected = expected_row(answer, schema)
        assert decoded_rows(decode(pa.array([record], pa.binary())), schema) == [expected], record
        good.append((record, expected))
    # Together they go other ways than alone, and in a slice.
    together = pa.array([b"x", *(record for record, _ in good)], pa.binary()).slice(1)
    assert decoded_rows(decode(together), schema) == [expected for _, expected in good]


def decoded_rows(arrays: Sequence[pa.Array], schema: pa.Schema) -> list[list[object]]:
    """Rows of columns, in the form of ``canonical``; the arrays have to be sound."""
    columns = []
    for array, field in zip(arrays, schema, strict=True):
        array.validate(full=True)
        assert array.type == field.type
        values = array.cast(pa.string()) if pa.types.is_temporal(field.type) else array
        columns.append([canonical(value, field.type) for value in values.to_pylist()])
    return [list(row) for row in zip(*columns, strict=True)]


def expected_row(answer: str, schema: pa.Schema) -> list[object]:
    """The row that Hive printed."""
    # Hive writes keys of maps that are numbers without quotes.
    text = re.sub(r"([{,])(-?[0-9]+):", r'\1"\2":', answer)
    found = json.loads(text, parse_float=str, parse_constant=str, strict=False) or {}
    return [canonical(found.get(field.name), field.type) for field in schema]


def canonical(value: object, arrow: pa.DataType) -> object:
    """A value as Hive printed it, or as Arrow gives it, in one form."""
    if value is None:
        return None
    if is_union_struct(arrow):
        branches = cast(dict[str, object], value)
        # Hive prints the number and the value.
        tag = cast(int, branches["tag"]) if "tag" in branches else int(*branches)
        values = dict(branches) if "tag" in branches else {f"field{tag}": branches[str(tag)], "tag": tag}
        del values["tag"]
        chosen = canonical(values.pop(f"field{tag}"), arrow.field(f"field{tag}").type)
        assert not any(one is not None for one in values.values())
        return (tag, chosen)
    if pa.types.is_list(arrow):
        return [canonical(item, arrow.value_type) for item in cast(Sequence[object], value)]
    if pa.types.is_map(arrow):
        pairs = value.items() if isinstance(value, dict) else cast(Sequence[tuple[object, object]], value)
        return {str(key): canonical(item, arrow.item_type) for key, item in pairs}
    if pa.types.is_struct(arrow):
        fields = cast(Mapping[str, object], value)
        return {field.name: canonical(fields[field.name], field.type) for field in arrow}
    if pa.types.is_binary(arrow) and isinstance(value, str):
        return value.encode()
    if pa.types.is_floating(arrow):
        return str(pa.scalar(float(str(value)), pa.float64()).cast(arrow, safe=False).as_py())
    if pa.types.is_timestamp(arrow):
        whole, _, fraction = str(value).partition(".")
        return f"{whole}.{fraction.ljust(6, '0')[:6]}"
    if pa.types.is_decimal(arrow):
        return Decimal(str(value)).normalize()
    return str(value) if pa.types.is_date(arrow) else value
