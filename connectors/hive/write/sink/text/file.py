"""Writes text files, and reads back what it writes. Executor side.

Hive writes whatever it is given, also a text with a line feed in it, and then reads other rows. Here each line is read
again by the SerDe's own rules before it is written, so that a value which the file cannot hold is refused by name.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ConnectorError, InternalError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.json.serde import JsonSerDe
from connectors.hive.formats.lazy.parameters import lazy_parameters
from connectors.hive.formats.lazy.simple import LazySimpleSerDe
from connectors.hive.formats.open_csv import OpenCsvSerDe, csv_signs
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde
from connectors.hive.formats.text.lines import cut_lines
from connectors.hive.write.sink.text.delimited import DelimitedTexts
from connectors.hive.write.sink.text.json_objects import JsonObjects
from connectors.hive.write.sink.text.quoted import QuotedTexts
from connectors.hive.write.sink.text.same_values import same_values
from connectors.toolkit.cells import value_bytes

__all__ = ["TextFileWriter", "check_text_storage"]

_ROWS_AT_ONCE = 1 << 16
_REFUSED = ("skip.header.line.count", "skip.footer.line.count", "serialization.encoding")
_WHERE = "the table"


class _Texts(Protocol):
    def lines(self, rows: pa.RecordBatch) -> pa.Array:
        """Each row as a text without the end of its line."""


class TextFileWriter:
    """A text file.

    Args:
        storage: SerDe and properties, which ``check_text_storage`` has checked.
        sink: Where the file goes.
        schema: The columns.
    """

    def __init__(self, storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> None:
        properties = dict(storage.properties)
        wanted = tuple(range(len(schema)))
        layout = RowLayout(schema, wanted, properties, "UTC", _WHERE)
        self._decode = find_row_serde(storage.serde, _WHERE).decoder(layout)
        self._texts = _texts(storage.serde, properties)
        self._sink = sink
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
            lines = self._texts.lines(batch).cast(pa.binary())
            content = value_bytes(pc.binary_join_element_wise(lines, b"", b"\n"))
            self._check(content, batch)
            self._sink.write(content)
            self._is_begun = True

    def close(self) -> None:
        """There is nothing at the end."""

    def _check(self, content: bytes, batch: pa.RecordBatch) -> None:
        found = list(cut_lines(io.BytesIO(content).read, _WHERE, mark=not self._is_begun))
        records = pa.concat_arrays(found)
        if len(records) != batch.num_rows:
            raise _other(f"a text in one of the columns {', '.join(self._names)} holds the end of a line")
        try:
            columns: Sequence[pa.Array] = self._decode(records)
        except ConnectorError as error:
            # Its own message may hold the row.
            raise _other("a row has a value that its SerDe does not read") from error
        for name, given, read in zip(self._names, batch.columns, columns, strict=True):
            if not same_values(given, read):
                raise _other(f"column '{name}' has a value that would be read as another one")


def check_text_storage(storage: FileStorage, where: str) -> None:
    """Refuses text tables that are not written.

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


def _texts(serde: str, properties: Mapping[str, str]) -> _Texts:
    if serde in LazySimpleSerDe.classes:
        return DelimitedTexts(lazy_parameters(properties, "UTC", _WHERE))
    if serde in OpenCsvSerDe.classes:
        return QuotedTexts(csv_signs(properties, _WHERE))
    if serde in JsonSerDe.classes:
        return JsonObjects()
    raise InternalError(f"the SerDe {serde} is not written, and the table was not refused")


def _other(reason: str) -> NotSupportedError:
    return NotSupportedError(
        f"{reason}; text files of this table do not hold such values: change them, or write to a table of ORC",
        error_codes.HIVE_UNSUPPORTED_TYPE,
    )
