"""Columns found by their ids, and values altered to other types as Hudi alters them."""

from __future__ import annotations

import json
from datetime import date

import pyarrow as pa
import pytest

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hudi.schema.evolution import evolve, java_text
from connectors.hudi.schema.internal_schema import InternalSchema, parse_internal_schema
from tests.connectors.hudi.schema.test_internal_schema import field, version


def schema(*fields: dict[str, object]) -> InternalSchema:
    return parse_internal_schema(json.dumps(version(list(fields))), "t")


def record(*fields: dict[str, object]) -> dict[str, object]:
    return {"type": "record", "fields": list(fields)}


def altered(query: InternalSchema, written: InternalSchema, rows: pa.Array, name: str = "c") -> list[object]:
    """The values of a column of the query, of rows of the column that it was."""
    column = ColumnHandle(name, query.arrow.field(name).type)
    [found] = evolve(query, written, [column], "the file")
    assert found.written is not None
    made = found.adapt(rows.cast(found.written.type), len(rows))
    assert made.type == column.type
    values: list[object] = made.to_pylist()
    return values


def test_a_renamed_column_is_found_and_a_name_given_anew_is_not() -> None:
    written = schema(field(5, "a", "int"), field(6, "b", "int"))
    query = schema(field(6, "a", "int"), field(9, "b", "int"))
    first, second = evolve(query, written, [ColumnHandle("a", pa.int32()), ColumnHandle("b", pa.int32())], "the file")
    assert first.written == ColumnHandle("b", pa.int32())
    assert not first.is_same
    assert second.written is None
    assert second.adapt(None, 2).to_pylist() == [None, None]


def test_fields_of_a_record_are_renamed_dropped_moved_and_added_anew() -> None:
    written = schema(field(5, "c", record(field(6, "a", "int"), field(7, "b", "string"), field(8, "n", "int"))))
    query = schema(field(5, "c", record(field(8, "a", "long"), field(6, "a2", "int"), field(9, "b", "string"))))
    rows = pa.array([{"a": 1, "b": "x", "n": 2}, None, {"a": None, "b": "y", "n": 3}], written.arrow.field("c").type)
    column = ColumnHandle("c", query.arrow.field("c").type)
    [found] = evolve(query, written, [column], "the file")
    assert found.written == ColumnHandle("c", pa.struct([("n", pa.int32()), ("a", pa.int32())]))
    read = pa.StructArray.from_arrays(
        [rows.field("n"), rows.field("a")], fields=list(found.written.type), mask=rows.is_null()
    )
    assert found.adapt(read, 3).to_pylist() == [{"a": 2, "a2": 1, "b": None}, None, {"a": 3, "a2": None, "b": None}]


def test_a_narrowed_record_without_a_known_field_keeps_its_nulls() -> None:
    written = schema(field(5, "c", record(field(6, "a", "int"))))
    query = schema(field(5, "c", record(field(6, "a", "int"), field(7, "b", "int"))))
    [found] = evolve(query, written, [ColumnHandle("c", pa.struct([("b", pa.int32())]))], "the file")
    rows = pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())]))
    assert found.adapt(rows, 2).to_pylist() == [{"b": None}, None]


def test_elements_and_values_are_altered() -> None:
    def one_column(name: str, kind: str) -> InternalSchema:
        inner = record(field(8, name, kind))
        array = {"type": "array", "element-id": 6, "element": inner}
        return schema(field(5, "c", {"type": "map", "key-id": 10, "key": "string", "value-id": 11, "value": array}))

    written, query = one_column("old", "int"), one_column("new", "string")
    rows = pa.array([[("k", [{"old": 1}, None])], None, []], written.arrow.field("c").type)
    assert altered(query, written, rows) == [[("k", [{"new": "1"}, None])], None, []]


@pytest.mark.parametrize(
    ("source", "target", "values", "expected"),
    [
        ("int", "long", [1, None], [1, None]),
        ("int", "double", [3], [3.0]),
        ("long", "string", [-5], ["-5"]),
        # Double.valueOf(value + "") in SparkInternalSchemaConverter and HoodieAvroUtils.
        ("float", "double", [1.1, None], [1.1, None]),
        ("date", "string", [date(1960, 1, 2)], ["1960-01-02"]),
    ],
)
def test_types_are_altered_as_hudi_does(source: str, target: str, values: list[object], expected: list[object]) -> None:
    written, query = schema(field(5, "c", source)), schema(field(5, "c", target))
    rows = pa.array(values, written.arrow.field("c").type)
    assert altered(query, written, rows) == expected


def test_numbers_become_the_text_that_java_writes() -> None:
    """Expected: Double.toString and Float.toString of JDK 19 and later."""
    nan, infinity = float("nan"), float("inf")
    values = [1.5, None, 10.0, 1e7, 1e10, 1.5e-5, 0.001, -0.0, 0.0, nan, -infinity, 9999999.0, 123456789.125]
    assert java_text(pa.array(values, pa.float64())).to_pylist() == [
        "1.5", None, "10.0", "1.0E7", "1.0E10", "1.5E-5", "0.001", "-0.0", "0.0", "NaN", "-Infinity", "9999999.0",
        "1.23456789125E8",
    ]  # fmt: skip
    assert java_text(pa.array([1.1, 3.4028235e38], pa.float32())).to_pylist() == ["1.1", "3.4028235E38"]


@pytest.mark.parametrize(
    ("source", "target"), [("string", "int"), ("double", "float"), ("string", "date"), ("int", "decimal(5, 0)")]
)
def test_other_changes_are_refused_by_name(source: str, target: str) -> None:
    written, query = schema(field(5, "c", source)), schema(field(5, "c", target))
    with pytest.raises(NotSupportedError, match="column 'c' of the file was altered") as caught:
        evolve(query, written, [ColumnHandle("c", query.arrow.field("c").type)], "the file")
    assert caught.value.code.name == "HUDI_SCHEMA_ON_READ"
