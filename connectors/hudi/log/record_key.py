"""The record keys of rows whose table keeps no meta columns. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import NotSupportedError

__all__ = ["virtual_record_keys"]


def virtual_record_keys(rows: pa.Table, key_fields: Sequence[str], *, complex_keys: bool) -> pa.Array:
    """Builds the keys that Hudi's key generators would have written (KeyGenUtils.getRecordKey).

    Args:
        rows: Rows of a base file or data block, with the key fields; a field may be nested (``a.b``).
        key_fields: ``hoodie.table.recordkey.fields``.
        complex_keys: Whether keys are ``field:value`` pairs even where there is one field.

    Returns:
        One string for each row: the value alone, or ``f1:v1,f2:v2``.

    Raises:
        NotSupportedError: A key field is of a type whose text depends on the writer.
    """
    raise NotSupportedError("virtual keys cannot be built yet")
