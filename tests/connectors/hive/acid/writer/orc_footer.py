"""Adds to the footer of a finished ORC file what the libraries that wrote it cannot say."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.hive.write.sink.orc_output import metadata_fields, with_footer_fields

__all__ = ["with_footer"]

_JAVA_WRITER = b"\x48\x00"
"""Field 9 of the footer: written by the Java library, as all files of Hive are; the last value of a field counts."""


def with_footer(content: bytes, metadata: Mapping[str, bytes]) -> bytes:
    """The file with user metadata, and as one of the Java library.

    Args:
        content: Of the file.
        metadata: By key.
    """
    return with_footer_fields(content, _JAVA_WRITER + metadata_fields(metadata))
