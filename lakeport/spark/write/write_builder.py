"""A table's write side as Spark sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.python_tasks import row_writer_factory
from lakeport.spark.queries import query_writes
from lakeport.spark.tasks.writing import written_rows
from lakeport.spark.write.insert import SparkInsert

__all__ = ["WriteBuilderProxy"]

_METRIC = "org.apache.spark.sql.connector.metric."


class WriteBuilderProxy(Proxy):
    """Rows to be added to a table. It is its own write: Spark has nothing to choose.

    Args:
        jvm: The door to the JVM.
        table: Its name, for ``EXPLAIN``.
        begin: Begins the insert.
        schema: Spark's struct of the rows.
    """

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "WriteBuilder", WRITE + "Write"]

    def __init__(self, jvm: Jvm, table: str, begin: Callable[[], SparkInsert], schema: JavaObject) -> None:
        super().__init__(jvm)
        self._table = table
        self._begin = begin
        self._schema = schema

    def build(self) -> WriteBuilderProxy:
        """The write."""
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        return f"insert into {self._table}"

    def toString(self) -> str:
        """The same."""
        return self.description()

    def toBatch(self) -> BatchWriteProxy:
        """Begins: Spark asks for it when it runs the query, before the query's first job."""
        insert = self._begin()
        query_writes(self._jvm, insert.abort)
        return BatchWriteProxy(self._jvm, insert, self._schema)

    def supportedCustomMetrics(self) -> JavaObject:
        """None."""
        return self._jvm.array(_METRIC + "CustomMetric", [])

    def reportDriverMetrics(self) -> JavaObject:
        """None."""
        return self._jvm.array(_METRIC + "CustomTaskMetric", [])


class BatchWriteProxy(Proxy):
    """One run of a write."""

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "BatchWrite"]

    def __init__(self, jvm: Jvm, insert: SparkInsert, schema: JavaObject) -> None:
        super().__init__(jvm)
        self._insert = insert
        self._schema = schema

    def createBatchWriterFactory(self, info: JavaObject) -> JavaObject:
        """What tasks write with."""
        return row_writer_factory(self._jvm, self._insert.writer, self._schema)

    def useCommitCoordinator(self) -> bool:
        """Of the tries of a task one may succeed, whose fragments are the ones that count."""
        return True

    def onDataWriterCommit(self, message: JavaObject) -> None:
        """All is done at the end."""

    def commit(self, messages: JavaObject, *summary: JavaObject) -> None:
        """All tasks have succeeded; ``summary`` comes from Spark 4.1 on, with counts of a MERGE."""
        found = [bytes(message.pickledMessage()) for message in self._jvm.items(messages)]
        self._insert.commit(written_rows(message) for message in found)

    def abort(self, messages: JavaObject) -> None:
        """A task or the commit has failed."""
        self._insert.abort()
