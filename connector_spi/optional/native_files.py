"""Optional: how an engine reads native files in this process where it cannot open them, or where some rows differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.session import ConnectorSession

__all__ = ["MergedFile", "MergedRows", "OpenedFile", "SupportsFileOpening", "SupportsMergedFiles"]


class OpenedFile(Protocol):
    """A file on the connector's storage. Several threads may read it at once. It does not travel."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes of the file.

        Args:
            offset: Of the first one, counted from 0.
            length: How many; all of them are in the file.

        Returns:
            As many bytes as were asked for, never fewer.

        Raises:
            ConnectorError: Storage failed, or the file is no longer the one that was listed.
        """

    def close(self) -> None:
        """Frees what it holds; may be called twice."""


@runtime_checkable
class SupportsFileOpening(Protocol):
    """A ``PageSourceProvider`` that opens native files for an engine that reads them in this process.

    Such an engine names the formats that it reads so in ``ConnectorSession.opened_formats``. Files of these formats may
    then be native on storage that the connector alone reaches, with the settings of its catalog.
    """

    def open_file(self, session: ConnectorSession, table: TableHandle, file: NativeFile) -> OpenedFile:
        """Opens a file.

        Args:
            session: The query.
            table: The handle that the file's split was made for.
            file: The native file of a split, or of a ``MergedFile``.

        Raises:
            ConnectorError: Storage failed, or the file is not the one that was listed.
        """


@dataclass(frozen=True, slots=True)
class MergedRows:
    """What makes the rows of a split of those of its file.

    Attributes:
        removed: Positions in the whole file, counted from 0, of rows that are not the split's; int64, each once.
        added: Rows that the split has besides, in the columns asked.
    """

    removed: pa.Array
    added: pa.Table


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A split as an engine reads it in this process. It does not travel.

    Attributes:
        file: The file range that holds most rows; ``None`` where all of them are added.
        merge: Finds out what differs, each time anew; ``None`` where nothing does. Called by several threads. Raises
            ``ConnectorError`` where the connector or its storage fails.
    """

    file: NativeFile | None
    merge: Callable[[], MergedRows] | None = None


@runtime_checkable
class SupportsMergedFiles(Protocol):
    """A ``PageSourceProvider`` whose splits an engine may read itself where few of their rows differ from a file's."""

    def merged_files(
        self, session: ConnectorSession, splits: Sequence[Split], table: TableHandle, columns: tuple[ColumnHandle, ...]
    ) -> Sequence[MergedFile] | None:
        """The splits of a scan, in order; ``None`` where page sources have to read one of them.

        Nothing is read yet. The rows that are added must fit into memory, those of all splits together.

        Args:
            session: The query.
            splits: All of the scan.
            table: The handle that they were made for.
            columns: What is read.
        """
