"""Statements of whoever asks without Spark: Arrow reads, completion, checks, and the search for close names."""

from __future__ import annotations

from catalog.metastore.process_user import process_user
from catalog.registry import CatalogRegistry
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.statement import Statement

__all__ = ["plain_statement"]


def plain_statement(registry: CatalogRegistry, lease: ReadLease | None = None) -> Statement:
    """A statement of the process's user, in UTC, with every session property at its default.

    Args:
        registry: The catalogs.
        lease: On transactions to read in; ``None`` for one of its own.
    """
    return Statement(registry, process_user(), "UTC", lambda catalog: {}, lease)
