"""Records of single values that are decoded all at once, against fastavro, which reads one after the other."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.toolkit.avro.flat_records import LEAST_RECORDS, read_flat_records
from connectors.toolkit.avro.record_starts import record_starts, whole_records
from connectors.toolkit.avro.records import AvroRecords, frame_records, read_avro_table
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.avro.wire_bytes import UnusualError, WireBytes
from tests.connectors.toolkit.avro.test_records import TYPES, encoded, nested, record
from tests.sampling import examples

Row = Mapping[str, object]
# Without lists, maps and records.
FLAT = [form for kind in TYPES for form in nested(kind)[:3]]


def flat(
    schema: Mapping[str, object], bodies: Sequence[bytes], counts: Sequence[int], target: pa.Schema
) -> pa.Table | None:
    try:
        found = read_flat_records(AvroRecordSchema(json.dumps(schema)), bodies, counts, target)
    except pa.ArrowException:
        return None
    if found is None:
        return None
    table = pa.Table.from_arrays(found, schema=target)
    table.validate(full=True)
    return table


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_columns_hold_what_was_written(data: st.DataObject) -> None:
    forms = data.draw(st.lists(st.sampled_from(FLAT), min_size=1, max_size=4))
    # A name that a type has twice stands for one type.
    forms = [
        form
        for at, form in enumerate(forms)
        if not any(_name(form[0]) == _name(f[0]) for f in forms[:at] if _name(f[0]))
    ]
    schema = record(**{f"f{at}": form[0] for at, form in enumerate(forms)})
    row = st.fixed_dictionaries({f"f{at}": form[2] for at, form in enumerate(forms)})
    stretches = data.draw(st.lists(st.lists(row, min_size=1, max_size=6), min_size=1, max_size=3))
    asked = data.draw(st.sets(st.sampled_from(range(len(forms))), min_size=1))
    target = pa.schema([(f"f{at}", forms[at][1]) for at in sorted(asked)])
    bodies = [frame_records(encoded(schema, list(rows))) for rows in stretches]
    met = flat(schema, bodies, [len(rows) for rows in stretches], target)
    expected = [{name: one[name] for name in target.names} for rows in stretches for one in rows]
    # What looks like the beginning of a record is left to others where it is none.
    assert met is None or met.to_pylist() == expected


SCHEMA = record(
    time=["null", "string"],
    key="string",
    number=["null", "long"],
    flag=["boolean", "null"],
    price="double",
    note="bytes",
)
TARGET = pa.schema(
    [("key", pa.string()), ("number", pa.int64()), ("flag", pa.bool_()), ("price", pa.float64()), ("note", pa.binary())]
)


def rows(count: int) -> list[Row]:
    """Rows with numbers and texts of all lengths, and some NULLs."""
    random = np.random.default_rng(count)
    return [
        {
            "time": "20240101000000000",
            "key": f"key-{at}" * int(random.integers(0, 30)),
            "number": None if at % 7 == 3 else int(random.integers(-(2**62), 2**62)) >> int(random.integers(0, 62)),
            "flag": None if at % 5 == 1 else at % 2 == 0,
            "price": at / 3,
            "note": bytes([at % 256]) * int(random.integers(0, 20)),
        }
        for at in range(count)
    ]


def test_many_records_of_several_stretches() -> None:
    stretches = [rows(500), rows(1), rows(9_000)]
    bodies = [frame_records(encoded(SCHEMA, part)) for part in stretches]
    met = flat(SCHEMA, bodies, [len(part) for part in stretches], TARGET)
    assert met is not None
    assert met.to_pylist() == [{name: one[name] for name in TARGET.names} for part in stretches for one in part]


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1, -(2**55), 2**55, 2**55 - 1, 2**56, -1, 0, 63, 64])
def test_numbers_of_every_length(number: int) -> None:
    body = frame_records(encoded(record(n="long", last="string"), [{"n": number, "last": "x"}]))
    met = flat(record(n="long", last="string"), [body], [1], pa.schema([("n", pa.int64()), ("last", pa.string())]))
    assert met is not None
    assert met.to_pylist() == [{"n": number, "last": "x"}]


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_damaged_records_are_not_taken_for_others(data: st.DataObject) -> None:
    """Some bytes are changed: what is read, if anything, is what each record says, which ends where its length says."""
    body = bytearray(frame_records(encoded(SCHEMA, rows(6))))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] = data.draw(st.integers(0, 255))
    everything = pa.schema([("time", pa.string()), *TARGET])
    met = flat(SCHEMA, [bytes(body)], [6], everything)
    if met is not None:
        expected = [{name: one[name] for name in everything.names} for one in _one_by_one(bytes(body))]
        assert repr(met.to_pylist()) == repr(expected)


def test_a_text_that_begins_like_a_record_is_read_right() -> None:
    schema = record(key="string", note="string")
    first = encoded(schema, [{"key": "abcdefgh", "note": ""}])[0][:8].decode()
    made: list[Row] = [{"key": "abcdefgh", "note": f"{'x' * 40}{first}"} for _ in range(LEAST_RECORDS)]
    body = frame_records(encoded(schema, made))
    target = pa.schema([("note", pa.string())])
    table = read_avro_table(AvroRecords(AvroRecordSchema(json.dumps(schema)), body, len(made)), target)
    assert table.column("note").to_pylist() == [row["note"] for row in made]


def test_lengths_that_do_not_add_up_are_noticed() -> None:
    body = frame_records(encoded(SCHEMA, rows(50)))
    assert len(record_starts(WireBytes([body]), [len(body)], [50])) == 51
    for wrong in (49, 51):
        with pytest.raises(UnusualError):
            record_starts(WireBytes([body]), [len(body)], [wrong])
    for cut in range(1, 40):
        with pytest.raises(UnusualError):
            record_starts(WireBytes([body[:-cut]]), [len(body) - cut], [50])


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 5, 50, 500])
def test_the_last_whole_record_is_found(cut: int) -> None:
    datums = encoded(SCHEMA, rows(300))
    body = frame_records(datums)
    ends = [sum(len(datum) + 4 for datum in datums[:count]) for count in range(301)]
    whole = max(count for count in range(301) if ends[count] <= len(body) - cut)
    window = pa.py_buffer(body[: len(body) - cut])
    assert whole_records(window, 300) == (ends[whole], whole)
    assert whole_records(window, whole - 1) is None


def test_a_record_that_is_not_whole_is_no_record() -> None:
    assert whole_records(pa.py_buffer(frame_records([b"x" * 100])[:50]), 1) is None


def test_texts_that_are_not_utf8_are_refused() -> None:
    schema = record(key="string")
    body = frame_records([b"\x04\xff\xfe"] * LEAST_RECORDS)
    with pytest.raises(ValueError, match="UTF8"):
        read_avro_table(
            AvroRecords(AvroRecordSchema(json.dumps(schema)), body, LEAST_RECORDS), pa.schema([("key", pa.string())])
        )


def test_decimals_beyond_their_precision_are_refused() -> None:
    kind = {"type": "fixed", "name": "d", "size": 7, "logicalType": "decimal", "precision": 15, "scale": 2}
    schema = record(d=["null", kind])
    made: list[Row] = [{"d": Decimal("-12345678901.23")}, {"d": None}] * LEAST_RECORDS
    records = AvroRecords(AvroRecordSchema(json.dumps(schema)), frame_records(encoded(schema, made)), len(made))
    assert read_avro_table(records, pa.schema([("d", pa.decimal128(15, 2))])).to_pylist() == made
    with pytest.raises(ValueError, match="precision"):
        read_avro_table(records, pa.schema([("d", pa.decimal128(9, 2))]))


def _name(node: object) -> object:
    kinds = [node] if not isinstance(node, list) else node
    return next((kind["name"] for kind in kinds if isinstance(kind, dict) and "name" in kind), None)


def _one_by_one(body: bytes) -> list[dict[str, object]]:
    parsed = fastavro.parse_schema(dict(SCHEMA))
    found, at = [], 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        stream = io.BytesIO(body[at + 4 : end])
        one = fastavro.schemaless_reader(stream, parsed, None)
        assert isinstance(one, dict)
        assert stream.tell() == end - at - 4
        found.append(one)
        at = end
    return found
