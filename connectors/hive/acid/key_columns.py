"""The ACID columns around a table's own in a file, and the hidden columns made of them (``OrcRecordUpdater``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hive import error_codes
from connectors.hive.acid.layout import bucket_ids
from connectors.toolkit.orc.footer import OrcFooter

__all__ = [
    "ACID_HIDDEN_COLUMNS",
    "BUCKET",
    "CURRENT_TRANSACTION",
    "KEY",
    "OPERATION",
    "ROW",
    "ROW_ID",
    "acid_columns",
    "are_operations_of",
    "check_operations",
    "has_acid_columns",
    "has_current_layout",
    "hidden_array",
    "int64_values",
]

OPERATION, CURRENT_TRANSACTION, ROW = 0, 4, 5
"""Positions of columns in an ACID file."""
KEY = (1, 2, 3)
"""Positions of originalTransaction, bucket and rowId, which identify a row and by which files are sorted."""

ROW_ID = "$row_id"
BUCKET = "$bucket"
ACID_HIDDEN_COLUMNS = (
    ColumnHandle(ROW_ID, pa.struct([("writeid", pa.int64()), ("bucketid", pa.int32()), ("rowid", pa.int64())])),
    ColumnHandle(BUCKET, pa.int32()),
)
"""Hidden columns of full ACID tables besides those of every table. The first is Hive's ``ROW__ID``."""

_NAMES = ("operation", "originaltransaction", "bucket", "rowid", "currenttransaction", "row")
_BASE_OPERATIONS, _DELTA_OPERATIONS, _DELETE_OPERATIONS = (0, 1), (0, 0), (2, 2)
_ROW_ID_POSITIONS = {"writeid": 0, "bucketid": 1, "rowid": 2}

Int64s = npt.NDArray[np.int64]


def acid_columns(schema: pa.Schema, path: str) -> tuple[str, ...]:
    """The names of an ACID file's six columns, in the file's own case: query-based compaction writes lower case.

    Raises:
        CorruptFileError: The file is not an ACID file.
    """
    names: tuple[str, ...] = tuple(schema.names)
    types = [field.type for field in schema]
    if (
        not has_acid_columns(schema)
        or not all(pa.types.is_integer(arrow) for arrow in types[:ROW])
        or not pa.types.is_struct(types[ROW])
    ):
        raise CorruptFileError(
            f"{path} is in a directory of ACID files and has the columns ({', '.join(names)}); expected operation, "
            "originalTransaction, bucket, rowId, currentTransaction and row",
            error_codes.HIVE_ACID_LAYOUT,
        )
    return names


def has_acid_columns(schema: pa.Schema) -> bool:
    """Whether a file has the column names of ACID files, in any case; the last one holds the table's own columns."""
    return tuple(name.lower() for name in schema.names) == _NAMES


def has_current_layout(footer: OrcFooter) -> bool:
    """Whether the footer declares the layout with delete deltas, so that operations need no check."""
    return dict(footer.metadata).get("hive.acid.version") == b"2"


def check_operations(operations: Int64s, kind: str, path: str) -> None:
    """Checks that a file holds events of one kind only.

    Compaction in Hive 1 and 2 kept updates (1) in bases as they were; such rows are complete.

    Args:
        operations: The column.
        kind: Kind of the directory: ``base``, ``delta`` or ``delete_delta``.
        path: The file.

    Raises:
        NotSupportedError: It has the layout before Hive 3, where one delta holds inserts, updates and deletes.
    """
    if not operations.size:
        return
    low, high = _operations_of(kind)
    met = operations[(operations < low) | (operations > high)]
    if met.size:
        raise NotSupportedError(
            f"{path} holds an event with operation {int(met[0])} in a {kind} directory: it has the ACID layout before "
            "Hive 3, which merges events by key and cannot be read; run ALTER TABLE ... COMPACT 'major' in Hive",
            error_codes.HIVE_ACID_LAYOUT,
        )


def are_operations_of(low: int, high: int, kind: str) -> bool:
    """Whether a file with these least and greatest operations holds events of one kind only: see above."""
    least, greatest = _operations_of(kind)
    return least <= low and high <= greatest


def int64_values(array: pa.Array, path: str) -> Int64s:
    """A key column as numbers.

    Raises:
        CorruptFileError: The column holds NULL.
    """
    if array.null_count:
        raise CorruptFileError(f"{path} holds rows without a key or a transaction", error_codes.HIVE_ACID_LAYOUT)
    values: Int64s = array.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def hidden_array(column: ColumnHandle, write_ids: Int64s, buckets: Int64s, row_ids: Int64s, path: str) -> pa.Array:
    """The column ``$row_id`` or ``$bucket`` of rows of a file; ``$row_id`` may be narrowed to some fields.

    Raises:
        CorruptFileError: A bucket property has an unknown version.
    """
    if column.name == BUCKET:
        return pa.array(bucket_ids(buckets, path)).cast(column.type)
    parts = (write_ids, buckets, row_ids)
    fields = list(column.type)
    arrays = [pa.array(parts[_ROW_ID_POSITIONS[field.name.lower()]]).cast(field.type) for field in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _operations_of(kind: str) -> tuple[int, int]:
    return {"base": _BASE_OPERATIONS, "delta": _DELTA_OPERATIONS}.get(kind, _DELETE_OPERATIONS)
