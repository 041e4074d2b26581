from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError
from connectors.hudi.file_group.slices import FileSlice, latest_file_slices, parse_listing
from connectors.hudi.timeline.instant import Instant, parse_instant
from connectors.hudi.timeline.view import timeline_view


def t(number: int) -> str:
    return f"2024010100000{number:04d}"


def slices(
    names: Iterable[str],
    instants: Iterable[str],
    layout: int = 1,
    replaced: Collection[str] = (),
    written: dict[str, Sequence[str]] | None = None,
    archived: Callable[[str], str | None] = lambda _: None,
) -> list[FileSlice]:
    files = parse_listing((f"/t/p/{name}", 10, 0) for name in names)
    parsed = [parse_instant(name, layout) for name in instants]
    view = timeline_view([item for item in parsed if isinstance(item, Instant)])
    return latest_file_slices(
        files=files,
        view=view,
        layout=layout,
        replaced=replaced,
        written_names=(written or {}).get,
        archived_completion=archived,
    )


def base(group: str, number: int, token: str = "0-1-1") -> str:
    return f"{group}_{token}_{t(number)}.parquet"


def log(group: str, number: int, version: int = 1, token: str = "0-1-1") -> str:
    return f".{group}_{t(number)}.log.{version}_{token}"


def names(found: FileSlice) -> tuple[str | None, list[str]]:
    path = found.base.path.rpartition("/")[2] if found.base else None
    return path, [item.path.rpartition("/")[2] for item in found.logs]


def test_the_newest_committed_base_file_counts() -> None:
    [met] = slices([base("a", 1), base("a", 2), base("a", 3)], [f"{t(1)}.commit", f"{t(2)}.commit", f"{t(3)}.inflight"])
    assert names(met) == (base("a", 2), [])


def test_base_files_of_archived_writes_count() -> None:
    [met] = slices([base("a", 1)], [f"{t(5)}.commit"])
    assert met.base_instant == t(1)


def test_stray_files_of_unknown_writes_do_not() -> None:
    assert slices([base("a", 7)], [f"{t(5)}.commit", f"{t(8)}.commit"]) == []


def test_replaced_groups_are_gone() -> None:
    met = slices([base("a", 1), base("b", 1), base("b", 2)], [f"{t(1)}.commit", f"{t(2)}.commit"], replaced={"b"})
    assert [found.file_id for found in met] == ["a"]


def test_logs_of_layout_1_name_their_slice() -> None:
    found = [base("a", 1), log("a", 1, 10), log("a", 1, 9), log("a", 1, 2), base("a", 3), log("a", 3)]
    done = [f"{t(1)}.commit", f"{t(3)}.inflight"]
    [met] = slices(found, done)
    assert names(met) == (base("a", 1), [log("a", 1, 2), log("a", 1, 9), log("a", 1, 10)])


def test_a_log_of_layout_2_belongs_to_the_newest_base_before_its_completion() -> None:
    """Requested before a compaction and complete after it: HoodieFileGroup takes the new slice."""
    found = [base("a", 1), base("a", 5), log("a", 4), log("a", 2)]
    done = [
        f"{t(1)}_{t(1)}.commit",
        f"{t(2)}_{t(3)}.deltacommit",
        f"{t(4)}_{t(7)}.deltacommit",
        f"{t(5)}_{t(6)}.commit",
    ]
    [met] = slices(found, done, layout=2)
    assert names(met) == (base("a", 5), [log("a", 4)])


def test_the_archive_tells_of_which_slice_a_log_is() -> None:
    """Its write overlapped a compaction and has left the active timeline since (CompletionTimeQueryViewV2)."""
    found = [base("a", 1), base("a", 5), log("a", 2), log("a", 4), base("b", 1), log("b", 4)]
    done = [f"{t(5)}_{t(6)}.commit", f"{t(8)}_{t(9)}.deltacommit"]
    asked: list[str] = []

    def archived(requested: str) -> str | None:
        asked.append(requested)
        return {t(2): t(3), t(4): t(7)}[requested]

    one, other = slices(found, done, layout=2, archived=archived)
    assert names(one) == (base("a", 5), [log("a", 4)])
    assert names(other) == (base("b", 1), [log("b", 4)])
    # Where no base file was requested later there is nothing to find out.
    assert asked == [t(2), t(4)]


def test_logs_alone_make_a_slice_that_later_logs_join() -> None:
    done = [f"{t(2)}_{t(3)}.deltacommit", f"{t(4)}_{t(5)}.deltacommit", f"{t(6)}.deltacommit.inflight"]
    [met] = slices([log("a", 4), log("a", 2), log("a", 6)], done, layout=2)
    assert met.base_instant == t(2)
    assert names(met) == (None, [log("a", 2), log("a", 4)])


def test_change_data_logs_hold_no_rows() -> None:
    [met] = slices([base("a", 1), f".a_{t(1)}.log.1_0-1-1.cdc"], [f"{t(1)}.commit"])
    assert met.logs == ()


def test_of_two_attempts_the_one_in_the_commit_counts() -> None:
    found = [base("a", 1, "0-1-1"), base("a", 1, "0-1-2")]
    [met] = slices(found, [f"{t(1)}.commit"], written={t(1): [base("a", 1, "0-1-2")]})
    assert names(met) == (base("a", 1, "0-1-2"), [])


@pytest.mark.parametrize("written", [None, {t(1): ["other.parquet"]}])
def test_of_two_attempts_none_is_guessed(written: dict[str, Sequence[str]] | None) -> None:
    found = [base("a", 1, "0-1-1"), base("a", 1, "0-1-2")]
    with pytest.raises(CorruptFileError, match="0-1-2") as caught:
        slices(found, [f"{t(1)}.commit"], written=written)
    assert caught.value.code.name == "HUDI_DUPLICATE_BASE_FILE"


def test_a_file_of_another_naming_is_an_error() -> None:
    with pytest.raises(CorruptFileError, match=r"part-0\.parquet") as caught:
        slices(["part-0.parquet"], [f"{t(1)}.commit"])
    assert caught.value.code.name == "HUDI_UNKNOWN_FILE_NAME"


# One write: groups it makes files in, groups it replaces, and whether it finishes.
WRITES = st.lists(
    st.tuples(st.sets(st.integers(0, 4)), st.sets(st.integers(0, 4), max_size=2), st.booleans()), max_size=12
)


@given(WRITES, st.integers(0, 6), st.randoms(use_true_random=False), st.sampled_from([1, 2]))
def test_random_histories(
    writes: list[tuple[set[int], set[int], bool]], archived: int, random: object, layout: int
) -> None:
    """Against a dict from group to the number of the write that made its newest file."""
    model: dict[str, int] = {}
    files: list[str] = []
    instants: list[str] = []
    replaced: set[str] = set()
    finished = [number for number, (_, _, done) in enumerate(writes) if done]
    # Archival takes the oldest finished writes, and stops at the first unfinished one.
    first_open = next((number for number, (_, _, done) in enumerate(writes) if not done), len(writes))
    gone = {number for number in finished[:archived] if number < first_open} - set(finished[-1:])
    for number, (made, dropped, done) in enumerate(writes):
        # Ids are never used again after a replacement.
        groups = [f"g{group}" for group in made if f"g{group}" not in replaced]
        losers = {f"g{group}" for group in dropped} - set(groups)
        files += [base(group, number) for group in groups]
        if done:
            replaced |= losers
            model.update(dict.fromkeys(groups, number))
            model = {group: newest for group, newest in model.items() if group not in losers}
        if number not in gone:
            suffix = f"_{t(500 + number)}" if layout == 2 else ""
            instants.append(f"{t(number)}{suffix}.commit" if done else f"{t(number)}.inflight")
    random.shuffle(files)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    met = slices(files, instants, layout, replaced)
    assert {found.file_id: found.base_instant for found in met} == {group: t(number) for group, number in model.items()}
    assert all(found.base is not None and not found.logs for found in met)
