"""The record of an Avro container file, as which Hudi writes what instants and indexes say. Pure."""

from __future__ import annotations

import io
from collections.abc import Mapping

import fastavro

__all__ = ["container_record"]


def container_record(data: bytes) -> Mapping[str, object]:
    """The first record of a file. The schema in the file decides: unions come in either order, fields were added.

    Raises:
        Exception: One of ``toolkit.avro_errors.AVRO_ERRORS``: it is no such file, cut off, or holds no record.
    """
    record = next(iter(fastavro.reader(io.BytesIO(data))))
    if not isinstance(record, dict):
        raise TypeError("not a record")
    return record
