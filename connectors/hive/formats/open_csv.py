"""Hive's ``OpenCSVSerde``: every column is text, as opencsv 2.3 cuts each line. Executor side.

A field that is not there is NULL, one that is empty is an empty text; Hive writes NULL as nothing and so reads an
empty text. Columns that are declared of other types are strings to Hive, too (``OpenCSVSerde.initialize``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.lazy.parameters import python_charset, to_utf8
from connectors.hive.formats.lazy.regular_fields import split_fields
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe
from connectors.hive.formats.text.values import as_strings, real_nulls
from connectors.toolkit.cells import value_bytes

__all__ = ["CsvSigns", "OpenCsvSerDe", "csv_fields", "csv_signs"]

# No byte of UTF-8.
_HIDDEN = b"\xff"
_ENDS = (b"\r", b"\n")
_MISSING: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class CsvSigns:
    """Characters that cut a line.

    Attributes:
        separator: Between two fields.
        quote: Around a field.
        escape: Takes the meaning off a quote, or another escape, behind it.
    """

    separator: str
    quote: str
    escape: str


class OpenCsvSerDe(RowSerDe):
    """``org.apache.hadoop.hive.serde2.OpenCSVSerde``."""

    classes = frozenset({"org.apache.hadoop.hive.serde2.OpenCSVSerde", "com.bizo.hive.serde.csv.CSVSerde"})
    texts_only = True

    def decoder(self, layout: RowLayout) -> RowDecoder:
        signs = csv_signs(layout.properties, layout.where)
        odd = _odd_line(signs)
        charset = python_charset(layout.properties.get("serialization.encoding", ""), layout.where)
        count = len(layout.declared)

        def decode(records: pa.Array) -> Sequence[pa.Array]:
            if not layout.wanted:
                return []
            # Of an empty line not even the first field is there.
            lines = real_nulls(to_utf8(records, charset), pc.greater(pc.binary_length(records), 0))
            return _decode(lines, signs, odd, count, layout.wanted)

        return decode


def csv_fields(record: str, separator: str = ",", quote: str = '"', escape: str = "\\") -> list[str]:
    """Cuts a record as opencsv's ``CSVReader.readNext`` does; a field whose quotes do not end is left out.

    A record of several lines (LF, CR, CRLF) ends with the first of them at whose end no quotes are open.
    """
    signs = CsvSigns(separator, quote, escape)
    if not record.isascii() and max(record) > "\uffff":
        # Java counts positions in units of UTF-16.
        halves = record.encode("utf-16-le")
        record = "".join(map(chr, memoryview(halves).cast("H")))
    fields: list[str] = []
    pending: str | None = None
    inside = False
    for line in _LINE_END.split(record) if "\n" in record or "\r" in record else (record,):
        found, pending, inside = _line_fields(line, signs, pending, inside)
        fields.extend(found)
        if pending is None:
            break
    return [field if field.isascii() else _whole_pairs(field) for field in fields]


def _whole_pairs(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _line_fields(line: str, signs: CsvSigns, pending: str | None, inside: bool) -> tuple[list[str], str | None, bool]:
    """``CSVParser.parseLineMulti``: the fields, the beginning of one whose quotes are open, and whether in a field."""
    fields: list[str] = []
    text = [] if pending is None else [pending]
    quoted = pending is not None
    at, end = 0, len(line)
    while at < end:
        char = line[at]
        following = line[at + 1] if at + 1 < end else ""
        if char == signs.escape:
            if (quoted or inside) and following and following in (signs.quote, signs.escape):
                text.append(following)
                at += 1
        elif char == signs.quote:
            if (quoted or inside) and following == signs.quote:
                text.append(following)
                at += 1
            else:
                if at > 2 and line[at - 1] != signs.separator and following and following != signs.separator:
                    if text and not "".join(text).strip(_JAVA_BLANKS):
                        text.clear()
                    else:
                        text.append(char)
                quoted = not quoted
            inside = not inside
        elif char == signs.separator and not quoted:
            fields.append("".join(text))
            text.clear()
            inside = False
        else:
            text.append(char)
            inside = True
        at += 1
    if quoted:
        return fields, "".join(text) + "\n", inside
    return [*fields, "".join(text)], None, inside


_LINE_END = re.compile("\r\n|\r|\n")
# Character.isWhitespace: not the blanks that do not break a line.
_JAVA_BLANKS = (
    "\t\n\x0b\f\r\x1c\x1d\x1e\x1f \u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000"
)


def _decode(lines: pa.Array, signs: CsvSigns, odd: bytes, count: int, wanted: Sequence[int]) -> list[pa.Array]:
    held = value_bytes(lines)
    if not any(sign in held for sign in (signs.quote.encode(), signs.escape.encode(), *_ENDS)):
        return [as_strings(field) for field in split_fields(lines, signs.separator.encode(), count, wanted)]
    is_odd = pc.invert(pc.match_substring_regex(lines, odd))
    is_regular = pc.invert(is_odd)
    # Not NULL: such a value may keep its bytes in the buffer.
    hidden = _hidden(pc.if_else(pc.fill_null(is_regular, False), lines, b""), signs)
    cut_fields = split_fields(hidden, signs.separator.encode(), count, wanted)
    fields = [real_nulls(_unquoted(field, signs), is_regular) for field in cut_fields]
    if not _any(is_odd):
        return fields
    # Lines with escapes or quotes in odd positions, or of several lines, are cut one by one.
    cut = [
        _MISSING if text is None else csv_fields(text, signs.separator, signs.quote, signs.escape)
        for text in as_strings(real_nulls(lines, is_odd)).to_pylist()
    ]
    return [
        pc.coalesce(field, pa.array([line[at] if at < len(line) else None for line in cut], pa.string()))
        for at, field in zip(wanted, fields, strict=True)
    ]


def _hidden(lines: pa.Array, signs: CsvSigns) -> pa.Array:
    """Lines in which separators between quotes are another byte."""
    offsets = np.frombuffer(lines.buffers()[1], np.int32)[lines.offset : lines.offset + len(lines) + 1]
    raw = np.frombuffer(lines.buffers()[2], np.uint8)
    data = raw[: offsets[-1]].copy()
    inside = data[offsets[0] :]
    quotes = np.flatnonzero(inside == ord(signs.quote))
    separators = np.flatnonzero(inside == ord(signs.separator))
    # Quotes come in pairs in each of these lines, so that they can be counted over all of them.
    inside[separators[np.searchsorted(quotes, separators) & 1 == 1]] = _HIDDEN[0]
    buffers = [lines.buffers()[0], lines.buffers()[1], pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(lines), buffers, offset=lines.offset)


def _unquoted(field: pa.Array, signs: CsvSigns) -> pa.Array:
    quote = signs.quote.encode()
    starts = pc.starts_with(field, quote)
    plain = field
    if _any(starts):
        inner = pc.binary_slice(field, 1, -1)
        if quote in value_bytes(inner):
            # There they are in pairs.
            inner = pc.replace_substring(inner, quote + quote, quote)
        plain = inner if _all(starts) else pc.if_else(starts, inner, field)
    if _HIDDEN in value_bytes(plain):
        plain = pc.replace_substring(plain, _HIDDEN, signs.separator.encode())
    return as_strings(plain)


def _odd_line(signs: CsvSigns) -> bytes:
    """Matches the lines whose fields are either without quotes, or all between quotes, and that have no escapes."""
    separator, quote, escape = (re.escape(sign).encode() for sign in (signs.separator, signs.quote, signs.escape))
    between = rb"%b(?:[^%b%b\xff\r\n]|%b%b)*%b" % (quote, quote, escape, quote, quote, quote)
    plain = rb"[^%b%b%b\xff\r\n]*" % (separator, quote, escape)
    field = rb"(?:%b|%b)" % (between, plain)
    return rb"(?s)^%b(?:%b%b)*$" % (field, separator, field)


def csv_signs(properties: Mapping[str, str], where: str) -> CsvSigns:
    """The characters that the properties of a table name.

    Raises:
        NotSupportedError: They are not three different characters of ASCII.
    """
    signs = CsvSigns(
        (properties.get("separatorChar") or ",")[0],
        (properties.get("quoteChar") or '"')[0],
        (properties.get("escapeChar") or "\\")[0],
    )
    if signs.escape == '"':
        # Hive means its default by it, and opencsv's own is a backslash (``OpenCSVSerde.newReader``).
        signs = CsvSigns(signs.separator, signs.quote, "\\")
    texts = (signs.separator, signs.quote, signs.escape)
    if len(set(texts)) < len(texts) or not all(0 < ord(sign) < 128 for sign in texts):
        raise NotSupportedError(
            f"{where} has separatorChar={signs.separator!r}, quoteChar={signs.quote!r} and escapeChar={signs.escape!r}"
            "; expected three different characters of ASCII: opencsv takes no others either",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
    return signs


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(pc.fill_null(mask, False), min_count=0).as_py())


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())
