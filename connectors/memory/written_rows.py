"""What a transaction writes to a table when it commits. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ErrorCode, ErrorType, UserError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.predicate import TupleDomain
from connector_spi.schema import TableMetadata
from connectors.memory.chunks import NUMBER, Chunk
from connectors.memory.snapshots import Snapshot

__all__ = ["MEMORY_WRITE_CONFLICT", "ChangedRows", "WrittenRows"]

MEMORY_WRITE_CONFLICT = ErrorCode("MEMORY_WRITE_CONFLICT", ErrorType.EXTERNAL)
"""Another writer has changed the table meanwhile; nothing of the statement is visible. Run it again."""


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """Rows for a table.

    Attributes:
        name: The table.
        rows: Its visible columns.
        replaced: Rows of the table that they take the place of, by partition keys; ``None`` where they are added.
        dynamic: Of these only the rows of partitions that new rows go to.
        epoch: The batch of a streaming query that they are.
        made: The table, where it is made with them.
    """

    name: SchemaTableName
    rows: pa.Table
    replaced: TupleDomain[str] | None
    dynamic: bool
    epoch: StreamEpoch | None = None
    made: TableMetadata | None = None

    @property
    def operation(self) -> str:
        """What makes the snapshot."""
        return "insert" if self.replaced is None else "overwrite"

    @property
    def is_nothing(self) -> bool:
        """No row is added, and none goes."""
        return not self.rows.num_rows and self.replaced is None and self.made is None

    def check(self, newest: Snapshot) -> None:
        """Does nothing: rows are written whatever others have written."""

    def chunks(self, added: Sequence[Chunk], newest: Snapshot) -> Sequence[Chunk]:
        """The chunks of the table with these rows, cut into ``added``."""
        if self.replaced is None:
            return (*newest.chunks, *added)
        keys = {chunk.keys for chunk in added}
        kept = [
            chunk
            for chunk in newest.chunks
            if not self.replaced.overlaps(chunk.domains) or (self.dynamic and chunk.keys not in keys)
        ]
        return (*kept, *added)


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Rows of a table that go, and new ones.

    Attributes:
        name: The table.
        rows: The new ones, its visible columns.
        deleted: Numbers of those that go, ``int64``.
        version: Of the snapshot that they were read in.
    """

    name: SchemaTableName
    rows: pa.Table
    deleted: pa.Array
    version: int
    epoch: None = None
    made: None = None

    @property
    def operation(self) -> str:
        """What makes the snapshot."""
        return "merge"

    @property
    def is_nothing(self) -> bool:
        """No row changes."""
        return not self.rows.num_rows and not len(self.deleted)

    def check(self, newest: Snapshot) -> None:
        """Refuses changes of rows that others have changed.

        Raises:
            UserError: There is a newer snapshot than the one that was read (code ``MEMORY_WRITE_CONFLICT``).
        """
        if newest.version != self.version:
            raise UserError(
                f"rows of {self.name} were read at version {self.version}, and another writer has made version "
                f"{newest.version} meanwhile; nothing was changed; run the statement again",
                MEMORY_WRITE_CONFLICT,
            )

    def chunks(self, added: Sequence[Chunk], newest: Snapshot) -> Sequence[Chunk]:
        """The chunks of the table with these changes; ``added`` has the new rows."""
        masks = [pc.is_in(chunk.numbers.column(NUMBER), value_set=self.deleted) for chunk in newest.chunks]
        left = [
            chunk.without(mask) if pc.any(mask).as_py() else chunk
            for chunk, mask in zip(newest.chunks, masks, strict=True)
        ]
        return (*(chunk for chunk in left if chunk is not None), *added)
