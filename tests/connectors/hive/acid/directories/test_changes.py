"""Changes of insert-only tables, dates of deletes, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.transactions import ValidWriteIds
from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError, ResourceError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing import ReferenceQuery
from connectors.hive import error_codes
from connectors.hive.acid.key_range import Key
from connectors.hive.acid.read.dated_deletes import NEVER, DatedDeletes
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.acid.test_delete_set import KEYS, runs
from tests.connectors.hive.acid_writer import AcidFolder, Flush, RowKey
from tests.connectors.hive.table_writer import create_table, write_file

NAME = SchemaTableName("s", "t")
BUCKET_0 = 536870912

Told = list[tuple[int, str, int]]


def made(hive: HiveConnector, root: Path, last: int, aborted: tuple[int, ...] = (), *, insert_only: bool) -> Path:
    """The folder of an empty table with the write ids up to ``last``."""
    parameters = {"transactional": "true"} | ({"transactional_properties": "insert_only"} if insert_only else {})
    nothing = pa.table({"id": pa.array([], pa.int32())})
    file_format = "parquet" if insert_only else "orc"
    create_table(hive.metastore, root, "s", "t", nothing, file_format=file_format, parameters=parameters)
    assert isinstance(hive.metastore.transactions, EmbeddedTransactions)
    hive.metastore.transactions.record_write_ids(ValidWriteIds("s.t", last, (), aborted))
    folder = root / "s" / "t"
    for path in folder.iterdir():
        path.unlink()
    return folder


def put(folder: Path, contents: Mapping[str, list[int]]) -> None:
    """Files of insert-only deltas and bases, by the path of each."""
    for path, ids in contents.items():
        write_file(folder / path, pa.table({"id": pa.array(ids, pa.int32())}), "parquet")


def told(
    hive: HiveConnector,
    start: int | None = None,
    end: int | None = None,
    domain: TupleDomain[str] | None = None,
    **properties: str,
) -> Told:
    """Version, kind and id of the changes after ``start`` up to ``end``, sorted."""
    bounds = [None if one is None else TableVersion(VersionKind.VERSION, str(one)) for one in (start, end)]
    with ReferenceQuery(hive, properties) as query:
        scan = query.changes(NAME, ChangeRange(bounds[0], bounds[1], start_inclusive=False))
        found = scan.filter_by_name(domain or TupleDomain.all()).read()
    return sorted(
        zip(*(found.column(name).to_pylist() for name in ("_commit_version", "_change_type", "id")), strict=True)
    )


HISTORY = {
    "000000_0": [0],
    "delta_0000001_0000001_0000/000000_0": [1, 2],
    "delta_0000002_0000002_0000/000000_0": [9],
    "delta_0000003_0000003_0000/HIVE_UNION_SUBDIR_1/000000_0": [3],
    "delta_0000003_0000003_0001/000000_0": [4],
}


def test_insert_only_deltas_are_inserts_of_their_write_ids(hive: HiveConnector, tmp_path: Path) -> None:
    put(made(hive, tmp_path, 4, (2,), insert_only=True), HISTORY)
    expected = [(0, "insert", 0), (1, "insert", 1), (1, "insert", 2), (3, "insert", 3), (3, "insert", 4)]
    assert told(hive) == expected
    assert told(hive, 0) == expected[1:]
    assert told(hive, 1, 3) == expected[3:]
    assert told(hive, 3) == []
    only = TupleDomain({"_commit_version": Domain.single_value(pa.int64(), 1)})
    assert told(hive, domain=only) == expected[1:3]


def test_an_overwritten_insert_only_table(hive: HiveConnector, tmp_path: Path) -> None:
    """What was there goes at the write id of the INSERT OVERWRITE or TRUNCATE."""
    folder = made(hive, tmp_path, 7, (6,), insert_only=True)
    put(
        folder,
        {
            "base_0000002/000000_0": [1, 2],
            "delta_0000003_0000003_0000/000000_0": [3],
            "base_0000004/000000_0": [4],
            "delta_0000005_0000005_0000/000000_0": [5],
            "base_0000006/000000_0": [6],
        },
    )
    (folder / "base_0000007").mkdir()
    (folder / "base_0000007" / "_orc_acid_version").write_text("2")
    fourth = [(4, "delete", 1), (4, "delete", 2), (4, "delete", 3), (4, "insert", 4)]
    later = [(5, "insert", 5), (7, "delete", 4), (7, "delete", 5)]
    assert told(hive, 2) == [(3, "insert", 3), *fourth, *later]
    assert told(hive, 3, 4) == fourth
    assert told(hive, 4) == later
    deletes = TupleDomain({"_change_type": Domain.single_value(pa.string(), "delete")})
    assert told(hive, 4, domain=deletes) == later[1:]
    with pytest.raises(InvalidArgumentError, match="changes left there: after version 2") as met:
        told(hive, 1)
    assert met.value.code == error_codes.HIVE_ACID_HISTORY


def test_merged_insert_only_deltas(hive: HiveConnector, tmp_path: Path) -> None:
    """Rows of an insert-only table hold no write id: what compaction merged is told only where the parts are left."""
    folder = made(hive, tmp_path, 4, insert_only=True)
    parts = {f"delta_000000{one}_000000{one}_0000/000000_0": [one] for one in (1, 2, 3, 4)}
    merged = {"delta_0000001_0000003_v0000009/000000_0": [1, 2, 3]}
    put(folder, {**parts, **merged})
    assert told(hive) == [(one, "insert", one) for one in (1, 2, 3, 4)]
    (folder / "delta_0000002_0000002_0000" / "000000_0").unlink()
    (folder / "delta_0000002_0000002_0000").rmdir()
    for start in (None, 0, 1, 2):
        with pytest.raises(InvalidArgumentError, match="after version 3"):
            told(hive, start)
    assert told(hive, 3) == [(4, "insert", 4)]


def test_a_row_that_one_write_id_inserts_and_deletes_is_no_change(hive: HiveConnector, tmp_path: Path) -> None:
    folder = AcidFolder(made(hive, tmp_path, 2, insert_only=False), "id:int")
    folder.insert(1, {0: [(1,), (2,)]}, 0)
    folder.delete(1, [RowKey(1, BUCKET_0, 0)], 1)
    folder.delete(2, [RowKey(1, BUCKET_0, 1)], 0)
    assert told(hive) == [(1, "insert", 2), (2, "delete", 2)]


def test_a_row_that_two_deleted_went_once(hive: HiveConnector, tmp_path: Path) -> None:
    folder = AcidFolder(made(hive, tmp_path, 4, (2,), insert_only=False), "id:int")
    keys = list(folder.insert(1, {0: [(1,)]}))
    for write_id in (4, 3, 2):
        folder.delete(write_id, keys)
    assert told(hive) == [(1, "insert", 1), (3, "delete", 1)]
    assert told(hive, 3) == []


def test_more_deletes_than_memory_are_refused(hive: HiveConnector, tmp_path: Path) -> None:
    folder = AcidFolder(made(hive, tmp_path, 2, insert_only=False), "id:int")
    folder.delete(2, list(folder.insert(1, {0: [(number,) for number in range(100)]})))
    with pytest.raises(ResourceError, match="max_delete_memory allows; raise it, or ask for the changes of fewer"):
        told(hive, max_delete_memory="1kB")
    assert len(told(hive)) == 200


def test_an_overwrite_inside_of_a_batch_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    folder = AcidFolder(made(hive, tmp_path, 4, insert_only=False), "id:int")
    folder.stream(0, [Flush(1, [(1,)]), Flush(2, [(2,)]), Flush(3, [(3,)])])
    folder.overwrite(2, {0: [(4,)]})
    with pytest.raises(NotSupportedError, match="base_0000002 replaced everything while delta_0000001_0000003 was"):
        told(hive)


def test_changes_of_a_plain_table_are_refused(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", pa.table({"id": [1]}))
    with pytest.raises(NotSupportedError, match=r"changes of s\.t cannot be read: it is not transactional"):
        told(hive)


def test_a_folder_that_is_gone_is_an_error(hive: HiveConnector, tmp_path: Path) -> None:
    made(hive, tmp_path, 1, insert_only=False).rmdir()
    with pytest.raises(ConnectorError) as met:
        told(hive)
    assert met.value.code == error_codes.HIVE_MISSING_PARTITION_FOLDER


@given(events=st.lists(st.lists(st.tuples(KEYS, st.integers(1, 5)), max_size=8), max_size=4), rows=st.lists(KEYS))
def test_dates_of_deletes(events: list[list[tuple[Key, int]]], rows: list[Key]) -> None:
    """Of several events of one row the first in the order of write ids counts."""
    parts = [runs([key for key, _ in part]) for part in events]
    dated = DatedDeletes(parts, [np.array([date for _, date in part], dtype=np.int64) for part in events])
    first: dict[Key, int] = {}
    for key, date in (event for part in events for event in part):
        first[key] = min(date, first.get(key, NEVER))
    assert dated.dates(runs(rows)).tolist() == [first.get(row, NEVER) for row in rows]
