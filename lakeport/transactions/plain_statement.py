"""Statements of whoever asks without Spark: Arrow reads, completion, checks, and the search for close names."""

from __future__ import annotations

from catalog.registry import CatalogRegistry
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.statement import PropertySource, Statement

__all__ = ["plain_statement"]


def plain_statement(
    registry: CatalogRegistry, lease: ReadLease | None = None, properties: PropertySource | None = None
) -> Statement:
    """A statement of who asks where no client does, the process's user by default, in UTC.

    Args:
        registry: The catalogs.
        lease: On transactions to read in; ``None`` for one of its own.
        properties: Gives the session properties that are set for a catalog; ``None``: all have their defaults.
    """
    return Statement(registry, registry.security.own_user, "UTC", properties or (lambda catalog: {}), lease)
