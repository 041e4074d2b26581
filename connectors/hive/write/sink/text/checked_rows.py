"""Rows as records of a SerDe of texts, read back before they are written. Executor side.

Hive writes whatever it is given, also a text with a separator in it, and then reads other rows. Here each record is
read again by the SerDe's own rules, so that a value which it cannot hold is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from connector_spi.errors import ConnectorError, InternalError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.json.serde import JsonSerDe
from connectors.hive.formats.lazy.parameters import lazy_parameters
from connectors.hive.formats.lazy.simple import LazySimpleSerDe
from connectors.hive.formats.open_csv import OpenCsvSerDe, csv_signs
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde
from connectors.hive.write.sink.text.delimited import DelimitedTexts
from connectors.hive.write.sink.text.json_objects import JsonObjects
from connectors.hive.write.sink.text.quoted import QuotedTexts
from connectors.hive.write.sink.text.same_values import same_values

__all__ = ["CheckedRows", "other_value"]

_WHERE = "the table"


class _Texts(Protocol):
    def lines(self, rows: pa.RecordBatch) -> pa.Array:
        """Each row as a text without the end of its line."""


class CheckedRows:
    """Makes records of rows.

    Args:
        storage: SerDe and properties, which ``check_text_storage`` has checked.
        schema: The columns.
    """

    def __init__(self, storage: FileStorage, schema: pa.Schema) -> None:
        properties = dict(storage.properties)
        layout = RowLayout(schema, tuple(range(len(schema))), properties, "UTC", _WHERE)
        self._decode = find_row_serde(storage.serde, _WHERE).decoder(layout)
        self._texts = _texts(storage.serde, properties)
        self._names = schema.names

    def records(self, batch: pa.RecordBatch) -> pa.Array:
        """Each row as ``binary``."""
        return self._texts.lines(batch).cast(pa.binary())

    def check(self, records: pa.Array, batch: pa.RecordBatch) -> None:
        """Checks that records are read as these rows.

        Raises:
            NotSupportedError: A column has a value that would be read as another one.
        """
        try:
            columns: Sequence[pa.Array] = self._decode(records)
        except ConnectorError as error:
            # Its own message may hold the row.
            raise other_value("a row has a value that its SerDe does not read") from error
        for name, given, read in zip(self._names, batch.columns, columns, strict=True):
            if not same_values(given, read):
                raise other_value(f"column '{name}' has a value that would be read as another one")


def other_value(reason: str) -> NotSupportedError:
    """The error for a value that a file of texts does not hold."""
    return NotSupportedError(
        f"{reason}; text files of this table do not hold such values: change them, or write to a table of ORC",
        error_codes.HIVE_UNSUPPORTED_TYPE,
    )


def _texts(serde: str, properties: Mapping[str, str]) -> _Texts:
    if serde in LazySimpleSerDe.classes:
        return DelimitedTexts(lazy_parameters(properties, "UTC", _WHERE))
    if serde in OpenCsvSerDe.classes:
        return QuotedTexts(csv_signs(properties, _WHERE))
    if serde in JsonSerDe.classes:
        return JsonObjects()
    raise InternalError(f"the SerDe {serde} is not written, and the table was not refused")
