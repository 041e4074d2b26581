"""From a table handle to the pieces that tasks read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Generic

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle, SplitT_co, TableT_co
from connector_spi.predicate import TupleDomain
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession

__all__ = ["ListSplitSource", "ScanSummary", "SplitManager", "SplitSource"]


@dataclass(frozen=True, slots=True)
class ScanSummary(Serializable):
    """What a scan skipped, for ``EXPLAIN``; ``None`` is unknown.

    Attributes:
        snapshot: The table's version in words, such as ``instant 20240101000000000``.
        partitions_kept: Partitions with something to read, after pruning.
        partitions_total: Partitions of the table.
        files_kept: Data files to be read.
        files_total: Data files in the kept partitions.
        notes: Further sentences.
        is_confidential: How much is read would tell of rows that are hidden from who asks: no counts are shown.
    """

    snapshot: str | None = None
    partitions_kept: int | None = None
    partitions_total: int | None = None
    files_kept: int | None = None
    files_total: int | None = None
    notes: tuple[str, ...] = ()
    is_confidential: bool = False


class SplitSource(ABC, Generic[SplitT_co]):
    """A lazy sequence of batches of splits; closed by the engine in every case.

    Driver side. One thread iterates; making a batch may use many.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Sequence[SplitT_co]]:
        """Batches in a fixed order; a batch may be empty.

        Raises:
            ConnectorError: A file or directory that the metadata names is missing, or cannot be listed.
        """

    @abstractmethod
    def summary(self) -> ScanSummary:
        """What is known so far; complete once all batches were taken."""

    def close(self) -> None:
        """Frees threads and connections; may be called twice."""

    def __enter__(self) -> SplitSource[SplitT_co]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ListSplitSource(SplitSource[SplitT_co]):
    """Splits that are all known at once."""

    def __init__(self, splits: Sequence[SplitT_co], summary: ScanSummary) -> None:
        self._splits = splits
        self._summary = summary

    def __iter__(self) -> Iterator[Sequence[SplitT_co]]:
        yield self._splits

    def summary(self) -> ScanSummary:
        return self._summary


class SplitManager(ABC, Generic[TableT_co, SplitT_co]):
    """Makes splits. Driver side; called by several threads at once.

    ``SplitManager[MyTable, MySplit]`` is given handles of ``MyTable`` only.
    """

    @abstractmethod
    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: TableT_co,  # type: ignore[misc]  # see TableT_co
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[SplitT_co]:
        """The splits of a scan.

        Args:
            transaction: The one that the handle was made in.
            session: The query.
            table: With its snapshot and what was pushed.
            columns: What will be read; a split may be native for some columns only.
            dynamic_filter: Learned while the query runs; rows outside of it are not needed. May be all.
        """
