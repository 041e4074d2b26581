"""Single values as texts, and the parts of nested ones. Executor side."""

from __future__ import annotations

import base64

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.toolkit.cells import value_bytes

__all__ = ["base64_texts", "compact", "joined", "plain_texts", "with_nulls"]


def plain_texts(array: pa.Array) -> pa.Array:
    """Values that hold no others as Hive writes them (``LazyUtils.writePrimitiveUTF8``); NULL stays NULL.

    Raises:
        NotSupportedError: The type has no text.
    """
    types, kind = pa.types, array.type
    if types.is_string(kind):
        return array
    if types.is_binary(kind):
        return base64_texts(array)
    if types.is_floating(kind):
        texts = pc.if_else(pc.is_nan(array), "NaN", array.cast(pa.string()))
        words = pc.if_else(pc.greater(array, 0), "Infinity", "-Infinity")
        return pc.if_else(pc.is_inf(array), words, texts)
    known = (types.is_boolean, types.is_integer, types.is_decimal, types.is_date, types.is_timestamp)
    if not any(test(kind) for test in known):
        raise NotSupportedError(f"{kind} has no form in text files", error_codes.HIVE_UNSUPPORTED_TYPE)
    return array.cast(pa.string())


def base64_texts(array: pa.Array) -> pa.Array:
    """Bytes in Base64; NULL stays NULL. All values are encoded in one call, each filled up to a multiple of 3."""
    lengths = pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    groups = -(-lengths // 3)
    ends = np.cumsum(groups)
    starts = 3 * (ends - groups)
    raw = np.zeros(3 * int(groups.sum()), np.uint8)
    ordinal = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    raw[np.repeat(starts, lengths) + ordinal] = np.frombuffer(value_bytes(array.drop_null()), np.uint8)
    encoded = np.frombuffer(bytearray(base64.b64encode(raw.tobytes())), np.uint8)
    missing = 3 * groups - lengths
    for count in (1, 2):
        encoded[4 * ends[missing >= count] - count] = ord("=")
    offsets = np.concatenate(([0], 4 * ends)).astype(np.int32)
    texts = pa.Array.from_buffers(pa.string(), len(array), [None, pa.py_buffer(offsets), pa.py_buffer(encoded)])
    return with_nulls(texts, array, None)


def with_nulls(texts: pa.Array, array: pa.Array, null: str | None) -> pa.Array:
    """Texts, but for values that are NULL: of these the text of NULL."""
    return pc.if_else(array.is_valid(), texts, pa.scalar(null, pa.string())) if array.null_count else texts


def compact(array: pa.Array) -> pa.Array:
    """A nested array whose children hold its own elements and no others: no slice, and nothing behind NULL."""
    return array.take(pa.array(np.arange(len(array))))


def joined(elements: pa.Array, array: pa.Array, separator: str) -> pa.Array:
    """The texts of the elements of each list, or of the entries of each map, as one text; NULL gives an empty one.

    Args:
        elements: Of all lists, one behind the other.
        array: The lists or maps, compact.
        separator: Comes between two.
    """
    return pc.binary_join(pa.ListArray.from_arrays(array.offsets, elements), separator)
