"""Lists of very many values, as fewer ranges: a filter travels to every task."""

from __future__ import annotations

from typing import TypeVar

from connector_spi.predicate import Domain, TupleDomain, ValueSet

__all__ = ["shortened"]

C = TypeVar("C")


def shortened(filtered: TupleDomain[C], most: int) -> TupleDomain[C]:
    """These rows and maybe more: each domain of more than ``most`` values or ranges as half as many ranges at most.

    A range has two bounds, so no domain names more than ``most`` values. Neighbours become one range, in runs of the
    same length. One range over all would leave nothing out of a list whose least and greatest values are far apart.

    Args:
        filtered: The rows.
        most: At least 2.
    """
    if filtered.domains is None:
        return filtered
    return TupleDomain({column: _shortened(domain, most) for column, domain in filtered.domains.items()})


def _shortened(domain: Domain, most: int) -> Domain:
    simple = domain.values.simplify(most)
    ranges = domain.values.ranges()
    if simple is domain.values or ranges is None:
        return Domain(simple, domain.null_allowed)
    length = -(-len(ranges) // (most // 2))
    runs = [ranges[first : first + length] for first in range(0, len(ranges), length)]
    joined = [run[0].span(run[-1]) for run in runs]
    return Domain(ValueSet.of_ranges(domain.type, joined), domain.null_allowed)
