"""Contenders that take turns at one question: seconds, CPU of all processes, and answers, which are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Generic, TypeVar

from benchmarks.harness.timing import seconds
from benchmarks.peers.hudi_others import TreeCpu

__all__ = ["Taken", "take_turns"]

A = TypeVar("A")


@dataclass(slots=True)
class Taken(Generic[A]):
    """Seconds and CPU seconds of the rounds of a contender, and its answers, that of the first round included."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    answers: list[A] = field(default_factory=list)

    @property
    def answer(self) -> A:
        """The last one."""
        return self.answers[-1]

    @property
    def note(self) -> str:
        """The median of the seconds."""
        return f"{median(self.seconds):.2f} s"


def take_turns(contenders: Mapping[str, Callable[[], A]], rounds: int) -> dict[str, Taken[A]]:
    """Runs all contenders in turn, every other round backwards, after a first round that does not count."""
    taken: dict[str, Taken[A]] = {name: Taken() for name in contenders}
    for number in range(rounds + 1):
        for name in list(contenders)[:: 1 if number % 2 else -1]:
            cpu, one = TreeCpu(), taken[name]
            spent = seconds(lambda run=contenders[name], one=one: one.answers.append(run()))  # type: ignore[misc]
            if number:
                one.seconds.append(spent)
                one.cpu.append(cpu.seconds())
    return taken
