"""Which folders are read: the cases of Hive's TestAcidUtils and of Impala's AcidUtilsTest, and a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import FileMissingError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.directories.listing import part_listing
from connectors.hive.acid.directories.state import AcidState, UnreadReason, choose
from connectors.hive.acid.layout import AcidDirectory, parse_directory
from connectors.hive.acid.valid_ids import ALL_VALID, MAX_ID, AcidSnapshot, ValidIds
from connectors.toolkit.storage.filesystem import FileInfo

ALL = f"t:100:{MAX_ID}::"

HIVE_CASES = {
    "testOriginalDeltas": (
        "delta_025_025 delta_029_029 delta_025_030 delta_050_100 delta_101_101",
        ALL,
        "",
        "delta_025_030 delta_050_100",
    ),
    "testObsoleteOriginals": ("base_10 base_5", f"t:150:{MAX_ID}::", "base_10", ""),
    "testBaseDeltas": (
        "base_5 base_10 base_49 delta_025_025 delta_029_029 delta_025_030 delta_050_105 delta_90_120",
        ALL,
        "base_49",
        "delta_050_105",
    ),
    "testOverlapingDelta": (
        "delta_0000063_63 delta_000062_62 delta_00061_61 delta_40_60 delta_0060_60 delta_052_55 base_50",
        ALL,
        "base_50",
        "delta_40_60 delta_00061_61 delta_000062_62 delta_0000063_63",
    ),
    "testOverlapingDelta2": (
        "delta_0000063_63_0 delta_000062_62_0 delta_000062_62_3 delta_00061_61_0 delta_40_60 delta_0060_60_1 "
        "delta_0060_60_4 delta_0060_60_7 delta_052_55 delta_058_58 base_50",
        ALL,
        "base_50",
        "delta_40_60 delta_00061_61_0 delta_000062_62_0 delta_000062_62_3 delta_0000063_63_0",
    ),
    "deltasWithOpenTxnInRead": (
        "delta_1_1 delta_2_5 delta_4_4_1 delta_4_4_3 delta_101_101_1",
        "t:100:4:4:",
        "",
        "delta_1_1 delta_2_5",
    ),
    "testBaseWithDeleteDeltas": (
        "base_5 base_10 base_49 delta_025_025 delta_029_029 delta_025_030 delta_050_105 delete_delta_029_029 "
        "delete_delta_025_030 delete_delta_050_105 delete_delta_110_110",
        ALL,
        "base_49",
        "delete_delta_050_105 delta_050_105",
    ),
    "testOverlapingDeltaAndDeleteDelta": (
        "delta_0000063_63 delta_000062_62 delta_00061_61 delta_40_60 delta_0060_60 delta_052_55 base_50 "
        "delete_delta_00064_64 delete_delta_40_60 delete_delta_052_55",
        ALL,
        "base_50",
        "delete_delta_40_60 delta_40_60 delta_00061_61 delta_000062_62 delta_0000063_63 delete_delta_00064_64",
    ),
    "testMinorCompactedDeltaMakesInBetweenDelteDeltaObsolete": (
        "delta_40_60 delete_delta_50_50",
        ALL,
        "",
        "delta_40_60",
    ),
    "deleteDeltasWithOpenTxnInRead": (
        "delta_1_1 delta_2_5 delete_delta_2_5 delete_delta_3_3 delta_4_4_1 delta_4_4_3 delta_101_101_1",
        "t:100:4:4:",
        "",
        "delta_1_1 delete_delta_2_5 delta_2_5",
    ),
}

EVERY_TRANSACTION = f"{MAX_ID}:{MAX_ID}::"
FOUR_DELTAS = "delta_6_6_0000 delta_7_7_0000 delta_8_8_0000 delta_9_9_0000"
COMPACTIONS = (
    "delta_1_1 delta_2_2 delta_3_3 delta_4_4 delta_5_5 delta_6_6 delta_7_7 delta_1_3_v100 delta_4_5_v101 "
    "delta_1_5_v102 delta_6_7_v123"
)
DELETES = " ".join(f"delete_delta_{one}_{one}_0000" for one in range(6, 12))

# Folders, transactions, write ids, base, the rest in order.
IMPALA_CASES = [
    (f"base_5_v900 base_8_v1000 {FOUR_DELTAS}", "1100:1000:1000:", "t:10:10::", "base_5_v900", FOUR_DELTAS),
    (
        f"base_5_v900 base_7_v950 base_8_v1000 {FOUR_DELTAS}",
        "1100:1100::1000",
        "t:10:10::",
        "base_7_v950",
        "delta_8_8_0000 delta_9_9_0000",
    ),
    (f"base_5 {FOUR_DELTAS}", EVERY_TRANSACTION, "t:10:6:6,7,8:", "base_5", "delta_9_9_0000"),
    (f"base_5 {FOUR_DELTAS}", EVERY_TRANSACTION, "t:10:1337::7,8,9", "base_5", "delta_6_6_0000"),
    ("base_3_v3217 delta_1_1 delta_2_2 delta_3_3", EVERY_TRANSACTION, f"t:3:{MAX_ID}::", "base_3_v3217", ""),
    ("delta_5_5 delta_5_5_0000 delta_6_20", EVERY_TRANSACTION, "t:10:1234:1,2,3:", "", "delta_5_5 delta_6_20"),
    ("base_10 delta_5_5 delta_12_12", EVERY_TRANSACTION, "", "base_10", "delta_12_12"),
    (
        "base_5 delta_6_6_v01000 delta_7_7_v01000 delta_6_7_v01000",
        EVERY_TRANSACTION,
        "t:10:1234:1,2,3:",
        "base_5",
        "delta_6_7_v01000",
    ),
    (
        "base_5 delta_6_6_00001 delta_6_6_00002 delta_6_6_00003 delta_6_6_v01000",
        EVERY_TRANSACTION,
        "t:10:1234::",
        "base_5",
        "delta_6_6_v01000",
    ),
    (COMPACTIONS, EVERY_TRANSACTION, "", "", "delta_1_5_v102 delta_6_7_v123"),
    (COMPACTIONS, "130:102:102:", "", "", "delta_1_3_v100 delta_4_5_v101 delta_6_7_v123"),
    ("delta_1_1 delta_2_2 delta_3_3 delta_1_3_v1000", EVERY_TRANSACTION, "t:10:5::2", "", "delta_1_3_v1000"),
    ("base_5 delta_6_6 delta_7_7 delta_6_7_v100", "90:90::", "", "base_5", "delta_6_6 delta_7_7"),
    (
        f"base_5 {DELETES}",
        EVERY_TRANSACTION,
        "t:10:1234:6:9",
        "base_5",
        "delete_delta_7_7_0000 delete_delta_8_8_0000 delete_delta_10_10_0000",
    ),
    ("delta_1_5 delta_1_5_v01000", "1100:1000:1000:", "", "", "delta_1_5"),
    ("delta_1_5 delta_1_5_v01000", EVERY_TRANSACTION, "", "", "delta_1_5_v01000"),
    ("base_1 delta_2_2 base_3", EVERY_TRANSACTION, "t:3:2:2:", "base_3", ""),
    ("base_10 delta_5_8_0000 delta_12_12", EVERY_TRANSACTION, "t:20:15::", "base_10", "delta_12_12"),
]


@pytest.mark.parametrize("case", HIVE_CASES)
def test_folders_that_hive_chooses(case: str) -> None:
    names, write_ids, base, chosen = HIVE_CASES[case]

    assert _names(_choose(names, write_ids)) == (base, chosen)


@pytest.mark.parametrize(("names", "transactions", "write_ids", "base", "chosen"), IMPALA_CASES)
def test_folders_that_impala_chooses(names: str, transactions: str, write_ids: str, base: str, chosen: str) -> None:
    assert _names(_choose(names, write_ids, transactions)) == (base, chosen)


def test_obsolete_folders_of_hive() -> None:
    names, write_ids, _, _ = HIVE_CASES["testBaseDeltas"]

    state = _choose(names, write_ids)

    obsolete = {one.directory.name for one in state.unread if one.reason is UnreadReason.OBSOLETE}
    assert obsolete == {"base_5", "base_10", "delta_025_030", "delta_025_025", "delta_029_029"}
    assert [one.reason for one in state.unread if one.directory.name == "delta_90_120"] == [UnreadReason.NOTHING_NEW]


def test_ranges_that_are_visible_in_part_are_named() -> None:
    names, write_ids, _, _ = HIVE_CASES["deleteDeltasWithOpenTxnInRead"]

    assert _choose(names, write_ids).partial == {"delta_2_5", "delete_delta_2_5"}
    assert _choose("delta_1_1 delta_2_5", ALL).partial == frozenset()


@pytest.mark.parametrize(
    ("name", "write_ids", "transactions", "reason"),
    [
        ("delta_3_3", "t:2:2147483647::", "", UnreadReason.LATER),
        ("delta_3_3", "t:5:3:3:", "", UnreadReason.OPEN),
        ("delta_3_4", "t:5:3:3:4", "", UnreadReason.OPEN),
        ("delta_3_3", "t:5:6::3", "", UnreadReason.ABORTED),
        ("base_3", "t:5:3:3:", "", UnreadReason.OPEN),
        ("base_3", "t:5:6::3", "", UnreadReason.ABORTED),
        ("base_3", "t:2:3::", "", UnreadReason.LATER),
        ("base_3_v7", "t:5:6::", "9:7:7:", UnreadReason.COMPACTION_OPEN),
        ("base_3_v7", "t:5:6::", "6:7::", UnreadReason.COMPACTION_OPEN),
        ("base_3_v7", "t:5:6::", "9:10::7", UnreadReason.COMPACTION_ABORTED),
    ],
)
def test_each_folder_left_out_has_its_reason(
    name: str, write_ids: str, transactions: str, reason: UnreadReason
) -> None:
    state = _choose(f"delta_1_1 {name}", write_ids, transactions)

    assert [(one.directory.name, one.reason) for one in state.unread] == [(name, reason)]
    assert _names(state) == ("", "delta_1_1")


def test_a_base_with_the_smallest_open_id_is_not_read() -> None:
    # Hive 4 takes it, by a shortcut; its rows are not committed.
    assert _names(_choose("base_4 delta_3_3", "t:4:4:4:")) == ("", "delta_3_3")


def test_the_compacted_base_is_preferred_to_the_statements_own() -> None:
    assert _names(_choose("base_4 base_4_v9", "t:4:5::", "9:10::"))[0] == "base_4_v9"
    assert _names(_choose("base_4 base_4_v9", "t:4:5::", "9:9:9:"))[0] == "base_4"


def test_a_base_of_files_without_transactions_is_always_read() -> None:
    name = "base_-9223372036854775808"

    assert _names(_choose(f"{name} delta_10000001_10000001_0000", "t:10000001:10000001:10000001:")) == (name, "")


def test_of_two_compactions_of_one_range_the_later_is_read() -> None:
    state = _choose("delta_1_5_v100 delta_1_5_v101 delete_delta_1_5_v100 delete_delta_1_5_v101", "")

    assert _names(state) == ("", "delete_delta_1_5_v101 delta_1_5_v101")
    assert {one.reason for one in state.unread} == {UnreadReason.DUPLICATE}


def test_twins_of_one_number_are_refused() -> None:
    with pytest.raises(NotSupportedError, match=r"delta_0000001_0000001.*delta_1_1") as caught:
        _choose("delta_1_1 delta_0000001_0000001", "")

    assert caught.value.code is error_codes.HIVE_ACID_LAYOUT


@pytest.mark.parametrize("compacted", ["base_5_v900", "base_5"])
def test_a_snapshot_older_than_a_compaction_is_refused(compacted: str) -> None:
    with pytest.raises(FileMissingError, match="compacted into base_5") as caught:
        _choose(f"{compacted} base_9 delta_3_3", "t:10:4:4,9:", marked=frozenset({compacted}))

    assert caught.value.code is error_codes.HIVE_FILE_CLEANED


def test_a_first_overwrite_under_way_hides_nothing() -> None:
    # Trino fails on this one; the oldest base holds no history, so all of it is still there.
    assert _names(_choose("base_2 delta_1_1", "t:2:2:2:")) == ("", "delta_1_1")


@pytest.mark.parametrize(
    ("paths", "originals", "directories"),
    [
        (
            "000000_0 000000_0_copy_1 000000_0_copy_2 000001_1 000002_0 random _done subdir/000000_0 .x/000000_0",
            "000000_0 000000_0_copy_1 000000_0_copy_2 000001_1 000002_0 random subdir/000000_0",
            "",
        ),
        (
            "delta_5_5/bucket_0 delta_000005.txt _tmp.base_0000005/000000_0.manifest a/_b/000000_0",
            "delta_000005.txt",
            "delta_5_5",
        ),
        (
            "base_10/_orc_acid_version base_11/.x delta_12_12/bucket_0 base_01.txt",
            "base_01.txt",
            "base_10 base_11 delta_12_12",
        ),
        ("base_7_$folder$= 000000_0= empty.txt=", "", "base_7"),
    ],
)
def test_listings_are_parted_as_hive_does(paths: str, originals: str, directories: str) -> None:
    root = "file:/_hidden/.above/t"
    infos = [FileInfo(f"{root}/{path.rstrip('=')}", 0 if path.endswith("=") else 9, 0, False) for path in paths.split()]

    listing = part_listing(root, infos)

    assert " ".join(info.path.removeprefix(root + "/") for info in listing.originals) == originals
    assert " ".join(listing.directories) == directories


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[str], dict[str, frozenset[int]], ValidIds, set[int]]:
    """Folders that some statements and compactions leave, the ids in each, a snapshot, and the ids to be read."""
    states = draw(st.lists(st.sampled_from("cccoa"), min_size=1, max_size=9))
    content = {
        f"delta_{one}_{one}_{statement}": frozenset({one})
        for one in range(1, len(states) + 1)
        for statement in ("0000", "0002")
    }
    aborted = tuple(one for one, state in enumerate(states, 1) if state == "a")
    running = tuple(one for one, state in enumerate(states, 1) if state == "o")
    ids = ValidIds(len(states), running, aborted, min(running, default=MAX_ID))
    closed = min(running, default=len(states) + 1) - 1
    base = reached = 0
    for visibility in range(100, 100 + draw(st.integers(0, 3))):
        if base >= closed:
            break
        # A compaction begins behind the base, takes in what earlier ones wrote, and ends before the first open id.
        reached = last = draw(st.integers(max(base + 1, reached), closed))
        if draw(st.booleans()):
            content[f"base_{last}_v{visibility}"] = frozenset(range(1, last + 1)) - {*aborted}
            base = last
        else:
            content[f"delta_{base + 1}_{last}_v{visibility}"] = frozenset(range(base + 1, last + 1)) - {*aborted}
    expected = {one for one, state in enumerate(states, 1) if state == "c"}
    return draw(st.permutations(list(content))), content, ids, expected


@given(histories())
def test_each_committed_id_is_read_once(
    history: tuple[list[str], dict[str, frozenset[int]], ValidIds, set[int]],
) -> None:
    names, content, ids, expected = history

    state = choose(_directories(" ".join(names)), frozenset(), AcidSnapshot(ids), "t")

    chosen = [*([state.base] if state.base else []), *state.directories]
    # Statements of one transaction have one id: both folders of it, or neither.
    found: dict[int, list[str]] = {}
    for directory in chosen:
        for one in content[directory.name]:
            if ids.is_valid(one):
                found.setdefault(one, []).append(directory.name)
    assert set(found) == expected
    for folders in found.values():
        assert len(folders) == 1 or sorted(folder[-5:] for folder in folders) == ["_0000", "_0002"]


def _choose(names: str, write_ids: str, transactions: str = "", marked: frozenset[str] = frozenset()) -> AcidState:
    known = ValidIds.parse_transactions(transactions) if transactions else ALL_VALID
    snapshot = AcidSnapshot(ValidIds.parse_write_ids(write_ids), known)
    return choose(_directories(names), marked, snapshot, "s3://b/t")


def _directories(names: str) -> list[AcidDirectory]:
    found = [parse_directory(name) for name in names.split()]
    return [directory for directory in found if directory is not None]


def _names(state: AcidState) -> tuple[str, str]:
    return state.base.name if state.base else "", " ".join(one.name for one in state.directories)
