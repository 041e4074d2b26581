"""Whether approximations may be translated into Spark's, which return other numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["APPROXIMATE_FUNCTIONS", "approximates", "approximating"]

APPROXIMATE_FUNCTIONS = "lakeport.trino.approximate_functions"
"""The setting of Spark that ``SET SESSION approximate_functions = true`` writes."""

_allowed: ContextVar[bool] = ContextVar("lakeport_trino_approximates", default=False)


def approximates() -> bool:
    """Whether the statement that is being translated may approximate."""
    return _allowed.get()


@contextmanager
def approximating(allowed: bool) -> Iterator[None]:
    """Says for a block whether statements may approximate."""
    token = _allowed.set(allowed)
    try:
        yield
    finally:
        _allowed.reset(token)
