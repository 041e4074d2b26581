"""Opening Parquet files so that Arrow gives their columns in the types of Parquet. Executor side."""

from __future__ import annotations

import inspect

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.toolkit.parquet.arrow_hint import has_types_of_arrow, without_arrow_schema
from connectors.toolkit.parquet.footer_bytes import parsed_footer, read_footer
from connectors.toolkit.parquet.maps import is_map_key_error, with_listed_maps

__all__ = ["open_plain_file"]

_SETTINGS = inspect.signature(pq.ParquetFile.__init__).parameters
# JSON and UUID as the texts and bytes that they are; older versions of pyarrow know nothing else.
_STORAGE_TYPES = {"arrow_extensions_enabled": False} if "arrow_extensions_enabled" in _SETTINGS else {}


def open_plain_file(source: pa.NativeFile) -> pq.ParquetFile:
    """Opens a file: without the Arrow schema of its writer, and with maps of optional keys as lists.

    Args:
        source: The file; ``maps.restored_maps`` has to be called for what is read of it.

    Raises:
        ArrowException: It is no Parquet file, or it is damaged; ``OSError`` likewise, also where storage fails.
    """
    try:
        file = _open(source)
        if not has_types_of_arrow(file.schema_arrow):
            return file
        metadata = without_arrow_schema(read_footer(source))
    except (pa.ArrowException, OSError) as error:
        metadata = _mended(source, error)
        if metadata is None:
            raise
        return _open(source, metadata)
    return file if metadata is None else _open(source, metadata)


def _mended(source: pa.NativeFile, error: Exception) -> pq.FileMetaData | None:
    """A footer that Arrow understands, of a file that it refused; ``None`` where there is none."""
    if isinstance(error, OSError) and error.errno is not None:
        return None
    try:
        footer = read_footer(source)
        if not is_map_key_error(error):
            return without_arrow_schema(footer)
        listed = with_listed_maps(footer)
        return without_arrow_schema(listed) or parsed_footer(listed)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _open(source: pa.NativeFile, metadata: pq.FileMetaData | None = None) -> pq.ParquetFile:
    return pq.ParquetFile(source, metadata=metadata, coerce_int96_timestamp_unit="us", **_STORAGE_TYPES)
