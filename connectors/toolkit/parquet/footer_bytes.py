"""The bytes of a Parquet footer, for a footer that is shown to Arrow with some of them changed. Executor side.

A file ends with its footer, the footer's length in four bytes, and ``PAR1`` (parquet-format).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["parsed_footer", "read_footer"]

_MAGIC = b"PAR1"
# Most footers are shorter, so that one request reads the length and the footer.
_TAIL = 1 << 16


def read_footer(source: pa.NativeFile) -> bytearray:
    """The footer of a file.

    Raises:
        ValueError: The file does not end as one of Parquet with a plain footer.
    """
    size = source.size()
    tail = source.read_at(min(size, _TAIL), max(0, size - _TAIL))
    length = int.from_bytes(tail[-8:-4], "little")
    if tail[-4:] != _MAGIC or length > size - 8:
        raise ValueError("no footer of Parquet")
    if length > len(tail) - 8:
        return bytearray(source.read_at(length, size - 8 - length))
    return bytearray(tail[len(tail) - 8 - length : -8])


def parsed_footer(footer: bytes | bytearray) -> pq.FileMetaData:
    """What Arrow makes of a footer.

    Raises:
        ArrowException: It is damaged; ``OSError`` likewise.
    """
    file = _MAGIC + bytes(footer) + len(footer).to_bytes(4, "little") + _MAGIC
    return pq.read_metadata(pa.BufferReader(file))
