"""Columns of rows as the cells of an RCFile. Executor side."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ConnectorError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.lazy.parameters import lazy_parameters
from connectors.hive.formats.lazy.texts import decode_column
from connectors.hive.write.sink.cells.lazy_binary import column_cells
from connectors.hive.write.sink.text.delimited import DelimitedTexts
from connectors.hive.write.sink.text.same_values import same_values

__all__ = ["COLUMNAR", "LAZY_BINARY_COLUMNAR", "CellEncoder", "cell_encoder"]

COLUMNAR = "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"
LAZY_BINARY_COLUMNAR = "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe"
CellEncoder = Callable[[str, pa.Array], pa.Array]
"""Makes the cells, as ``binary``, of a column of a name."""
# A text of no bytes would be NULL, so LazyBinaryColumnarSerDe writes a byte that no UTF-8 text is.
_EMPTY_TEXT = b"\xbf"
_WHERE = "the table"


def cell_encoder(storage: FileStorage) -> CellEncoder:
    """What encodes the columns of a table.

    Args:
        storage: SerDe and properties.
    """
    if storage.serde == LAZY_BINARY_COLUMNAR:
        return _binary
    parameters = lazy_parameters(dict(storage.properties), "UTC", _WHERE)
    texts = DelimitedTexts(parameters)

    def encode(name: str, column: pa.Array) -> pa.Array:
        cells = texts.column(column).cast(pa.binary())
        try:
            read = decode_column(cells, column.type, parameters)
        except ConnectorError as error:
            raise _other(name) from error
        if not same_values(column, read):
            raise _other(name)
        return cells

    return encode


def _binary(name: str, column: pa.Array) -> pa.Array:
    """Cells of ``LazyBinaryColumnarSerDe``, of no bytes where the value is NULL."""
    cells = column_cells(column, sized=False)
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return pc.fill_null(cells, b"")
    empty = pc.fill_null(pc.equal(pc.binary_length(cells), 0), False)
    if pa.types.is_binary(column.type) and pc.any(empty, min_count=0).as_py():
        raise NotSupportedError(
            f"column '{name}' has a binary value of no bytes, which LazyBinaryColumnarSerDe takes for NULL; "
            "write NULL, or write to a table of ORC",
            error_codes.HIVE_UNSUPPORTED_TYPE,
        )
    return pc.if_else(empty, pa.scalar(_EMPTY_TEXT, pa.binary()), pc.fill_null(cells, b""))


def _other(name: str) -> NotSupportedError:
    return NotSupportedError(
        f"column '{name}' has a value that ColumnarSerDe would read as another one; RCFiles of this table do not hold "
        "such values: change them, or write to a table of ORC",
        error_codes.HIVE_UNSUPPORTED_TYPE,
    )
