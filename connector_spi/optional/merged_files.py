"""Optional: files that an engine may read itself but for some rows, in whose place others come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.session import ConnectorSession

__all__ = ["MergedFile", "MergedRows", "SupportsMergedFiles"]


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
