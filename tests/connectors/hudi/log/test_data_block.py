from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.log.block import BlockType, HeaderKey, LogBlock
from connectors.hudi.log.data_block import POSITION, read_data_block, read_data_block_parts, read_data_blocks
from connectors.hudi.log.record_key import virtual_record_keys
from tests.connectors.hudi.log.writer import avro_content, encoded_positions

SCHEMA: dict[str, object] = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
    ],
}
ROWS: list[Mapping[str, object]] = [{"id": 1, "name": "a", "at": None}, {"id": 2, "name": None, "at": 5}]


def block(kind: BlockType = BlockType.AVRO_DATA, **headers: str) -> LogBlock:
    texts: dict[int, str] = {HeaderKey.INSTANT_TIME: "1", HeaderKey.SCHEMA: json.dumps(SCHEMA)}
    return LogBlock(kind, "log", 7, 100, headers={**texts, **{HeaderKey[key]: text for key, text in headers.items()}})


def avro() -> pa.Buffer:
    return pa.py_buffer(avro_content(SCHEMA, ROWS))


def parquet(table: pa.Table) -> pa.Buffer:
    out = io.BytesIO()
    pq.write_table(table, out)
    return pa.py_buffer(out.getvalue())


def test_types_are_those_of_the_table() -> None:
    table = read_data_block(block(), avro())
    assert table.schema.types == [pa.int64(), pa.string(), pa.timestamp("ms", "UTC")]
    assert table.column("id").to_pylist() == [1, 2]
    assert table.column("at").cast(pa.int64()).to_pylist() == [None, 5]


def test_only_the_columns_asked_in_the_block_s_order() -> None:
    assert read_data_block(block(), avro(), ["name", "id", "no such"]).column_names == ["id", "name"]
    assert read_data_block(block(), avro(), []).num_columns == 0


def test_a_parquet_block_gives_the_types_of_its_header() -> None:
    written = pa.table({"name": ["a"], "at": pa.array([5], pa.timestamp("ms", "UTC")), "id": pa.array([1], pa.int32())})
    table = read_data_block(block(BlockType.PARQUET_DATA), parquet(written), ["id", "at"])
    assert table.schema.types == [pa.int64(), pa.timestamp("ms", "UTC")]
    assert table.column("id").to_pylist() == [1]


def test_a_parquet_block_without_a_column_of_its_header_is_an_error() -> None:
    with pytest.raises(CorruptFileError, match="lacks the column 'name'"):
        read_data_block(block(BlockType.PARQUET_DATA), parquet(pa.table({"id": [1]})), ["id", "name"])


@pytest.mark.parametrize("kind", [BlockType.PARQUET_DATA, BlockType.HFILE_DATA, BlockType.AVRO_DATA])
@pytest.mark.parametrize("content", [b"", b"junk", b"\0" * 5000])
def test_another_content_is_an_error(kind: BlockType, content: bytes) -> None:
    with pytest.raises((CorruptFileError, NotSupportedError)):
        read_data_block(block(kind), pa.py_buffer(content))


@pytest.mark.parametrize("version", [0, 4])
def test_other_block_versions_are_refused(version: int) -> None:
    with pytest.raises(NotSupportedError, match=f"version {version}"):
        read_data_block(block(), pa.py_buffer(struct.pack(">ii", version, 0)))


@pytest.mark.parametrize("schema", ["", "{", '"string"', '{"type": "record", "name": "r", "fields": [{"name": "a"}]}'])
def test_a_damaged_schema_is_an_error(schema: str) -> None:
    with pytest.raises(CorruptFileError, match="schema"):
        read_data_block(block(SCHEMA=schema), avro())


def test_a_union_of_several_types_is_refused_only_when_asked() -> None:
    schema = {**SCHEMA, "fields": [{"name": "id", "type": "long"}, {"name": "u", "type": ["null", "int", "string"]}]}
    content = pa.py_buffer(avro_content(schema, [{"id": 1, "u": "x"}, {"id": 2, "u": 5}, {"id": 3, "u": None}]))
    wide = block(SCHEMA=json.dumps(schema))
    assert read_data_block(wide, content, ["id"]).column("id").to_pylist() == [1, 2, 3]
    with pytest.raises(NotSupportedError, match="column 'u'"):
        read_data_block(wide, content)


def test_positions_of_the_rows() -> None:
    recorded = block(
        RECORD_POSITIONS=encoded_positions([4, 9]), BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS="20240101000000000"
    )
    assert recorded.positions_base_instant == "20240101000000000"
    assert read_data_block(recorded, avro(), ["id"], positions=True).to_pydict() == {"id": [1, 2], POSITION: [4, 9]}
    assert read_data_block(block(), avro(), ["id"], positions=True).column(POSITION).null_count == 2


@pytest.mark.parametrize("part_bytes", [1, 20, 60, 10**6])
def test_a_block_in_parts(part_bytes: int) -> None:
    rows: list[Mapping[str, object]] = [{"id": at, "name": "n" * at, "at": None} for at in range(9)]
    content = pa.py_buffer(avro_content(SCHEMA, rows))
    recorded = block(RECORD_POSITIONS=encoded_positions(range(10, 19)))
    parts = list(read_data_block_parts(recorded, content, positions=True, part_bytes=part_bytes))
    assert pa.concat_tables(parts).equals(read_data_block(recorded, content, positions=True))
    # A record of n letters takes 8 + n bytes, its length among them.
    assert [part.num_rows for part in parts] == {1: [1] * 9, 20: [2] + [1] * 7, 60: [5, 4], 10**6: [9]}[part_bytes]
    for cut in (content.size - 1, content.size - 3, 30, 8):
        with pytest.raises(CorruptFileError):
            list(read_data_block_parts(recorded, content.slice(0, cut), part_bytes=part_bytes))
    with pytest.raises(CorruptFileError):
        list(read_data_block_parts(recorded, pa.py_buffer(content.to_pybytes() + b"\0"), part_bytes=part_bytes))
    empty = pa.py_buffer(avro_content(SCHEMA, []))
    assert [part.num_rows for part in read_data_block_parts(block(), empty, part_bytes=part_bytes)] == [0]


def test_several_blocks_at_once() -> None:
    rows: list[list[Mapping[str, object]]] = [
        [{"id": at, "name": "n" * at, "at": None} for at in range(first, first + 3)] for first in (0, 3)
    ]
    contents = [pa.py_buffer(avro_content(SCHEMA, part)) for part in (*rows, [])]
    recorded = [block(RECORD_POSITIONS=encoded_positions(found)) for found in ([1, 2, 3], [0, 5, 9], [])]
    met = read_data_blocks(recorded, contents, ["id", "name"], positions=True)
    assert met["id"].to_pylist() == list(range(6))
    assert met["name"].to_pylist() == ["n" * at for at in range(6)]
    assert met[POSITION].to_pylist() == [1, 2, 3, 0, 5, 9]


@pytest.mark.parametrize("moved", [1, -1])
def test_a_record_that_lies_in_the_next_block_is_an_error(moved: int) -> None:
    """Together the blocks have the records and the bytes that they should."""
    datums = avro_content(SCHEMA, [{"id": at, "name": "n", "at": None} for at in range(4)])[8:]
    size = len(datums) // 4
    cut = size * (2 + moved)
    contents = [pa.py_buffer(struct.pack(">ii", 3, 2) + part) for part in (datums[:cut], datums[cut:])]
    with pytest.raises(CorruptFileError):
        read_data_blocks([block(), block()], contents)


def test_a_delete_block_holds_no_rows() -> None:
    with pytest.raises(NotSupportedError, match="DELETE"):
        read_data_block(replace(block(), type=BlockType.DELETE), avro())


KEYS = pa.table(
    {
        "id": pa.array([1, None, 3], pa.int32()),
        "name": ["a", "", None],
        "s": [{"x": 5}, {"x": 6}, {"x": 7}],
        "f": [1.0, 2.0, 3.0],
    }
)


def test_virtual_keys() -> None:
    # KeyGenUtils.getRecordKey: null and empty values of several fields are written in words.
    assert virtual_record_keys(KEYS, ["id", "name"], complex_keys=True, where="table").to_pylist() == [
        "id:1,name:a",
        "id:__null__,name:__empty__",
        "id:3,name:__null__",
    ]
    assert virtual_record_keys(KEYS, ["s.x"], complex_keys=False, where="table").to_pylist() == ["5", "6", "7"]
    assert virtual_record_keys(KEYS, ["s.x"], complex_keys=True, where="table").to_pylist() == [
        "s.x:5",
        "s.x:6",
        "s.x:7",
    ]


def test_virtual_keys_that_cannot_be_told_are_refused() -> None:
    with pytest.raises(CorruptFileError, match=r"\] table: a row has no value of its key field 'id'"):
        virtual_record_keys(KEYS, ["id"], complex_keys=False, where="table")
    with pytest.raises(NotSupportedError, match=r"\] table: its key field 'f' is of type double"):
        virtual_record_keys(KEYS, ["f"], complex_keys=False, where="table")
    with pytest.raises(NotSupportedError, match=r"\] table has neither meta columns nor record key fields"):
        virtual_record_keys(KEYS, [], complex_keys=False, where="table")
    with pytest.raises(CorruptFileError, match="'missing'"):
        virtual_record_keys(KEYS, ["missing"], complex_keys=False, where="table")
