"""The Arrow schema that a writer put into a Parquet file's metadata. Executor side.

Writers of Arrow's family keep there of which Arrow types the columns were: views, dictionaries, large and fixed-size
lists, durations, extensions and others. Arrow's reader gives the columns in these types again. They say nothing of the
values, some of them have few of Arrow's functions, and a newer Arrow may have types that this one does not know. A
table has types of its own, so such a schema is hidden from Arrow by another letter in the name of its entry, and the
columns come in the types of Parquet.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.toolkit.parquet.footer_bytes import parsed_footer
from connectors.toolkit.schema.time_conventions import ARROW_SCHEMA_KEYS

__all__ = ["has_types_of_arrow", "without_arrow_schema"]

_KEY, _HIDDEN = ARROW_SCHEMA_KEYS
# The head of KeyValue.key, a binary of this length, in Thrift's compact protocol.
_ENTRY = b"\x18" + bytes([len(_KEY)]) + _KEY
_PLAIN = frozenset(
    one.id
    for one in (
        *(pa.null(), pa.bool_(), pa.string(), pa.binary(), pa.binary(1), pa.float16(), pa.float32(), pa.float64()),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.decimal128(1), pa.decimal256(1), pa.date32(), pa.time32("ms"), pa.time64("us")),
    )
)
_NESTED = frozenset(one.id for one in (pa.list_(pa.null()), pa.struct([]), pa.map_(pa.string(), pa.null())))


def has_types_of_arrow(schema: pa.Schema) -> bool:
    """Whether a file's schema has types that Arrow's reader gives by such a schema alone."""
    return not all(_is_of_parquet(field.type) for field in schema)


def without_arrow_schema(footer: bytearray) -> pq.FileMetaData | None:
    """A footer without the Arrow schema; ``None`` where it has none.

    Args:
        footer: The footer, which is changed.
    """
    # The entries of metadata come after all row groups, so the last place is the entry.
    at = footer.rfind(_ENTRY)
    if at < 0:
        return None
    footer[at + 2 : at + len(_ENTRY)] = _HIDDEN
    found = parsed_footer(footer)
    return found if _HIDDEN in (found.metadata or {}) and _KEY not in (found.metadata or {}) else None


def _is_of_parquet(arrow: pa.DataType) -> bool:
    if pa.types.is_timestamp(arrow):
        return arrow.tz in (None, "UTC")
    if arrow.id in _NESTED:
        return all(_is_of_parquet(arrow.field(at).type) for at in range(arrow.num_fields))
    return arrow.id in _PLAIN
