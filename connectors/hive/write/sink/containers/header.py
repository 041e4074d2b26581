"""The front of SequenceFiles and RCFiles, in Hadoop's ``Writable`` form. Executor side."""

from __future__ import annotations

import numpy as np

from connectors.hive.write.sink.cells.numbers import vint_cells
from connectors.toolkit.codecs.hadoop_compression import class_of_codec

__all__ = ["codec_bytes", "metadata_bytes", "text_bytes", "vint_bytes"]


def vint_bytes(number: int) -> bytes:
    """A number of one to nine bytes."""
    found: bytes = vint_cells(np.array([number]))[0].as_py()
    return found


def text_bytes(text: str | bytes) -> bytes:
    """A ``Text``."""
    raw = text.encode() if isinstance(text, str) else text
    return vint_bytes(len(raw)) + raw


def codec_bytes(codec: str | None) -> bytes:
    """The name of a codec's class; nothing where there is none."""
    return b"" if codec is None else text_bytes(class_of_codec(codec))


def metadata_bytes(entries: dict[str, str]) -> bytes:
    """A ``SequenceFile.Metadata``."""
    texts = b"".join(text_bytes(key) + text_bytes(value) for key, value in entries.items())
    return len(entries).to_bytes(4, "big") + texts
