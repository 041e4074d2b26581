"""Versions of the past: read only where what is left in a folder is surely complete."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connectors.hive import error_codes
from connectors.hive.acid.directories.history import check_version, readable_versions
from connectors.hive.acid.directories.state import choose
from connectors.hive.acid.layout import AcidDirectory, DirectoryKind, parse_directory
from connectors.hive.acid.valid_ids import AcidSnapshot, ValidIds

TRANSACTIONS = ValidIds(100, open=(90,), minimum_open=90)


@pytest.mark.parametrize(
    ("names", "version"),
    [
        # No base is newer, so the cleaner has taken nothing that a compacted delta does not hold.
        ("delta_3_3 delta_5_5", 4),
        ("base_2_v10 delta_3_3 delta_5_5", 3),
        ("base_2_v10 delta_5_5", 4),
        # The newer base is not visible: its compaction is under way.
        ("delta_1_1 delta_2_2 base_6_v90", 3),
        # What is older is still there: each id has its folder.
        ("delta_1_1_0000 delta_2_2_0000 base_5_v10", 2),
        ("delta_1_4_v10 base_5_v20", 2),
        ("base_1_v10 delete_delta_2_2_0000 delta_3_3_0000 base_5_v20", 3),
        ("base_1 delta_2_2_0000 base_5", 2),
        # 4 was aborted.
        ("delta_1_1 delta_2_2 delta_3_3 base_5_v10", 4),
        ("base_5_v10 delta_6_6", 5),
        ("base_5_v10 base_6", 5),
    ],
)
def test_versions_that_are_complete_can_be_read(names: str, version: int) -> None:
    _check(names, version)


@pytest.mark.parametrize(
    ("names", "version", "left"),
    [
        ("base_5_v10 delta_6_6", 4, "5 and later"),
        ("base_5 delta_6_6", 4, "5 and later"),
        ("delta_1_1 delta_3_3 base_5_v10", 3, "1, 5 and later"),
        ("delta_1_1 delta_3_3 base_5_v10", 0, "1, 5 and later"),
        ("base_2_v10 delta_4_4 base_6_v20", 5, "2, 6 and later"),
        ("base_2_v10 delta_3_3 base_6_v20", 5, "2 to 4, 6 and later"),
        ("base_2_v10 delta_3_3 base_6_v20", 1, "2 to 4, 6 and later"),
    ],
)
def test_versions_that_may_lack_rows_are_refused(names: str, version: int, left: str) -> None:
    with pytest.raises(
        InvalidArgumentError, match=f"version {version} of s3://b/t.*versions that can be read: {left}$"
    ) as caught:
        _check(names, version)

    assert caught.value.code is error_codes.HIVE_ACID_HISTORY


def test_what_was_there_before_the_first_write_id_must_be_known() -> None:
    _check("delta_1_1 base_5_v10", 1)

    with pytest.raises(InvalidArgumentError, match=r"versions that can be read: 5 and later$"):
        _check("delta_1_1 base_5_v10", 1, origin_known=False)


FOLDERS = st.one_of(
    st.builds("base_{}_v{}".format, st.integers(1, 8), st.sampled_from([10, 20, 90])),
    st.builds("base_{}".format, st.integers(1, 8)),
    st.integers(1, 8).flatmap(lambda first: st.builds(f"delta_{first}_{{}}".format, st.integers(first, 8))),
    st.builds("delete_delta_{0}_{0}_0000".format, st.integers(1, 8)),
)


@given(st.sets(FOLDERS, max_size=7), st.booleans())
def test_the_versions_told_are_those_that_can_be_read(names: set[str], origin_known: bool) -> None:
    directories = _directories(" ".join(names))
    write_ids = ValidIds(8, aborted=(4,))
    told = readable_versions(directories, frozenset(), AcidSnapshot(write_ids, TRANSACTIONS), origin_known)

    for version in range(9):
        readable = any(first <= version and (last is None or version <= last) for first, last in told)
        try:
            _check(" ".join(names), version, origin_known, write_ids)
        except InvalidArgumentError:
            assert not readable
        else:
            assert readable


@given(st.sets(FOLDERS, max_size=7), st.integers(1, 8))
def test_a_version_that_is_read_has_every_committed_id(names: set[str], version: int) -> None:
    write_ids = ValidIds(8, aborted=(4,))
    directories = _directories(" ".join(names))
    committed = [one for one in directories if one.visibility != 90]
    newer = [one for one in committed if one.kind is DirectoryKind.BASE and one.last > version and one.last != 4]
    try:
        _check(" ".join(names), version, True, write_ids)
    except InvalidArgumentError:
        return
    if any(one.visibility or write_ids.is_valid(one.last) for one in newer):
        state = choose(directories, frozenset(), AcidSnapshot(write_ids, TRANSACTIONS, version), "t")
        held = {one for delta in committed for one in range(delta.first, delta.last + 1)}
        start = state.base.last if state.base else 0
        assert set(range(start + 1, version + 1)) - {4} <= held


def _check(names: str, version: int, origin_known: bool = True, write_ids: ValidIds | None = None) -> None:
    snapshot = AcidSnapshot(write_ids or ValidIds(6, aborted=(4,)), TRANSACTIONS, version)
    directories = _directories(names)
    state = choose(directories, frozenset(), snapshot, "s3://b/t")
    check_version(directories, frozenset(), snapshot, state, "s3://b/t", origin_known=origin_known)


def _directories(names: str) -> list[AcidDirectory]:
    found = [parse_directory(name) for name in names.split()]
    return [directory for directory in found if directory is not None]
