"""Parameters of Hive's lazy SerDes of texts: separators, NULL, escapes, encoding. Both sides.

Sources of the rules: ``LazySerDeParameters``, ``LazyUtils.getByte`` of Hive 4.0.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.text.instants import InstantReader, instant_reader
from connectors.hive.formats.text.times import TimestampReader, timestamp_reader

__all__ = ["LazyParameters", "lazy_parameters", "python_charset", "timestamp_formats", "to_utf8"]

_LEVELS = 8
_MORE_SEPARATORS = bytes([*range(4, 9), 11, *range(14, 27), *range(28, 32), *range(128, 256)])


@dataclass(frozen=True, slots=True)
class LazyParameters:
    """Parameters of a SerDe.

    Attributes:
        separators: One byte for each level; the first is between columns.
        null: The bytes that stand for NULL.
        escape: The byte that takes the meaning off the byte behind it, or ``None``.
        rest: The last column takes all that is left of the row.
        timestamps: Reads texts as wall-clock times.
        instants: Reads texts as instants.
        zone: Zone of instants that name none.
        where: Names the table or file for messages.
        charset: Python's name of the encoding, or empty for UTF-8.
    """

    separators: bytes
    null: bytes
    escape: bytes | None
    rest: bool
    timestamps: TimestampReader
    instants: InstantReader
    zone: str
    where: str
    charset: str = ""


def lazy_parameters(properties: Mapping[str, str], zone: str, where: str) -> LazyParameters:
    """Reads the properties of ``LazySerDeParameters``.

    Args:
        properties: The SerDe's and the table's.
        zone: The session's time zone.
        where: Names the table or file for messages.

    Raises:
        NotSupportedError: A timestamp format or an encoding is not understood.
    """
    field = properties.get("field.delim", properties.get("serialization.format"))
    first = (
        _byte(field, 1),
        # Hive before 3, and Spark, call it so (HIVE-16922).
        _byte(properties.get("collection.delim", properties.get("colelction.delim")), 2),
        _byte(properties.get("mapkey.delim"), 3),
    )
    count = _LEVELS
    if properties.get("hive.serialization.extend.additional.nesting.levels", "").lower() == "true":
        count = 3 + len(_MORE_SEPARATORS)
    elif properties.get("hive.serialization.extend.nesting.levels", "").lower() == "true":
        count = 24
    escape = properties.get("escape.delim")
    formats = timestamp_formats(properties)
    return LazyParameters(
        separators=(bytes(first) + _MORE_SEPARATORS)[:count],
        null=properties.get("serialization.null.format", "\\N").encode(),
        escape=None if escape is None else bytes([_byte(escape, ord("\\"))]),
        rest=properties.get("serialization.last.column.takes.rest", "").lower() == "true",
        timestamps=timestamp_reader(formats, where),
        instants=instant_reader(formats, where),
        zone=zone,
        where=where,
        charset=python_charset(properties.get("serialization.encoding", ""), where),
    )


def to_utf8(records: pa.Array, charset: str) -> pa.Array:
    """Records of another encoding as UTF-8.

    Args:
        records: Arrow ``binary``.
        charset: Python's name of the encoding; empty for UTF-8.
    """
    if not charset:
        return records
    texts = [None if value is None else value.decode(charset, "replace").encode() for value in records.to_pylist()]
    return pa.array(texts, pa.binary())


def timestamp_formats(properties: Mapping[str, str]) -> list[str]:
    r"""The patterns of ``timestamp.formats``: between commas that have no ``\\`` before them."""
    text = properties.get("timestamp.formats", "")
    return [re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"(?:\\.|[^,\\])+", text)]


def python_charset(name: str, where: str) -> str:
    """Python's name for one of Java's charsets; empty for UTF-8.

    Raises:
        NotSupportedError: It is not known, or its line feeds are not one byte (UTF-16), so that Hive cannot find the
            lines either.
    """
    if not name.strip():
        return ""
    try:
        found = codecs.lookup(name.strip()).name
    except LookupError:
        found = "utf-16"
    if found in ("utf-8", "ascii") and name.strip().lower() not in ("us-ascii", "ascii"):
        return ""
    if found.startswith(("utf-16", "utf-32", "utf-7", "cp037", "cp500", "cp1140")):
        raise NotSupportedError(
            f"{where} has serialization.encoding={name}, which cannot be read; expected UTF-8 or an encoding in which "
            "a line feed is the byte 10, such as ISO-8859-1 or GBK",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
    return found


def _byte(text: str | None, default: int) -> int:
    """A separator: the number of a byte, or a character (``LazyUtils.getByte``)."""
    if not text:
        return default
    if re.fullmatch(r"[+-]?[0-9]{1,10}", text) and -128 <= int(text) <= 127:
        return int(text) & 0xFF
    return ord(text[0]) & 0xFF
