"""Predicates in SQL-like words, for ``EXPLAIN``."""

from __future__ import annotations

from datetime import date, datetime

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain

__all__ = ["domain_text"]

_SHOWN_VALUES = 5


def domain_text(predicate: TupleDomain[ColumnHandle]) -> str:
    """A predicate in SQL-like words."""
    if predicate.domains is None:
        return "never true"
    if predicate.is_all:
        return "none"
    return " AND ".join(_one(column.name, domain) for column, domain in predicate.domains.items())


def _one(name: str, domain: Domain) -> str:
    if domain.is_only_null:
        return f"{name} IS NULL"
    discrete = domain.values.discrete_values()
    if domain.values.is_all:
        return f"{name} IS NOT NULL"
    if discrete is not None:
        shown = ", ".join(map(_literal, discrete[:_SHOWN_VALUES]))
        more = f", ... {len(discrete)} values" if len(discrete) > _SHOWN_VALUES else ""
        text = f"{name} = {shown}" if len(discrete) == 1 else f"{name} IN ({shown}{more})"
    else:
        ranges = domain.values.ranges() or ()
        shown = " OR ".join(_range(name, item) for item in ranges[:_SHOWN_VALUES])
        text = shown + (f" OR ... {len(ranges)} ranges" if len(ranges) > _SHOWN_VALUES else "")
    return f"({text} OR {name} IS NULL)" if domain.null_allowed else text


def _range(name: str, item: Range) -> str:
    low = None if item.low is None else f"{name} {'>=' if item.low_inclusive else '>'} {_literal(item.low)}"
    high = None if item.high is None else f"{name} {'<=' if item.high_inclusive else '<'} {_literal(item.high)}"
    return " AND ".join(part for part in (low, high) if part) or "true"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value}'"
    if isinstance(value, date):
        return f"DATE '{value}'"
    return str(value)
