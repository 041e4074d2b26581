"""From Arrow record batches to rows of a table. Executor side: no metastore, no Spark session, no driver locks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession

if TYPE_CHECKING:
    # It has defaults, which Python has from 3.13: ``PageSinkProvider`` alone is of any handle.
    from typing_extensions import TypeVar
else:
    from typing import TypeVar

__all__ = [
    "DELETE_OPERATION",
    "INSERT_OPERATION",
    "OPERATION_COLUMN",
    "Fragment",
    "InsertHandle",
    "MergeHandle",
    "MergeSink",
    "PageSink",
    "PageSinkProvider",
]

OPERATION_COLUMN = "$operation"
"""The first column of what merge sinks take: what becomes of the row, an ``int8``."""
INSERT_OPERATION, DELETE_OPERATION = 1, 2
"""Trino's numbers (``ConnectorMergeSink``)."""


class InsertHandle(Serializable):
    """An insert that has begun: what a sink needs to know of the table. Subclasses are frozen, slotted dataclasses."""

    __slots__ = ()


class MergeHandle(Serializable):
    """Changes of rows that have begun: what a sink needs to know. Subclasses are frozen, slotted dataclasses."""

    __slots__ = ()


class Fragment(Serializable):
    """What one sink has written, for who makes it visible. Subclasses are frozen, slotted dataclasses."""

    __slots__ = ()


# Covariant for the reason that handles of tables are: the engine gives a connector only what it made itself.
if TYPE_CHECKING:
    InsertT_co = TypeVar("InsertT_co", bound=InsertHandle, covariant=True, default=InsertHandle)
else:
    InsertT_co = TypeVar("InsertT_co", bound=InsertHandle, covariant=True)


class PageSink(ABC):
    """Takes the rows of one task. No row can be seen before the transaction commits; one thread at a time.

    The engine calls ``append`` any number of times, then exactly one of ``finish`` and ``abort``. A task may be tried
    again, or twice at once: each try has a sink of its own, and only fragments that the engine hands on count.
    """

    @abstractmethod
    def append(self, batch: pa.RecordBatch) -> None:
        """Takes rows.

        Args:
            batch: Every visible column of the table, in its order and with its types; maybe of no rows.

        Raises:
            ConnectorError: A value that the table cannot hold, or storage that failed. The engine aborts.
        """

    @abstractmethod
    def finish(self) -> Sequence[Fragment]:
        """Writes out what is left.

        Returns:
            What ``finish_insert`` needs; none where there were no rows.

        Raises:
            ConnectorError: Storage failed. The engine aborts.
        """

    @abstractmethod
    def abort(self) -> None:
        """Takes back what was written and frees memory; also after an error of the other methods.

        Does what it can: a sink whose process was killed is never told, so that ``abort_insert`` clears behind it.
        """


class MergeSink(ABC):
    """Takes what becomes of rows, in one task; called as a ``PageSink`` is.

    Nothing can be seen before the transaction commits. A row that is replaced comes as one to delete and one to insert.
    """

    @abstractmethod
    def store_merged_rows(self, batch: pa.RecordBatch) -> None:
        """Takes changes.

        Args:
            batch: The operation, the row id columns, and every visible column of the table, in its order and with its
                types; maybe of no rows. A row to insert has no row id, one to delete nothing else.

        Raises:
            ConnectorError: A value that the table cannot hold, or storage that failed. The engine aborts.
        """

    @abstractmethod
    def finish(self) -> Sequence[Fragment]:
        """Writes out what is left.

        Returns:
            What ``finish_merge`` needs; none where nothing has changed.

        Raises:
            ConnectorError: Storage failed. The engine aborts.
        """

    @abstractmethod
    def abort(self) -> None:
        """Takes back what was written and frees memory; also after an error of the other methods."""


class PageSinkProvider(ABC, Generic[InsertT_co]):
    """Opens sinks. It is pickled into every task: plain settings only, and no secret but its own storage token.

    ``PageSinkProvider[MyInsert]`` is given handles of ``MyInsert`` only.
    """

    @abstractmethod
    def create_page_sink(self, session: ConnectorSession, insert: InsertT_co, task: int) -> PageSink:  # type: ignore[misc]
        """Opens a sink.

        Args:
            session: The statement.
            insert: From ``begin_insert`` of this connector's metadata.
            task: Number of the task among those of the insert, from 0; all tries of a task have the same.
        """

    def create_merge_sink(self, session: ConnectorSession, merge: MergeHandle, task: int) -> MergeSink:
        """Opens a sink for changes of rows; only connectors whose metadata is ``SupportsMerge`` have some.

        Args:
            session: The statement.
            merge: From ``begin_merge`` of this connector's metadata.
            task: As for ``create_page_sink``.
        """
        raise NotSupportedError(f"{type(self).__qualname__} takes new rows only; rows cannot be changed")
