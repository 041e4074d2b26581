"""Batches of a streaming query that Spark writes to a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.optional.streaming import StreamEpoch
from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.writers import row_writing
from lakeport.spark.write.insert import SparkInsert

__all__ = ["StreamWriteProxy"]

_CONTINUOUS = "__epoch_coordinator_id"
"""A local property of the thread that runs a query with ``Trigger.Continuous`` (``ContinuousExecution``)."""


class StreamWriteProxy(Proxy):
    """One batch: Spark asks for a write for each.

    Args:
        jvm: The JVM.
        table: Its name, for messages.
        query: The query's id, which stays the same over restarts from a checkpoint.
        begin: Begins the insert.
        columns: Spark's struct of the rows, as JSON text.
    """

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "streaming.StreamingWrite"]

    def __init__(self, jvm: Jvm, table: str, query: str, begin: Callable[[], SparkInsert], columns: str) -> None:
        super().__init__(jvm)
        self._table = table
        self._query = query
        self._begin = begin
        self._columns = columns
        self._insert: SparkInsert | None = None

    def createStreamingWriterFactory(self, info: JavaObject) -> JavaObject:
        """Begins: Spark asks for it when it runs the batch, right before the job, and aborts whatever fails then.

        Raises:
            NotSupportedError: The query is a continuous one.
        """
        if self._jvm.context.getLocalProperty(_CONTINUOUS) is not None:
            raise NotSupportedError(
                f"{self._table} takes no rows of a query with Trigger.Continuous; use batches, such as processingTime"
            )
        self._insert = self._begin()
        writing = row_writing(self._jvm, self._insert.writer, self._columns, streaming=True)
        return writing.factory(self._jvm, streaming=True)

    def useCommitCoordinator(self) -> bool:
        """Of the tries of a task one may succeed, whose fragments are the ones that count."""
        return True

    def commit(self, epoch: int, messages: JavaObject) -> None:
        """All tasks have succeeded. A batch that is there already, from before a restart, is not written again."""
        if self._insert is None:
            raise InternalError(f"a batch of {self._table} is committed that has not begun")
        found = [bytes(message.pickledMessage()) for message in self._jvm.items(messages)]
        self._insert.commit(self._insert.writer.written(found), StreamEpoch(self._query, int(epoch)))

    def abort(self, epoch: int, messages: JavaObject) -> None:
        """A task or the commit has failed."""
        if self._insert is not None:
            self._insert.abort()
