"""From a split to Arrow record batches. Executor side: no metastore, no Spark session, no driver locks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from types import TracebackType
from typing import Generic

import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, SplitT_co, TableT_co
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = [
    "MAX_BATCH_ROWS",
    "GeneratorPageSource",
    "GeneratorPageSourceProvider",
    "PageSource",
    "PageSourceProvider",
    "rows_without_columns",
    "select_columns",
]


MAX_BATCH_ROWS = 1 << 16
"""Most rows of a batch. Sources of wide rows give fewer: a batch should stay below some 64 MiB."""


class PageSource(ABC):
    """A closable iterator of record batches of bounded size (invariant I5): at most ``MAX_BATCH_ROWS`` rows each.

    Every batch has the asked columns in the asked order, with the handles' names and types.
    """

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of every batch."""

    @property
    def completed_bytes(self) -> int:
        """Bytes read from storage so far, as far as known."""
        return 0

    def __iter__(self) -> PageSource:
        """The source itself: it is read once."""
        return self

    @abstractmethod
    def __next__(self) -> pa.RecordBatch:
        """The next batch, maybe of no rows.

        Raises:
            StopIteration: All rows were given.
            ConnectorError: A file vanished, is truncated or holds what is not understood; never a partial answer.
        """

    def close(self) -> None:
        """Frees files and memory; may be called twice, also before the end."""

    def __enter__(self) -> PageSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class GeneratorPageSource(PageSource):
    """The batches of a generator, or of any iterator. Closing it closes the generator, whose ``finally`` runs then.

    Args:
        columns: What is read, in output order.
        batches: Batches that have these columns, and maybe more; those not asked for are dropped.
    """

    def __init__(self, columns: tuple[ColumnHandle, ...], batches: Iterable[pa.RecordBatch]) -> None:
        self._schema = pa.schema([(column.name, column.type) for column in columns])
        self._batches: Iterator[pa.RecordBatch] | None = iter(batches)
        self._completed_bytes = 0

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._completed_bytes

    def __next__(self) -> pa.RecordBatch:
        if self._batches is None:
            raise InternalError("the page source is closed")
        batch = next(self._batches)
        self._completed_bytes += batch.nbytes
        return select_columns(batch, self._schema)

    def close(self) -> None:
        batches, self._batches = self._batches, None
        if isinstance(batches, Generator):
            batches.close()


class PageSourceProvider(ABC, Generic[TableT_co, SplitT_co]):
    """Opens splits. It is pickled into every task: plain settings only, and no secret but its own storage token.

    ``PageSourceProvider[MyTable, MySplit]`` is given these only.
    """

    @abstractmethod
    def create_page_source(
        self,
        session: ConnectorSession,
        split: SplitT_co,  # type: ignore[misc]  # see TableT_co
        table: TableT_co,  # type: ignore[misc]  # see TableT_co
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        """Opens a split.

        Args:
            session: The query.
            split: From this connector's split manager.
            table: The handle that the split was made for.
            columns: What to read, in output order; may be empty (rows are counted). Nested types may be narrowed.
            dynamic_filter: Rows outside of it are not needed; the source may skip them but need not.
        """


class GeneratorPageSourceProvider(PageSourceProvider[TableT_co, SplitT_co]):
    """Opens splits by a generator function, ``read``, in place of a class of page sources."""

    @abstractmethod
    def read(self, split: SplitT_co, table: TableT_co, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:  # type: ignore[misc]
        """Yields the rows of a split in batches of bounded size; what it opened it closes in a ``finally``.

        Args:
            split: From this connector's split manager.
            table: The handle that the split was made for.
            columns: What is needed. Batches may have more columns; nested ones may be whole.
        """

    def create_page_source(
        self,
        session: ConnectorSession,
        split: SplitT_co,  # type: ignore[misc]  # see TableT_co
        table: TableT_co,  # type: ignore[misc]  # see TableT_co
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        return GeneratorPageSource(columns, self.read(split, table, columns))


def select_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a batch that a query asked for, nested ones narrowed to the fields that it uses.

    Args:
        batch: Has all of them, in any order.
        schema: Names and types asked for; may be empty.

    Raises:
        InternalError: One is not in the batch.
    """
    if batch.schema.equals(schema):
        return batch
    if not schema.names:
        return rows_without_columns(batch.num_rows)
    missing = [name for name in schema.names if name not in batch.schema.names]
    if missing:
        raise InternalError(f"a page source was asked for the column '{missing[0]}', and gave {batch.schema.names}")
    # Arrow casts a struct by field names: a narrowed type drops the fields that it does not have.
    arrays = [batch.column(field.name).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def rows_without_columns(count: int) -> pa.RecordBatch:
    """A batch of rows of no columns, as ``count(*)`` reads them: ``pa.record_batch({})`` always has 0 rows.

    Args:
        count: How many rows.
    """
    return pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), count, [None]))
