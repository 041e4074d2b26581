"""Which partition each row of a batch goes to. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connectors.hive.partitions.key_texts import value_text

__all__ = ["by_partition"]

_ROW = "$row"


def by_partition(
    batch: pa.RecordBatch, keys: tuple[ColumnHandle, ...]
) -> Iterator[tuple[tuple[str, ...], pa.RecordBatch]]:
    """The rows of each partition, with the texts of its key values as Hive writes them.

    Raises:
        InvalidArgumentError: A key is an empty text, which Hive takes for NULL.
    """
    if not keys:
        yield (), batch
        return
    names = [key.name for key in keys]
    numbered = pa.table([batch.column(name) for name in names], names=names).append_column(
        _ROW, pa.array(np.arange(batch.num_rows))
    )
    groups = numbered.group_by(names, use_threads=False).aggregate([(_ROW, "list")])
    for key in keys:
        if pa.types.is_string(key.type) and pc.any(pc.equal(groups.column(key.name), "")).as_py():
            raise InvalidArgumentError(
                f"partition key '{key.name}' is an empty text, which Hive takes for NULL; write NULL or another text"
            )
    values = [groups.column(name).to_pylist() for name in names]
    rows = groups.column(f"{_ROW}_list").combine_chunks()
    for position, found in enumerate(zip(*values, strict=True)):
        texts = tuple(value_text(value) for value in found)
        yield texts, batch.take(cast(pa.ListScalar, rows[position]).values)
