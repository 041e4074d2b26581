from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.log.block import BlockType, HeaderKey, LogBlock
from connectors.hudi.log.delete_block import read_delete_block
from connectors.hudi.log.positions import POSITION
from tests.connectors.hudi.log.writer import delete_content, encoded_positions

BLOCK = LogBlock(BlockType.DELETE, "log", 0, 100, headers={HeaderKey.INSTANT_TIME: "1"})


def record(key: str | None, ordering: object, partition: str | None = "p") -> dict[str, object]:
    return {"recordKey": key, "partitionPath": partition, "orderingVal": ordering}


def wrapped(name: str, value: object) -> tuple[str, dict[str, object]]:
    return f"{name}Wrapper", {"value": value}


def read(*deletes: dict[str, object]) -> pa.Table:
    return read_delete_block(BLOCK, pa.py_buffer(delete_content(deletes)))


def test_the_default_ordering_value_is_a_commit_time_delete() -> None:
    content = struct.pack(">ii", 3, 14) + b"\x04\x02\x02a\x02\x02p\x04\x00\x02\x02b\x00\x04\x00\x00"
    # Two deletes with IntWrapper 0, bytes 04 00, as most of Hudi's deletes are.
    content = struct.pack(">ii", 3, len(content) - 8) + content[8:]
    met = read_delete_block(BLOCK, pa.py_buffer(content))
    assert met.to_pylist() == [
        {"record_key": "a", "partition_path": "p", "ordering": None, "commit_time_delete": True},
        {"record_key": "b", "partition_path": None, "ordering": None, "commit_time_delete": True},
    ]


@pytest.mark.parametrize(
    ("wrapper", "value", "arrow"),
    [
        ("Boolean", True, pa.bool_()),
        ("Int", -5, pa.int32()),
        ("Long", 0, pa.int64()),
        ("Long", -(2**62), pa.int64()),
        ("Float", 1.5, pa.float32()),
        ("Double", -0.25, pa.float64()),
        ("Bytes", b"\x00\xff", pa.binary()),
        ("String", "bin.000003", pa.string()),
        ("Date", dt.date(1969, 12, 31), pa.date32()),
        ("Decimal", Decimal("-12.345"), pa.decimal128(30, 15)),
        ("TimeMicros", dt.time(12, 30, 0, 1), pa.time64("us")),
        ("TimestampMicros", dt.datetime(1960, 1, 1, tzinfo=dt.UTC), pa.timestamp("us", "UTC")),
    ],
)
def test_every_type_of_ordering_value(wrapper: str, value: object, arrow: pa.DataType) -> None:
    met = read(record("a", wrapped(wrapper, value)), record("b", wrapped(wrapper, value), None))
    assert met.schema.field("ordering").type == arrow
    assert met.column("ordering").to_pylist() == [value, value]
    assert met.column("commit_time_delete").to_pylist() == [False, False]
    # Row by row, where not all are of one type.
    mixed = read(record("a", wrapped(wrapper, value)), record("b", None), record("c", wrapped("Int", 0)))
    assert mixed.schema.field("ordering").type == arrow
    assert mixed.column("ordering").to_pylist() == [value, None, None]
    assert mixed.column("commit_time_delete").to_pylist() == [False, True, True]


def test_a_long_zero_is_no_default_and_an_int_one_neither() -> None:
    met = read(record("a", wrapped("Int", 1)), record("b", wrapped("Int", 0)))
    assert met.column("commit_time_delete").to_pylist() == [False, True]
    assert met.column("ordering").to_pylist() == [1, None]


def test_several_ordering_fields() -> None:
    def both(file: str | None, position: int) -> tuple[str, dict[str, object]]:
        first = None if file is None else wrapped("String", file)
        return "ArrayWrapper", {"wrappedValues": [first, wrapped("Long", position)]}

    met = read(record("a", both("bin.3", 12)), record("b", both("bin.4", 0)))
    assert met.column("ordering").to_pylist() == [{"0": "bin.3", "1": 12}, {"0": "bin.4", "1": 0}]
    some = read(record("a", both("bin.3", 12)), record("b", wrapped("Int", 0)), record("c", both(None, 1)))
    assert some.column("ordering").to_pylist() == [{"0": "bin.3", "1": 12}, None, {"0": None, "1": 1}]
    assert some.column("commit_time_delete").to_pylist() == [False, True, False]
    assert some.schema.field("ordering").type == met.schema.field("ordering").type


def test_values_of_several_types_are_refused() -> None:
    with pytest.raises(NotSupportedError, match="several types"):
        read(record("a", wrapped("Long", 1)), record("b", wrapped("String", "x")))
    with pytest.raises(NotSupportedError, match="several types"):
        read(record("a", wrapped("Long", 1)), record("b", ("ArrayWrapper", {"wrappedValues": [wrapped("Long", 1)]})))


def test_an_empty_list() -> None:
    assert read().num_rows == 0
    assert read().column_names == ["record_key", "partition_path", "ordering", "commit_time_delete"]


def test_positions_come_from_the_header() -> None:
    headers: dict[int, str] = {HeaderKey.RECORD_POSITIONS: encoded_positions([3, 700]), HeaderKey.INSTANT_TIME: "1"}
    block = LogBlock(BlockType.DELETE, "log", 0, 100, headers=headers)
    content = pa.py_buffer(delete_content([record("a", None), record("b", None)]))
    assert read_delete_block(block, content, positions=True).column(POSITION).to_pylist() == [3, 700]
    with pytest.raises(CorruptFileError, match="2 record positions for 1 rows"):
        read_delete_block(block, pa.py_buffer(delete_content([record("a", None)])), positions=True)


def test_every_cut_is_noticed() -> None:
    content = delete_content([record("key", wrapped("Long", 300)), record("other", wrapped("Long", 1))])
    for cut in range(len(content)):
        # Also where the lengths agree with what is left.
        framed = content[:4] + struct.pack(">i", max(cut - 8, 0)) + content[8:cut] if cut >= 8 else content[:cut]
        for data in (content[:cut], framed):
            with pytest.raises(CorruptFileError):
                read_delete_block(BLOCK, pa.py_buffer(data))
    longer = content + b"\0"
    with pytest.raises(CorruptFileError):
        read_delete_block(BLOCK, pa.py_buffer(longer[:4] + struct.pack(">i", len(longer) - 8) + longer[8:]))


@pytest.mark.parametrize("version", [0, 4, -1])
def test_other_versions_are_refused(version: int) -> None:
    with pytest.raises(NotSupportedError, match=f"version {version}"):
        read_delete_block(BLOCK, pa.py_buffer(struct.pack(">ii", version, 0)))
