"""What a process keeps: each answer made once, never more bytes than allowed, nothing from before a flush."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.toolkit.caching.process_cache import ProcessCache


def cache() -> ProcessCache[str, bytes]:
    return ProcessCache("test", len)


def fail() -> bytes:
    raise ValueError("not now")


def test_threads_that_ask_together_make_one_answer() -> None:
    kept, made, together = cache(), threading.Semaphore(0), threading.Barrier(8)

    def make() -> bytes:
        made.release()
        return b"answer"

    def ask(_: int) -> bytes:
        together.wait(timeout=30)
        return kept.get("k", make, 100)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {b"answer"}
    assert made.acquire(blocking=False)
    assert not made.acquire(blocking=False)


def test_what_fails_is_asked_again() -> None:
    kept = cache()
    with pytest.raises(ValueError, match="not now"):
        kept.get("k", fail, 100)
    assert kept.get("k", lambda: b"x", 100) == b"x"


def test_an_answer_made_before_a_flush_is_not_kept() -> None:
    kept = cache()

    def make() -> bytes:
        kept.drop()
        return b"old"

    assert kept.get("k", make, 100) == b"old"
    assert kept.find("k", 100) is None


def test_what_may_not_be_kept_is_made_each_time() -> None:
    kept = cache()
    assert kept.get("k", lambda: b"one", 100, lambda _: False) == b"one"
    assert kept.get("k", lambda: b"two", 100) == b"two"


def test_an_answer_above_the_limit_leaves_the_others() -> None:
    kept = cache()
    kept.put("small", b"x", 10)
    assert kept.get("large", lambda: bytes(11), 10) == bytes(11)
    assert kept.find("small", 10) == b"x"
    assert kept.find("large", 10) is None


def test_answers_that_grow_are_measured_again() -> None:
    kept: ProcessCache[str, list[int]] = ProcessCache("test", len)
    growing = [1]
    kept.put("growing", growing, 5)
    kept.put("other", [1], 5)
    growing.extend(range(4))
    kept.find("growing", 5)
    assert kept.state.bytes <= 5
    assert kept.find("other", 5) is None


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 6)), max_size=40))
def test_it_holds_the_last_used_within_its_bytes(asked: list[tuple[str, int]]) -> None:
    """Against a list in the order of use. An answer has the length of its first request."""
    kept = cache()
    model: list[tuple[str, int]] = []
    for key, size in asked:
        known = dict(model)
        answer = kept.get(key, lambda size=size: bytes(size), 10)  # type: ignore[misc]
        assert len(answer) == known.get(key, size)
        model = [item for item in model if item[0] != key] + [(key, len(answer))]
        while sum(length for _, length in model) > 10:
            model.pop(0)
    state = kept.state
    assert (state.entries, state.bytes) == (len(model), sum(length for _, length in model))
    assert state.hits + state.misses == len(asked)
