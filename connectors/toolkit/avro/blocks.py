"""Avro records of known schema that lie one behind the other, decoded column by column. Executor side.

As in ``avro_records``, what lies on the wire is put into a container file in memory and read by polars, maps as lists
of pairs and enums as numbers; fastavro reads what polars does not.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import cast

import fastavro
import pyarrow as pa

from connectors.toolkit.avro.container import AvroBlock
from connectors.toolkit.avro.errors import AVRO_ERRORS, polars_errors
from connectors.toolkit.avro.schema import AvroRecordSchema, Json, is_wide_union
from connectors.toolkit.avro.values import branch_name, restore, storage_type
from connectors.toolkit.codecs.varints import zigzag_bytes

__all__ = ["decode_avro_blocks"]

_SYNC = b"\0" * 16
_MOST_EMPTY = 1 << 20
_LEAST = {"null": 0, "float": 4, "double": 8}


def decode_avro_blocks(
    schema: AvroRecordSchema, blocks: Sequence[AvroBlock], types: Mapping[str, pa.DataType]
) -> list[pa.Array]:
    """Decodes some fields.

    Args:
        schema: What the records were written with.
        blocks: The records.
        types: Fields asked, and the Arrow type that stands for each.

    Returns:
        One array for each of ``types``, in order.

    Raises:
        ValueError: The bytes are no such records.
    """
    rows = sum(block.count for block in blocks)
    if rows == 0:
        return [pa.array([], arrow) for arrow in types.values()]
    text, columnar, least = _plain_schema(schema)
    for block in blocks:
        # The readers ask for the memory of as many records as a block claims.
        if block.count * least > len(block.data) or block.count > max(len(block.data), _MOST_EMPTY):
            raise ValueError(f"{block.count} records in a block of {len(block.data)} bytes")
    file = io.BytesIO(_container(text, rows, b"".join(block.data for block in blocks)))
    try:
        columns = _by_polars(file, list(types)) if columnar else _by_fastavro(file, schema, list(types))
        if any(len(column) != rows for column in columns):
            raise ValueError(f"{len(columns[0])} records, expected {rows}")
        return [
            restore(column, schema.fields[name], arrow)
            for column, (name, arrow) in zip(columns, types.items(), strict=True)
        ]
    except (MemoryError, ValueError):
        raise
    except (*polars_errors(), pa.ArrowException, EOFError, OSError) as error:
        raise ValueError(f"no such Avro records: {str(error).strip().partition(chr(10))[0]}") from error
    except AVRO_ERRORS as error:
        raise ValueError(f"no such Avro records: {type(error).__name__}: {error}") from error


def _by_polars(file: io.BytesIO, names: list[str]) -> list[pa.Array]:
    import polars as pl  # a tenth of a second, which most reads do without

    table = pl.read_avro(file, columns=names).to_arrow(compat_level=pl.CompatLevel.oldest())
    return [table.column(name).combine_chunks() for name in names]


def _by_fastavro(file: io.BytesIO, schema: AvroRecordSchema, names: list[str]) -> list[pa.Array]:
    rows = cast("list[dict[str, object]]", list(fastavro.reader(file)))
    kinds = {name: storage_type(schema.fields[name]) for name in names}
    return [pa.array((row[name] for row in rows), type=kinds[name], size=len(rows)) for name in names]


@lru_cache(maxsize=64)
def _plain_schema(schema: AvroRecordSchema) -> tuple[str, bool, int]:
    """The schema of what lies on the wire as JSON, whether polars reads it, and the least bytes of a record."""
    plain = _Plain()
    fields: list[Json] = [{"name": name, "type": plain.of(node)} for name, node in schema.fields.items()]
    text = json.dumps({"type": "record", "name": "row", "fields": fields})
    return text, plain.columnar, sum(_least_bytes(node) for node in schema.fields.values())


class _Plain:
    def __init__(self) -> None:
        self.columnar = True
        self._names = 0

    def of(self, node: Json) -> Json:
        if is_wide_union(node):
            # A record of one field has the bytes of the field; its name tells the branch.
            self.columnar = False
            numbers = count()
            return [
                branch if branch == "null" else self._record([(branch_name(next(numbers)), self.of(branch))])
                for branch in cast("list[Json]", node)
            ]
        if isinstance(node, list):
            return [branch if branch == "null" else self.of(branch) for branch in node]
        if not isinstance(node, dict):
            self.columnar &= node != "null"
            return node
        kind = node["type"]
        if kind == "record":
            members = cast("list[dict[str, Json]]", node["fields"])
            # An Arrow struct without fields does not tell how many there are.
            self.columnar &= bool(members)
            return self._record([(str(field["name"]), self.of(field["type"])) for field in members])
        if kind == "array":
            if not _least_bytes(node["items"]):
                raise ValueError("an array of values that take no byte, of which any number may be claimed")
            return {"type": "array", "items": self.of(node["items"])}
        if kind == "map":
            # On the wire a map is an array of pairs.
            return {"type": "array", "items": self._record([("key", "string"), ("value", self.of(node["values"]))])}
        if kind == "fixed":
            return {"type": "fixed", "name": self._name(), "size": node["size"]}
        return "int" if kind == "enum" else kind

    def _record(self, fields: Sequence[tuple[str, Json]]) -> Json:
        made: list[Json] = [{"name": name, "type": kind} for name, kind in fields]
        return {"type": "record", "name": self._name(), "fields": made}

    def _name(self) -> str:
        self._names += 1
        return f"plain{self._names}"


def _least_bytes(node: Json) -> int:
    if isinstance(node, list):
        return 1 + min(_least_bytes(branch) for branch in node)
    if not isinstance(node, dict):
        return _LEAST.get(str(node), 1)
    if node["type"] == "record":
        return sum(_least_bytes(field["type"]) for field in cast("list[dict[str, Json]]", node["fields"]))
    return cast(int, node["size"]) if node["type"] == "fixed" else _LEAST.get(str(node["type"]), 1)


def _container(schema: str, count: int, data: bytes) -> bytes:
    parts = [b"Obj\x01", zigzag_bytes(2)]
    for entry in (b"avro.schema", schema.encode(), b"avro.codec", b"null"):
        parts += [zigzag_bytes(len(entry)), entry]
    return b"".join([*parts, b"\0", _SYNC, zigzag_bytes(count), zigzag_bytes(len(data)), data, _SYNC])
