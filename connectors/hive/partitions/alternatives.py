"""Partitions by conditions over several keys: ``(year = 2023 AND month = 12) OR (year = 2024 AND month = 1)``.

One domain for each key would keep the first month of 2023, too. Driver side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    ConnectorExpression,
    Domain,
    Reference,
    TupleDomain,
    Value,
    alternatives,
    may_be_true,
)

__all__ = ["fits_one", "key_alternatives", "may_fit"]


def key_alternatives(
    keys: Sequence[ColumnHandle], expressions: Iterable[ConnectorExpression]
) -> tuple[TupleDomain[ColumnHandle], ...]:
    """Domains of partition keys, of which a partition with wanted rows fits at least one; none where all may have some.

    Args:
        keys: The table's partition keys.
        expressions: Conditions on its rows.
    """
    found = tuple(dict.fromkeys(one.keep(lambda column: column in keys) for one in alternatives(expressions)))
    return () if any(one.is_all for one in found) else found


def fits_one(either: Sequence[TupleDomain[ColumnHandle]], values: Mapping[str, Value | None]) -> bool:
    """Whether a partition fits one of the alternatives, or there are none.

    Args:
        either: Domains of partition keys.
        values: Typed value of each key, by the key's name.
    """
    return not either or any(_fits(one, values) for one in either)


def may_fit(conditions: Iterable[ConnectorExpression], values: Mapping[str, Value | None]) -> bool:
    """Whether each condition may be true for rows of a partition or a file; true on doubt.

    Args:
        conditions: Conditions on rows of the table.
        values: Columns that have one value in all of these rows, by name.
    """

    def may_hold(reference: Reference, domain: Domain) -> bool:
        name = reference.column.name
        return bool(reference.path) or name not in values or domain.includes_value(values[name])

    return all(may_be_true(condition, may_hold) for condition in conditions)


def _fits(domain: TupleDomain[ColumnHandle], values: Mapping[str, Value | None]) -> bool:
    return domain.domains is not None and all(
        allowed.includes_value(values[key.name]) for key, allowed in domain.domains.items()
    )
