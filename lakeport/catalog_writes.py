"""Rows that are written to catalogs from Arrow, by the calling thread and with no engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from connector_spi.optional.definitions import TableDefinition
from lakeport.arrow.reads import ArrowReads
from lakeport.arrow.write.creating import create_table_as
from lakeport.arrow.write.inserting import check_outside_of_block, insert_rows, note_written, resolve_target, rows_of
from lakeport.arrow.write.overwriting import PartitionsWhere, overwrite_of
from lakeport.planning.names import full_table_name
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.statement import statement_scope

__all__ = ["CatalogWrites"]


class CatalogWrites(ABC):
    """What writes in a session.

    Args:
        reads: Begins statements.
    """

    def __init__(self, reads: ArrowReads) -> None:
        self._reads = reads

    @property
    @abstractmethod
    def read_lease(self) -> ReadLease | None:
        """The lease of the block that the thread is in; ``None`` outside of one."""

    def insert(self, name: str, data: object) -> int:
        """Adds rows to a table with no Spark; others see all of them at once when the call returns, or none.

        In a ``transaction()`` they see them when the block has ended.

        Columns are found by name, and those that the rows lack become NULL. Numbers are made wider or, where every
        value fits, narrower; other types have to be the table's.

        Args:
            name: Catalog, schema and table: ``hive.sales.orders``.
            data: A table or reader of pyarrow, or an object that gives Arrow streams: frames of pandas 2.2 and Polars,
                results of DuckDB, ``scan`` of a session.

        Returns:
            How many rows were added.

        Raises:
            NotSupportedError: The catalog or the table takes no rows, or none with others in a ``transaction()``.
            InvalidArgumentError: A column or a value does not fit; nothing was added.
            ConnectorError: The table is not there, or the catalog or its storage failed; nothing was added.

        Example:
            >>> session.insert("memory.default.numbers", pa.table({"n": [1, 2]}))  # doctest: +SKIP
            2
        """
        full, block = full_table_name(name), self.read_lease
        statement = self._reads.statement(block).writing()
        with statement_scope(statement):
            count = insert_rows(resolve_target(statement, full), rows_of(data))
        statement.commit()
        note_written(block, full)
        return count

    def overwrite(self, name: str, data: object, *, where: PartitionsWhere | None = None, dynamic: bool = False) -> int:
        """Replaces rows of a table with no Spark; others see the new rows when the call returns, or the old ones.

        Args:
            name: Catalog, schema and table: ``hive.sales.orders``.
            data: As in ``insert``; no rows leave what is replaced empty.
            where: The partitions whose rows are replaced, such as ``"ds = '2024-01-01'"``; ``None`` is all rows of the
                table. New rows may be of other partitions, too: they are added there.
            dynamic: Replaces the rows of those partitions that new rows go to.

        Returns:
            How many rows there are instead.

        Raises:
            NotSupportedError: The rows cannot be replaced, or those of ``where`` are not whole partitions, or not with
                others in a ``transaction()``.
            InvalidArgumentError: A condition, a column or a value does not fit; nothing was changed.
            ConnectorError: The table is not there, or the catalog or its storage failed; nothing was changed.

        Example:
            >>> session.overwrite("hive.sales.orders", rows, where="ds = '2024-01-01'")  # doctest: +SKIP
            2
        """
        full, block = full_table_name(name), self.read_lease
        statement = self._reads.statement(block).writing()
        with statement_scope(statement):
            target = resolve_target(statement, full)
            count = insert_rows(target, rows_of(data), overwrite_of(target.table, where, dynamic=dynamic))
        statement.commit()
        note_written(block, full)
        return count

    def create_table_as(
        self,
        name: str,
        data: object,
        *,
        using: str | None = None,
        partitioned_by: Sequence[str] = (),
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> int:
        """Makes a table of rows with no Spark; it is there, and empty, until the rows come when the call returns.

        Args:
            name: Catalog, schema and table: ``hive.sales.orders``.
            data: As in ``insert``; its columns become those of the table.
            using: The format, such as ``parquet``; ``None`` leaves it to the connector: the hive connector takes ORC.
            partitioned_by: Names of the partition keys, in order; the table shows them behind the other columns.
            comment: Of the table.
            properties: Of the table, such as ``{"transactional": "true"}``.

        Returns:
            How many rows.

        Raises:
            NotSupportedError: The catalog makes no tables that take rows, or has no type for a column, or this is in a
                ``transaction()``.
            InvalidArgumentError: A value does not fit, or a partition key is not a column.
            ConnectorError: There is such a table, or the catalog or its storage failed. There is no new table.

        Example:
            >>> session.create_table_as("hive.sales.big", rows, partitioned_by=["ds"])  # doctest: +SKIP
            2
        """
        check_outside_of_block(self.read_lease)
        full = full_table_name(name)
        definition = TableDefinition(
            full.schema_table,
            (),
            tuple(partitioned_by),
            provider=None if using is None else using.lower(),
            comment=comment,
            properties=tuple((properties or {}).items()),
        )
        return create_table_as(self._reads.statement(None), full, definition, rows_of(data))
