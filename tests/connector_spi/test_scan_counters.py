"""Counting while reading: only where asked, in this thread, and through wrappers."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from connector_spi.scan_counters import ScanCounts, count, counting, is_counting


def reader() -> Iterator[int]:
    for number in range(3):
        count("parts read")
        yield number


def test_counts_of_readers_that_others_wrap() -> None:
    counts = ScanCounts()
    wrapped = (number + 1 for number in reader())
    with counting(counts):
        next(wrapped)
    next(wrapped)  # nobody counts here
    with counting(counts):
        next(wrapped)
        count("bytes", 10)
    assert counts.as_mapping() == {"parts read": 2, "bytes": 10}


def test_another_thread_counts_for_itself() -> None:
    counts = ScanCounts({"parts read": 1})
    seen = []
    with counting(counts):
        thread = threading.Thread(target=lambda: seen.append(is_counting()))
        thread.start()
        thread.join()
        assert is_counting()
    assert seen == [False]
    assert not is_counting()
    assert counts.as_mapping() == {"parts read": 1}
