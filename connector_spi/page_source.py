"""From a split to Arrow record batches. Executor side: no metastore, no Spark session, no driver locks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType

import pyarrow as pa

from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["PageSource", "PageSourceProvider"]


class PageSource(ABC):
    """A closable iterator of record batches of bounded size (invariant I5).

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


class PageSourceProvider(ABC):
    """Opens splits. It is pickled into every task: plain settings only, and no secret but its own storage token."""

    @abstractmethod
    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
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
