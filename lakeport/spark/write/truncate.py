"""Rows of a table that go with none in their place: ``TRUNCATE TABLE``."""

from __future__ import annotations

from catalog.resolver import ResolvedTable
from connector_spi.optional.writing import SupportsDelete, SupportsInsert
from connector_spi.predicate import TupleDomain
from lakeport.arrow.write.inserting import note_written, resolve_target
from lakeport.sql.unsupported_statements import rows_are_not_written
from lakeport.transactions.statement import CatalogAccess, statement_scope

__all__ = ["truncate"]


def truncate(access: CatalogAccess, table: ResolvedTable, rows: TupleDomain[str]) -> None:
    """Takes the rows of a table, or of partitions of it, away.

    Args:
        access: The catalog in the statement that Spark loaded the table in.
        table: The table in it.
        rows: Whole partitions, by their keys.

    Raises:
        NotSupportedError: Its connector does not write, or not to this table, or not with others in a block.
        ConnectorError: The catalog or its storage failed; nothing is gone.
    """
    if not isinstance(access.metadata, SupportsDelete):
        raise rows_are_not_written(access.catalog, "TRUNCATE TABLE", adds=isinstance(access.metadata, SupportsInsert))
    reader = access.statement
    statement = reader.writing()
    with statement_scope(statement):
        target = resolve_target(statement, table.name)
        metadata = target.access.metadata
        assert isinstance(metadata, SupportsDelete), "of the same connector"
        with target.access.lock.asking(f"delete rows of {target.name}"):
            metadata.apply_delete(target.access.session, target.table.handle, rows, table.handle)
        statement.commit()
    note_written(reader.shared_lease, target.name)
