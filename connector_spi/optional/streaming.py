"""What is new in a table since an offset in its history, batch after batch; and batches that are written. Driver side.

An offset is a text that the engine keeps in its checkpoint and never looks into. The rows between two offsets are those
of a table handle, and are the same whenever they are asked for: so a batch that was cut off is read again after a
restart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import TableHandle
from connector_spi.metadata import TableVersion
from connector_spi.names import SchemaTableName
from connector_spi.optional.page_sink import Fragment, InsertHandle
from connector_spi.optional.writing import SupportsInsert
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession

__all__ = ["StreamEpoch", "StreamStart", "SupportsStreaming", "SupportsStreamingInsert", "offset_fields", "offset_text"]


@dataclass(frozen=True, slots=True)
class StreamStart:
    """Where a stream begins.

    Attributes:
        version: The first version whose rows are wanted; ``None`` is the table as it is, and then what comes.
        inclusive: Whether what made ``version`` itself is wanted.
        latest: Only what comes from now on is wanted; ``version`` is ``None``.
    """

    version: TableVersion | None = None
    inclusive: bool = True
    latest: bool = False


@runtime_checkable
class SupportsStreaming(Protocol):
    """Metadata that knows what is new in its tables.

    Offsets are texts of one line, JSON by custom. All methods answer inside of one transaction, and so of one state
    of the table; where no such table is, they answer ``None``.
    """

    @property
    def stream_option_names(self) -> Mapping[str, str]:
        """Names of read options, lower case, that mean the same as one of the engine's own (``startingoffset``)."""

    def get_initial_offset(self, session: ConnectorSession, name: SchemaTableName, start: StreamStart) -> str | None:
        """The offset where a stream begins.

        Raises:
            InvalidArgumentError: The version is not one of the table.
            NotSupportedError: What is new in this table is not recorded.
        """

    def get_latest_offset(
        self,
        session: ConnectorSession,
        name: SchemaTableName,
        offset: str,
        max_versions: int | None = None,
        until: str | None = None,
    ) -> str | None:
        """The offset that a batch from ``offset`` on may go to: ``offset`` itself where there is nothing new.

        Must be cheap: it is asked several times a second.

        Args:
            session: The query.
            name: The table.
            offset: Where the batch begins.
            max_versions: Most versions of the batch. One is always allowed, and so is the whole table in the first
                batch of a stream.
            until: An offset not to go beyond; one that ``get_latest_offset`` gave.

        Raises:
            InvalidArgumentError: The text is no offset in the history of this table.
        """

    def get_stream_batch(
        self, session: ConnectorSession, name: SchemaTableName, start: str, end: str, *, changes: bool
    ) -> TableHandle | None:
        """The rows between two offsets, as a table; everything that can be pushed into a handle can be into this one.

        The same two offsets mean the same rows, however the table has gone on.

        Args:
            session: The query.
            name: The table.
            start: Exclusive. From the beginning of a stream that has no ``StreamStart.version``, the rows are those of
                the table at ``end``.
            end: Inclusive.
            changes: Every change comes, with the columns of ``with_change_columns``. Else the rows that the versions
                inserted or updated come, with the columns of the table: at least as they are at ``end``; whether states
                in between come, too, is the connector's own.

        Raises:
            InvalidArgumentError: A text is no offset in the history of this table, or rows of the range are no longer
                there; says what is, and the way out. Never fewer rows.
            NotSupportedError: The table cannot be read so.
        """


@dataclass(frozen=True, slots=True)
class StreamEpoch(Serializable):
    """One batch of a query that writes what comes.

    Attributes:
        query: Tells the query from all others, also after a restart from its checkpoint.
        number: Of the batch; a batch that was cut off comes again with the same number, and the next one when it is
            written.
    """

    query: str
    number: int


@runtime_checkable
class SupportsStreamingInsert(SupportsInsert, Protocol):
    """Metadata whose tables take each batch of a streaming query once, however often it comes."""

    def finish_stream_insert(
        self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment], epoch: StreamEpoch
    ) -> bool:
        """As ``finish_insert``; that the batch is written is recorded with its rows, in one step.

        A writer of the same batch that was killed, or is not known to have ended, is ended here: its rows are there, or
        will never be.

        Args:
            session: The statement.
            insert: From ``begin_insert``.
            fragments: Of one sink of each task, in any order.
            epoch: The batch.

        Returns:
            Whether the rows are committed with the transaction; not where those of this batch, or of a later one of the
            query, are there already: then the engine calls ``abort_insert``.

        Raises:
            ConnectorError: It failed, or it cannot be told whether the batch is written. The engine calls
                ``abort_insert`` and rolls back.
        """


def offset_text(fields: Mapping[str, object]) -> str:
    """An offset as one line of JSON."""
    return json.dumps(fields, separators=(",", ":"), sort_keys=True)


def offset_fields(name: object, text: str, expected: Mapping[str, type]) -> dict[str, object]:
    """Reads what ``offset_text`` wrote.

    Args:
        name: The table, for messages.
        text: The offset.
        expected: Types of the fields, by name; all have to be there.

    Raises:
        InvalidArgumentError: It is of another form, such as that of another kind of table.
    """
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or {key: type(value) for key, value in fields.items()} != dict(expected):
        raise InvalidArgumentError(
            f"{text!r:.200} is no offset in a stream of table {name}: expected JSON with the fields "
            f"{', '.join(sorted(expected))}; the checkpoint is of another table, start the query with a new one"
        )
    return fields
