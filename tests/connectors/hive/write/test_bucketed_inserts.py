"""Rows that are added to bucketed tables: in files of their buckets, as readers that trust in them expect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import orc

from catalog.metastore.model import SortColumn
from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import Overwrite
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.write.sink import page_sink, sorted_runs
from tests.connectors.hive.reading import make_connector, make_session, read_table, scan_table
from tests.connectors.hive.table_writer import create_table

NAME = SchemaTableName("s", "t")
_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("ds", pa.string())])
_COUNT = 4
_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
_KINDS = pytest.mark.parametrize("kind", [{}, _FULL, _INSERT_ONLY], ids=["plain", "full", "insert_only"])


def rows_of(*numbers: int | None) -> pa.Table:
    return pa.table(
        {"id": numbers, "v": [f"v{n}" for n in numbers], "ds": ["x" if (n or 0) % 3 else "y" for n in numbers]}, _SCHEMA
    )


def bucketed_table(
    hive: HiveConnector,
    folder: Path,
    kind: dict[str, str],
    columns: tuple[str, ...] = ("id",),
    *,
    partitioned: bool = False,
    sorted_by: tuple[SortColumn, ...] = (),
    data: pa.Table | None = None,
    version: str = "2",
) -> Path:
    """A bucketed table without files; its directory."""
    data = rows_of() if data is None else data
    parameters = {**kind, "bucketing_version": version}
    keys = ["ds"] if partitioned else []
    create_table(hive.metastore, folder, "s", "t", data, keys, file_format="orc", parameters=parameters)
    table = hive.metastore.reads.get_table("s", "t")
    assert table is not None
    storage = replace(table.storage, bucket_count=_COUNT, bucket_columns=columns, sort_columns=sorted_by)
    hive.metastore.writes.alter_table("s", "t", replace(table, storage=storage))
    for path in (folder / "s" / "t").rglob("*"):
        path.unlink()
    return folder / "s" / "t"


def files(directory: Path) -> list[str]:
    found = (str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
    return sorted(path for path in found if not path.endswith("_orc_acid_version"))


def read(hive: HiveConnector) -> list[dict[str, object]]:
    """All rows, each checked to be in the file of its bucket."""
    session = make_session(hive, validate_bucketing=True)
    met = scan_table(hive, "s", "t", session=session).rows.select(["id", "v", "ds"])
    return sorted(met.to_pylist(), key=lambda row: (row["id"] is None, row["id"]))


@_KINDS
@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("version", ["1", "2"])
def test_rows_are_in_the_files_of_their_buckets(
    hive: HiveConnector, tmp_path: Path, kind: dict[str, str], partitioned: bool, version: str
) -> None:
    bucketed_table(hive, tmp_path, kind, partitioned=partitioned, version=version)
    first, second = rows_of(*range(50), None), rows_of(*range(50, 60))
    insert_rows(hive, NAME, [first])
    insert_rows(hive, NAME, [second])
    expected = pa.concat_tables([first.slice(0, 50), second, first.slice(50)]).to_pylist()
    assert read(hive) == expected
    # A filter reads the one file in which the row must be.
    for number in (7, 55):
        only = TupleDomain.with_column_domains({"id": Domain.single_value(pa.int64(), number)})
        scan = scan_table(hive, "s", "t", constraint=only)
        assert {"id": number, "v": f"v{number}"}.items() <= scan.rows.to_pylist()[0].items()
        assert len({split.bucket for split in scan.splits}) == 1


def test_the_names_of_files_are_hives(hive: HiveConnector, tmp_path: Path) -> None:
    directory = bucketed_table(hive, tmp_path, {})
    for _ in range(3):
        insert_rows(hive, NAME, [rows_of(*range(20))])
    assert files(directory) == [f"00000{n}_0{copy}" for n in range(_COUNT) for copy in ("", "_copy_1", "_copy_2")]


@pytest.mark.parametrize("partitioned", [False, True])
def test_tasks_that_share_buckets_make_one_file_of_each(hive: HiveConnector, tmp_path: Path, partitioned: bool) -> None:
    """Row ids count in a file, and Hive 3 reads one file of a bucket in a delta."""
    directory = bucketed_table(hive, tmp_path, _FULL, partitioned=partitioned)
    parts = [rows_of(*range(start, start + 30)) for start in (0, 30, 60)]
    insert_rows(hive, NAME, parts)
    assert read(hive) == pa.concat_tables(parts).to_pylist()
    keys = ("ds=x/", "ds=y/") if partitioned else ("",)
    assert files(directory) == [
        f"{key}delta_0000001_0000001_0000/bucket_0000{n}" for key in keys for n in range(_COUNT)
    ]
    ids = read_table(hive, "s", "t", ["$row_id", "ds"]).to_pylist()
    assert len({(row["ds"] if partitioned else "", *row["$row_id"].values()) for row in ids}) == 90


def test_tasks_that_share_buckets_of_a_table_of_inserts_alone(hive: HiveConnector, tmp_path: Path) -> None:
    directory = bucketed_table(hive, tmp_path, _INSERT_ONLY)
    insert_rows(hive, NAME, [rows_of(*range(20)), rows_of(*range(20, 40))])
    assert read(hive) == rows_of(*range(40)).to_pylist()
    delta = "delta_0000001_0000001_0000"
    assert files(directory) == [f"{delta}/00000{n}_0{copy}" for n in range(_COUNT) for copy in ("", "_copy_1")]


@_KINDS
@pytest.mark.parametrize("partitioned", [False, True])
def test_overwrites(hive: HiveConnector, tmp_path: Path, kind: dict[str, str], partitioned: bool) -> None:
    bucketed_table(hive, tmp_path, kind, partitioned=partitioned)
    insert_rows(hive, NAME, [rows_of(*range(20))])
    overwrite_rows(hive, NAME, [rows_of(*range(100, 110)), rows_of(*range(110, 120))])
    assert read(hive) == rows_of(*range(100, 120)).to_pylist()
    insert_rows(hive, NAME, [rows_of(200)])
    assert read(hive) == rows_of(*range(100, 120), 200).to_pylist()
    overwrite_rows(hive, NAME, [])
    assert read(hive) == []


@pytest.mark.parametrize("partitioned", [False, True])
def test_buckets_without_rows_get_files_where_they_are_wanted(
    hive: HiveConnector, tmp_path: Path, partitioned: bool
) -> None:
    directory = bucketed_table(hive, tmp_path, {}, partitioned=partitioned)
    key = "ds=x/" if partitioned else ""
    for _ in range(2):
        with ReferenceQuery(hive, {"create_empty_bucket_files": "true"}) as query:
            insert = ReferenceInsert(query, NAME)
            insert.finish([insert.write(rows_of(1))])
    found = files(directory)
    [twice] = [name for name in found if name.endswith("_copy_1")]
    assert found == sorted([*(f"{key}00000{n}_0" for n in range(_COUNT)), twice])
    assert read(hive) == [*rows_of(1, 1).to_pylist()]
    with ReferenceQuery(hive, {"create_empty_bucket_files": "true"}) as query:
        ReferenceInsert(query, NAME, Overwrite()).finish([])
    assert len(files(directory)) == _COUNT
    assert read(hive) == []


def test_rows_of_a_file_are_in_the_declared_order(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_sink, "MOST_WAITING_BYTES", 2000)
    monkeypatch.setattr(sorted_runs, "PIECE_BYTES", 200)
    order = (SortColumn("v", ascending=False), SortColumn("id"))
    directory = bucketed_table(hive, tmp_path, {}, sorted_by=order)
    chosen = np.random.default_rng(3).permutation(600)
    data = pa.table(
        {"id": chosen, "v": [None if n % 7 == 0 else f"v{n % 5}" for n in chosen], "ds": ["x"] * 600}, _SCHEMA
    )
    insert_rows(hive, NAME, [data])
    assert len(read(hive)) == 600
    for name in files(directory):
        met = orc.ORCFile(str(directory / name)).read().select(["v", "id"]).to_pandas()
        # NULL is less than all texts, so that it is last of those that descend.
        expected = met.sort_values(["v", "id"], ascending=[False, True], na_position="last", ignore_index=True)
        assert met.equals(expected)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=30), max_size=4), st.booleans()
)
def test_any_rows_by_any_tasks(
    tmp_path_factory: pytest.TempPathFactory, tasks: list[list[int | None]], transactional: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    hive = make_connector(folder)
    try:
        bucketed_table(hive, folder, _FULL if transactional else {}, ("v", "id"))
        insert_rows(hive, NAME, [rows_of(*numbers) for numbers in tasks])
        expected = [n for numbers in tasks for n in numbers]
        assert [row["id"] for row in read(hive)] == sorted(expected, key=lambda n: (n is None, n))
    finally:
        hive.shutdown()


def test_what_cannot_be_bucketed_as_by_hive_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    times = pa.table({"at": pa.array([], pa.timestamp("us")), "v": pa.array([], pa.string())})
    bucketed_table(hive, tmp_path, {}, ("at",), data=times)
    with pytest.raises(NotSupportedError, match="bucketed by 'at', of type timestamp"):
        insert_rows(hive, NAME, [times])


def test_sorted_tables_with_row_ids_are_refused_as_by_hive(hive: HiveConnector, tmp_path: Path) -> None:
    bucketed_table(hive, tmp_path, _FULL, sorted_by=(SortColumn("id"),))
    with pytest.raises(NotSupportedError, match="SORTED BY 'id'"):
        insert_rows(hive, NAME, [rows_of(1)])


def test_a_partition_of_other_buckets_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    bucketed_table(hive, tmp_path, {}, partitioned=True)
    insert_rows(hive, NAME, [rows_of(1)])
    table = hive.metastore.reads.get_table("s", "t")
    assert table is not None
    altered = replace(table, storage=replace(table.storage, bucket_count=8))
    hive.metastore.writes.alter_table("s", "t", altered)
    with pytest.raises(NotSupportedError, match=r"partition ds=x .*other buckets"):
        insert_rows(hive, NAME, [rows_of(2)])
    assert [row["id"] for row in read_table(hive, "s", "t").to_pylist()] == [1]
