"""What footers tell of stripes, so that keys are not read: against files of any shape, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.scan_counters import ScanCounts, counting
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.acid.key_range import ALL_KEYS, KeyRange, StripeRanges
from connectors.hive.acid.read.acid_file import HIDDEN_NAMES, AcidRead, open_acid_file
from connectors.hive.acid.read.delete_cache import DELETE_CACHE
from connectors.hive.acid.valid_ids import ALL_VALID, ValidIds
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.acid.pages import acid_file, read, source
from tests.connectors.hive.acid.writer import OrcLayout, RowKey
from tests.connectors.hive.acid.writer.orc_files import deletes, inserts, write_acid_file
from tests.sampling import examples

BUCKET_0 = 536870912
K = ColumnHandle("k", pa.int32())
ROW_ID, _ = ACID_HIDDEN_COLUMNS
_LEFT_OUT = "rows left out as deleted or not visible"


@dataclass(frozen=True, slots=True)
class _Shape:
    """A data file and its deletes.

    Attributes:
        keys: Of its rows, in any order where a writer that is not Hive's writes them.
        gone: Keys of delete events, some of them of no row.
        layout: Of both files.
        invalid: Write ids that are not visible.
        by_hive: Hive writes the data file; else one that does not sort by key and leaves no key index.
    """

    keys: list[RowKey]
    gone: list[RowKey]
    layout: OrcLayout
    invalid: tuple[int, ...]
    by_hive: bool


def _keys() -> st.SearchStrategy[list[RowKey]]:
    one = st.builds(RowKey, st.integers(1, 3), st.sampled_from([BUCKET_0, BUCKET_0 + 1]), st.integers(0, 30))
    runs = st.builds(
        lambda write_id, first, count: [RowKey(write_id, BUCKET_0, first + at) for at in range(count)],
        st.integers(1, 3),
        st.integers(0, 10),
        st.integers(1, 25),
    )
    return st.one_of(runs, st.lists(one, min_size=1, max_size=40))


def _shapes() -> st.SearchStrategy[_Shape]:
    layouts = st.builds(
        OrcLayout,
        stripe_rows=st.sampled_from([1, 4, 9, None]),
        stride=st.sampled_from([0, 10_000]),
        key_index=st.sampled_from(["right", "absent", "short"]),
        query_compacted=st.booleans(),
    )
    invalid = st.lists(st.integers(1, 3), max_size=2, unique=True).map(tuple)
    return st.builds(_Shape, _keys(), _keys(), layouts, invalid, st.booleans())


@settings(max_examples=examples(60))
@given(shape=_shapes(), memory=st.sampled_from([1, 1 << 28]), pieces=st.integers(1, 3))
def test_footers_hide_no_row_and_show_none_too_many(shape: _Shape, memory: int, pieces: int) -> None:
    DELETE_CACHE.clear()
    with TemporaryDirectory() as folder:
        keys = _write(Path(folder), shape)
        file = acid_file(Path(folder) / "a", check_write_ids=bool(shape.invalid), deletes=[Path(folder) / "d"])
        visible = ValidIds(9, (), shape.invalid)
        gone = set(shape.gone)
        left = [at for at, key in enumerate(keys) if key not in gone and key.write_id not in shape.invalid]
        cuts = [file.size * piece // pieces for piece in range(pieces + 1)]
        ranges = [(start, end - start) for start, end in pairwise(cuts)]
        parts = [read(file, [K], start=one, length=length, visible=visible, memory=memory) for one, length in ranges]
        assert sorted(row for part in parts for row in part.column(0).to_pylist()) == left
        assert read(file, [], visible=visible, memory=memory).num_rows == len(left)
        shown = read(file, [ROW_ID], visible=visible, memory=memory).column(0).to_pylist()
        assert sorted(tuple(row.values()) for row in shown) == sorted(keys[at] for at in left)


@settings(max_examples=examples(40))
@given(shape=_shapes())
def test_each_key_is_within_the_range_of_its_stripe(shape: _Shape) -> None:
    with TemporaryDirectory() as folder:
        _write(Path(folder), shape)
        path = Path(folder) / "a"
        with pa.OSFile(str(path)) as file:
            footer = read_orc_footer(file, str(path))
            ranges, rows = StripeRanges(file, footer), orc.ORCFile(str(path))
            for index in range(len(footer.stripes)):
                stripe = rows.read_stripe(index).to_pydict()
                columns = list(stripe.values())[1:4]
                for key in zip(*columns, strict=True):
                    one = KeyRange(key, key)
                    assert ranges.of(index).overlaps(one)
                    assert ranges.within(index, len(footer.stripes) - 1).overlaps(one)
                    assert ranges.constant_pair(index) in (None, key[:2])


@pytest.mark.parametrize("key_index", ["right", "absent"])
def test_stripes_that_no_delete_touches(tmp_path: Path, key_index: str) -> None:
    """Without an index, too; and in the first stripe, for which the index alone has no lower bound."""
    layout = OrcLayout(stripe_rows=10, key_index=key_index)  # type: ignore[arg-type]  # one of its kinds
    keys = [RowKey(5, BUCKET_0, row) for row in range(50)]
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, [(row,) for row in range(50)]), layout)
    events = [RowKey(4, BUCKET_0, 7), RowKey(5, BUCKET_0, 33), RowKey(5, BUCKET_0 + 1, 3), RowKey(6, BUCKET_0, 1)]
    write_acid_file(tmp_path / "d", "k:int", deletes(events, 7))
    pages, counts = _counted(acid_file(tmp_path / "a", deletes=[tmp_path / "d"]))
    assert counts == {_LEFT_OUT: 1, "stripes that no delete touches": 4}
    assert pages.completed_bytes == _stripes(tmp_path / "a")[3]


def test_stripes_of_which_all_or_nothing_is_visible_are_not_read(tmp_path: Path) -> None:
    layout = OrcLayout(stripe_rows=10)
    keys = [RowKey(1 + row // 20, BUCKET_0, row) for row in range(60)]
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, [(row,) for row in range(60)]), layout)
    file = acid_file(tmp_path / "a", "delta_1_3", check_write_ids=True)
    pages, counts = _counted(file, ValidIds(3, (), (2,)))
    assert counts == {_LEFT_OUT: 20}
    assert pages.completed_bytes == 0
    assert read(file, [K], visible=ValidIds(3, (), (2,))).column(0).to_pylist() == [*range(20), *range(40, 60)]


def test_a_reader_that_does_not_skip_stripes_still_drops_what_is_not_visible(tmp_path: Path) -> None:
    """The reader of changes is one."""
    layout = OrcLayout(stripe_rows=10)
    keys = [RowKey(1 + row // 10, BUCKET_0, row) for row in range(20)]
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, [(row,) for row in range(20)]), layout)
    file = acid_file(tmp_path / "a", "delta_1_2", check_write_ids=True)
    asked = FileRead(FileRange(file.path, 0, file.size), (), synthetic=HIDDEN_NAMES)
    with open_acid_file(FileSystem(), AcidRead(asked, file, ValidIds(2, (), (2,)), 1 << 20)) as opened:
        seen = []
        for index in range(2):
            stripe = opened.columns.read(index, opened.keys.columns(index))
            seen.append(opened.keys.of_stripe(index, stripe.extra).dropped)
        assert seen[0] is None
        assert seen[1] is not None
        assert seen[1].all()


def test_a_stripe_belongs_to_the_half_that_has_more_of_it(tmp_path: Path) -> None:
    """Writers fill a stripe up, and leave a shorter one at the end: cut in two, each half has one of the two."""
    layout = OrcLayout(stripe_rows=2000)
    keys = [RowKey(1, BUCKET_0, row) for row in range(3200)]
    rows = [(row * 7919 % 100_003,) for row in range(3200)]
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, rows), layout)
    file, half = acid_file(tmp_path / "a"), (tmp_path / "a").stat().st_size // 2
    counts = [read(file, [K], start=start, length=half + 1).num_rows for start in (0, half + 1)]
    assert counts == [2000, 1200]


def test_statistics_are_not_asked_where_row_groups_are_off(tmp_path: Path) -> None:
    """Hive's writers then leave something else there."""
    keys = [RowKey(5, BUCKET_0, row) for row in range(20)]
    layout = OrcLayout(stripe_rows=10, stride=0, key_index="absent")
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, [(row,) for row in range(20)]), layout)
    path = tmp_path / "a"
    with pa.OSFile(str(path)) as file:
        ranges = StripeRanges(file, read_orc_footer(file, str(path)))
        assert ranges.within(0, 1) == ranges.of(0) == ALL_KEYS
        assert (ranges.constant_pair(0), ranges.operations(0), ranges.transactions(0)) == (None, None, None)


def test_ranges_that_contradict_each_other_say_nothing() -> None:
    low, high = KeyRange(None, (1, 0, 5)), KeyRange((1, 0, 6), (1, 0, 9))
    assert low.intersect(high) == ALL_KEYS
    assert low.intersect(KeyRange((1, 0, 2), (1, 0, 9))) == KeyRange((1, 0, 2), (1, 0, 5))


def _counted(file: AcidFile, visible: ValidIds = ALL_VALID) -> tuple[PageSource, dict[str, int]]:
    counts, pages = ScanCounts(), source(file, [], visible=visible)
    with counting(counts):
        rows = sum(batch.num_rows for batch in pages)
    found = dict(counts.as_mapping())
    assert rows == orc.ORCFile(file.path).nrows - found[_LEFT_OUT]
    return pages, {name: number for name, number in found.items() if "touches" in name or "left out" in name}


def _stripes(path: Path) -> list[int]:
    with pa.OSFile(str(path)) as file:
        return [stripe.length for stripe in read_orc_footer(file, str(path)).stripes]


def _write(folder: Path, shape: _Shape) -> list[RowKey]:
    """Writes both files; the keys of the rows in their order, which is the value of ``k``."""
    keys = sorted(shape.keys) if shape.by_hive else shape.keys
    rows = [(number,) for number in range(len(keys))]
    if shape.by_hive:
        write_acid_file(folder / "a", "k:int", inserts(keys, rows), shape.layout)
    else:
        names = ["operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row"]
        numbers = [[0] * len(keys), *([key[at] for key in keys] for at in range(3)), [key.write_id for key in keys]]
        types = [pa.int32(), pa.int64(), pa.int32(), pa.int64(), pa.int64()]
        columns = [pa.array(values, arrow) for values, arrow in zip(numbers, types, strict=True)]
        row = pa.array([{"k": number} for (number,) in rows], pa.struct([("k", pa.int32())]))
        options = {"row_index_stride": shape.layout.stride or 10_000, "batch_size": 1, "stripe_size": 1024}
        orc.write_table(pa.table([*columns, row], names), str(folder / "a"), **options)
    write_acid_file(folder / "d", "k:int", deletes(sorted(set(shape.gone)), 9), shape.layout)
    return keys
