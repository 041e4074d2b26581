"""What a table has for rows that go or change: TRUNCATE, DELETE, UPDATE and MERGE."""

from __future__ import annotations

from dataclasses import replace

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.optional.writing import MergeCommand, SupportsDelete
from connector_spi.predicate import TupleDomain
from lakeport.arrow.write.merging import row_id_columns
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.scan.char_scan_builder import scan_builder
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.write.distribution import insert_layout
from lakeport.spark.write.merge import MergeTarget
from lakeport.spark.write.partition_delete import PartitionDeleteProxy, deleted_partitions, deletes_all
from lakeport.spark.write.row_level import RowLevelOperationProxy, merge_command
from lakeport.spark.write.truncate import truncate

__all__ = ["ChangedTable"]


class ChangedTable(Proxy):
    """A table whose rows go or change, as far as its connector does that.

    Args:
        jvm: The door to the JVM.
        table: The table as it is scanned.
        resolved: The same as the catalog gave it.
    """

    def __init__(self, jvm: Jvm, table: ScannedTable, resolved: ResolvedTable) -> None:
        super().__init__(jvm)
        self._table = table
        self._resolved = resolved

    def truncateTable(self, *options: JavaObject) -> bool:
        """``TRUNCATE TABLE``, which has no ``options`` yet; Spark 4.3 and later passes a map."""
        truncate(self._table.plan.access, self._resolved, TupleDomain.all())
        return True

    def canDeleteWhere(self, predicates: JavaObject) -> bool:
        """Whether rows are deleted with no task: all of them, or those of whole partitions where they have no ids.

        Raises:
            NotSupportedError: They are not rows of whole partitions, and single rows cannot be deleted.
        """
        if deletes_all(self._jvm, self._resolved, predicates):
            return True
        why_whole = self._why_no_row_ids()
        if why_whole is None:
            return False
        deleted_partitions(self._jvm, self._resolved, predicates, why_whole.message)
        return True

    def deleteWhere(self, predicates: JavaObject, *options: JavaObject) -> None:
        """``DELETE`` of such rows; Spark 4.3 and later also passes a map of options, which has none yet."""
        truncate(
            self._table.plan.access,
            self._resolved,
            deleted_partitions(self._jvm, self._resolved, predicates, f"rows of {self._table.name} are deleted"),
        )

    def newRowLevelOperationBuilder(self, info: JavaObject) -> RowLevelOperationProxy | PartitionDeleteProxy:
        """Rows to be deleted, updated or merged."""
        access = self._table.plan.access
        # Spark's filter of the groups that are changed (RowLevelOperationRuntimeGroupFiltering) is an IN, which would
        # leave out rows whose partition key is NULL.
        table = replace(self._table, runtime_filters=False)
        command, why_whole = merge_command(info), self._why_no_row_ids()
        if why_whole is None:
            row_ids = row_id_columns(access, self._resolved)
            layout = insert_layout(access, self._resolved)
            target = MergeTarget(access.statement, self._resolved, row_ids, command, layout)
            return RowLevelOperationProxy(self._jvm, target, info.command(), lambda: scan_builder(self._jvm, table))
        if command is not MergeCommand.DELETE or not isinstance(access.metadata, SupportsDelete):
            raise why_whole
        return PartitionDeleteProxy(
            self._jvm, str(self._table.name), info.command(), why_whole, lambda: scan_builder(self._jvm, table)
        )

    def _why_no_row_ids(self) -> NotSupportedError | None:
        """Why rows cannot be changed one by one; ``None`` where they can."""
        try:
            row_id_columns(self._table.plan.access, self._resolved)
        except NotSupportedError as error:
            return error
        return None
