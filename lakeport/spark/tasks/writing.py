"""What runs in a writing task's Python: Arrow batches in, one message for the driver out. Executor side."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyspark import TaskContext

from connector_spi.errors import ConnectorError, ErrorType
from lakeport.arrow.write.merge_sinks import MergeOpener
from lakeport.arrow.write.sinks import SinkOpener, WrittenRows

__all__ = ["MESSAGE_COLUMN", "TaskWriter", "written_rows"]

MESSAGE_COLUMN = "message"
"""The one column that Spark has from a writing task (``UserDefinedPythonDataSource.writeOutputSchema``)."""


@dataclass(frozen=True, slots=True)
class TaskWriter:
    """All that the tasks of one write share.

    Attributes:
        sinks: Open a sink for each try of a task.
    """

    sinks: SinkOpener | MergeOpener

    def write(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Writes the rows of one task.

        Returns:
            One row: what the task has written, pickled.
        """
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        rows = iter(batches)
        first = next(rows, None)
        try:
            written = WrittenRows(0, ()) if first is None else self._write(first, rows, task)
        except ConnectorError as error:
            if error.code.type is ErrorType.INTERNAL_ERROR:
                raise
            # The worker sends the whole trace to the user; the message says what is wrong.
            raise error.with_traceback(None) from None
        yield pa.record_batch({MESSAGE_COLUMN: pa.array([pickle.dumps(written)], pa.binary())})

    def _write(self, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch], task: int) -> WrittenRows:
        return self.sinks.write(first.schema, chain((first,), rest), task)


def written_rows(message: bytes) -> WrittenRows:
    """What a task has written, from its message."""
    found = pickle.loads(message)
    assert isinstance(found, WrittenRows)
    return found
