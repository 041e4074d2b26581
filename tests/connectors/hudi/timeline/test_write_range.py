from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from connectors.hudi.timeline.instant import Instant, InstantState
from connectors.hudi.timeline.write_range import is_earliest, range_key, writes_in_range

NUMBERS = st.integers(0, 9)


def t(number: int) -> str:
    return f"2024010100000{number:04d}"


def write(requested: int, completion: int | None) -> Instant:
    done = t(completion) if completion is not None else None
    return Instant(t(requested), "commit", InstantState.COMPLETED, done, "f")


@given(st.lists(st.tuples(NUMBERS, NUMBERS), unique_by=lambda pair: pair[0]), NUMBERS, st.none() | NUMBERS)
def test_completion_times_decide_where_there_are_some(
    pairs: list[tuple[int, int]], begin: int, end: int | None
) -> None:
    instants = [write(requested, completion) for requested, completion in pairs]
    met = writes_in_range(instants, t(begin), None if end is None else t(end))
    assert [item.requested for item in met] == [
        t(requested)
        for requested, completion in sorted(pairs)
        if begin < completion and (end is None or completion <= end)
    ]


@given(st.lists(NUMBERS, unique=True), st.lists(NUMBERS, min_size=2).map(sorted))
def test_ranges_one_behind_the_other_give_every_write_once(numbers: list[int], bounds: list[int]) -> None:
    instants = [write(number, None) for number in numbers]
    met = [
        item.requested
        for begin, end in itertools.pairwise(bounds)
        for item in writes_in_range(instants, t(begin), t(end))
    ]
    assert met == [t(number) for number in sorted(numbers) if bounds[0] < number <= bounds[-1]]


def test_what_places_a_write() -> None:
    assert range_key(write(1, None)) == t(1)
    assert range_key(write(1, 5)) == t(5)


def test_the_beginning_of_a_table() -> None:
    assert all(is_earliest(text) for text in ("earliest", "EARLIEST", "000", "0", "00000000000000"))
    assert not any(is_earliest(text) for text in ("00000000000001", "2024"))
