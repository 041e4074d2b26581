"""The error of a statement that another writer came between. Driver side."""

from __future__ import annotations

from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes

__all__ = ["write_conflict"]


def write_conflict(table: SchemaTableName, what: str) -> MetastoreError:
    """The error for rows that are not written, since those of another writer would be lost or come twice.

    Args:
        table: The table.
        what: What the other writer does or has done.
    """
    return MetastoreError(
        f"rows of {table} were not written: another writer {what}; run the statement again",
        error_codes.HIVE_WRITE_CONFLICT,
    )
