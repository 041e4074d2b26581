from __future__ import annotations

import random

import pytest

from connectors.hudi.timeline.instant import Instant, parse_instant
from connectors.hudi.timeline.view import committed_test, timeline_view


def instants(*names: str, layout: int = 1) -> list[Instant]:
    parsed = [parse_instant(name, layout) for name in names]
    return [item for item in parsed if item is not None]


def t(number: int) -> str:
    return f"2024010100000{number:04d}"


def test_only_complete_writes_count() -> None:
    view = timeline_view(
        instants(
            f"{t(1)}.commit",
            f"{t(2)}.inflight",
            f"{t(3)}.replacecommit",
            f"{t(4)}.clean",
            f"{t(5)}.rollback",
            f"{t(6)}.commit.requested",
        )
    )
    assert [item.requested for item in view.instants] == [t(1), t(3)]
    assert view.latest is not None
    assert view.latest.requested == t(3)
    assert view.pending == (t(2), t(6))
    is_committed = committed_test(view)
    assert [number for number in range(1, 8) if is_committed(t(number))] == [1, 3]


def test_files_older_than_the_timeline_are_visible() -> None:
    is_committed = committed_test(timeline_view(instants(f"{t(5)}.commit", f"{t(6)}.commit")))
    assert is_committed(t(4))
    assert not is_committed(t(7))


def test_an_unfinished_write_older_than_all_complete_ones_is_not_visible() -> None:
    is_committed = committed_test(timeline_view(instants(f"{t(3)}.inflight", f"{t(5)}.commit")))
    assert not is_committed(t(3))
    assert is_committed(t(2))


def test_a_savepoint_does_not_begin_the_timeline() -> None:
    """Archival stops before a savepoint's instant and goes on behind it: 3 and 4 were archived, not lost."""
    view = timeline_view(instants(f"{t(2)}.commit", f"{t(2)}.savepoint", f"{t(5)}.commit", f"{t(6)}.commit"))
    assert view.start == t(5)
    is_committed = committed_test(view)
    assert all(is_committed(t(number)) for number in (1, 2, 3, 4, 5, 6))


def test_an_empty_timeline_shows_nothing() -> None:
    view = timeline_view(instants(f"{t(1)}.inflight"))
    assert view.latest is None
    assert not committed_test(view)(t(0))


def test_missing_middle_states_do_not_matter() -> None:
    """A listing can fall between the steps of a writer, on storage that lists no moment in time."""
    complete = timeline_view(instants(f"{t(1)}.commit.requested", f"{t(1)}.inflight", f"{t(1)}.commit"))
    assert complete == timeline_view(instants(f"{t(1)}.commit"))
    assert timeline_view(instants(f"{t(1)}.commit.requested", f"{t(1)}.commit")).pending == ()


@pytest.mark.parametrize("layout", [1, 2])
def test_compaction_and_clustering_complete_under_other_names(layout: int) -> None:
    done = "" if layout == 1 else f"_{t(9)}"
    view = timeline_view(
        instants(
            f"{t(1)}.compaction.requested",
            f"{t(1)}.compaction.inflight",
            f"{t(1)}{done}.commit",
            f"{t(2)}.clustering.requested",
            f"{t(2)}{done}.replacecommit",
            layout=layout,
        )
    )
    assert [item.requested for item in view.instants] == [t(1), t(2)]
    assert view.pending == ()


def test_complete_cleans_and_rollbacks_are_not_pending() -> None:
    names = [f"{t(number)}.{action}" for number, action in enumerate(["clean", "rollback", "restore", "indexing"], 2)]
    view = timeline_view(
        instants(
            f"{t(1)}.commit",
            *names,
            *(f"{name}.{state}" for name in names for state in ("requested", "inflight")),
            f"{t(7)}.clean.requested",
            f"{t(8)}.inflight",
            f"{t(8)}.savepoint",
        )
    )
    assert view.pending == (t(7), t(8))


def test_order_of_the_listing_does_not_matter() -> None:
    names = [f"{t(number)}.commit" for number in range(20)]
    shuffled = list(names)
    random.Random(1).shuffle(shuffled)
    assert timeline_view(instants(*names)) == timeline_view(instants(*shuffled))
