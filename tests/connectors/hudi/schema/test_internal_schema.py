"""The JSON form of columns with ids, as the corpus and SerDeHelper have it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.schema.internal_schema import parse_internal_schema, parse_schema_history


def version(fields: list[dict[str, object]], number: int = 7) -> dict[str, object]:
    return {"max_column_id": 99, "version_id": number, "type": "record", "fields": fields}


def field(number: int, name: str, kind: object) -> dict[str, object]:
    return {"id": number, "name": name, "optional": True, "type": kind}


@pytest.mark.parametrize("mark", ["-", "_"])
def test_nested_columns_have_ids_throughout(mark: str) -> None:
    """The corpus has no arrays and maps: Hudi 1.1.1 writes an underscore, the main branch of its sources a hyphen."""
    record = {"type": "record", "fields": [field(12, "a", "int"), field(13, "b", "string")]}
    array = {"type": "array", f"element{mark}id": 20, "element": record, "element_optional": True}
    table = {
        "type": "map",
        f"key{mark}id": 30,
        "key": "string",
        f"value{mark}id": 31,
        "value": "long",
        "value_optional": True,
    }
    kind = version([field(5, "s", record), field(6, "l", array), field(7, "m", table)])
    parsed = parse_internal_schema(json.dumps(kind), "t")
    inner = pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.string())])
    assert parsed.arrow == pa.schema(
        [("s", inner), ("l", pa.list_(pa.field("element", inner))), ("m", pa.map_(pa.string(), pa.int64()))]
    )
    assert parsed.version == 7
    assert [child.id for child in parsed.fields[0].children] == [12, 13]
    assert [child.id for child in parsed.fields[1].children] == [20]
    assert [child.id for child in parsed.fields[2].children] == [30, 31]


@pytest.mark.parametrize(
    ("kind", "arrow"),
    [
        ("decimal(10, 2)", pa.decimal128(10, 2)),
        ("decimal_bytes(10, 2)", pa.decimal128(10, 2)),
        ("decimal_fixed(10, 2)[5]", pa.decimal128(10, 2)),
        ("fixed[16]", pa.binary()),
        ("timestamp-millis", pa.timestamp("ms", "UTC")),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("date", pa.date32()),
        ("FLOAT", pa.float32()),
    ],
)
def test_types(kind: str, arrow: pa.DataType) -> None:
    parsed = parse_internal_schema(json.dumps(version([field(0, "c", kind)])), "t")
    assert parsed.fields[0].type == arrow


def test_an_unknown_type_is_refused_and_names_the_column() -> None:
    nested = {"type": "record", "fields": [field(1, "shape", "geometry")]}
    with pytest.raises(NotSupportedError, match=r"'s\.shape'.*geometry") as caught:
        parse_internal_schema(json.dumps(version([field(0, "s", nested)])), "t")
    assert caught.value.code.name == "HUDI_SCHEMA_ON_READ"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"max_column_id": 3}',
        json.dumps(version([field(1, "a", "int"), field(1, "b", "int")])),
        json.dumps(version([field(1, "a", "int"), field(2, "a", "int")])),
    ],
)
def test_damaged_text_is_an_error(text: str) -> None:
    with pytest.raises(CorruptFileError, match="schema history"):
        parse_internal_schema(text, "t")


def test_a_history_comes_oldest_first() -> None:
    """Writers put the newest in front."""
    versions = [version([field(1, name, "int")], number) for number, name in ((9, "new"), (0, "old"), (4, "middle"))]
    history = parse_schema_history(json.dumps({"schemas": versions}), "t")
    assert [item.fields[0].name for item in history] == ["old", "middle", "new"]
