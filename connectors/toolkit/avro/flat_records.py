"""Avro records whose fields are single values, decoded column by column with numpy. Executor side.

The length in front of each record says where it begins. From there all records are walked through at once, field by
field: what a field has says where the next one begins, in each record. So a field that is not asked costs little more
than a look at its first byte. Whatever is unusual is left to other readers, which read it or say what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from connectors.toolkit.avro.flat_fields import FlatField, flat_field
from connectors.toolkit.avro.plain_schema import FRAME
from connectors.toolkit.avro.record_starts import record_starts
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.avro.wire_bytes import Positions, UnusualError, WireBytes

__all__ = ["LEAST_RECORDS", "read_flat_records"]

LEAST_RECORDS = 1_000
"""Fewer records are read faster one by one."""

# Their positions, and what is made of them, stay in the processor's cache.
_AT_ONCE = 1 << 13


def read_flat_records(
    schema: AvroRecordSchema, bodies: Sequence[bytes | pa.Buffer], counts: Sequence[int], target: pa.Schema
) -> list[pa.Array] | None:
    """Decodes some columns.

    Args:
        schema: What the records were written with.
        bodies: Stretches of records, each behind its length, four bytes, big-endian.
        counts: Records of each stretch, one at least.
        target: The columns, by names of fields of the schema, and the Arrow types that those stand for.

    Returns:
        The columns; ``None`` where others have to read the records.

    Raises:
        ArrowException: A value does not fit its column's type.
    """
    fields = _fields(schema)
    if fields is None:
        return None
    try:
        wire = WireBytes(bodies)
        starts = record_starts(wire, [len(body) for body in bodies], counts)
        parts = [
            _read(wire, starts[first : first + _AT_ONCE + 1], fields, target)
            for first in range(0, len(starts) - 1, _AT_ONCE)
        ]
    except (UnusualError, pa.ArrowNotImplementedError):
        # Arrow before version 20 turns no views into texts.
        return None
    return [pa.concat_arrays([part[name] for part in parts]) for name in target.names]


def _read(
    wire: WireBytes, starts: Positions, fields: Mapping[str, FlatField], target: pa.Schema
) -> dict[str, pa.Array]:
    at, ends = starts[:-1] + FRAME, starts[1:]
    types = dict(zip(target.names, target.types, strict=True))
    found: dict[str, pa.Array] = {}
    for name, field in fields.items():
        if name in types:
            found[name], at = field.read(wire, at, types[name])
        else:
            at = field.skip(wire, at)
        wire.check(at)
    if not np.array_equal(at, ends):
        raise UnusualError
    return found


@lru_cache(maxsize=64)
def _fields(schema: AvroRecordSchema) -> Mapping[str, FlatField] | None:
    """The fields; ``None`` where one of them is made of several values."""
    found = {name: flat_field(node) for name, node in schema.fields.items()}
    return {name: field for name, field in found.items() if field is not None} if all(found.values()) else None
