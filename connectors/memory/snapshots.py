"""States of tables. Driver side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from connector_spi.schema import TableMetadata
from connectors.memory.chunks import Chunk

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at one moment; never changes.

    Attributes:
        id: Unique in the store.
        version: Number in its table, from 1.
        committed_at: Aware, UTC.
        operation: What made it.
        table: Columns and partition keys.
        chunks: The rows.
        words: What it is, for ``EXPLAIN``; empty for a state of a table.
    """

    id: int
    version: int
    committed_at: datetime
    operation: str
    table: TableMetadata
    chunks: tuple[Chunk, ...]
    words: str = ""

    def __str__(self) -> str:
        return self.words or f"snapshot {self.version}"

    @property
    def row_count(self) -> int:
        """Rows of all chunks."""
        return sum(chunk.data.num_rows for chunk in self.chunks)
