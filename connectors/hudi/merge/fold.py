"""Of all log rows of a key, which one counts: BufferedRecordMergerFactory's delta merge, in columns. Pure.

The rows of one key are taken in the order of the log, the first of all keys at once, then the second, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from connectors.hudi.merge.combined_rows import Combine, CombinedRows
from connectors.hudi.merge.ordering import OrderingKeys

__all__ = ["Events", "Folded", "fold"]


@dataclass(frozen=True, slots=True)
class Events:
    """Rows and deletes of a slice's logs, oldest first.

    Attributes:
        codes: Number of each event's key, from 0.
        keys: How many keys there are.
        deleted: Whether the event is a delete.
        commit_time: Of a delete: whether it has no ordering value of its own, and wins over everything before it.
        ordering: Ordering values; ``None`` where the later event always wins.
        filled: With partial updates: by column, where an event has a value for it.
        newest: Columns whose value is that of the later event, whichever decides.
        rows: The rows of the events, where ``combine`` is given.
        combine: Makes a new row of two; ``None`` where one of them wins.
    """

    codes: np.ndarray
    keys: int
    deleted: np.ndarray
    commit_time: np.ndarray
    ordering: OrderingKeys | None = None
    filled: Mapping[str, np.ndarray] = field(default_factory=dict)
    newest: frozenset[str] = frozenset()
    rows: pa.Table | None = None
    combine: Combine | None = None

    @property
    def commit_time_deletes(self) -> np.ndarray:
        """Deletes without an ordering value."""
        return np.asarray(self.deleted & self.commit_time)


@dataclass(frozen=True, slots=True)
class Folded:
    """What is left of the events.

    Attributes:
        winner: By key: the event that decides.
        sources: With partial updates: by column, for each key the event that the value is from; -1 where no event
            has one.
        combined: By key: the row that was combined of its events, where they are.
    """

    winner: np.ndarray
    sources: Mapping[str, np.ndarray]
    combined: pa.Table | None = None


def fold(events: Events) -> Folded:
    """Merges the events of each key, one after the other."""
    state = _State(events)
    left = np.arange(len(events.codes), dtype=np.int64)
    if not events.filled and events.combine is None:
        if events.ordering is None:
            np.maximum.at(state.winner, events.codes, left)
            return Folded(state.winner, {})
        # The first event of each key, which most have alone, wins over nothing.
        np.minimum.at(state.winner.view(np.uint64), events.codes, left.view(np.uint64))
        left = np.flatnonzero(state.winner[events.codes] != left)
    for round_ in _rounds(events.codes[left]):
        state.take_in(left[round_])
    return Folded(state.winner, state.sources, None if state.combined is None else state.combined.rows())


def _rounds(codes: np.ndarray) -> Iterator[np.ndarray]:
    """Events such that each key comes once at most: the first ones, the second ones and so on."""
    by_key = np.argsort(codes, kind="stable")
    ordered = codes[by_key]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.empty(0, np.int64)
    sizes = np.diff(np.r_[starts, len(ordered)])
    number = np.arange(len(ordered)) - np.repeat(starts, sizes)
    by_round = np.argsort(number, kind="stable")
    bounds = np.cumsum(np.bincount(number)) if len(number) else np.empty(0, np.int64)
    start = 0
    for end in bounds:
        yield by_key[by_round[start:end]]
        start = int(end)


class _State:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._commit_time_deletes = events.commit_time_deletes
        self.winner = np.full(events.keys, -1, dtype=np.int64)
        self.sources = {name: np.full(events.keys, -1, dtype=np.int64) for name in events.filled}
        self.combined: CombinedRows | None = None
        if events.combine is not None and events.rows is not None:
            self.combined = CombinedRows(events.rows, events.keys, events.combine)

    def take_in(self, new: np.ndarray) -> None:
        codes = self._events.codes[new]
        current = self.winner[codes]
        wins = self._wins(new, current)
        deleted = self._events.deleted
        # Where nothing is there, or a delete on either side, there is nothing to fill in.
        fresh = (current < 0) | deleted[current] | deleted[new]
        for name, source in self.sources.items():
            has = self._events.filled[name][new]
            value = np.where(has, new, -1)
            before = source[codes]
            counts = wins | (before < 0) | (name in self._events.newest)
            merged = np.where(has & counts, value, before)
            source[codes] = np.where(fresh, np.where(wins, np.where(deleted[new], -1, value), before), merged)
        if self.combined is not None:
            self.combined.take_in(codes, new, wins, both=~fresh)
        self.winner[codes[wins]] = new[wins]

    def _wins(self, new: np.ndarray, current: np.ndarray) -> np.ndarray:
        ordering = self._events.ordering
        empty = current < 0
        if ordering is None:
            return np.ones(len(new), dtype=bool)
        at_least = ~ordering.take(np.maximum(current, 0)).greater(ordering.take(new))
        was_final = ~empty & self._commit_time_deletes[current]
        data = empty | was_final | at_least
        delete = empty | (~was_final & (self._commit_time_deletes[new] | at_least))
        return np.asarray(np.where(self._events.deleted[new], delete, data))
