"""What a transaction remembers: each answer is made once, whoever asks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from connectors.hudi.transaction import Memo, MemoKey


@dataclass(frozen=True, slots=True)
class Name(MemoKey[list[str]]):
    text: str


@dataclass(frozen=True, slots=True)
class Other(MemoKey[list[str]]):
    text: str


def test_an_answer_is_made_once_for_threads_that_ask_together() -> None:
    memo, made, together = Memo(), threading.Semaphore(8), threading.Barrier(8)

    def make() -> list[str]:
        made.acquire()
        return ["answer"]

    def ask(_: int) -> list[str]:
        together.wait(timeout=30)
        return memo.get(Name("t"), make)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert all(answer is answers[0] for answer in answers)
    assert sum(made.acquire(blocking=False) for _ in range(8)) == 7


def test_keys_of_two_kinds_have_answers_of_their_own() -> None:
    memo = Memo()
    assert memo.get(Name("t"), lambda: ["one"]) == ["one"]
    assert memo.get(Other("t"), lambda: ["two"]) == ["two"]
    assert memo.get(Name("t"), lambda: ["three"]) == ["one"]


def test_what_fails_is_asked_again() -> None:
    memo = Memo()

    def fail() -> list[str]:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        memo.get(Name("t"), fail)
    assert memo.find(Name("t")) is None
    assert memo.get(Name("t"), lambda: ["answer"]) == ["answer"]
    assert memo.find(Name("t")) == ["answer"]
