"""Hive's ``LazySimpleSerDe``: texts with a separator for each level of nesting. Executor side.

Sources of the rules: ``LazySerDeParameters``, ``LazyStruct.parse``, ``LazyArray.parse``, ``LazyMap.parse``,
``LazyUtils.copyAndEscapeStringDataToText`` of Hive 4.0. Used for text files, SequenceFiles and RCFile's
``ColumnarSerDe``.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.hidden_escapes import HiddenEscapes
from connectors.hive.formats.regular_fields import cut_regular
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe
from connectors.hive.formats.text_times import TimestampReader, parse_dates, parse_instants, timestamp_reader
from connectors.hive.formats.text_values import (
    as_strings,
    parse_base64,
    parse_booleans,
    parse_decimals,
    parse_floats,
    parse_integers,
    real_nulls,
)

__all__ = [
    "LazyParameters",
    "LazySimpleSerDe",
    "decode_column",
    "lazy_parameters",
    "split_fields",
    "timestamp_formats",
    "to_utf8",
]

_LEVELS = 8
_MORE_SEPARATORS = bytes([*range(4, 9), 11, *range(14, 27), *range(28, 32), *range(128, 256)])


@dataclass(frozen=True, slots=True)
class LazyParameters:
    """What the SerDe is told.

    Attributes:
        separators: One byte for each level; the first is between columns.
        null: The bytes that stand for NULL.
        escape: The byte that takes the meaning off the byte behind it, or ``None``.
        rest: The last column takes all that is left of the row.
        timestamps: Reads texts as wall-clock times.
        zone: Zone of instants that name none.
        charset: Python's name of the encoding, or empty for UTF-8.
    """

    separators: bytes
    null: bytes
    escape: bytes | None
    rest: bool
    timestamps: TimestampReader
    zone: str
    charset: str = ""


class LazySimpleSerDe(RowSerDe):
    """``ROW FORMAT DELIMITED``."""

    classes = frozenset({"org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"})

    def decoder(self, layout: RowLayout) -> RowDecoder:
        parameters = lazy_parameters(layout.properties, layout.zone, layout.where)
        types = layout.declared.types
        for arrow in types:
            check_levels(arrow, 1, parameters, layout.where)
        count = len(types)

        def decode(records: pa.Array) -> Sequence[pa.Array]:
            hidden, records = HiddenEscapes.of(to_utf8(records, parameters.charset), parameters)
            fields = split_fields(records, parameters.separators[:1], count, layout.wanted, rest=parameters.rest)
            return [
                _decode(field, types[at], parameters, hidden, 1)
                for at, field in zip(layout.wanted, fields, strict=True)
            ]

        return decode


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
        _byte(properties.get("collection.delim"), 2),
        _byte(properties.get("mapkey.delim"), 3),
    )
    count = _LEVELS
    if properties.get("hive.serialization.extend.additional.nesting.levels", "").lower() == "true":
        count = 3 + len(_MORE_SEPARATORS)
    elif properties.get("hive.serialization.extend.nesting.levels", "").lower() == "true":
        count = 24
    escape = properties.get("escape.delim")
    return LazyParameters(
        (bytes(first) + _MORE_SEPARATORS)[:count],
        properties.get("serialization.null.format", "\\N").encode(),
        None if escape is None else bytes([_byte(escape, ord("\\"))]),
        properties.get("serialization.last.column.takes.rest", "").lower() == "true",
        timestamp_reader(timestamp_formats(properties), where),
        zone,
        python_charset(properties.get("serialization.encoding", ""), where),
    )


def decode_column(texts: pa.Array, target: pa.DataType, parameters: LazyParameters, level: int = 1) -> pa.Array:
    """Decodes the texts of one column.

    Args:
        texts: Arrow ``binary`` or ``string``, in UTF-8 (``to_utf8``); NULL where the row has no such field. Texts in
            the form of NULL (such as ``\\N``) become NULL here.
        target: The column's type: ``char`` and ``varchar`` as strings, that are padded and cut elsewhere.
        parameters: What the SerDe is told.
        level: Which separator the type's own elements have: 1 for a column.

    Raises:
        NotSupportedError: The type is nested more deeply than there are separators.
    """
    check_levels(target, level, parameters, "a column")
    hidden, hiding = HiddenEscapes.of(texts.cast(pa.binary()), parameters)
    return _decode(hiding, target, parameters, hidden, level)


def split_fields(
    records: pa.Array, separator: bytes, count: int, wanted: Sequence[int], *, rest: bool = False
) -> list[pa.Array]:
    """Cuts texts at a separator.

    Args:
        records: Arrow ``binary``; NULL gives NULL fields.
        separator: One or more bytes.
        count: Number of fields that a text should have; those too many are left out.
        wanted: Which are asked.
        rest: The last field takes all that is left.

    Returns:
        For each of ``wanted`` an array as long as ``records``, NULL where the text has fewer fields.
    """
    if not wanted:
        return []
    last = max(wanted)
    # Behind the last field that is asked nothing has to be cut.
    at_most = count - 1 if rest and last == count - 1 else last + 1
    if at_most == 0:
        return [records]
    regular = None if rest and last == count - 1 else cut_regular(records, separator, wanted)
    if regular is not None:
        return regular
    pieces = pc.split_pattern(records, separator, max_splits=at_most)
    offsets = np.frombuffer(pieces.buffers()[1], np.int32)[pieces.offset : pieces.offset + len(pieces) + 1]
    lengths = np.diff(offsets)
    values = pieces.values
    fields = []
    for position in wanted:
        index = pa.array(offsets[:-1] + position, pa.int32(), mask=lengths <= position)
        fields.append(values.take(index))
    return fields


def check_levels(arrow: pa.DataType, level: int, parameters: LazyParameters, where: str) -> None:
    """Refuses types that are nested more deeply than there are separators.

    Raises:
        NotSupportedError: It is so; Hive fails, too.
    """
    deeper = 2 if pa.types.is_map(arrow) else 1
    if pa.types.is_nested(arrow) and level + deeper > len(parameters.separators):
        raise NotSupportedError(
            f"{where} has a type nested more deeply than there are {len(parameters.separators)} separators; set "
            "hive.serialization.extend.nesting.levels=true as the writer did, or leave the column out",
            error_codes.HIVE_UNSUPPORTED_TYPE,
        )
    if pa.types.is_map(arrow):
        check_levels(arrow.item_type, level + 2, parameters, where)
    elif pa.types.is_nested(arrow):
        for index in range(arrow.num_fields):
            check_levels(arrow.field(index).type, level + 1, parameters, where)


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


def _decode(texts: pa.Array, target: pa.DataType, told: LazyParameters, hidden: HiddenEscapes, level: int) -> pa.Array:
    is_null = pc.equal(texts, hidden.null)
    if bool(pc.any(is_null, min_count=0).as_py()):
        texts = real_nulls(texts, pc.invert(is_null))
    if pa.types.is_map(target):
        return _decode_maps(texts, target, told, hidden, level)
    if pa.types.is_list(target):
        values, offsets = _elements(texts, told.separators[level : level + 1])
        children = _decode(values, target.value_type, told, hidden, level + 1)
        return pa.ListArray.from_arrays(offsets, children, type=target, mask=_nulls(texts))
    if pa.types.is_struct(target):
        separator = told.separators[level : level + 1]
        fields = split_fields(texts, separator, target.num_fields, range(target.num_fields), rest=told.rest)
        parts = [_decode(part, field.type, told, hidden, level + 1) for part, field in zip(fields, target, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=_nulls(texts))
    if pa.types.is_string(target):
        return as_strings(hidden.without_escapes(texts))
    written = hidden.as_written(texts)
    if pa.types.is_binary(target):
        return parse_base64(written)
    return _parse(as_strings(written), target, told)


def _parse(texts: pa.Array, target: pa.DataType, told: LazyParameters) -> pa.Array:
    if pa.types.is_date(target):
        return parse_dates(texts)
    if pa.types.is_timestamp(target):
        return told.timestamps(texts) if target.tz is None else parse_instants(texts, told.zone)
    if pa.types.is_integer(target):
        return parse_integers(texts, target)
    if pa.types.is_floating(target):
        return parse_floats(texts, target)
    if pa.types.is_decimal(target):
        return parse_decimals(texts, target)
    if pa.types.is_boolean(target):
        return parse_booleans(texts, target)
    raise NotSupportedError(
        f"texts cannot be read as {target}; leave the column out", error_codes.HIVE_UNSUPPORTED_TYPE
    )


def _decode_maps(
    texts: pa.Array, target: pa.DataType, told: LazyParameters, hidden: HiddenEscapes, level: int
) -> pa.Array:
    entries, offsets = _elements(texts, told.separators[level : level + 1])
    # Behind the first separator of an entry all is its value.
    keys, values = split_fields(entries, told.separators[level + 1 : level + 2], 2, (0, 1), rest=True)
    keys = _decode(keys, target.key_type, told, hidden, level + 2)
    kept = _first_keys(keys, offsets)
    items = _decode(values, target.item_type, told, hidden, level + 2)
    if not kept.all():
        mask = pa.array(kept)
        keys, items = keys.filter(mask), items.filter(mask)
        offsets = np.concatenate(([0], np.cumsum(kept)))[offsets].astype(np.int32)
    return pa.MapArray.from_arrays(pa.array(offsets), keys, items, type=target, mask=_nulls(texts))


def _first_keys(keys: pa.Array, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which entries stay: those with a key, and of one key in a map the first."""
    kept: npt.NDArray[np.bool_] = pc.is_valid(keys).to_numpy(zero_copy_only=False).copy()
    encoded = keys.dictionary_encode()
    codes = pc.fill_null(encoded.indices, 0).to_numpy().astype(np.int64)
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    valid = np.flatnonzero(kept)
    _, first = np.unique((rows * max(len(encoded.dictionary), 1) + codes)[valid], return_index=True)
    if len(first) < len(valid):
        kept[:] = False
        kept[valid[first]] = True
    return kept


def _elements(texts: pa.Array, separator: bytes) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """The elements of all texts one behind the other, and where each text's begin; an empty text has none."""
    pieces = pc.split_pattern(texts, separator)
    offsets = np.frombuffer(pieces.buffers()[1], np.int32)[pieces.offset : pieces.offset + len(pieces) + 1]
    empty = pc.fill_null(pc.equal(pc.binary_length(texts), 0), False).to_numpy(zero_copy_only=False)
    values = pieces.values
    if not empty.any():
        return values, offsets
    kept = np.ones(len(values), bool)
    kept[offsets[:-1][empty]] = False
    shifted = np.concatenate(([0], np.cumsum(np.diff(offsets) * ~empty))).astype(np.int32)
    return values.filter(pa.array(kept)), shifted


def _nulls(texts: pa.Array) -> pa.Array | None:
    return texts.is_null() if texts.null_count else None


def _byte(text: str | None, default: int) -> int:
    """A separator: the number of a byte, or a character (``LazyUtils.getByte``)."""
    if not text:
        return default
    if re.fullmatch(r"[+-]?[0-9]{1,10}", text) and -128 <= int(text) <= 127:
        return int(text) & 0xFF
    return ord(text[0]) & 0xFF
