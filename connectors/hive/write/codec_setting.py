"""The catalog's codec for new files, by Trino's names. Driver side."""

from __future__ import annotations

from dataclasses import replace

from connector_spi.properties import enum_property
from connector_spi.session import ConnectorSession
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.write.sink.compression import COMPRESSION, names_codec

__all__ = ["COMPRESSION_CODEC", "with_codec"]

_OF_FORMAT = "default"
COMPRESSION_CODEC = replace(
    enum_property(
        "hive.compression-codec",
        "The codec of new files of tables that name none themselves; default is each format's own.",
        (_OF_FORMAT, "none", "snappy", "lz4", "zstd", "gzip"),
        _OF_FORMAT,
    ),
    session_name="compression_codec",
)


def with_codec(session: ConnectorSession, storage: FileStorage) -> FileStorage:
    """The storage with the codec of the session in its properties, where the table has none."""
    codec = session.get(COMPRESSION_CODEC)
    if codec == _OF_FORMAT or names_codec(storage):
        return storage
    return replace(storage, properties=tuple(sorted([*storage.properties, (COMPRESSION, codec)])))
