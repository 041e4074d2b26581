"""A table's write side as Spark sees it."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.writing import InsertLayout, Overwrite
from connector_spi.predicate import TupleDomain
from lakeport.arrow.write.overwriting import check_whole_partitions
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.plan_words.reading import read_predicates
from lakeport.spark.bridge.proxies import CALLED_IN_WORDS, Proxy
from lakeport.spark.bridge.writers import row_writing
from lakeport.spark.queries import RunningQuery, query_writes
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.write.distribution import DistributedWrite
from lakeport.spark.write.insert import SparkInsert
from lakeport.spark.write.stream_write import StreamWriteProxy

__all__ = ["AppendBuilderProxy", "AskedRows", "WriteBuilderProxy", "WriteStarts"]


@dataclass(frozen=True, slots=True)
class WriteStarts:
    """What begins the writing of rows.

    Attributes:
        insert: Begins an insert, with what it replaces.
        epoch: Begins the insert of a streaming query's batch; ``None`` where there are none.
    """

    insert: Callable[[Overwrite | None], SparkInsert]
    epoch: Callable[[], SparkInsert] | None = None


@dataclass(frozen=True, slots=True)
class AskedRows:
    """What Spark's ``LogicalWriteInfo`` says.

    Attributes:
        columns: Spark's struct of the rows, as JSON text.
        query: The id of the query; that of a streaming one stays the same.
    """

    columns: str
    query: str


class AppendBuilderProxy(DistributedWrite):
    """Rows to be added to a table, or to be all that it has.

    Args:
        jvm: The door to the JVM.
        name: The table.
        starts: Begin the insert.
        rows: The rows.
        layout: How the rows are dealt out to tasks; ``None`` where it does not matter.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            WRITE + "SupportsTruncate",
            WRITE + "RequiresDistributionAndOrdering",
            CALLED_IN_WORDS,
        ]

    def __init__(
        self,
        jvm: Jvm,
        name: CatalogSchemaTableName,
        starts: WriteStarts,
        rows: AskedRows,
        layout: InsertLayout | None = None,
    ) -> None:
        super().__init__(jvm, layout)
        self._name = name
        self._starts = starts
        self._rows = rows
        self._overwrite: Overwrite | None = None

    def truncate(self) -> AppendBuilderProxy:
        """All rows are replaced; a table that the query makes has none."""
        self._overwrite = Overwrite()
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        return f"insert into {self._name}"

    def toBatch(self) -> BatchWriteProxy:
        """Begins: Spark asks for it when it runs the query, before the query's first job."""
        return self._begin(None)

    def _called_in_words(self, name: str, words: str) -> object:
        if name != "toBatch":
            return super()._called_in_words(name, words)
        asked = json.loads(words)
        return self._begin(RunningQuery(asked["query"], asked["session"]) if "query" in asked else None)

    def _begin(self, running: RunningQuery | None) -> BatchWriteProxy:
        insert = self._starts.insert(self._overwrite)
        query_writes(self._jvm, insert.abort, running)
        return BatchWriteProxy(self._jvm, insert, self._rows.columns)

    def _known(self) -> KnownAnswers:
        return replace(super()._known(), in_words=frozenset({"toBatch"}))


class WriteBuilderProxy(AppendBuilderProxy):
    """Rows to be added to a table, or to replace others.

    Args:
        jvm: The door to the JVM.
        table: The table.
        starts: Begin the insert.
        rows: The rows.
        layout: How the rows are dealt out to tasks; ``None`` where it does not matter.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            WRITE + "SupportsOverwriteV2",
            WRITE + "SupportsDynamicOverwrite",
            WRITE + "RequiresDistributionAndOrdering",
            CALLED_IN_WORDS,
        ]

    _changing = frozenset({"truncate", "overwrite", "overwriteDynamicPartitions"})

    def __init__(
        self,
        jvm: Jvm,
        table: ResolvedTable,
        starts: WriteStarts,
        rows: AskedRows,
        layout: InsertLayout | None = None,
    ) -> None:
        super().__init__(jvm, table.name, starts, rows, layout)
        self._table = table

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
            return super().description()
        where = "the partitions of its rows" if self._overwrite.dynamic else str(self._overwrite.rows)
        return f"overwrite {self._table.name}, {where}"

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
        return StreamWriteProxy(self._jvm, name, self._rows.query, self._starts.epoch, self._rows.columns)


class BatchWriteProxy(Proxy):
    """One run of a write. Of the tries of a task one may succeed, whose fragments count: Spark's default."""

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "BatchWrite", CALLED_IN_WORDS]

    def __init__(self, jvm: Jvm, insert: SparkInsert, columns: str) -> None:
        super().__init__(jvm)
        self._insert = insert
        self._writing = row_writing(jvm, insert.writer, columns)

    def createBatchWriterFactory(self, info: JavaObject) -> JavaObject:
        """What tasks write with."""
        return self._writing.factory(self._jvm)

    def commit(self, messages: JavaObject, *summary: JavaObject) -> None:
        """All tasks have succeeded; ``summary`` comes from Spark 4.1 on, with counts of a MERGE."""
        self._commit([bytes(message.pickledMessage()) for message in self._jvm.items(messages)])

    def abort(self, messages: JavaObject) -> None:
        """A task or the commit has failed."""
        self._insert.abort()

    def _called_in_words(self, name: str, words: str) -> object:
        if name != "commit":
            return super()._called_in_words(name, words)
        self._commit([base64.b64decode(message) for message in json.loads(words)["messages"]])
        return None

    def _commit(self, messages: list[bytes]) -> None:
        self._insert.commit(self._writing.writer.written(messages))

    def _known(self) -> KnownAnswers:
        words = frozenset({"createBatchWriterFactory", "commit"})
        return KnownAnswers(self._named(), in_words=words, kept_between_calls=self._writing.words(self._jvm))
