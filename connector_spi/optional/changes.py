"""Row-level changes between two versions of a table, as rows of a table handle. Driver side.

The names and types of the added columns are those of Spark's ``CHANGES`` clause
(``org.apache.spark.sql.connector.catalog.Changelog``, Spark 4.2 and later).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Protocol, runtime_checkable

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.metadata import TableVersion
from connector_spi.names import quote_identifier
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession

__all__ = [
    "CHANGE_TYPE",
    "COMMIT_TIMESTAMP",
    "COMMIT_VERSION",
    "ChangeRange",
    "ChangeType",
    "SupportsChanges",
    "TableChanges",
    "with_change_columns",
]

CHANGE_TYPE = "_change_type"
"""Column: the text of a ``ChangeType``, never NULL."""

COMMIT_VERSION = "_commit_version"
"""Column: the version that the change belongs to, ``int64`` or ``string``, in an order that is the history's."""

COMMIT_TIMESTAMP = "_commit_timestamp"
"""Column: ``timestamp[us, UTC]``, when the version was committed; NULL where the table does not know."""


class ChangeType(Enum):
    """What happened to a row. The value is what the column ``_change_type`` holds."""

    INSERT = "insert"
    DELETE = "delete"
    UPDATE_PREIMAGE = "update_preimage"
    UPDATE_POSTIMAGE = "update_postimage"


@dataclass(frozen=True, slots=True)
class ChangeRange:
    """Which versions' changes are asked for.

    Attributes:
        start: The first version; ``None`` is the beginning of the table.
        end: The last version, of the same kind as ``start``; ``None`` is the snapshot of the table's handle.
        start_inclusive: Whether the changes that made ``start`` itself are asked for.
        end_inclusive: Whether those that made ``end`` are.

    Raises:
        InvalidArgumentError: The bounds are of two kinds, or are times in the wrong order.
    """

    start: TableVersion | None = None
    end: TableVersion | None = None
    start_inclusive: bool = True
    end_inclusive: bool = True

    def __post_init__(self) -> None:
        if self.start is None or self.end is None:
            return
        if self.start.kind is not self.end.kind:
            raise InvalidArgumentError(f"changes {self}: expected two versions or two timestamps")
        if isinstance(self.start.value, datetime) and isinstance(self.end.value, datetime):
            self.check_order(self.start.value <= self.end.value)

    def __str__(self) -> str:
        words = [f"FROM {_bound(self.start, self.start_inclusive)}" if self.start else "FROM the beginning"]
        if self.end is not None:
            words.append(f"TO {_bound(self.end, self.end_inclusive)}")
        return " ".join(words)

    def check_order(self, ordered: bool) -> None:
        """For the connector, which alone knows the order of its versions.

        Raises:
            InvalidArgumentError: The end is before the start.
        """
        if not ordered:
            raise InvalidArgumentError(f"changes {self}: the end is before the start; swap them")


@dataclass(frozen=True, slots=True)
class TableChanges:
    """The changes of a range, as a table.

    Attributes:
        table: Its metadata has the table's columns as they are at the end of the range, then the three of
            ``with_change_columns``. Everything that can be pushed into a handle can be pushed into this one. The scan's
            summary says the range as its snapshot. The order of the rows means nothing.
        row_id: Names of columns, hidden ones maybe, that identify a row of the table and stay the same in
            all of its versions; empty where there are none. With them the engine can compute net changes.
        pairs_updates: Updates come as ``update_preimage`` and ``update_postimage``. Otherwise they come as ``delete``
            and ``insert`` and which two belong together is not known.
    """

    table: TableHandle
    row_id: tuple[str, ...] = ()
    pairs_updates: bool = False


@runtime_checkable
class SupportsChanges(Protocol):
    """Metadata that knows what changed in its tables from version to version."""

    def get_changes(self, session: ConnectorSession, table: TableHandle, change_range: ChangeRange) -> TableChanges:
        """The changes of a range.

        Each change that a version in the range made comes once: also those that a later version undid. Rows that a
        version rewrote unchanged do not come. A range between two neighbours of the history may be empty. Timestamps
        choose the versions that were committed between them, and may lie outside of the table's history.

        Args:
            session: The query.
            table: The table at its newest snapshot in the transaction: the end of a range that has none.
            change_range: Which versions' changes.

        Raises:
            InvalidArgumentError: A version is not one of the table, the end is before the start, or changes of the
                range are no longer there; says what is.
            NotSupportedError: The changes of this table are not recorded.
        """


def with_change_columns(table: TableMetadata, version_type: pa.DataType) -> TableMetadata:
    """The metadata of a table's changes: the three columns behind the visible ones.

    Args:
        table: The table.
        version_type: Of ``_commit_version``: ``int64`` or ``string``.

    Raises:
        NotSupportedError: The table has a column of one of the names.
    """
    added = (
        ColumnMetadata(CHANGE_TYPE, pa.string(), nullable=False, comment="What happened to the row"),
        ColumnMetadata(COMMIT_VERSION, version_type, nullable=False, comment="The version that made the change"),
        ColumnMetadata(COMMIT_TIMESTAMP, pa.timestamp("us", "UTC"), comment="When that version was committed"),
    )
    taken = {column.name.lower() for column in table.columns}
    for column in added:
        if column.name in taken:
            raise NotSupportedError(
                f"the changes of table {table.name} cannot be read: it has a column {quote_identifier(column.name)} "
                "of its own; rename it"
            )
    hidden = tuple(column for column in table.columns if column.hidden)
    return replace(table, columns=(*table.visible_columns(), *added, *hidden))


def _bound(version: TableVersion, inclusive: bool) -> str:
    return f"{version.kind.name} {version.value}{'' if inclusive else ' EXCLUSIVE'}"
