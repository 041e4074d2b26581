"""The rows of a data block as an Arrow table. Executor side."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hudi.log.block import LogBlock

__all__ = ["POSITION", "read_data_block"]

POSITION = "$position"
"""Column that ``read_data_block`` and ``read_delete_block`` add on demand: the row's position in the base file."""


def read_data_block(
    block: LogBlock, content: pa.Buffer, columns: Collection[str] | None, *, positions: bool = False
) -> pa.Table:
    """Decodes a block.

    Args:
        block: An Avro, Parquet or HFile data block.
        content: Its content.
        columns: Names of the columns asked, as the block spells them; all where ``None``. A column that the block's
            schema lacks is left out of the result: of a block of partial updates, that is what it does not update.
        positions: Add ``POSITION`` (int64): positions in the base file of ``block.positions_base_instant``. All NULL
            where the block tells none.

    Returns:
        The rows in the block's order, columns in the order of the block's schema, of the types that
        ``connectors.hudi.schema.arrow_schema`` gives the schema, meta columns included as they stand in the block.

    Raises:
        CorruptFileError: The content is not what the header says.
        NotSupportedError: A column of a type that is not understood is asked, or a block version.
    """
    raise NotSupportedError(f"{block.path}: data blocks cannot be read yet")
