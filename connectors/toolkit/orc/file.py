"""An ORC file that is being read. Executor side.

A stripe belongs to the range that holds its middle, so that ranges that cover a file partition its rows. Hive's and
Spark's ``OrcInputFormat`` take its first byte: of two stripes, the file cut in half, both are then often in the first
part, as writers fill the first one up, and the second is what is left. A stripe is read whole (pyarrow has no smaller
step) and given out in slices.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Reference, TupleDomain
from connectors.toolkit.orc.columns import OrcColumns
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.orc.pruning import StripeStatistics
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.open_file import ColumnarFile
from connectors.toolkit.read.pruning import ColumnBounds
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["OrcFile", "open_orc"]


class OrcFile(ColumnarFile):
    """An open file. Its columns are looked at with the first stripe: a file without rows may have any.

    Args:
        source: The file.
        read: What is asked of it.

    Attributes:
        source: The file.
        footer: Its footer.

    Raises:
        CorruptFileError: It is truncated, or no ORC file.
    """

    parts_name = "stripes"

    def __init__(self, source: pa.NativeFile, read: FileRead) -> None:
        self.source = source
        self.footer = read_orc_footer(source, read.path)
        self._counted = -1
        super().__init__(read, self.footer.rows)

    @property
    def root(self) -> str:
        """Name of the top-level struct that the columns are in; empty where they are at the top themselves."""
        return ""

    @cached_property
    def columns(self) -> OrcColumns:
        return self.select(self.read.file_columns)

    def select(self, columns: tuple[ColumnHandle, ...]) -> OrcColumns:
        return OrcColumns(
            source=self.source,
            footer=self.footer,
            read=self.read,
            columns=columns,
            root=self.root,
            on_read=self.count_stripe,
        )

    def rows(self) -> Generator[FileRows, None, None]:
        starts = accumulate((stripe.rows for stripe in self.footer.stripes), initial=0)
        for index, (stripe, start) in enumerate(zip(self.footer.stripes, starts, strict=False)):
            if self.read.file.holds(stripe.offset + stripe.length // 2) and stripe.rows:
                yield FileRows(index, start, stripe.rows)

    def matching(self, parts: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        return self._statistics.matching(parts, predicate)

    def bounds(self, part: int, reference: Reference, data_type: pa.DataType) -> ColumnBounds:
        return self._statistics.bounds(part, reference, data_type)

    def exact_bounds(self, part: FileRows, column: ColumnHandle, *, counted: bool) -> ColumnBounds | None:
        return self._statistics.exact_bounds(part.part, column)

    @cached_property
    def _statistics(self) -> StripeStatistics:
        return StripeStatistics(self.source, self.footer, self.columns.types, self.root)

    def release(self) -> None:
        """Lets go of the columns: they refer to the file, and all of its buffers would wait for the next collection."""
        vars(self).pop("columns", None)

    def count_stripe(self, index: int) -> None:
        """Counts the bytes of a stripe that is read, once for all of its columns."""
        if index != self._counted:
            self._counted = index
            self.bytes_read += self.footer.stripes[index].length


@contextmanager
def open_orc(files: FileSystem, read: FileRead) -> Iterator[OrcFile]:
    """Opens a file and reads its footer."""
    with files.open(read.path) as source:
        opened = OrcFile(source, read)
        try:
            yield opened
        finally:
            opened.release()
