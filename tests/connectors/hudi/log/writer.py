"""Writes log files as HoodieLogFormatWriter does, for tests."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Iterable, Mapping, Sequence

import fastavro
import numpy as np

from connectors.hudi.log.block import MAGIC, BlockType, HeaderKey

DELETE_LIST_SCHEMA: dict[str, object] = {
    "type": "record",
    "name": "HoodieDeleteRecordList",
    "fields": [
        {
            "name": "deleteRecordList",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "HoodieDeleteRecord",
                    "fields": [
                        {"name": "recordKey", "type": ["null", "string"]},
                        {"name": "partitionPath", "type": ["null", "string"]},
                        {
                            "name": "orderingVal",
                            "type": [
                                "null",
                                *(
                                    {"type": "record", "name": name, "fields": [{"name": "value", "type": kind}]}
                                    for name, kind in (
                                        ("BooleanWrapper", "boolean"),
                                        ("IntWrapper", "int"),
                                        ("LongWrapper", "long"),
                                        ("FloatWrapper", "float"),
                                        ("DoubleWrapper", "double"),
                                        ("BytesWrapper", "bytes"),
                                        ("StringWrapper", "string"),
                                        ("DateWrapper", {"type": "int", "logicalType": "date"}),
                                        (
                                            "DecimalWrapper",
                                            {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15},
                                        ),
                                        ("TimeMicrosWrapper", {"type": "long", "logicalType": "time-micros"}),
                                        ("TimestampMicrosWrapper", {"type": "long", "logicalType": "timestamp-micros"}),
                                    )
                                ),
                                {
                                    "type": "record",
                                    "name": "ArrayWrapper",
                                    "fields": [
                                        {
                                            "name": "wrappedValues",
                                            "type": [
                                                "null",
                                                {
                                                    "type": "array",
                                                    "items": [
                                                        "null",
                                                        "BooleanWrapper",
                                                        "IntWrapper",
                                                        "LongWrapper",
                                                        "FloatWrapper",
                                                        "DoubleWrapper",
                                                        "BytesWrapper",
                                                        "StringWrapper",
                                                        "DateWrapper",
                                                    ],
                                                },
                                            ],
                                        }
                                    ],
                                },
                            ],
                        },
                    ],
                },
            },
        }
    ],
}
_DELETE_LIST = fastavro.parse_schema(DELETE_LIST_SCHEMA)


def log_block(
    kind: BlockType | int,
    headers: Mapping[int, str],
    content: bytes = b"",
    *,
    version: int = 1,
    footers: Mapping[int, str] | None = None,
) -> bytes:
    """One block."""
    body = struct.pack(">ii", version, kind) + _texts(headers)
    body += struct.pack(">q", len(content)) + content + _texts(footers or {})
    size = len(body) + 8
    return MAGIC + struct.pack(">q", size) + body + struct.pack(">q", size + len(MAGIC))


def data_block(
    instant: str, schema: Mapping[str, object], rows: Iterable[Mapping[str, object]], **headers: str
) -> bytes:
    """An Avro data block; further headers by the name of their ``HeaderKey``."""
    return log_block(BlockType.AVRO_DATA, _headers(instant, json.dumps(schema), headers), avro_content(schema, rows))


def delete_block(instant: str, deletes: Sequence[Mapping[str, object]], **headers: str) -> bytes:
    """A delete block; each delete is a dict of ``HoodieDeleteRecord``, ordering values as (wrapper, dict)."""
    return log_block(BlockType.DELETE, _headers(instant, None, headers), delete_content(deletes))


def rollback_block(instant: str, target: str) -> bytes:
    """A command block that takes back the blocks of a write."""
    return log_block(
        BlockType.COMMAND,
        {
            HeaderKey.INSTANT_TIME: instant,
            HeaderKey.TARGET_INSTANT_TIME: target,
            HeaderKey.COMMAND_BLOCK_TYPE: "0",
        },
    )


def avro_content(schema: Mapping[str, object], rows: Iterable[Mapping[str, object]]) -> bytes:
    """The content of an Avro data block."""
    parsed = fastavro.parse_schema(dict(schema))
    datums = []
    for row in rows:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, dict(row))
        datums.append(out.getvalue())
    framed = b"".join(struct.pack(">i", len(datum)) + datum for datum in datums)
    return struct.pack(">ii", 3, len(datums)) + framed


def delete_content(deletes: Sequence[Mapping[str, object]]) -> bytes:
    """The content of a delete block of version 3."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _DELETE_LIST, {"deleteRecordList": list(deletes)})
    return struct.pack(">ii", 3, len(out.getvalue())) + out.getvalue()


def encoded_positions(positions: Sequence[int] | np.ndarray) -> str:
    """The header of record positions below 2**32: a Roaring bitmap of array and bitmap containers."""
    values = np.asarray(positions, dtype=np.int64)
    containers = [(int(high), values[values >> 16 == high] & 0xFFFF) for high in np.unique(values >> 16)]
    packed = [
        low.astype("<u2").tobytes()
        if len(low) <= 4096
        else np.packbits(np.isin(np.arange(1 << 16), low), bitorder="little").tobytes()
        for _, low in containers
    ]
    first = 8 + 8 * len(containers)
    offsets = [first + sum(map(len, packed[:at])) for at in range(len(packed))]
    heads = b"".join(struct.pack("<HH", high, len(low) - 1) for high, low in containers)
    bitmap = struct.pack("<II", 12346, len(containers)) + heads + struct.pack(f"<{len(offsets)}I", *offsets)
    return base64.b64encode(struct.pack("<QI", 1, 0) + bitmap + b"".join(packed)).decode()


def _headers(instant: str, schema: str | None, more: Mapping[str, str]) -> dict[int, str]:
    found: dict[int, str] = {HeaderKey.INSTANT_TIME: instant}
    if schema is not None:
        found[HeaderKey.SCHEMA] = schema
    return found | {HeaderKey[name]: text for name, text in more.items()}


def _texts(texts: Mapping[int, str]) -> bytes:
    packed = struct.pack(">i", len(texts))
    for key, text in texts.items():
        data = text.encode()
        packed += struct.pack(">ii", key, len(data)) + data
    return packed
