"""Filters on ``char(n)`` and ``varchar(n)`` columns, for the texts stored in files: not yet padded and cut."""

from __future__ import annotations

from connector_spi.predicate import Domain, Range, ValueSet
from connectors.hive.schema.text_types import TextRule

__all__ = ["stored_domain"]

_HIGHEST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def stored_domain(domain: Domain, rule: TextRule) -> Domain:
    """A domain that includes every stored text whose padded and cut value is in ``domain``, and maybe others.

    A stored text may have any number of blanks at its end and be longer than the column. Hive's Parquet files have
    ``char`` values without blanks, its ORC files with them, and both can be older than the column's type.

    Args:
        domain: Domain of the values as read.
        rule: The column's rule.

    Returns:
        A domain of the stored texts; all values where they cannot be narrowed.
    """
    if rule.kind not in ("char", "varchar"):
        return Domain.all(domain.type)
    ranges = domain.values.ranges()
    if ranges is None or domain.values.is_all or domain.values.is_none:
        return domain
    return Domain.create(ValueSet.of_ranges(domain.type, [_stored(one, rule) for one in ranges]), domain.null_allowed)


def _stored(shown: Range, rule: TextRule) -> Range:
    low, low_inclusive, high, high_inclusive = shown.low, shown.low_inclusive, shown.high, shown.high_inclusive
    if isinstance(low, str) and rule.kind == "char":
        low, low_inclusive = _unpadded(low[: rule.length]), True
    if isinstance(high, str) and len(high) >= rule.length and (high_inclusive or len(high) > rule.length):
        # A longer text that is cut to the bound is above it, and below all texts without this prefix.
        high, high_inclusive = _after_all_with(high[: rule.length]), False
    return Range(shown.type, low, low_inclusive, high, high_inclusive)


def _unpadded(low: str) -> str:
    """The least text that can be at or above ``low`` when padded: characters below a blank are below the padding."""
    end = next((at for at, character in enumerate(low) if character < " "), len(low))
    return low[:end].rstrip(" ")


def _after_all_with(prefix: str) -> str | None:
    """The least text above all with a prefix; ``None`` where there is none."""
    kept = prefix.rstrip(chr(_HIGHEST))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
