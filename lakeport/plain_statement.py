"""Statements of whoever asks without Spark: Arrow reads, completion, checks, and the search for close names."""

from __future__ import annotations

import getpass

from catalog.registry import CatalogRegistry
from lakeport.statement import Statement

__all__ = ["plain_statement"]


def plain_statement(registry: CatalogRegistry) -> Statement:
    """A statement of the process's user, in UTC, with every session property at its default."""
    return Statement(registry, _user(), "UTC", lambda catalog: {})


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"  # a container's user id may have no name
