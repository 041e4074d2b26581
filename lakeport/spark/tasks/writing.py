"""What runs in a writing task's Python: Arrow batches in, one message for the driver out. Both sides."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyspark import TaskContext

from connector_spi.errors import ConnectorError, ErrorType
from lakeport.arrow.write.merge_sinks import MergeOpener
from lakeport.arrow.write.sinks import SinkOpener, WrittenRows

__all__ = ["MESSAGE_COLUMN", "TaskWriter"]

MESSAGE_COLUMN = "message"
"""The one column that Spark has from a writing task (``UserDefinedPythonDataSource.writeOutputSchema``)."""
_LONG_DIGITS = 19
"""Of the largest number of 64 bits."""
_STREAM = b"\xff\xff\xff\xff"
"""Begins an Arrow stream (its format's "Encapsulated message format"); a pickle begins with the byte 0x80."""


@dataclass(frozen=True, slots=True)
class TaskWriter:
    """All that the tasks of one write share.

    Attributes:
        sinks: Open a sink for each try of a task.
        decimals: Columns of the batches that are whole numbers, by position, and the decimals that they stand for.
    """

    sinks: SinkOpener | MergeOpener
    decimals: tuple[tuple[int, pa.DataType], ...] = ()

    def write(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Writes the rows of one task.

        Returns:
            One row: what the task has written, pickled.
        """
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        rows = map(self._with_decimals, batches)
        try:
            written = self._write(rows, task)
        except ConnectorError as error:
            if error.code.type is ErrorType.INTERNAL_ERROR:
                raise
            # The worker sends the whole trace to the user; the message says what is wrong.
            raise error.with_traceback(None) from None
        yield pa.record_batch({MESSAGE_COLUMN: pa.array([pickle.dumps(written)], pa.binary())})

    def written(self, messages: Sequence[bytes]) -> Iterator[WrittenRows]:
        """What all tasks have written. The driver writes the rows of those that have sent theirs, into one sink.

        Args:
            messages: Of each task, in order: what ``write`` gives, or its few rows as an Arrow stream, or nothing for
                no rows.

        Raises:
            ColumnNotFoundError, InvalidArgumentError: A value does not fit.
            ConnectorError: Storage failed.
        """
        sent = {task: message for task, message in enumerate(messages) if message.startswith(_STREAM)}
        for task, message in enumerate(messages):
            if message and task not in sent:
                yield _written_rows(message)
        if sent:
            batches = chain.from_iterable(pa.ipc.open_stream(message) for message in sent.values())
            # No other sink has the number of one of these tasks.
            yield self._write(map(self._with_decimals, batches), next(iter(sent)))

    def _with_decimals(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for position, kind in self.decimals:
            # The numbers stay as they are: what changes is where their point is.
            unscaled = batch.column(position).cast(pa.decimal128(_LONG_DIGITS, 0)).view(kind)
            batch = batch.set_column(position, batch.schema.names[position], unscaled)
        return batch

    def _write(self, rows: Iterator[pa.RecordBatch], task: int) -> WrittenRows:
        first = next(rows, None)
        return WrittenRows(0, ()) if first is None else self.sinks.write(first.schema, chain((first,), rows), task)


def _written_rows(message: bytes) -> WrittenRows:
    found = pickle.loads(message)
    assert isinstance(found, WrittenRows)
    return found
