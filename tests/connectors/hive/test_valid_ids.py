"""Write ids and transactions against Java's own answers, and against sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connector_spi.serializable import from_json, to_json
from connectors.hive.acid.valid_ids import ALL_VALID, MAX_ID, AcidSnapshot, RangeValidity, ValidIds

NONE, SOME, ALL = RangeValidity.NONE, RangeValidity.SOME, RangeValidity.ALL
RANGES = ((1, 5), (6, 8), (6, 20), (7, 9), (9, 9), (11, 20))

# hive-storage-api 2.8.1: ids 0 to 11, the ranges above, and bases 5, 6 and 9.
ORACLE = [
    ("default.t:10:6:6,7,8:", "111111000110", (ALL, NONE, SOME, SOME, ALL, NONE), (True, False, False)),
    (f"default.t:10:{MAX_ID}::7,8,9", "111111100010", (ALL, SOME, SOME, NONE, NONE, NONE), (True, True, True)),
    ("t:5:2:2,4:3", "110001000000", (SOME, NONE, NONE, NONE, NONE, NONE), (False, False, False)),
    (f"null:{MAX_ID}:{MAX_ID}::", "111111111111", (ALL, ALL, ALL, ALL, ALL, ALL), (True, True, True)),
    ("t:10:6", "111111111110", (ALL, ALL, SOME, ALL, ALL, NONE), (True, False, False)),
]


@pytest.mark.parametrize(("text", "valid", "ranges", "bases"), ORACLE)
def test_java_says_the_same(text: str, valid: str, ranges: tuple[RangeValidity, ...], bases: tuple[bool, ...]) -> None:
    ids = ValidIds.parse_write_ids(text)

    assert "".join("01"[ids.is_valid(one)] for one in range(12)) == valid
    assert tuple(ids.range_validity(*one) for one in RANGES) == ranges
    assert tuple(ids.is_valid_base(one) for one in (5, 6, 9)) == bases
    assert ids.valid_mask(np.arange(12)).tolist() == [one == "1" for one in valid]


@pytest.mark.parametrize(
    ("text", "first", "last", "expected"),
    [
        (ORACLE[1][0], 6, 8, SOME),
        (ORACLE[1][0], 7, 9, ALL),
        (ORACLE[1][0], 9, 9, ALL),
        (ORACLE[1][0], 6, 20, SOME),
        (ORACLE[2][0], 1, 5, SOME),
    ],
)
def test_java_says_the_same_of_aborted_ranges(text: str, first: int, last: int, expected: RangeValidity) -> None:
    assert ValidIds.parse_write_ids(text).aborted_range(first, last) is expected


def test_transactions_of_java() -> None:
    ids = ValidIds.parse_transactions("1100:1000:1000:")

    assert ids.is_valid(0)
    assert not ids.is_valid(1000)
    assert not ids.is_valid(1101)


def test_no_text_is_everything() -> None:
    assert ValidIds.parse_write_ids("") == ALL_VALID == ValidIds.parse_write_ids(f"null:{MAX_ID}:{MAX_ID}::")
    assert ALL_VALID.write_ids_text("null") == f"null:{MAX_ID}:{MAX_ID}::"


def test_runs_of_hive_4_are_read_and_written_out() -> None:
    ids = ValidIds.parse_transactions("30:10:10-14,25:3-4")

    assert ids.open == (10, 11, 12, 13, 14, 25)
    assert ids.aborted == (3, 4)
    assert ids.transactions_text() == "30:10:10,11,12,13,14,25:3,4"


@pytest.mark.parametrize("text", ["t", "t:1", "t:a:1", "t:1:2:x:", "t:1:2:3:4:5"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="valid ids"):
        ValidIds.parse_write_ids(text)


def test_a_version_must_exist() -> None:
    snapshot = AcidSnapshot(ValidIds(7, open=(5,), aborted=(3,), minimum_open=5))

    assert snapshot.at(4).visible == ValidIds(4, aborted=(3,))
    assert snapshot.at(7).visible == snapshot.write_ids
    for version in (-1, 8):
        with pytest.raises(InvalidArgumentError, match="0 to 7"):
            snapshot.at(version)


def test_snapshots_travel() -> None:
    snapshot = AcidSnapshot(ValidIds(7, open=(5,), aborted=(3,), minimum_open=5), ValidIds(90, aborted=(4,)), 6)

    assert from_json(to_json(snapshot), AcidSnapshot) == snapshot


@st.composite
def id_lists(draw: st.DrawFn) -> ValidIds:
    high_watermark = draw(st.integers(0, 12))
    states = draw(st.lists(st.sampled_from("coa"), min_size=high_watermark, max_size=high_watermark))
    running = tuple(one for one, state in enumerate(states, 1) if state == "o")
    aborted = tuple(one for one, state in enumerate(states, 1) if state == "a")
    return ValidIds(high_watermark, running, aborted, min(running, default=MAX_ID))


@given(id_lists(), st.integers(-2, 16), st.integers(0, 8))
def test_ranges_count_what_sets_count(ids: ValidIds, first: int, more: int) -> None:
    members = range(first, first + more + 1)
    valid = [one for one in members if one <= ids.high_watermark and one not in {*ids.open, *ids.aborted}]
    aborted = [one for one in members if one in ids.aborted]

    assert ids.range_validity(members[0], members[-1]) is _share(len(valid), len(members))
    assert ids.aborted_range(members[0], members[-1]) is _share(len(aborted), len(members))
    assert [one for one in members if ids.is_valid(one)] == valid


@given(id_lists(), st.lists(st.integers(-3, 20), max_size=30))
def test_the_mask_is_the_predicate(ids: ValidIds, values: list[int]) -> None:
    assert ids.valid_mask(np.array(values, dtype=np.int64)).tolist() == [ids.is_valid(one) for one in values]


@given(id_lists(), st.integers(0, 14))
def test_the_past_is_the_present_cut_off(ids: ValidIds, version: int) -> None:
    past = ids.up_to(version)

    for one in range(16):
        assert past.is_valid(one) == (ids.is_valid(one) and one <= version)
        if one <= version:
            assert past.is_valid_base(one) == ids.is_valid_base(one)


@given(id_lists())
def test_texts_are_read_as_written(ids: ValidIds) -> None:
    assert ValidIds.parse_write_ids(ids.write_ids_text("a.b")) == ids
    assert ValidIds.parse_transactions(ids.transactions_text()) == ids


def _share(count: int, of: int) -> RangeValidity:
    return ALL if count == of else SOME if count else NONE
