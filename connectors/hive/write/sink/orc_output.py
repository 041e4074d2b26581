"""What the library that writes ORC writes to: keeps errors for later, and adds to the footer. Executor side."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from pyarrow import orc

from connectors.toolkit.codecs.varints import read_varint, varint_bytes
from connectors.toolkit.orc.footer import OrcFooter, read_orc_footer

__all__ = ["FooterSink", "OrcOutput", "OrcWriter", "metadata_fields", "with_footer_fields"]

_HELD_BYTES = 8 << 20
"""The last bytes of a file, which hold its footer: some hundred bytes for each stripe and column."""
_NO_COMPRESSION = 0
_CHUNK_BYTES = 1 << 14
"""Readers refuse chunks larger than a block of the file, of 64 KiB here and less elsewhere."""


class OrcOutput(io.RawIOBase):
    """Keeps the first error of storage until ``check``: ORC's C++ library ends the process where its output fails.

    The library's writer holds it by a reference that Python's collector of cycles cannot see. So it must hold nothing
    that leads to the writer, or neither is ever freed: not a method of its owner, not an error with its traceback.

    Args:
        sink: Where the file goes.
    """

    def __init__(self, sink: pa.NativeFile) -> None:
        self._sink = sink
        self._error: BaseException | None = None
        self._has_failed = False

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        """Takes bytes; none go on after an error."""
        chunk = memoryview(data).cast("B")  # type: ignore[arg-type]
        if not self._has_failed:
            try:
                self._put(chunk)
            except BaseException as error:
                self._error, self._has_failed = error, True
        return len(chunk)

    def check(self) -> None:
        """Raises the error that was kept.

        Raises:
            OSError: It was raised before.
        """
        if self._error is not None:
            error, self._error = self._error, None
            try:
                raise error
            finally:
                del error
        if self._has_failed:
            raise OSError("nothing more is written to a file whose storage has failed before")

    def _put(self, chunk: memoryview) -> None:
        self._sink.write(chunk)


class OrcWriter:
    """A writer whose output may fail.

    Args:
        output: Where it writes to.
        options: Those of pyarrow's writer.
    """

    def __init__(self, output: OrcOutput, **options: object) -> None:
        self._output = output
        # All releases of Hive that are spoken to read it.
        self._writer = orc.ORCWriter(pa.PythonFile(output, "w"), file_version="0.12", **options)

    def write(self, table: pa.Table) -> None:
        """Writes rows."""
        self._writer.write(_from_the_first(table))
        self._output.check()

    def close(self) -> None:
        """Writes the end of the file."""
        self._writer.close()
        self._output.check()


def _from_the_first(table: pa.Table) -> pa.Table:
    """The same rows, with structs that are not a part of other arrays.

    ``NormalizeArray`` of Arrow's ORC adapter gives a struct that is a part of another the NULLs of that one's first
    rows, where it is a column of the file.
    """
    for index, column in enumerate(table.columns):
        if pa.types.is_struct(column.type) and any(chunk.offset for chunk in column.chunks):
            whole = column.take(pa.array(np.arange(len(column))))
            table = table.set_column(index, table.schema.field(index), whole)
    return table


class FooterSink(OrcOutput):
    """Keeps the end of the file back until metadata is added to its footer.

    Args:
        sink: Where the file goes.
        path: The file, for messages.
    """

    def __init__(self, sink: pa.NativeFile, path: str) -> None:
        super().__init__(sink)
        self._path = path
        self._held = bytearray()

    def _put(self, chunk: memoryview) -> None:
        self._held += chunk
        if len(self._held) > 2 * _HELD_BYTES:
            with memoryview(self._held) as held:
                self._sink.write(held[:-_HELD_BYTES])
            del self._held[:-_HELD_BYTES]

    def finish(self, metadata: Callable[[OrcFooter], Mapping[str, bytes]]) -> None:
        """To be called when the writer has closed: writes the end, with the metadata.

        Args:
            metadata: Gives the metadata by the footer.

        Raises:
            CorruptFileError: The footer is larger than what was kept.
        """
        tail = bytes(self._held)
        self._held.clear()
        footer = read_orc_footer(pa.BufferReader(tail), self._path)
        self._sink.write(with_footer_fields(tail, metadata_fields(metadata(footer))))


def with_footer_fields(tail: bytes, fields: bytes) -> bytes:
    """The end of an ORC file with more fields in its footer (ORC v1 spec, "File Tail").

    Fields of a message of Protocol Buffers may follow in any order; so they are put behind the others, in chunks of
    their own that are not compressed where the file is.

    Args:
        tail: The last bytes of the file, to its end; at least the postscript.
        fields: Encoded fields of the footer.

    Raises:
        ValueError: The postscript does not begin as all writers have it.
    """
    postscript = tail[-1 - tail[-1] : -1]
    length, end = read_varint(postscript, 1)
    # Field 1 is the length of the footer, field 2 the kind of compression.
    if postscript[0] != 0x08 or postscript[end] != 0x10:
        raise ValueError(f"an ORC postscript begins with the fields {postscript[0] >> 3} and {postscript[end] >> 3}")
    added = fields if postscript[end + 1] == _NO_COMPRESSION else _chunks(fields)
    changed = b"\x08" + varint_bytes(length + len(added)) + postscript[end:]
    return tail[: -1 - len(postscript)] + added + changed + bytes([len(changed)])


def metadata_fields(metadata: Mapping[str, bytes]) -> bytes:
    """User metadata as fields of a footer: field 5, with a name and a value each."""
    return b"".join(_field(b"\x2a", _field(b"\x0a", key.encode()) + _field(b"\x12", metadata[key])) for key in metadata)


def _field(tag: bytes, content: bytes) -> bytes:
    return tag + varint_bytes(len(content)) + content


def _chunks(content: bytes) -> bytes:
    pieces = [content[start : start + _CHUNK_BYTES] for start in range(0, len(content), _CHUNK_BYTES)]
    return b"".join((len(piece) << 1 | 1).to_bytes(3, "little") + piece for piece in pieces)
