"""Writes text files, and reads back what it writes. Executor side."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.json.serde import JsonSerDe
from connectors.hive.formats.lazy.simple import LazySimpleSerDe
from connectors.hive.formats.open_csv import OpenCsvSerDe
from connectors.hive.formats.text.lines import cut_lines
from connectors.hive.write.sink.compression import container_codec
from connectors.hive.write.sink.text.checked_rows import CheckedRows, other_value
from connectors.toolkit.cells import value_bytes
from connectors.toolkit.codecs.hadoop_compression import CompressedFile

__all__ = ["TextFileWriter", "check_text_storage"]

_ROWS_AT_ONCE = 1 << 16
_REFUSED = ("skip.header.line.count", "skip.footer.line.count", "serialization.encoding")
_WHERE = "the table"


class TextFileWriter:
    """A text file.

    Args:
        storage: SerDe and properties, which ``check_text_storage`` has checked.
        sink: Where the file goes.
        schema: The columns.
    """

    def __init__(self, storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> None:
        codec = container_codec(storage)
        self._rows = CheckedRows(storage, schema)
        self._packed = None if codec is None else CompressedFile(sink, codec)
        self._sink = sink if self._packed is None else self._packed
        self._names = schema.names
        self._is_begun = False

    def write(self, table: pa.Table) -> None:
        """Writes rows.

        Raises:
            NotSupportedError: A column has a value that would be read as another one.
        """
        for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
            if not batch.num_rows:
                continue
            content = value_bytes(pc.binary_join_element_wise(self._rows.records(batch), b"", b"\n"))
            self._check(content, batch)
            self._sink.write(content)
            self._is_begun = True

    def close(self) -> None:
        """Writes the end of compressed data; else there is nothing at the end."""
        if self._packed is not None:
            self._packed.finish()

    def _check(self, content: bytes, batch: pa.RecordBatch) -> None:
        found = list(cut_lines(io.BytesIO(content).read, _WHERE, mark=not self._is_begun))
        records = pa.concat_arrays(found)
        if len(records) != batch.num_rows:
            raise other_value(f"a text in one of the columns {', '.join(self._names)} holds the end of a line")
        self._rows.check(records, batch)


def check_text_storage(storage: FileStorage, where: str) -> None:
    """Refuses tables of texts, in text files or in SequenceFiles, that are not written.

    Args:
        storage: SerDe and properties.
        where: Begins the message.

    Raises:
        NotSupportedError: The SerDe, or lines at the begin or the end that readers leave out, or an encoding.
    """
    properties = dict(storage.properties)
    for key in _REFUSED:
        if properties.get(key, "0").strip().lower() not in ("", "0", "utf-8", "utf8"):
            raise NotSupportedError(f"{where}: it has {key}={properties[key]}; only tables without it are written")
    if properties.get("line.delim", "\n") not in ("\n", "10", ""):
        raise NotSupportedError(f"{where}: its lines do not end with a line feed")
    if not any(storage.serde in one.classes for one in (LazySimpleSerDe, OpenCsvSerDe, JsonSerDe)):
        raise NotSupportedError(
            f"{where}: its SerDe is {storage.serde}; LazySimpleSerDe, OpenCSVSerde and JsonSerDe are written"
        )
