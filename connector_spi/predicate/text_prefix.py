"""Texts that begin alike, as a range of texts."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.predicate.domain import Domain
from connector_spi.predicate.range import Range
from connector_spi.predicate.value_set import ValueSet

__all__ = ["prefix_domain"]

_LAST = 0x10FFFF
_FIRST_SURROGATE, _LAST_SURROGATE = 0xD800, 0xDFFF


def prefix_domain(data_type: pa.DataType, prefix: str) -> tuple[Domain, bool]:
    """The texts that begin with ``prefix``, and whether the domain has no others.

    Args:
        data_type: Of texts.
        prefix: How they begin; nothing in it has a special meaning.
    """
    last = next((i for i in range(len(prefix) - 1, -1, -1) if ord(prefix[i]) < _LAST), None)
    if last is None:
        return Domain.not_null(data_type), not prefix
    following = ord(prefix[last]) + 1
    # Surrogates are no characters, so the next one after U+D7FF is U+E000.
    following = _LAST_SURROGATE + 1 if _FIRST_SURROGATE <= following <= _LAST_SURROGATE else following
    high = prefix[:last] + chr(following)
    values = ValueSet.of_ranges(data_type, [Range.between(data_type, prefix, True, high, False)])
    return Domain.create(values, False), last == len(prefix) - 1
