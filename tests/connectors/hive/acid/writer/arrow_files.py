"""Large ACID files, written by columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import orc

from tests.connectors.hive.acid.writer.names import bucket_of_property
from tests.connectors.hive.acid.writer.orc_files import DELETE, INSERT
from tests.connectors.hive.acid.writer.orc_footer import with_footer

__all__ = ["Int64s", "write_arrow_deletes", "write_arrow_inserts"]

Int64s = npt.NDArray[np.int64]

_KEY_NAMES = ("originalTransaction", "bucket", "rowId")
_STRIPE_BYTES = 64 << 20


def write_arrow_inserts(
    path: Path,
    rows: pa.Table,
    write_id: int,
    bucket_property: int,
    first_row_id: int = 0,
    *,
    compression: str = "zlib",
    stripe_bytes: int = _STRIPE_BYTES,
) -> None:
    """Writes the rows that one writer inserted.

    Args:
        path: The file; its folder is made.
        rows: In the order of their row ids.
        write_id: Of the transaction.
        bucket_property: Of the writer and the statement.
        first_row_id: Of the first row.
        compression: Of the file, as pyarrow calls it.
        stripe_bytes: Most bytes of a stripe.
    """
    count = rows.num_rows
    keys = (
        np.full(count, write_id, np.int64),
        np.full(count, bucket_property, np.int64),
        np.arange(first_row_id, first_row_id + count, dtype=np.int64),
    )
    row = pa.StructArray.from_arrays([column.combine_chunks() for column in rows.columns], names=rows.column_names)
    _write(path, keys, INSERT, keys[0], row, compression, stripe_bytes)


def write_arrow_deletes(
    path: Path,
    keys: tuple[Int64s, Int64s, Int64s],
    write_id: int,
    row_type: pa.Schema,
    *,
    compression: str = "zlib",
    stripe_bytes: int = _STRIPE_BYTES // 8,
) -> None:
    """Writes the deletions of one statement in one bucket.

    Args:
        path: The file; its folder is made.
        keys: Write ids, bucket properties and row ids of the rows, in the order of keys.
        write_id: Of the transaction that deletes.
        row_type: The table's columns.
        compression: Of the file.
        stripe_bytes: Most bytes of a stripe.
    """
    assert len({bucket_of_property(int(value)) for value in np.unique(keys[1])}) <= 1
    count = keys[0].size
    row = pa.nulls(count, pa.struct(list(row_type)))
    _write(path, keys, DELETE, np.full(count, write_id, np.int64), row, compression, stripe_bytes)


def _write(
    path: Path,
    keys: tuple[Int64s, Int64s, Int64s],
    operation: int,
    current: Int64s,
    row: pa.StructArray,
    compression: str,
    stripe_bytes: int,
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    count = len(row)
    columns = {
        "operation": pa.array(np.full(count, operation, np.int32)),
        "originalTransaction": pa.array(keys[0]),
        "bucket": pa.array(keys[1].astype(np.int32)),
        "rowId": pa.array(keys[2]),
        "currentTransaction": pa.array(current),
        "row": row,
    }
    orc.write_table(pa.table(columns), str(path), compression=compression, stripe_size=stripe_bytes)
    deleted = count if operation == DELETE else 0
    metadata = {
        "hive.acid.key.index": _key_index(path).encode(),
        "hive.acid.stats": f"{count - deleted},0,{deleted}".encode(),
        "hive.acid.version": b"2",
    }
    path.write_bytes(with_footer(path.read_bytes(), metadata))
    (path.parent / "_orc_acid_version").write_text("2")


def _key_index(path: Path) -> str:
    file = orc.ORCFile(str(path))
    entries = []
    for stripe in range(file.nstripes):
        keys = file.read_stripe(stripe, list(_KEY_NAMES))
        entries.append(",".join(str(keys.column(name)[len(keys) - 1].as_py()) for name in _KEY_NAMES))
    return "".join(f"{entry};" for entry in entries)
