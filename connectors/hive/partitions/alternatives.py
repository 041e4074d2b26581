"""Partitions by conditions over several keys: ``(year = 2023 AND month = 12) OR (year = 2024 AND month = 1)``.

One domain for each key would keep the first month of 2023, too. Driver side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import ConnectorExpression, TupleDomain, Value, alternatives

__all__ = ["fits_one", "key_alternatives"]


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


def _fits(domain: TupleDomain[ColumnHandle], values: Mapping[str, Value | None]) -> bool:
    return domain.domains is not None and all(
        allowed.includes_value(values[key.name]) for key, allowed in domain.domains.items()
    )
