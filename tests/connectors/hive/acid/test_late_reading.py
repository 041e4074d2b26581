"""Files with deletes that are read by a filter: rows come by the filter and the deletes at once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.acid.valid_ids import ValidIds
from tests.connectors.hive.acid.pages import acid_file, read
from tests.connectors.hive.acid.writer import OrcLayout, RowKey
from tests.connectors.hive.acid.writer.orc_files import deletes, inserts, write_acid_file

_BUCKET_0 = 536870912
_K, _V = ColumnHandle("k", pa.int32()), ColumnHandle("v", pa.string())
_ROW_ID = ACID_HIDDEN_COLUMNS[0]
# Pairs of write id and row id: in order with gaps, or with keys that occur twice, as Trino once wrote them.
_KEYS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), max_size=24).map(sorted)


def _below(bound: int) -> TupleDomain[ColumnHandle]:
    values = ValueSet.of_ranges(pa.int32(), [Range.less_than(pa.int32(), bound)])
    return TupleDomain.with_column_domains({_K: Domain(values, null_allowed=False)})


@given(
    keys=_KEYS,
    gone=st.sets(st.tuples(st.integers(1, 3), st.integers(0, 9))),
    bound=st.integers(0, 24),
    stripe_rows=st.integers(1, 9),
    batch_rows=st.integers(1, 9),
    columns=st.permutations([_K, _V, _ROW_ID]),
    invalid=st.sets(st.integers(1, 3)),
)
def test_rows_that_fit_and_are_not_deleted(
    keys: list[tuple[int, int]],
    gone: set[tuple[int, int]],
    bound: int,
    stripe_rows: int,
    batch_rows: int,
    columns: list[ColumnHandle],
    invalid: set[int],
) -> None:
    """All rows that fit are there with their own values, and no row that is deleted or of a write id in doubt."""
    layout = OrcLayout(stripe_rows=stripe_rows)
    rows = [(number * 7 % 24, f"v{number}") for number in range(len(keys))]
    with tempfile.TemporaryDirectory() as folder:
        data, events = Path(folder) / "a", Path(folder) / "d"
        own = [RowKey(write_id, _BUCKET_0, row) for write_id, row in keys]
        write_acid_file(data, "k:int,v:string", inserts(own, rows), layout)
        write_acid_file(
            events, "k:int,v:string", deletes([RowKey(one, _BUCKET_0, row) for one, row in sorted(gone)], 4)
        )
        file = acid_file(data, "delta_0000001_0000003", check_write_ids=True, deletes=[events])
        visible = ValidIds(4, tuple(sorted(invalid)))
        found = read(file, columns, visible=visible, predicate=_below(bound), batch_rows=batch_rows).to_pylist()
    seen = [
        (row, {"k": row[0], "v": row[1], _ROW_ID.name: {"writeid": key[0], "bucketid": _BUCKET_0, "rowid": key[1]}})
        for key, row in zip(keys, rows, strict=True)
        if key not in gone and key[0] not in invalid
    ]
    assert [row for row in found if row["k"] < bound] == [shown for row, shown in seen if row[0] < bound]
    left = iter([shown for _, shown in seen])
    assert all(row in left for row in found)


@pytest.mark.parametrize("gone", [[0], [9], [10], [19], [0, 9, 10, 19], list(range(10)), list(range(20))])
@pytest.mark.parametrize("wanted", [[0], [9], [10], [19], [0, 19], [9, 10], list(range(18))])
@pytest.mark.parametrize("key_index", ["right", "absent"])
def test_deletes_at_the_ends_of_stripes(tmp_path: Path, gone: list[int], wanted: list[int], key_index: str) -> None:
    """Two stripes of ten rows each."""
    keys = [RowKey(1, _BUCKET_0, row) for row in range(20)]
    layout = OrcLayout(stripe_rows=10, key_index=key_index)  # type: ignore[arg-type]  # one of its kinds
    write_acid_file(tmp_path / "a", "k:int,v:string", inserts(keys, [(row, f"v{row}") for row in range(20)]), layout)
    write_acid_file(tmp_path / "d", "k:int,v:string", deletes([keys[row] for row in gone], 2), layout)
    predicate = TupleDomain.with_column_domains({_K: Domain.multiple_values(pa.int32(), wanted)})
    rows = read(acid_file(tmp_path / "a", deletes=[tmp_path / "d"]), [_V, _K], predicate=predicate).to_pylist()
    expected = [row for row in wanted if row not in gone]
    assert [row["k"] for row in rows if row["k"] in wanted] == expected
    assert not any(row["k"] in gone for row in rows)
    assert all(row["v"] == f"v{row['k']}" for row in rows)


def test_rows_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    keys = [RowKey(1, _BUCKET_0, row) for row in range(20)]
    write_acid_file(tmp_path / "a", "k:int,v:string", inserts(keys, [(row, "") for row in range(20)]))
    write_acid_file(tmp_path / "d", "k:int,v:string", deletes(keys[3:5], 2))
    file = acid_file(tmp_path / "a", deletes=[tmp_path / "d"])
    assert read(file, [_K, _V], predicate=_below(6)).column("k").to_pylist() == [0, 1, 2, 5]
