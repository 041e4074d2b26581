"""Calls of metastores by a statement that is explained."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from lakeport.sql.explain.facts import CallFacts
from lakeport.transactions.statement import Statement

__all__ = ["metastore_calls"]


@runtime_checkable
class _CallCount(Protocol):
    count: int
    seconds: float


def metastore_calls(statement: Statement) -> tuple[CallFacts, ...]:
    """What the transactions of the statement say that they called; of connectors that count nothing, nothing."""
    found = []
    for access in statement.accesses():
        by_method = getattr(getattr(access.transaction, "calls", None), "by_method", None)
        for method, calls in (by_method() if by_method is not None else {}).items():
            if isinstance(calls, _CallCount):
                found.append(CallFacts(access.catalog, method, calls.count, calls.seconds))
    return tuple(found)
