"""DELETE, UPDATE and MERGE as Spark sees them: rows are read with their ids, and changes are written by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from connector_spi.optional.writing import MergeCommand
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.writers import RowWriting, merge_writer_factory, merge_writing
from lakeport.spark.queries import query_writes
from lakeport.spark.write.distribution import DistributedWrite
from lakeport.spark.write.merge import MergeTarget, SparkMerge

__all__ = ["RowLevelOperationProxy", "merge_command"]

_EXPRESSIONS = "org.apache.spark.sql.connector.expressions."


def merge_command(info: JavaObject) -> MergeCommand:
    """The kind of statement, from a ``RowLevelOperationInfo``."""
    return MergeCommand[str(info.command().toString())]


class RowLevelOperationProxy(Proxy):
    """One statement that changes rows of a table. It is its own builder: Spark has nothing to choose.

    Args:
        jvm: The door to the JVM.
        target: The table.
        command: Spark's constant.
        scan_builder: Makes the scan that reads the rows.
    """

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "RowLevelOperationBuilder", WRITE + "SupportsDelta"]

    def __init__(self, jvm: Jvm, target: MergeTarget, command: JavaObject, scan_builder: Callable[[], Proxy]) -> None:
        super().__init__(jvm)
        self._target = target
        self._command = command
        self._scan_builder = scan_builder

    def build(self) -> RowLevelOperationProxy:
        """The operation."""
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        return f"{self._target.command.value} rows of {self._target.table.name}"

    def toString(self) -> str:
        """The same."""
        return self.description()

    def command(self) -> JavaObject:
        """The kind of statement."""
        return self._command

    def newScanBuilder(self, options: JavaObject) -> Proxy:
        """A scan of the table as it was loaded: what is written is compared with that snapshot.

        Raises:
            NotSupportedError: It has options, which may change the rows.
        """
        if options.size():
            raise NotSupportedError(
                f"rows of {self._target.table.name} cannot be changed with read options: leave them out"
            )
        return self._scan_builder()

    def newWriteBuilder(self, info: JavaObject) -> DeltaWriteProxy:
        """What writes the changes."""
        return DeltaWriteProxy(self._jvm, self._target, info)

    def rowId(self) -> JavaObject:
        """The hidden columns that name a row."""
        expressions = self._jvm.cls(_EXPRESSIONS + "Expressions")
        names = [expressions.column(f"`{column.name}`") for column in self._target.row_ids]
        return self._jvm.array(_EXPRESSIONS + "NamedReference", names)

    def representUpdateAsDeleteAndInsert(self) -> bool:
        """Yes, so that Spark may send the two to different tasks."""
        return True

    def _known(self) -> KnownAnswers:
        names = [answers.reference(f"`{column.name}`") for column in self._target.row_ids]
        found = {
            "build": answers.ITSELF,
            "description": answers.plain(self.description()),
            "command": answers.constant(WRITE + "RowLevelOperation$Command", self._target.command.name),
            "rowId": answers.array(_EXPRESSIONS + "NamedReference", names),
            "representUpdateAsDeleteAndInsert": answers.plain(True),
        }
        return KnownAnswers({**self._named(), **found})


class DeltaWriteProxy(DistributedWrite):
    """Changes to be written."""

    class Java:
        implements: ClassVar[list[str]] = [
            WRITE + "DeltaWriteBuilder",
            WRITE + "DeltaWrite",
            WRITE + "RequiresDistributionAndOrdering",
        ]

    def __init__(self, jvm: Jvm, target: MergeTarget, info: JavaObject) -> None:
        buckets = None if target.layout is None or target.layout.bucketed_by is None else target.layout
        # Rows that are only deleted have no columns; and without buckets, the driver joins what little there is.
        layout = None if target.command is MergeCommand.DELETE else buckets
        super().__init__(jvm, layout, target.row_ids)
        self._target = target
        self._info = info

    def description(self) -> str:
        """What EXPLAIN shows."""
        return f"{self._target.command.value} rows of {self._target.table.name}"

    def toBatch(self) -> DeltaBatchWriteProxy:
        """Begins: Spark asks for it when it runs the query, before the query's first job."""
        merge = SparkMerge(self._target)
        query_writes(self._jvm, merge.abort)
        return DeltaBatchWriteProxy(self._jvm, merge, self._info)


class DeltaBatchWriteProxy(Proxy):
    """One run of a write. Of the tries of a task one may succeed, whose fragments count: Spark's default."""

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "DeltaBatchWrite"]

    def __init__(self, jvm: Jvm, merge: SparkMerge, info: JavaObject) -> None:
        super().__init__(jvm)
        self._merge = merge
        self._info = info
        self._writing: RowWriting | None = None

    def createBatchWriterFactory(self, info: JavaObject) -> JavaObject:
        """What tasks write with."""
        ids, columns = self._info.rowIdSchema().get(), self._info.schema()
        self._writing = merge_writing(self._jvm, self._merge.writer, str(ids.json()), str(columns.json()))
        return merge_writer_factory(self._jvm, self._writing, ids, columns)

    def commit(self, messages: JavaObject, *summary: JavaObject) -> None:
        """All tasks have succeeded; ``summary`` comes from Spark 4.1 on, with counts of a MERGE."""
        assert self._writing is not None, "tasks had a factory"
        found = [bytes(message.pickledMessage()) for message in self._jvm.items(messages)]
        self._merge.commit(self._writing.writer.written(found))

    def abort(self, messages: JavaObject) -> None:
        """A task or the commit has failed."""
        self._merge.abort()

    def _known(self) -> KnownAnswers:
        return KnownAnswers(self._named())
