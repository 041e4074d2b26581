"""Rows of a file on their way from stage to stage. Executor side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["FileRows"]


@dataclass(frozen=True, slots=True)
class FileRows:
    """Some rows of an open file.

    Attributes:
        part: Index of the stripe or row group that they are of.
        start: Number of the first row in the file, counted from 0; of the first row decoded where some were dropped.
        count: Number of rows.
        arrays: What is decoded of them, by the name of the table's column. Stages may put columns of their own there,
            which ``project`` drops.
        kept: Which rows a reader sees; ``None`` for all.
    """

    part: int
    start: int
    count: int
    arrays: Mapping[str, pa.Array] = field(default_factory=dict)
    kept: pa.BooleanArray | None = None

    def with_arrays(self, arrays: Mapping[str, pa.Array]) -> FileRows:
        """The same rows with more columns, or with columns in another form."""
        return FileRows(self.part, self.start, self.count, {**self.arrays, **arrays}, self.kept)

    def slice(self, offset: int, count: int) -> FileRows:
        """At most ``count`` rows from the one at ``offset``."""
        count = min(count, self.count - offset)
        if count == self.count:
            return self
        arrays = {name: array.slice(offset, count) for name, array in self.arrays.items()}
        kept = None if self.kept is None else self.kept.slice(offset, count)
        return FileRows(self.part, self.start + offset, count, arrays, kept)

    def take(self, positions: npt.NDArray[np.int64]) -> FileRows:
        """The rows at these positions, which ascend; what is kept of them is not asked."""
        if len(positions) == self.count:
            return self
        # They are this object's own: half the bytes, and no check of each.
        indices = pa.array(positions.astype(np.uint32) if self.count < 1 << 32 else positions)
        arrays = {name: pc.take(array, indices, boundscheck=False) for name, array in self.arrays.items()}
        return FileRows(self.part, self.start, len(positions), arrays)

    def filter(self, mask: pa.BooleanArray) -> FileRows:
        """The rows for which the mask is true; it holds no NULL."""
        count = mask.true_count
        if count == self.count:
            return FileRows(self.part, self.start, count, self.arrays)
        if not self.arrays:
            return FileRows(self.part, self.start, count)
        # A batch looks through the mask once for all of its columns.
        batch = pa.RecordBatch.from_arrays(list(self.arrays.values()), names=list(self.arrays)).filter(mask)
        arrays = dict(zip(self.arrays, batch.columns, strict=True))
        return FileRows(self.part, self.start, count, arrays)
