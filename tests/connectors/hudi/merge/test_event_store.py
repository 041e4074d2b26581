"""Events that do not fit into memory."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.hudi.merge.columns import KEY
from connectors.hudi.merge.event_store import EventStore, KeyRange


def events(keys: list[str], first: int = 0) -> pa.Table:
    return pa.table({"at": pa.array(range(first, first + len(keys)), pa.int64()), KEY: pa.array(keys)})


def last_of_each_key(tables: list[pa.Table]) -> pa.Table:
    rows = pa.concat_tables(tables).to_pylist()
    last = {row[KEY]: row for row in rows}
    return pa.Table.from_pylist(sorted(last.values(), key=lambda row: row["at"]), tables[0].schema)


@pytest.mark.parametrize("memory", [1 << 10, 1 << 14, 1 << 30])
def test_each_event_comes_once_and_in_order(memory: int) -> None:
    written = [events([f"k{number % 97}" for number in range(at, at + 50)], at) for at in range(0, 2000, 50)]
    with EventStore(memory, 2000) as store:
        for table in written:
            store.add(table, 50)
        met: dict[str, list[int]] = {}
        for keys, tables in store.read():
            for row in (row for table in tables for row in table.to_pylist()):
                assert keys.is_all or keys.holds(pa.array([row[KEY]])).to_pylist() == [True]
                met.setdefault(row[KEY], []).append(row["at"])
    assert met == {f"k{number}": list(range(number, 2000, 97)) for number in range(97)}


def test_ranges_of_keys_hold_each_key_once() -> None:
    keys = pa.array([f"k{number}" for number in range(500)] + list("aé"))
    with EventStore(1 << 12, 500) as store:
        store.add(events(keys.to_pylist()), 500)
        ranges = [found for found, _ in store.read()]
    assert len(ranges) > 1
    held = [sum(flags) for flags in zip(*(found.holds(keys).to_pylist() for found in ranges), strict=True)]
    assert held == [1] * len(keys)
    assert KeyRange().is_all


def test_a_key_of_most_events_takes_no_more_memory_than_others() -> None:
    """Parts of the keys cannot divide the events of one."""
    memory = 1 << 14
    with EventStore(memory, 20_000, last_of_each_key) as store:
        for at in range(0, 20_000, 100):
            store.add(events([*("k" for _ in range(98)), f"k{at}", f"l{at}"], at), 100)
        met = []
        for _, tables in store.read():
            assert sum(table.nbytes for table in tables) <= memory
            met += [row for table in tables for row in table.to_pylist()]
    last = {row[KEY]: row["at"] for row in met}
    assert last["k"] == 19_997
    assert len(last) == 401
