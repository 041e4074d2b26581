"""The keys of a delete block as an Arrow table. Executor side."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hudi.log.block import LogBlock

__all__ = ["COMMIT_TIME_DELETE", "ORDERING", "PARTITION_PATH", "RECORD_KEY", "read_delete_block"]

RECORD_KEY = "record_key"
PARTITION_PATH = "partition_path"
ORDERING = "ordering"
COMMIT_TIME_DELETE = "commit_time_delete"


def read_delete_block(block: LogBlock, content: pa.Buffer, *, positions: bool = False) -> pa.Table:
    """Decodes a block.

    Args:
        block: A delete block.
        content: Its content.
        positions: Add ``data_block.POSITION``, as ``read_data_block`` does.

    Returns:
        The deletes in the block's order:

        - ``record_key``, ``partition_path``: string.
        - ``ordering``: the ordering value, of the type of the block's values (boolean, int32, int64, float, double,
          binary, string, date32, decimal128(30, 15), time64[us], timestamp[us, UTC]; a struct of such with fields
          ``0``, ``1`` ... for several ordering fields; the null type where no row has one). NULL where
          ``commit_time_delete``.
        - ``commit_time_delete``: boolean, never NULL: the delete has no ordering value, or the default one, the
          int 0 (OrderingValues.isDefault), and wins over everything that was there before.

    Raises:
        CorruptFileError: The content is no list of deletes.
        NotSupportedError: Ordering values of several types, or a block version that is not understood.
    """
    raise NotSupportedError(f"{block.path}: delete blocks cannot be read yet")
