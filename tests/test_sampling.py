"""The sample of the corpus: fixed, spread over the cases, and not the same cases in every test."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.testing.checks.failure import FailureChecks
from tests.connector_spi.testing.sqlite_suite import SqliteConformance
from tests.connectors.memory.test_conformance import TestMemoryConformance as MemoryConformance
from tests.sampling import SAMPLE, examples, inherited_name, sampled, without_shrinking


@pytest.mark.parametrize("count", [0, 1, SAMPLE])
def test_few_cases_are_all_read(count: int) -> None:
    assert sampled("t", count) == frozenset(range(count))


@pytest.mark.parametrize("count", [SAMPLE + 1, 100, 844])
def test_many_cases_are_sampled_at_equal_distances(count: int) -> None:
    chosen = sorted(sampled("t", count))
    assert len(chosen) == SAMPLE
    assert set(chosen) <= set(range(count))
    gaps = {after - before for before, after in zip(chosen, [*chosen[1:], chosen[0] + count], strict=True)}
    assert max(gaps) - min(gaps) <= 1
    assert sampled("t", count) == sampled("t", count)


def test_tests_read_different_cases() -> None:
    assert len(frozenset().union(*(sampled(f"test_{n}", 200) for n in range(20)))) > 60


def test_a_check_has_one_name_in_all_classes_that_inherit_it() -> None:
    check = SqliteConformance.test_shutdown_leaves_no_file_open
    names = {inherited_name(suite, check, f"{check.__name__}[one]") for suite in (SqliteConformance, MemoryConformance)}
    assert names == {f"{check.__module__}.{check.__qualname__}[one]"}
    assert inherited_name(FailureChecks, check, check.__name__) is None


def test_examples_follow_the_profile() -> None:
    assert examples(2) == 2
    assert examples(300) in (30, 300)


def test_a_search_ends_with_its_first_failure() -> None:
    tried: list[int] = []

    def search() -> None:
        # A set that is made here has the phases of the profile.
        @settings(max_examples=1000)
        @given(st.integers())
        def fails(number: int) -> None:
            tried.append(number)
            assert abs(number) < 100

        with pytest.raises(AssertionError):
            fails()

    before = settings.get_current_profile_name()
    with without_shrinking():
        search()
    # Once more, so that it is known not to fail by chance.
    assert [number for number in tried if abs(number) >= 100] == [tried[-1]] * 2
    assert settings.get_current_profile_name() == before
