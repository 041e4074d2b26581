"""``ORDER BY ... LIMIT`` reads the files that can hold the first rows, by footers and partition keys."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from connector_spi.optional.top_n import SortItem
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from tests.connectors.hive.reading import Scan, make_connector, make_session, open_metadata, scan_table
from tests.connectors.hive.table_writer import create_table, write_file


@pytest.fixture
def connector(tmp_path: Path) -> HiveConnector:
    return make_connector(tmp_path)


def first(
    connector: HiveConnector, table: str, count: int, column: str, *, ascending: bool = True, threshold: int = 0
) -> Scan:
    """What a scan reads for the first rows."""
    session = make_session(connector, top_n_statistics_threshold=threshold)

    def changed(handle: HiveTableHandle) -> HiveTableHandle:
        known = {one.name: one for one in handle.all_columns}
        item = SortItem(known[column], ascending, nulls_first=ascending)
        with open_metadata(connector, session) as metadata:
            taken = metadata.apply_top_n(session, handle, count, (item,))
        assert taken is not None
        assert isinstance(taken.table, HiveTableHandle)
        return taken.table

    return scan_table(connector, "s", table, session=session, changed=changed)


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_files_behind_the_first_rows_are_not_read(connector: HiveConnector, tmp_path: Path, file_format: str) -> None:
    parts = [pa.table({"id": pa.array(range(at, at + 100), pa.int64())}) for at in range(0, 500, 100)]
    create_table(connector.metastore, tmp_path, "s", "t", parts[0], file_format=file_format)
    for number, part in enumerate(parts[1:], 1):
        write_file(tmp_path / "s" / "t" / f"00000{number}_0", part, file_format)
    assert first(connector, "t", 10, "id").rows.column("id").to_pylist() == list(range(100))
    assert sorted(first(connector, "t", 101, "id").rows.column("id").to_pylist()) == list(range(200))
    scan = first(connector, "t", 1, "id", ascending=False)
    assert sorted(scan.rows.column("id").to_pylist()) == list(range(400, 500))
    assert (scan.summary.files_kept, scan.summary.files_total) == (1, 5)
    assert "4 files hold none of the first rows" in scan.summary.notes
    assert first(connector, "t", 1, "id", threshold=1 << 20).rows.num_rows == 500


@pytest.mark.parametrize(("ascending", "expected"), [(True, {None}), (False, {"d", "c"})])
def test_partitions_behind_the_first_rows_are_not_read(
    connector: HiveConnector, tmp_path: Path, ascending: bool, expected: set[str | None]
) -> None:
    data = pa.table({"id": pa.array(range(20), pa.int64()), "p": ["a", "b", "c", "d", None] * 4})
    create_table(connector.metastore, tmp_path, "s", "t", data, ["p"])
    scan = first(connector, "t", 4 if ascending else 5, "p", ascending=ascending)
    assert set(scan.rows.column("p").to_pylist()) == expected


def test_texts_and_filters_that_are_checked_again_leave_nothing_out(connector: HiveConnector, tmp_path: Path) -> None:
    create_table(connector.metastore, tmp_path, "s", "t", pa.table({"id": [1], "s": ["a"], "d": [1.0]}))
    session = make_session(connector, top_n_statistics_threshold=0)
    with open_metadata(connector, session) as metadata:
        table = metadata.get_table_handle(session, SchemaTableName("s", "t"))
        assert table is not None
        for name in ("s", "d"):
            [column] = [one for one in table.all_columns if one.name == name]
            assert metadata.apply_top_n(session, table, 1, (SortItem(column, True, True),)) is None
