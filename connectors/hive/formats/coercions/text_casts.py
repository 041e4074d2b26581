"""Texts of files in columns of other types; what cannot be read is NULL.

ORC's own rules (``ConvertTreeReaderFactory``) are stricter than those between the row SerDes of a partition and its
table (``PrimitiveObjectInspectorUtils``).
"""

from __future__ import annotations

import functools

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.times import parse_dates, timestamp_reader
from connectors.hive.formats.text.values import parse_integers, real_nulls

__all__ = [
    "binary_to_texts",
    "lenient_booleans",
    "lenient_timestamps",
    "strict_booleans",
    "strict_dates",
    "strict_integers",
    "strict_timestamps",
    "strip_blanks",
]

_INTEGER = r"^[+-]?[0-9]+$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?$"
_MINUTES = r"^(.{16})$"
# A zone behind the time does not count.
_LENIENT = r"(?s)^(?P<t>[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]{1,9})?)(?: .*)?$"
_BLANKS = "".join(map(chr, range(0x21)))


def strict_booleans(texts: pa.Array) -> pa.Array:
    """The number in a text is not 0; words are NULL."""
    return pc.not_equal(strict_integers(texts, pa.int64()), 0)


def lenient_booleans(texts: pa.Array) -> pa.Array:
    """All is true but a few words."""
    return real_nulls(pc.invert(pc.is_in(pc.utf8_lower(texts), _false_texts())), pc.is_valid(texts))


def strict_integers(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """Digits and a sign alone, without blanks."""
    return parse_integers(real_nulls(texts, pc.match_substring_regex(texts, _INTEGER)), target)


def strict_dates(texts: pa.Array) -> pa.Array:
    """``yyyy-MM-dd`` and nothing else."""
    return parse_dates(real_nulls(texts, pc.match_substring_regex(texts, _DATE)))


def strict_timestamps(texts: pa.Array) -> pa.Array:
    """``yyyy-MM-dd HH:mm``, and with seconds and a fraction, without blanks."""
    good = real_nulls(texts, pc.match_substring_regex(texts, _TIMESTAMP))
    return timestamp_reader()(pc.replace_substring_regex(good, _MINUTES, r"\1:00"))


def lenient_timestamps(texts: pa.Array) -> pa.Array:
    """A time, whatever zone is behind it; of what begins with a date alone, midnight."""
    trimmed = pc.utf8_trim(texts, _BLANKS)
    times = pc.struct_field(pc.extract_regex(trimmed, _LENIENT), "t")
    found = timestamp_reader()(pc.replace_substring(times, "T", " "))
    return pc.coalesce(found, parse_dates(trimmed).cast(pa.timestamp("us")))


def strip_blanks(texts: pa.Array) -> pa.Array:
    """The value of a ``char(n)``."""
    return pc.utf8_rtrim(texts, " ")


def binary_to_texts(array: pa.Array) -> pa.Array:
    """Bytes as UTF-8."""
    return _decoded(array.cast(pa.binary()))


def _decoded(array: pa.Array) -> pa.Array:
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        words = [None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()]
        return pa.array(words, pa.string())


@functools.cache
def _false_texts() -> pa.Array:
    # Made on use: the first array of a list imports pandas where that is installed, which takes a third of a second.
    return pa.array(["", "0", "false", "no", "off"])
