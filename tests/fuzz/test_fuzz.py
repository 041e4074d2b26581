"""Damaged files of every format end in rows or in an error of ours: a small part of what ``make fuzz`` reads."""

from __future__ import annotations

import sys
from math import gcd

import pytest

from tests.fuzz.mutations import mutate
from tests.fuzz.runner import fuzz
from tests.fuzz.tables import CASES
from tests.hive_corpus import require_corpus
from tests.sampling import examples

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by Linux's means")


@pytest.mark.slow
def test_damaged_files() -> None:
    require_corpus()
    numbers = range(0, 300, 1 if examples(300) == 300 else 9)
    # Cases take turns, and the distance between two numbers has to meet all kinds.
    assert gcd(numbers.step, len(CASES)) == 1
    findings = fuzz(numbers)
    assert findings.wrong == []
    assert findings.endings.total() == len(numbers)
    # Damage is met, and not all of it makes a file unreadable.
    assert findings.endings["CORRUPT_FILE"] > len(numbers) // 5
    assert findings.endings["rows"] > len(numbers) // 5


def test_each_file_is_damaged_in_the_same_way_each_time() -> None:
    content = bytes(range(256)) * 8
    seeds = [f"{case} {number}" for number, case in enumerate(CASES)]
    damaged = [mutate(content, seed) for seed in seeds]
    assert damaged == [mutate(content, seed) for seed in seeds]
    assert content not in damaged
    assert len(set(damaged)) > len(seeds) * 0.9


def test_a_process_that_dies_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # Python's own library reads past the memory, as a reader in C may.
    monkeypatch.setattr("tests.fuzz.runner.WORKER", ("-c", "import ctypes; ctypes.string_at(0)"))
    findings = fuzz(range(2), processes=1)
    assert len(findings.wrong) == 2
    assert all("the process ended with -11" in words for words in findings.wrong)
