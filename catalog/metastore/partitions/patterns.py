"""What of a filter the metastore itself evaluates: partitions by some of their values (``get_partition_names_ps``).

It compares names in its database, so it is quick with any number of partitions. The other ways of a Hive metastore to
filter are not taken. For a filter in its own text (``get_partitions_by_filter``, ``get_partition_values``) it loads all
partitions that fit in full, which takes longer than to name every one; Hive 4 evaluates ``k = 7`` by text there, and
misses ``k=007``; ranges of text go by whatever collation its database has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import pyarrow as pa

from catalog.metastore.model import FieldSchema
from connector_spi.partition_names import DEFAULT_PARTITION
from connector_spi.predicate import Domain

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["MAX_PATTERNS", "partition_patterns"]

MAX_PATTERNS = 10
"""Most questions for one filter; with more, the names of all partitions are asked for."""

# The metastore makes a regular expression, or a pattern of LIKE, of the values: no others than these mean themselves,
# or, as "." and "_", themselves and more.
_PLAIN = re.compile(r"[A-Za-z0-9_.:/= -]+")
_ANY = ("",)
_CANONICAL = ("tinyint", "smallint", "int", "bigint", "date")


def partition_patterns(
    predicate: TupleDomain[str], keys: Sequence[FieldSchema], canonical: bool = False
) -> list[list[str]] | None:
    """Patterns that together match all partitions of which ``predicate`` is true, and maybe more.

    Each has one value per key, "" for any. ``None`` when nothing can be asked for safely.

    Args:
        predicate: Domains by lower-case name of the key; not "never true".
        keys: The table's keys, in order.
        canonical: The values of integral keys and dates are all kept as Hive writes them: no ``007``, ``+7`` or
            ``2024-1-1``.
    """
    domains = predicate.domains or {}
    choices: list[tuple[str, ...]] = [_ANY] * len(keys)
    count = 1
    for position, key in enumerate(keys):
        domain = domains.get(key.name.lower())
        values = None if domain is None else _texts(key.type.lower(), domain, canonical)
        if values and count * len(values) <= MAX_PATTERNS:
            choices[position] = values
            count *= len(values)
    if all(values is _ANY for values in choices):
        return None
    return [list(pattern) for pattern in product(*choices)]


def _texts(kind: str, domain: Domain, canonical: bool) -> tuple[str, ...] | None:
    """The texts of which a partition has to have one; ``None`` when they are not certain."""
    if domain.is_only_null:
        # Of a key of any type; nothing else is kept so.
        return (DEFAULT_PARTITION,)
    is_text = kind == "string" and pa.types.is_string(domain.type)
    is_number = canonical and kind in _CANONICAL and (pa.types.is_integer(domain.type) or pa.types.is_date(domain.type))
    values = domain.values.discrete_values() if is_text or is_number else None
    if values is None:
        return None
    texts = tuple(map(str, values)) + ((DEFAULT_PARTITION,) if domain.null_allowed else ())
    return texts if all(_PLAIN.fullmatch(text) for text in texts) else None
