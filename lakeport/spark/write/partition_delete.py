"""DELETE of whole partitions, of tables whose rows have no ids: no row is read, and no task runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from lakeport.arrow.write.overwriting import why_no_whole_partitions
from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.plan_words.reading import read_predicates
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.scan.pushdown import translate

__all__ = ["PartitionDeleteProxy", "deleted_partitions", "deletes_all"]


def deletes_all(jvm: Jvm, table: ResolvedTable, predicates: JavaObject) -> bool:
    """Whether all rows are to be deleted."""
    found = [translate(one, table.columns) for one in read_predicates(jvm, predicates)]
    return all(one.exact and one.domain.is_all for one in found)


def deleted_partitions(jvm: Jvm, table: ResolvedTable, predicates: JavaObject, why_whole: str) -> TupleDomain[str]:
    """The partitions, by their keys, whose rows are to be deleted.

    Args:
        jvm: The door to the JVM.
        table: The table.
        predicates: Spark's, which all hold.
        why_whole: Why single rows cannot be deleted.

    Raises:
        NotSupportedError: They are not rows of whole partitions.
    """
    found = [translate(one, table.columns) for one in read_predicates(jvm, predicates)]
    for one in found:
        columns = [column.name for column in one.domain.domains or ()]
        problem = why_no_whole_partitions(table.table.partitioned_by, columns, exact=one.exact)
        if problem is not None:
            raise NotSupportedError(
                f"{why_whole}. DELETE takes the rows of whole partitions; of the condition {one.text:.200} {problem}"
            )
    rows = functools.reduce(TupleDomain.intersect, (one.domain for one in found), TupleDomain[ColumnHandle].all())
    return rows.transform_keys(lambda column: column.name)


class PartitionDeleteProxy(Proxy):
    """A DELETE that Spark plans row by row until it asks the table whether it can do without. It is its own builder.

    Args:
        jvm: The door to the JVM.
        name: The table's.
        command: Spark's constant.
        why_whole: Why single rows cannot be deleted.
        scan_builder: Makes the scan that Spark plans; it is not run.
    """

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "RowLevelOperationBuilder", WRITE + "RowLevelOperation"]

    def __init__(
        self, jvm: Jvm, name: str, command: JavaObject, why_whole: NotSupportedError, scan_builder: Callable[[], Proxy]
    ) -> None:
        super().__init__(jvm)
        self._name = name
        self._command = command
        self._why_whole = why_whole
        self._scan_builder = scan_builder

    def build(self) -> PartitionDeleteProxy:
        """The operation."""
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        return f"delete rows of {self._name}"

    def toString(self) -> str:
        """The same."""
        return self.description()

    def command(self) -> JavaObject:
        """The kind of statement."""
        return self._command

    def newScanBuilder(self, options: JavaObject) -> Proxy:
        """A scan of the table."""
        return self._scan_builder()

    def newWriteBuilder(self, info: JavaObject) -> _RefusedWrite:
        """A write that is refused when it begins: the condition is one that tables are not asked about."""
        return _RefusedWrite(self._jvm, self.description(), self._why_whole)


class _RefusedWrite(Proxy):
    class Java:
        implements: ClassVar[list[str]] = [WRITE + "WriteBuilder", WRITE + "Write"]

    def __init__(self, jvm: Jvm, shown: str, why_whole: NotSupportedError) -> None:
        super().__init__(jvm)
        self._shown = shown
        self._why_whole = why_whole

    def build(self) -> _RefusedWrite:
        """Itself."""
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        return self._shown

    def toString(self) -> str:
        """The same."""
        return self._shown

    def toBatch(self) -> None:
        """Refuses."""
        raise self._why_whole
