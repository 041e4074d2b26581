"""Decodes the next batches while Spark works on this one. Executor side: no Spark session, no metastore."""

from __future__ import annotations

from collections.abc import Generator

import pyarrow as pa

from lakeport.arrow.parallel_read import ParallelRead

__all__ = ["read_ahead"]

_WAITING_BYTES = 16 << 20
"""A decoded stripe or row group may come on top: pyarrow has no smaller step in an ORC file."""

_Batches = Generator[pa.RecordBatch, None, None]


def read_ahead(batches: _Batches) -> _Batches:
    """The same batches, made by a thread from the second one on: most tasks of ``LIMIT`` need no more than one.

    The thread has ended, and the batches are closed, when the iteration is over, be it by the last batch, an error or
    ``close``, which Spark's worker calls when the task is killed or no one wants more.

    Args:
        batches: Not begun yet; closed here. What they count is counted as if this thread made them.
    """
    rest = ParallelRead([batches], lambda one: one, 1, waiting_bytes=_WAITING_BYTES)
    try:
        first = next(batches, None)
        if first is not None:
            yield first
            yield from rest
    finally:
        rest.close()
        # The thread closes them only where it has begun.
        batches.close()
