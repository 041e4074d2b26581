"""Files of full ACID tables: real ones of others' software, and made ones for what those do not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from connectors.hive.acid.file import AcidFile, SyntheticKeys
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.acid.read.delete_cache import DELETE_CACHE
from connectors.hive.acid.valid_ids import ALL_VALID, ValidIds
from connectors.toolkit.read.page_source import FilePageSource
from tests.connectors.hive.acid.pages import RecordingFiles, acid_file, read, source
from tests.connectors.hive.acid.writer import OrcLayout, RowKey
from tests.connectors.hive.acid.writer.orc_files import deletes, inserts, write_acid_file, write_flat_file
from tests.paths import TABLES

HIVE = TABLES / "hive"
BUCKET_0 = 536870912
NATION_KEY = ColumnHandle("n_nationkey", pa.int32())
ROW_ID, BUCKET = ACID_HIDDEN_COLUMNS
K = ColumnHandle("k", pa.int32())
_ROW = pa.struct([("k", pa.int32())])


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    DELETE_CACHE.clear()
    RecordingFiles.opened.clear()


def nation() -> AcidFile:
    folder = HIVE / "nation_acid"
    events = [folder / f"delete_delta_000000{one}_000000{one}_0000" / "bucket_00000" for one in (3, 4)]
    return acid_file(folder / "base_0000002" / "bucket_00000", "base_0000002", deletes=events)


@pytest.mark.parametrize("memory", [1, 1 << 28], ids=["streamed", "loaded"])
def test_nation(memory: int) -> None:
    rows = read(nation(), [NATION_KEY, ROW_ID], memory=memory)
    counts = rows.column("n_nationkey").value_counts().to_pylist()
    assert {one["values"]: one["counts"] for one in counts} == {key: 1000 for key in range(25) if key not in (5, 19)}
    assert rows.column("$row_id").to_pylist()[5000] == {"writeid": 2, "bucketid": BUCKET_0, "rowid": 6000}


@pytest.mark.parametrize("memory", [1, 1 << 28], ids=["streamed", "loaded"])
@pytest.mark.parametrize("pieces", [2, 5, 40])
def test_ranges_of_nation_part_its_rows(pieces: int, memory: int) -> None:
    file = nation()
    cuts = [file.size * piece // pieces for piece in range(pieces + 1)]
    parts = [read(file, [ROW_ID], start=start, length=end - start, memory=memory) for start, end in pairwise(cuts)]
    row_ids = [row["rowid"] for part in parts for row in part.column(0).to_pylist()]
    assert sorted(row_ids) == [row for row in range(25000) if row // 1000 not in (5, 19)]


def test_files_of_deletes_are_opened_once_by_all_splits() -> None:
    file = nation()
    for start in range(0, file.size, 1000):
        read(file, [NATION_KEY], start=start, length=1000)
    assert sorted(path for path in RecordingFiles.opened if "delete_delta" in path) == [
        one.path for one in file.deletes
    ]


def test_predicates_skip_stripes_and_row_ids_stay() -> None:
    """Each of the five stripes has five nations."""
    wanted = TupleDomain.with_column_domains({NATION_KEY: Domain.single_value(pa.int32(), 12)})
    rows = read(nation(), [NATION_KEY, ROW_ID], predicate=wanted)
    assert rows.num_rows == 5000
    assert [row["rowid"] for row in rows.column("$row_id").to_pylist()] == list(range(10000, 15000))


def test_stripes_without_deletes_are_counted_by_the_footer() -> None:
    """Of the five stripes two have deletes."""
    file = nation()
    footer_only, with_deletes = source(acid_file(Path(file.path), "base_0000002"), []), source(file, [])
    assert sum(batch.num_rows for batch in footer_only) == 25000
    assert footer_only.completed_bytes == 0
    assert sum(batch.num_rows for batch in with_deletes) == 23000
    whole = source(file, [NATION_KEY])
    assert sum(batch.num_rows for batch in whole) == 23000
    assert 0 < with_deletes.completed_bytes < whole.completed_bytes


@pytest.mark.parametrize(("committed", "rows"), [((), 0), ((1,), 2), ((2,), 2), ((1, 2), 4)])
def test_streaming_rows_are_checked_one_by_one(committed: tuple[int, ...], rows: int) -> None:
    path = HIVE / "streaming" / "delta_0000001_0000002" / "bucket_00000"
    file = acid_file(path, "delta_0000001_0000002", check_write_ids=True)
    visible = ValidIds(2, tuple(one for one in (1, 2) if one not in committed))
    assert read(file, [], visible=visible).num_rows == rows
    found = read(file, [ROW_ID], visible=visible).column(0).to_pylist()
    assert [(row["writeid"], row["rowid"]) for row in found] == [(one, row) for one in committed for row in (0, 1)]


def summary(file: AcidFile, columns: Sequence[ColumnHandle]) -> tuple[object, ...] | None:
    pages = source(file, columns)
    assert isinstance(pages, FilePageSource)
    with pages:
        found = pages.summary(frozenset())
    if found is None:
        return None
    bounds = [found.columns[column.name] for column in columns]
    return found.rows, *((one.low, one.high, one.null_count) for one in bounds)


def numbered_file(path: Path, layout: OrcLayout | None = None) -> AcidFile:
    """Rows -5 to 4 in stripes of four, with a NULL instead of 0."""
    keys = [RowKey(1, BUCKET_0, row) for row in range(10)]
    rows = [(None if number == 0 else number,) for number in range(-5, 5)]
    layout = layout or OrcLayout(stripe_rows=4)
    write_acid_file(path / "bucket_00000", "k:int", inserts(keys, rows), layout)
    return acid_file(path / "bucket_00000")


def test_the_footer_sums_up_a_file_of_which_every_row_is_seen(tmp_path: Path) -> None:
    file = numbered_file(tmp_path)
    assert summary(file, []) == (10,)
    assert summary(file, [K]) == (10, (-5, 4, 1))
    later = ColumnHandle("added_later", pa.int32())
    assert summary(file, [later]) == (10, (None, None, 10))


def test_the_footer_sums_up_real_files() -> None:
    base = acid_file(Path(nation().path), "base_0000002")
    assert summary(base, [NATION_KEY]) == (25000, (0, 24, 0))
    assert summary(base, []) == (25000,)
    original = acid_file(HIVE / "alltypes_original" / "000000_0", "", original=True)
    assert summary(original, [ColumnHandle("id", pa.int32())]) == (7300, (0, 7299, 0))


def test_the_footer_says_nothing_of_rows_that_may_not_be_seen(tmp_path: Path) -> None:
    file = numbered_file(tmp_path)
    assert summary(replace(file, check_write_ids=True), []) is None
    assert summary(nation(), []) is None
    assert summary(nation(), [NATION_KEY]) is None
    assert summary(file, [ROW_ID]) is None
    # Without the mark of the layout, rows may be updates and deletes.
    assert summary(numbered_file(tmp_path / "compacted", OrcLayout(query_compacted=True)), []) is None
    assert summary(numbered_file(tmp_path / "unindexed", OrcLayout(stride=0)), [K]) is None


def test_the_footer_does_not_bound_a_struct_with_nulls(tmp_path: Path) -> None:
    path = tmp_path / "bucket_00000"
    events = [*inserts([RowKey(1, BUCKET_0, 0)], [(7,)]), *deletes([RowKey(1, BUCKET_0, 1)], 1)]
    write_acid_file(path, "k:int", events)
    assert summary(acid_file(path), [K]) is None


def test_a_file_that_is_no_acid_file_is_not_counted(tmp_path: Path) -> None:
    write_flat_file(tmp_path / "bucket_00000", "k:int", [(1,)])
    with pytest.raises(CorruptFileError):
        summary(acid_file(tmp_path / "bucket_00000"), [])
    write_flat_file(tmp_path / "empty" / "bucket_00000", "k:int", [])
    assert summary(acid_file(tmp_path / "empty" / "bucket_00000"), [K]) == (0, (None, None, 0))


def test_file_of_a_compaction_by_query() -> None:
    path = HIVE / "query_compacted" / "base_0000003_v0000010" / "bucket_00000"
    rows = read(acid_file(path, "base_0000003_v0000010"), [ColumnHandle("i", pa.int32()), ROW_ID]).to_pylist()
    assert [(row["i"], row["$row_id"]["writeid"]) for row in rows] == [(1, 1), (2, 2), (3, 3)]


def test_original_file() -> None:
    keys = SyntheticKeys(0, BUCKET_0, 100)
    file = acid_file(HIVE / "alltypes_original" / "000000_0", "", keys=keys, original=True)
    rows = read(file, [ColumnHandle("id", pa.int32()), ROW_ID, BUCKET])
    assert rows.num_rows == 7300
    row_ids = rows.column("$row_id").to_pylist()
    assert row_ids == [{"writeid": 0, "bucketid": BUCKET_0, "rowid": 100 + row} for row in range(7300)]
    # Impala's test of the same file: id 0 to 9 are the rows 4030 to 4039.
    places = {id_: row["rowid"] - 100 for id_, row in zip(rows.column("id").to_pylist(), row_ids, strict=True)}
    assert [places[number] for number in range(10)] == list(range(4030, 4040))


def test_skipped_stripes_of_an_original_file_count() -> None:
    path = HIVE / "alltypes_original" / "000000_0"
    file = acid_file(path, "", keys=SyntheticKeys(0, BUCKET_0, 0), original=True)
    id_ = ColumnHandle("id", pa.int32())
    wanted = TupleDomain.with_column_domains({id_: Domain.single_value(pa.int32(), 5)})
    rows = read(file, [id_, ROW_ID], predicate=wanted)
    assert rows.num_rows < 7300
    [row] = [row for row in rows.to_pylist() if row["id"] == 5]
    assert row["$row_id"]["rowid"] == 4035


def test_events_of_other_write_ids_delete_nothing(tmp_path: Path) -> None:
    """Real events of one row each: of write id 2 by 4, and of 6 by 7."""
    events = [HIVE / "delete_events" / f"delete_delta_000000{one}_000000{one}_0000" / "bucket_00000" for one in (4, 7)]
    keys = [RowKey(write_id, BUCKET_0, 0) for write_id in range(10)]
    write_acid_file(tmp_path / "bucket_00000", "k:int", inserts(keys, [(number,) for number in range(10)]))
    for visible, gone in ((ALL_VALID, {2, 6}), (ValidIds(9, (), (7,)), {2}), (ValidIds(9, (4,), (7,), 4), set())):
        file = acid_file(tmp_path / "bucket_00000", deletes=events, check_deletes=True)
        rows = read(file, [K], visible=visible).column(0).to_pylist()
        assert rows == [number for number in range(10) if number not in gone]


@pytest.mark.parametrize("stride", [0, 10_000])
@pytest.mark.parametrize("memory", [1, 1 << 28], ids=["streamed", "loaded"])
@pytest.mark.parametrize("key_index", ["right", "absent", "empty", "short", "long", "garbled"])
def test_stripes_with_and_without_a_key_index(tmp_path: Path, key_index: str, memory: int, stride: int) -> None:
    keys = [RowKey(1, BUCKET_0, row) for row in range(100)]
    layout = OrcLayout(stripe_rows=7, stride=stride, key_index=key_index)  # type: ignore[arg-type]  # one of its kinds
    gone = [key for key in keys if key.row_id % 13 in (0, 6)]
    write_acid_file(tmp_path / "a", "k:int,v:string", inserts(keys, [(n, f"v{n}") for n in range(100)]), layout)
    write_acid_file(tmp_path / "d", "k:int,v:string", deletes(gone, 2), layout)
    file = acid_file(tmp_path / "a", deletes=[tmp_path / "d"])
    half = file.size // 2
    ranges = [(0, half), (half, file.size - half)]
    rows = [row for start, length in ranges for row in _numbers(file, start, length, memory)]
    assert rows == [number for number in range(100) if number % 13 not in (0, 6)]
    wanted = TupleDomain.with_column_domains({K: Domain.single_value(pa.int32(), 50)})
    assert 50 in read(file, [K], predicate=wanted, memory=memory).column(0).to_pylist()


def _numbers(file: AcidFile, start: int, length: int, memory: int) -> list[int]:
    found: list[int] = read(file, [K], start=start, length=length, memory=memory).column(0).to_pylist()
    return found


def test_rows_that_share_a_key_go_together(tmp_path: Path) -> None:
    """Trino once started row ids again with each page (trino 8452): one event deletes all rows of the key."""
    keys = [RowKey(1, BUCKET_0, row % 3) for row in range(9)]
    _write_events(tmp_path / "a", [(0, *key, 1, {"k": number}) for number, key in enumerate(keys)])
    write_acid_file(tmp_path / "d", "k:int", deletes([RowKey(1, BUCKET_0, 1)], 2))
    file = acid_file(tmp_path / "a", deletes=[tmp_path / "d"])
    assert read(file, [K]).column(0).to_pylist() == [0, 2, 3, 5, 6, 8]


@pytest.mark.parametrize(("operation", "directory"), [(1, "delta_1_1"), (2, "delta_1_1"), (2, "base_1")])
@pytest.mark.parametrize("columns", [[], [K], [ROW_ID]], ids=["count", "one column", "row ids"])
def test_events_of_the_layout_before_hive_3(
    tmp_path: Path, operation: int, directory: str, columns: list[ColumnHandle]
) -> None:
    row = None if operation == 2 else {"k": 2}
    _write_events(tmp_path / "a", [(0, 1, 0, 0, 1, {"k": 1}), (operation, 1, 0, 1, 1, row)])
    with pytest.raises(NotSupportedError, match=f"operation {operation}.*COMPACT") as caught:
        read(acid_file(tmp_path / "a", directory), columns)
    assert caught.value.code.name == "HIVE_ACID_LAYOUT"


def test_updates_that_an_old_compaction_left_in_a_base(tmp_path: Path) -> None:
    _write_events(tmp_path / "a", [(0, 1, 0, 0, 1, {"k": 1}), (1, 1, 0, 1, 2, {"k": 2})])
    assert read(acid_file(tmp_path / "a", "base_2"), [K]).column(0).to_pylist() == [1, 2]


@pytest.mark.parametrize("asked", [["a.b"], ["n"], ["n", "a.b"], []])
def test_a_name_with_a_dot(tmp_path: Path, asked: list[str]) -> None:
    """A dot stands for a field of a struct where columns are chosen by name."""
    row = pa.struct([("a", pa.struct([("b", pa.int32())])), ("a.b", pa.int32()), ("n", pa.int32())])
    events = [(0, 1, BUCKET_0, at, 1, {"a": {"b": 7}, "a.b": at, "n": -at}) for at in range(3)]
    _write_events(tmp_path / "a", events, row)
    file = acid_file(tmp_path / "a")
    known = {"a.b": ColumnHandle("a.b", pa.int32()), "n": ColumnHandle("n", pa.int32())}
    rows = read(file, [*(known[name] for name in asked), BUCKET]).to_pylist()
    whole = [{"a.b": at, "n": -at, "$bucket": 0} for at in range(3)]
    assert rows == [{name: row[name] for name in (*asked, "$bucket")} for row in whole]


def test_inserts_among_deletes(tmp_path: Path) -> None:
    _write_events(tmp_path / "a", [(0, 1, BUCKET_0, 0, 1, {"k": 1})])
    with pytest.raises(NotSupportedError, match=r"operation 0 in a delete_delta"):
        read(acid_file(tmp_path / "a", deletes=[tmp_path / "a"]), [K])


@pytest.mark.parametrize("columns", [[], [K]], ids=["count", "one column"])
def test_a_flat_file_among_acid_files(tmp_path: Path, columns: list[ColumnHandle]) -> None:
    write_flat_file(tmp_path / "empty", "k:int", [])
    assert read(acid_file(tmp_path / "empty"), columns).num_rows == 0
    write_flat_file(tmp_path / "full", "k:int", [(1,)])
    with pytest.raises(CorruptFileError, match="expected operation"):
        read(acid_file(tmp_path / "full"), columns)


def test_a_file_that_shrank(tmp_path: Path) -> None:
    keys = [RowKey(1, BUCKET_0, row) for row in range(5)]
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, [(row,) for row in range(5)]))
    file = acid_file(tmp_path / "a")
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-10])
    with pytest.raises(CorruptFileError, match="were there when the query was planned"):
        read(file, [K])


def test_a_delete_file_that_went_away(tmp_path: Path) -> None:
    keys = [RowKey(1, BUCKET_0, row) for row in range(5)]
    write_acid_file(tmp_path / "a", "k:int", inserts(keys, [(row,) for row in range(5)]))
    write_acid_file(tmp_path / "d", "k:int", deletes(keys[:2], 2))
    file = acid_file(tmp_path / "a", deletes=[tmp_path / "d"])
    (tmp_path / "d").unlink()
    with pytest.raises(ConnectorError, match="is not there"):
        read(file, [K])


def _write_events(
    path: Path,
    events: Sequence[tuple[int, int, int, int, int, Mapping[str, object] | None]],
    row: pa.DataType = _ROW,
) -> None:
    """A file in the order given, with no metadata, as a writer that is not Hive's leaves it."""
    types = [pa.int32(), pa.int64(), pa.int32(), pa.int64(), pa.int64(), row]
    names = ["operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row"]
    columns = [pa.array([event[at] for event in events], arrow) for at, arrow in enumerate(types)]
    orc.write_table(pa.table(columns, names), str(path))
