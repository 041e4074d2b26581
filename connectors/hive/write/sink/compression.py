"""Which codec the new files of a table have. Both sides."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.hive.formats.file_storage import FileStorage
from connectors.toolkit.codecs.hadoop_compression import extension_of_codec

__all__ = ["COMPRESSION", "NONE", "compression", "container_codec", "file_extension", "names_codec"]

COMPRESSION = "compression"
"""Spark's option of all its file formats, which we take as the property of a table of any format."""
NONE = "none"

_ORC = {"ZLIB": "zlib", "SNAPPY": "snappy", "ZSTD": "zstd", "LZ4": "lz4", "NONE": "uncompressed"}
_PARQUET = {"SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd", "LZ4_RAW": "lz4", "UNCOMPRESSED": NONE}
_AVRO = {"DEFLATE": "deflate", "SNAPPY": "snappy", "ZSTANDARD": "zstandard", "BZIP2": "bzip2", "NULL": "null"}
_HADOOP = {
    "DEFLATE": "zlib",
    "GZIP": "gzip",
    "BZIP2": "bzip2",
    "SNAPPY": "snappy",
    "LZ4": "lz4",
    "ZSTD": "zstd",
    "NONE": NONE,
}
# Hive 4.0.1 finds no rows in RCFiles of bzip2: it takes an error in a key for the end of the file.
_RCFILE = {word: codec for word, codec in _HADOOP.items() if codec != "bzip2"}
# Words that one format has and others do not; both Spark's and Trino's.
_SAME: Mapping[str, Mapping[str, str]] = {
    "orc": {"GZIP": "ZLIB", "DEFLATE": "ZLIB", "ZSTANDARD": "ZSTD", "UNCOMPRESSED": "NONE"},
    "parquet": {"NONE": "UNCOMPRESSED", "ZSTANDARD": "ZSTD"},
    "avro": {"GZIP": "DEFLATE", "ZLIB": "DEFLATE", "ZSTD": "ZSTANDARD", "NONE": "NULL", "UNCOMPRESSED": "NULL"},
}
_OF_ROWS = {"ZLIB": "DEFLATE", "ZSTANDARD": "ZSTD", "UNCOMPRESSED": "NONE"}
_CODECS: Mapping[str, Mapping[str, str]] = {"orc": _ORC, "parquet": _PARQUET, "avro": _AVRO, "rcfile": _RCFILE}
_PROPERTIES = {"orc": "orc.compress", "parquet": "parquet.compression", "avro": "avro.output.codec"}
_DEFAULTS = {"orc": "ZLIB", "parquet": "SNAPPY", "avro": "NULL"}


def compression(storage: FileStorage) -> str | None:
    """The codec of a table's new files; ``None`` where its name is not known for the format.

    ``orc.compress``, ``parquet.compression`` and ``avro.output.codec`` name it, or ``compression`` for each format, by
    default ZLIB (``OrcConf.COMPRESS``), SNAPPY as Spark and Trino have it, and none. Hive compresses other files by a
    setting of its sessions alone.

    Returns:
        pyarrow's name for ORC and Parquet, Avro's for Avro, that of ``hadoop_compression`` for others, or ``NONE``.
    """
    properties = {key.lower(): value.strip().upper() for key, value in storage.properties}
    own = _PROPERTIES.get(storage.format, COMPRESSION)
    given = properties.get(COMPRESSION) or properties.get(own) or _DEFAULTS.get(storage.format, "NONE")
    known = _CODECS.get(storage.format, _HADOOP)
    return known.get(given) or known.get(_SAME.get(storage.format, _OF_ROWS).get(given, ""))


def names_codec(storage: FileStorage) -> bool:
    """Whether a table's properties say how its files are compressed."""
    names = {COMPRESSION, _PROPERTIES.get(storage.format, COMPRESSION)}
    return any(key.lower() in names for key, _ in storage.properties)


def container_codec(storage: FileStorage) -> str | None:
    """The codec of text files, RCFiles and SequenceFiles, which ``check_writable`` has checked; ``None`` for none."""
    codec = compression(storage)
    return None if codec == NONE else codec


def file_extension(storage: FileStorage) -> str:
    """What readers know the codec of a text file by, with its dot; empty for other files and those without codec."""
    codec = container_codec(storage) if storage.format == "textfile" else None
    return "" if codec is None else f".{extension_of_codec(codec)}"
