"""What pyarrow and pyorc do not show of an ORC file's footer: stripes, writer and calendar (ORC v1 spec).

The footer is a protobuf message of a few known fields; the rest is ignored.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.toolkit.codecs.varints import message_fields, read_varint
from connectors.toolkit.orc.wire import decompress

__all__ = ["OrcFooter", "OrcSection", "OrcStripe", "OrcType", "read_orc_footer", "read_writer_zone"]

_TAIL = 32 * 1024
_MAGIC = b"ORC"
# The header of a chunk has 23 bits for its length, and ORC's writers make no blocks that are longer than that.
_MOST_BLOCK = 1 << 28
_JAVA_WRITER = 0
_CODECS = ("none", "zlib", "snappy", "lzo", "lz4_raw", "zstd", "brotli")
# As of OrcFile.Version; files of the first writers name none. Later ones may mean other things by the same bytes.
_VERSIONS = ((), (0, 11), (0, 12), (1, 9999))
_UNKNOWN_CALENDAR, _HYBRID_CALENDAR = 0, 1


@dataclass(frozen=True, slots=True)
class OrcStripe:
    """A stripe: its first byte, its bytes, its rows, and how many of the bytes are its footer."""

    offset: int
    length: int
    rows: int
    footer_length: int = 0


@dataclass(frozen=True, slots=True)
class OrcType:
    """A type of the file: the number of its kind (``OrcProto.Type.Kind``), and the types inside of it by number."""

    kind: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OrcSection:
    """A compressed part of the file: its first byte and its bytes, and these themselves where they came along."""

    offset: int = 0
    length: int = 0
    content: bytes | None = None

    def read(self, file: pa.NativeFile) -> bytes:
        """The bytes, still compressed."""
        if self.content is not None:
            return self.content
        found: bytes = file.read_at(self.length, self.offset)
        return found


@dataclass(frozen=True, slots=True)
class OrcFooter:
    """The parts of a footer that are used.

    Attributes:
        stripes: In the file's order.
        rows: Rows of the file.
        writer: Number of the writing library; 0 is ORC's Java library.
        hybrid_calendar: Dates and timestamps before 1582-10-15 are in the Julian calendar. So says the footer, and
            so did the Java library before it could say (``OrcProto.CalendarKind``, ORC-414).
        row_index_stride: Rows of a row group; 0 means that there are none, and that statistics say nothing.
        metadata: What the writer added, by name.
        types: All types, the root first; others name them by position.
        codec: How blocks are compressed.
        block_size: Most bytes of a block when decompressed.
        statistics: Those of the whole file by type, as messages (``OrcProto.ColumnStatistics``).
        stripe_statistics: Where those of the stripes are (``OrcProto.Metadata``).
    """

    stripes: tuple[OrcStripe, ...]
    rows: int
    writer: int
    hybrid_calendar: bool
    row_index_stride: int = 0
    metadata: tuple[tuple[str, bytes], ...] = ()
    types: tuple[OrcType, ...] = ()
    codec: str = "none"
    block_size: int = 1 << 18
    statistics: tuple[bytes, ...] = ()
    stripe_statistics: OrcSection = OrcSection()


def read_orc_footer(file: pa.NativeFile, path: str) -> OrcFooter:
    """Reads the footer of an open file.

    Raises:
        CorruptFileError: It is no ORC file, or is truncated.
        NotSupportedError: It is of a later version of the format, or compressed in an unknown way.
    """
    try:
        return _read(file, path)
    except (IndexError, ValueError, zlib.error, pa.ArrowException) as error:
        raise _corrupt(path, "its footer is damaged") from error


def read_writer_zone(file: pa.NativeFile, footer: OrcFooter, index: int, path: str) -> str:
    """The time zone in which a stripe was written; empty where it does not say.

    Raises:
        CorruptFileError: The stripe's footer is damaged.
    """
    stripe = footer.stripes[index]
    try:
        raw = file.read_at(stripe.footer_length, stripe.offset + stripe.length - stripe.footer_length)
        for tag, value in message_fields(decompress(raw, footer.codec, footer.block_size)):
            if tag == 3 and isinstance(value, bytes):
                return value.decode("utf-8", "replace")
    except (IndexError, ValueError, zlib.error, pa.ArrowException) as error:
        raise _corrupt(path, "the footer of a stripe is damaged") from error
    return ""


def _corrupt(path: str, reason: str) -> CorruptFileError:
    return CorruptFileError(f"{path} cannot be read as ORC: {reason}; it is truncated, damaged or of another format")


def _read(file: pa.NativeFile, path: str) -> OrcFooter:
    size = file.size()
    if size < len(_MAGIC) + 1:
        raise _corrupt(path, f"it has {size} bytes only")
    tail = _last(file, size, _TAIL)
    script_length = tail[-1]
    script = tail[-1 - script_length : -1]
    if _MAGIC not in script[-len(_MAGIC) - 1 :] and file.read_at(len(_MAGIC), 0) != _MAGIC:
        raise _corrupt(path, "its last bytes are no ORC postscript")
    _check_version(script, path)
    fields = dict(message_fields(script))
    footer_length, codec = _number(fields.get(1, 0)), _number(fields.get(2, 0))
    if not 0 < footer_length + script_length < size:
        raise _corrupt(path, f"a footer of {footer_length} bytes does not fit in {size} bytes")
    if footer_length + script_length + 1 > len(tail):
        tail = _last(file, size, footer_length + script_length + 1)
    raw = tail[-1 - script_length - footer_length : -1 - script_length]
    if codec >= len(_CODECS):
        raise NotSupportedError(f"{path} is compressed by ORC's codec {codec}, which is unknown; rewrite the file")
    block_size = _number(fields.get(3, 0)) or 1 << 18
    if block_size > _MOST_BLOCK:
        raise _corrupt(path, f"it claims blocks of {block_size} bytes")
    section = _before(_number(fields.get(5, 0)), tail, size, 1 + script_length + footer_length)
    return replace(
        _footer(decompress(raw, _CODECS[codec], block_size), _CODECS[codec], block_size), stripe_statistics=section
    )


def _check_version(script: bytes, path: str) -> None:
    version: list[int] = []
    for tag, value in message_fields(script):
        if tag == 4 and isinstance(value, bytes):
            at = 0
            while at < len(value):
                number, at = read_varint(value, at)
                version.append(number)
        elif tag == 4:
            version.append(_number(value))
    if tuple(version) not in _VERSIONS:
        raise NotSupportedError(
            f"{path} is of version {'.'.join(map(str, version))} of the ORC format; expected 0.11 or 0.12: "
            "rewrite the file by a writer of these versions"
        )


def _before(length: int, tail: bytes, size: int, behind: int) -> OrcSection:
    """The ``length`` bytes that ``behind`` more follow to the end of the file; none where they do not fit in it."""
    if not 0 < length <= size - behind:
        return OrcSection()
    start = len(tail) - behind - length
    return OrcSection(size - behind - length, length, tail[start : start + length] if start >= 0 else None)


def _footer(content: bytes, codec: str, block_size: int) -> OrcFooter:
    stripes: list[OrcStripe] = []
    metadata: list[tuple[str, bytes]] = []
    types: list[OrcType] = []
    statistics: list[bytes] = []
    rows, stride, writer, calendar = 0, 0, _JAVA_WRITER, _UNKNOWN_CALENDAR
    for tag, value in message_fields(content):
        if tag == 3 and isinstance(value, bytes):
            stripe = {key: _number(number) for key, number in message_fields(value)}
            length = sum(stripe.get(part, 0) for part in (2, 3, 4))
            stripes.append(OrcStripe(stripe.get(1, 0), length, stripe.get(5, 0), stripe.get(4, 0)))
        elif tag == 4 and isinstance(value, bytes):
            types.append(_type(value))
        elif tag == 5 and isinstance(value, bytes):
            metadata.append(_metadata_item(value))
        elif tag == 6:
            rows = _number(value)
        elif tag == 7 and isinstance(value, bytes):
            statistics.append(value)
        elif tag == 8:
            stride = _number(value)
        elif tag == 9:
            writer = _number(value)
        elif tag == 11:
            calendar = _number(value)
    hybrid = calendar == _HYBRID_CALENDAR or (calendar == _UNKNOWN_CALENDAR and writer == _JAVA_WRITER)
    return OrcFooter(
        stripes=tuple(stripes),
        rows=rows,
        writer=writer,
        hybrid_calendar=hybrid,
        row_index_stride=stride,
        metadata=tuple(metadata),
        types=tuple(types),
        codec=codec,
        block_size=block_size,
        statistics=tuple(statistics),
    )


def _type(message: bytes) -> OrcType:
    kind = 0
    children: list[int] = []
    for tag, value in message_fields(message):
        if tag == 1:
            kind = _number(value)
        elif tag == 2 and isinstance(value, int):
            children.append(value)
        elif tag == 2 and isinstance(value, bytes):
            position = 0
            while position < len(value):
                child, position = read_varint(value, position)
                children.append(child)
    return OrcType(kind, tuple(children))


def _metadata_item(message: bytes) -> tuple[str, bytes]:
    parts = {key: value for key, value in message_fields(message) if isinstance(value, bytes)}
    return parts.get(1, b"").decode("utf-8", "replace"), parts.get(2, b"")


def _last(file: pa.NativeFile, size: int, count: int) -> bytes:
    count = min(count, size)
    content: bytes = file.read_at(count, size - count)
    return content


def _number(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("expected a number")
    return value
