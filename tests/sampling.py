"""What ``make test`` runs of what ``make test-all`` runs.

- Of a test with the mark ``corpus`` ``SAMPLE`` cases, of one with the mark ``process`` (and so with ``spark``)
  ``PROCESS_SAMPLE``: at equal distances, in the order of its cases, the first of which depends on the test's name, so
  that other tests read other cases. The rest is ``slow``. No chance is in it.
- Of a check that the classes of many connectors inherit, those of ``INHERITED_SAMPLE`` classes, chosen likewise: so
  every connector has its share of the checks.
- Of a property test: a tenth of its examples, by Hypothesis's profile: ``small``, which is the default, or ``large``.
- Not the tests that carry the mark ``slow``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, settings

__all__ = [
    "INHERITED_SAMPLE",
    "PROCESS_SAMPLE",
    "SAMPLE",
    "examples",
    "inherited_name",
    "mark_left_out",
    "register_profiles",
    "sampled",
    "without_shrinking",
]

SAMPLE = 5
PROCESS_SAMPLE = 2
INHERITED_SAMPLE = 3
_LARGE = 100
_SMALL = 10


def register_profiles() -> None:
    """Makes ``small`` the profile; ``--hypothesis-profile=large`` chooses the other."""
    for name, count in (("small", _SMALL), ("large", _LARGE)):
        # How long an example takes is the machine's affair; tests are not timed.
        settings.register_profile(name, deadline=None, max_examples=count, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("small")


def examples(large: int) -> int:
    """How many examples of a property to try, where the large profile tries ``large`` of them."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return max(min(large, 3), large * profile.max_examples // _LARGE)


@contextmanager
def without_shrinking() -> Iterator[None]:
    """Until the block ends, the search of a property ends with the first failure: for tests that only expect one."""
    name = settings.get_current_profile_name()
    profile = settings.get_profile(name)
    settings.register_profile("no shrinking", profile, phases=[Phase.explicit, Phase.generate], database=None)
    settings.load_profile("no shrinking")
    try:
        yield
    finally:
        settings.load_profile(name)


def sampled(name: str, count: int, sample: int = SAMPLE) -> frozenset[int]:
    """Positions of the cases of a test that ``make test`` runs: at most ``sample`` of ``count``."""
    if count <= sample:
        return frozenset(range(count))
    first = crc32(name.encode()) % count
    return frozenset((first + n * count // sample) % count for n in range(sample))


def mark_left_out(items: Sequence[pytest.Item]) -> None:
    """Gives the mark ``slow`` to the cases that are not in the sample."""
    cases = defaultdict[str, list[pytest.Item]](list)
    inherited = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if any(mark.name in ("corpus", "process") for mark in item.iter_markers()):
            cases[item.nodeid.partition("[")[0]].append(item)
        if isinstance(item, pytest.Function) and not item.get_closest_marker("slow"):
            name = inherited_name(item.cls, item.function, item.name)
            if name is not None:
                inherited[name].append(item)
    for name, ones in cases.items():
        _leave_out(name, ones, PROCESS_SAMPLE if ones[0].get_closest_marker("process") else SAMPLE)
    for name, ones in inherited.items():
        _leave_out(name, ones, INHERITED_SAMPLE)


def inherited_name(suite: type | None, function: Callable[..., None], name: str) -> str | None:
    """The check, with its case, that a class of tests has from a class of another module."""
    if suite is None or function.__module__ == suite.__module__:
        return None
    return f"{function.__module__}.{function.__qualname__}{name.removeprefix(function.__name__)}"


def _leave_out(name: str, items: Sequence[pytest.Item], sample: int) -> None:
    chosen = sampled(name, len(items), sample)
    for position, item in enumerate(items):
        if position not in chosen:
            item.add_marker(pytest.mark.slow)
