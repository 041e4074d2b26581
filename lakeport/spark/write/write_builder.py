"""A table's write side as Spark sees it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.optional.writing import InsertLayout, Overwrite
from connector_spi.predicate import TupleDomain
from lakeport.arrow.write.overwriting import check_whole_partitions
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.plan_words.reading import read_predicates
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.writers import row_writer_factory
from lakeport.spark.queries import query_writes
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.tasks.writing import written_rows
from lakeport.spark.write.distribution import DistributedWrite
from lakeport.spark.write.insert import SparkInsert
from lakeport.spark.write.stream_write import StreamWriteProxy

__all__ = ["WriteBuilderProxy", "WriteStarts"]


@dataclass(frozen=True, slots=True)
class WriteStarts:
    """What begins the writing of rows.

    Attributes:
        insert: Begins an insert, with what it replaces.
        epoch: Begins the insert of a streaming query's batch; ``None`` where there are none.
    """

    insert: Callable[[Overwrite | None], SparkInsert]
    epoch: Callable[[], SparkInsert] | None = None


class WriteBuilderProxy(DistributedWrite):
    """Rows to be added to a table, or to replace others.

    Args:
        jvm: The door to the JVM.
        table: The table.
        starts: Begin the insert.
        info: Spark's ``LogicalWriteInfo``.
        layout: How the rows are dealt out to tasks; ``None`` where it does not matter.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            WRITE + "SupportsOverwriteV2",
            WRITE + "SupportsDynamicOverwrite",
            WRITE + "RequiresDistributionAndOrdering",
        ]

    _changing = frozenset({"truncate", "overwrite", "overwriteDynamicPartitions"})

    def __init__(
        self,
        jvm: Jvm,
        table: ResolvedTable,
        starts: WriteStarts,
        info: JavaObject,
        layout: InsertLayout | None = None,
    ) -> None:
        super().__init__(jvm, layout)
        self._table = table
        self._starts = starts
        self._info = info
        self._overwrite: Overwrite | None = None

    def truncate(self) -> WriteBuilderProxy:
        """All rows are replaced."""
        self._overwrite = Overwrite()
        return self

    def canOverwrite(self, predicates: JavaObject) -> bool:
        """Asked first; ``overwrite`` refuses in words that name the condition."""
        return True

    def overwrite(self, predicates: JavaObject) -> WriteBuilderProxy:
        """The rows are replaced for which all predicates hold."""
        found = [translate(one, self._table.columns) for one in read_predicates(self._jvm, predicates)]
        for one in found:
            columns = [column.name for column in one.domain.domains or ()]
            keys = self._table.table.partitioned_by
            check_whole_partitions(self._table.name, keys, columns, one.text, exact=one.exact)
        rows = functools.reduce(TupleDomain.intersect, (one.domain for one in found))
        self._overwrite = Overwrite(rows.transform_keys(lambda column: column.name))
        return self

    def overwriteDynamicPartitions(self) -> WriteBuilderProxy:
        """The rows of partitions that new rows go to are replaced."""
        self._overwrite = Overwrite(dynamic=True)
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        if self._overwrite is None:
            return f"insert into {self._table.name}"
        where = "the partitions of its rows" if self._overwrite.dynamic else str(self._overwrite.rows)
        return f"overwrite {self._table.name}, {where}"

    def toBatch(self) -> BatchWriteProxy:
        """Begins: Spark asks for it when it runs the query, before the query's first job."""
        insert = self._starts.insert(self._overwrite)
        query_writes(self._jvm, insert.abort)
        return BatchWriteProxy(self._jvm, insert, self._info.schema())

    def toStreaming(self) -> StreamWriteProxy:
        """A batch of a streaming query; it begins when it is run.

        Raises:
            NotSupportedError: The rows would replace others.
        """
        name = str(self._table.name)
        if self._overwrite is not None or self._starts.epoch is None:
            raise NotSupportedError(
                f"{name} takes the rows of a streaming query in output mode append only, met complete, in which each "
                "batch replaces all rows; write them by foreachBatch with overwrite"
            )
        return StreamWriteProxy(self._jvm, name, str(self._info.queryId()), self._starts.epoch, self._info.schema())


class BatchWriteProxy(Proxy):
    """One run of a write. Of the tries of a task one may succeed, whose fragments count: Spark's default."""

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "BatchWrite"]

    def __init__(self, jvm: Jvm, insert: SparkInsert, schema: JavaObject) -> None:
        super().__init__(jvm)
        self._insert = insert
        self._schema = schema

    def createBatchWriterFactory(self, info: JavaObject) -> JavaObject:
        """What tasks write with."""
        return row_writer_factory(self._jvm, self._insert.writer, self._schema)

    def commit(self, messages: JavaObject, *summary: JavaObject) -> None:
        """All tasks have succeeded; ``summary`` comes from Spark 4.1 on, with counts of a MERGE."""
        found = [bytes(message.pickledMessage()) for message in self._jvm.items(messages)]
        self._insert.commit(written_rows(message) for message in found)

    def abort(self, messages: JavaObject) -> None:
        """A task or the commit has failed."""
        self._insert.abort()

    def _known(self) -> KnownAnswers:
        return KnownAnswers(self._named())
