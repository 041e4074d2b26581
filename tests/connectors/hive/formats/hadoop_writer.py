"""Writes what Hadoop and Hive write, the plain way: one value after the other."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import cast

import pyarrow as pa

from connectors.hive.formats.sequence.sync_marks import ESCAPE
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["lazy_binary", "lazy_binary_row", "rc_file", "sequence_file", "text", "vint"]

SYNC = bytes(range(100, 116))
Compress = Callable[[bytes], bytes]
_EPOCH = datetime.datetime(1970, 1, 1)


def vint(number: int) -> bytes:
    """``WritableUtils.writeVLong``."""
    if -112 <= number <= 127:
        return (number & 0xFF).to_bytes(1, "big")
    rest = ~number if number < 0 else number
    size = (rest.bit_length() + 7) // 8
    first = (-120 if number < 0 else -112) - size
    return (first & 0xFF).to_bytes(1, "big") + rest.to_bytes(size, "big")


def text(value: str | bytes) -> bytes:
    """A ``Text``."""
    raw = value.encode() if isinstance(value, str) else value
    return vint(len(raw)) + raw


def lazy_binary(value: object, arrow: pa.DataType, nested: bool = True) -> bytes:
    """``LazyBinarySerDe.serialize`` of a value that is not NULL; ``nested`` values tell their own length."""
    if pa.types.is_boolean(arrow):
        return b"\1" if value else b"\0"
    if arrow in (pa.int8(), pa.int16()):
        return cast(int, value).to_bytes(arrow.bit_width // 8, "big", signed=True)
    if arrow in (pa.int32(), pa.int64()):
        return vint(cast(int, value))
    if pa.types.is_floating(arrow):
        little = pa.array([value], arrow).buffers()[1].to_pybytes()[: arrow.bit_width // 8]
        return cast(bytes, little[::-1])
    if pa.types.is_date(arrow):
        return vint((cast(datetime.date, value) - _EPOCH.date()).days)
    if pa.types.is_timestamp(arrow):
        return _timestamp(cast(datetime.datetime, value))
    if pa.types.is_decimal(arrow):
        return _decimal(cast(Decimal, value))
    if pa.types.is_string(arrow) or pa.types.is_binary(arrow):
        raw = value.encode() if isinstance(value, str) else cast(bytes, value)
        return vint(len(raw)) + raw if nested else raw
    content = _content(value, arrow)
    return len(content).to_bytes(4, "big") + content if nested else content


def lazy_binary_row(values: Sequence[object], types: Sequence[pa.DataType]) -> bytes:
    """The fields of a row or struct."""
    out = b""
    for start in range(0, len(types), 8):
        group = list(zip(values[start : start + 8], types[start : start + 8], strict=True))
        out += bytes([sum(1 << at for at, (value, _) in enumerate(group) if value is not None)])
        out += b"".join(lazy_binary(value, arrow) for value, arrow in group if value is not None)
    return out


def sequence_file(
    values: Sequence[bytes],
    *,
    codec: tuple[str, Compress] | None = None,
    blocks: bool = False,
    every: int = 3,
    value_class: str = "Text",
    version: int = 6,
) -> bytes:
    """A SequenceFile of keys of no bytes, with a mark before ``every`` few records, or blocks of so many."""
    names = [text(f"org.apache.hadoop.io.{name}") for name in ("BytesWritable", value_class)]
    out = [b"SEQ", bytes([version]), *names, bytes([codec is not None, blocks])]
    if codec and version >= 5:
        out.append(text(f"org.apache.hadoop.io.compress.{codec[0]}"))
    if version >= 6:
        out += [(1).to_bytes(4, "big"), text("who"), text("wrote it")]
    out.append(SYNC)
    pack: Compress = codec[1] if codec else bytes
    wrapped = [text(value) if value_class == "Text" else len(value).to_bytes(4, "big") + value for value in values]
    for start in range(0, len(wrapped), every):
        part = wrapped[start : start + every]
        if blocks:
            keys = [b"\0\0\0\0"] * len(part)
            out += [ESCAPE, SYNC, vint(len(part))]
            for items in (keys, part):
                for raw in (b"".join(vint(len(item)) for item in items), b"".join(items)):
                    out.append(text(pack(raw)))
            continue
        out += [ESCAPE, SYNC] if start else []
        for item in part:
            packed = pack(item)
            out += [(4 + len(packed)).to_bytes(4, "big"), (4).to_bytes(4, "big"), bytes(4), packed]
    return b"".join(out)


def rc_file(
    columns: Sequence[Sequence[bytes]], *, codec: tuple[str, Compress] | None = None, every: int = 3, old: bool = False
) -> bytes:
    """An RCFile of groups of ``every`` rows, with a mark before every second group."""
    pack: Compress = codec[1] if codec else bytes
    classes = [text(f"org.apache.hadoop.hive.ql.io.RCFile${name}Buffer") for name in ("Key", "Value")]
    out = [b"SEQ\6", *classes] if old else [b"RCF\1"]
    out += [bytes([codec is not None]), *([b"\0"] if old else [])]
    out += [text(f"org.apache.hadoop.io.compress.{codec[0]}")] if codec else []
    out += [(1).to_bytes(4, "big"), text("hive.io.rcfile.column.number"), text(str(len(columns))), SYNC]
    for number, start in enumerate(range(0, len(columns[0]), every)):
        groups = [column[start : start + every] for column in columns]
        packed = [pack(b"".join(group)) for group in groups]
        key = vint(len(groups[0]))
        for group, stored in zip(groups, packed, strict=True):
            lengths = _runs([len(cell) for cell in group])
            key += vint(len(stored)) + vint(len(b"".join(group))) + text(lengths)
        stored_key = pack(key)
        out += [ESCAPE, SYNC] if number % 2 else []
        sizes = (len(key) + sum(map(len, packed)), len(key), len(stored_key))
        out += [b"".join(size.to_bytes(4, "big") for size in sizes), stored_key, *packed]
    return b"".join(out)


def deflate(raw: bytes) -> bytes:
    """``DefaultCodec``."""
    return zlib.compress(raw)


def _content(value: object, arrow: pa.DataType) -> bytes:
    if is_union_struct(arrow):
        branches = cast("dict[str, object]", value)
        tag = cast(int, branches["tag"])
        chosen = branches[f"field{tag}"]
        return bytes([tag]) + (b"" if chosen is None else lazy_binary(chosen, arrow.field(tag + 1).type))
    if pa.types.is_struct(arrow):
        fields = cast("dict[str, object]", value)
        return lazy_binary_row([fields[field.name] for field in arrow], [field.type for field in arrow])
    items: list[tuple[object, pa.DataType]]
    if pa.types.is_map(arrow):
        pairs = cast("list[tuple[object, object]]", value)
        count = len(pairs)
        items = [one for key, item in pairs for one in ((key, arrow.key_type), (item, arrow.item_type))]
    else:
        items = [(item, arrow.value_type) for item in cast("list[object]", value)]
        count = len(items)
    bits = bytearray((len(items) + 7) // 8)
    for at, (item, _) in enumerate(items):
        bits[at // 8] |= (item is not None) << at % 8
    return vint(count) + bytes(bits) + b"".join(lazy_binary(item, kind) for item, kind in items if item is not None)


def _timestamp(value: datetime.datetime) -> bytes:
    micros = (value.replace(tzinfo=None) - _EPOCH) // datetime.timedelta(microseconds=1)
    seconds, fraction = divmod(micros, 1_000_000)
    digits = int(f"{fraction * 1000:09d}"[::-1])
    second = not 0 <= seconds < 1 << 31
    flag = 1 << 31 if digits or second else 0
    out = ((seconds & 0x7FFFFFFF) | flag).to_bytes(4, "big")
    out += vint(~digits if second else digits) if flag else b""
    return out + (vint(seconds >> 31) if second else b"")


def _decimal(value: Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    number = int("".join(map(str, digits))) * 10 ** max(int(exponent), 0) * (-1 if sign else 1)
    # As few bytes as BigInteger.toByteArray: one of -128.
    raw = number.to_bytes((~number if number < 0 else number).bit_length() // 8 + 1, "big", signed=True)
    return vint(max(-int(exponent), 0)) + text(raw)


def _runs(lengths: Sequence[int]) -> bytes:
    out, at = b"", 0
    while at < len(lengths):
        again = at + 1
        while again < len(lengths) and lengths[again] == lengths[at]:
            again += 1
        out += vint(lengths[at]) + (vint(~(again - at - 1)) if again > at + 1 else b"")
        at = again
    return out
