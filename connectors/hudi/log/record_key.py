"""The record keys of rows whose table keeps no meta columns. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE, HUDI_UNSUPPORTED_KEY
from connectors.hudi.log.row_columns import field_values

__all__ = ["virtual_record_keys"]

# KeyGenUtils: what stands for a value that is missing in a key of several fields.
_NULL = "__null__"
_EMPTY = "__empty__"


def virtual_record_keys(rows: pa.Table, key_fields: Sequence[str], *, complex_keys: bool, where: str) -> pa.Array:
    """Builds the keys that Hudi's key generators would have written (KeyGenUtils.getRecordKey).

    Args:
        rows: Rows of a base file or data block, with the key fields; a field may be nested (``a.b``).
        key_fields: ``hoodie.table.recordkey.fields``.
        complex_keys: Whether keys are ``field:value`` pairs even where there is one field.
        where: Names the table, for messages.

    Returns:
        One string for each row: the value alone, or ``f1:v1,f2:v2``.

    Raises:
        NotSupportedError: There is no key field, or one of a type whose text depends on the writer.
        CorruptFileError: A row lacks its key.
    """
    if not key_fields:
        raise NotSupportedError(
            f"{where} has neither meta columns nor record key fields (hoodie.table.recordkey.fields), so it is unknown "
            "which rows belong together; compact the table with Hudi, or read its base files alone (session property "
            "read_optimized)",
            HUDI_UNSUPPORTED_KEY,
        )
    texts = [_text(_column(rows, field, where), field, where) for field in key_fields]
    if len(key_fields) == 1 and not complex_keys:
        if texts[0].null_count or pc.any(pc.equal(texts[0], "")).as_py():
            raise CorruptFileError(
                f"{where}: a row has no value of its key field '{key_fields[0]}'; restore its files", HUDI_BAD_LOG_FILE
            )
        return texts[0]
    parts = []
    for field, text in zip(key_fields, texts, strict=True):
        shown = pc.if_else(pc.equal(text, ""), _EMPTY, text)
        parts.append(pc.binary_join_element_wise(f"{field}:", pc.fill_null(shown, _NULL), ""))
    return pc.binary_join_element_wise(*parts, ",")


def _column(rows: pa.Table, field: str, where: str) -> pa.Array:
    found = field_values(rows, field)
    if found is None:
        raise CorruptFileError(
            f"{where}: its key field '{field}' is not among the columns {', '.join(rows.column_names)}; restore "
            "hoodie.table.recordkey.fields in its hoodie.properties",
            HUDI_BAD_LOG_FILE,
        )
    return found


def _text(column: pa.Array, field: str, where: str) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_large_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(pa.string())
    if pa.types.is_date32(kind):
        # LocalDate.toString, to which Avro's key generators turn a date.
        return column.cast(pa.string())
    raise NotSupportedError(
        f"{where}: its key field '{field}' is of type {kind}, whose text in record keys depends on the writer; "
        "strings, integers, booleans and dates can be read of a table without meta columns: compact the table with "
        "Hudi, or read its base files alone (session property read_optimized)",
        HUDI_UNSUPPORTED_KEY,
    )
