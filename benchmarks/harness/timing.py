"""Contenders that take turns, so that what disturbs the machine disturbs them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

__all__ = ["Timings", "alternate", "seconds"]


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of each round, by contender, in the same order of rounds."""

    by_contender: Mapping[str, tuple[float, ...]]

    def median(self, contender: str) -> float:
        """The median of a contender's rounds, seconds."""
        return median(self.by_contender[contender])

    def ratio(self, contender: str, base: str) -> float:
        """The median of the ratios of the rounds, so that each pair was taken under the same load."""
        pairs = zip(self.by_contender[contender], self.by_contender[base], strict=True)
        return median(one / other for one, other in pairs)

    def difference(self, contender: str, base: str) -> float:
        """The median of the differences of the rounds, seconds."""
        pairs = zip(self.by_contender[contender], self.by_contender[base], strict=True)
        return median(one - other for one, other in pairs)


def alternate(contenders: Mapping[str, Callable[[], object]], rounds: int, warm_up: int) -> Timings:
    """Runs all contenders in turn, every other round backwards.

    Args:
        contenders: What to run, by name.
        rounds: Rounds that count.
        warm_up: Rounds before them that do not.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(warm_up + rounds):
        for name in names if number % 2 == 0 else reversed(names):
            spent = seconds(contenders[name])
            if number >= warm_up:
                taken[name].append(spent)
    return Timings({name: tuple(values) for name, values in taken.items()})


def seconds(run: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
