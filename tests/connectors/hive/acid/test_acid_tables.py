"""Transactional folders that others' software wrote, as tables of a metastore."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from catalog.metastore.transactions import ValidWriteIds
from connector_spi.errors import ConnectorError, FileMissingError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import Domain, TupleDomain
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from tests.connectors.hive.reading import make_session, open_metadata, read_table, scan_table
from tests.connectors.hive.table_writer import create_table, storage
from tests.paths import TABLES

NAME = SchemaTableName("s", "t")


def register(
    hive: HiveConnector, folder: str, columns: Mapping[str, str], write_ids: ValidWriteIds | None = None
) -> None:
    location = TABLES / "hive" / folder
    if not location.is_dir():
        pytest.skip(f"no Hive tables at {location}; set CONNECTOR_TEST_TABLES")
    hive.metastore.writes.create_database(Database("s"))
    fields = [FieldSchema(name, kind) for name, kind in columns.items()]
    parameters = Parameters.of({"transactional": "true"})
    hive.metastore.writes.create_table(
        Table("s", "t", storage(fields, location, "orc"), (), parameters, "MANAGED_TABLE")
    )
    if write_ids is not None:
        assert isinstance(hive.metastore.transactions, EmbeddedTransactions)
        hive.metastore.transactions.record_write_ids(write_ids)


NATION = {"n_nationkey": "int", "n_name": "string", "n_regionkey": "int", "n_comment": "string"}


def test_nation(hive: HiveConnector) -> None:
    register(hive, "nation_acid", NATION)
    scan = scan_table(hive, "s", "t")
    keys = scan.rows.column("n_nationkey").value_counts().to_pylist()
    assert {one["values"]: one["counts"] for one in keys} == {key: 1000 for key in range(25) if key not in (5, 19)}
    assert scan.summary.files_kept == 1
    assert "deletes may apply to 1 files" in scan.summary.notes


@pytest.mark.parametrize(("version", "rows"), [(2, 25000), (3, 24000), (4, 23000)])
def test_versions_of_nation(hive: HiveConnector, version: int, rows: int) -> None:
    register(hive, "nation_acid", NATION, ValidWriteIds("s.t", 4))
    assert count_at(hive, str(version)) == rows


@pytest.mark.parametrize("version", ["1", "5", "-1", "two", ""])
def test_versions_that_are_not_there(hive: HiveConnector, version: str) -> None:
    """Write id 1 was compacted into base_0000002."""
    register(hive, "nation_acid", NATION, ValidWriteIds("s.t", 4))
    with pytest.raises(ConnectorError, match=r"of s\.t|hive/nation_acid") as caught:
        count_at(hive, version)
    assert caught.value.code.name == ("HIVE_ACID_HISTORY" if version == "1" else "INVALID_ARGUMENT")


def count_at(hive: HiveConnector, version: str) -> int:
    session, every = make_session(hive), TupleDomain[ColumnHandle].all()
    transaction = hive.begin_transaction(session)
    try:
        handle = hive_handle_at(hive, version)
        with hive.split_manager.get_splits(transaction, session, handle, (), every) as source:
            splits = [split for batch in source for split in batch]
    finally:
        transaction.rollback()
    rows = 0
    for split in splits:
        with hive.page_source_provider.create_page_source(session, split, handle, (), every) as pages:
            rows += sum(batch.num_rows for batch in pages)
    return rows


def hive_handle_at(hive: HiveConnector, version: str) -> HiveTableHandle:
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        handle = metadata.get_table_handle_at(session, NAME, TableVersion(VersionKind.VERSION, version))
    assert isinstance(handle, HiveTableHandle)
    return handle


def test_a_plain_table_has_no_versions(hive: HiveConnector, tmp_path_factory: pytest.TempPathFactory) -> None:
    create_table(hive.metastore, tmp_path_factory.mktemp("t"), "s", "t", pa.table({"id": [1]}))
    with pytest.raises(NotSupportedError, match="not transactional"):
        hive_handle_at(hive, "1")


@pytest.mark.parametrize(("aborted", "rows"), [((), 4), ((1,), 2), ((2,), 2), ((1, 2), 0)])
def test_streaming(hive: HiveConnector, aborted: tuple[int, ...], rows: int) -> None:
    register(hive, "streaming", {"a": "string", "b": "string"}, ValidWriteIds("s.t", 2, (), aborted))
    assert scan_table(hive, "s", "t", []).rows.num_rows == rows
    assert read_table(hive, "s", "t", ["$row_id"]).num_rows == rows


def test_compacted_by_a_query(hive: HiveConnector) -> None:
    register(hive, "query_compacted", {"i": "int"})
    assert sorted(read_table(hive, "s", "t", ["i"]).column(0).to_pylist()) == [1, 2, 3]


def test_original_file(hive: HiveConnector) -> None:
    register(hive, "alltypes_original", {"id": "int", "bool_col": "boolean"})
    scan = scan_table(hive, "s", "t", ["id"])
    assert scan.rows.num_rows == 7300
    assert all(split.native for split in scan.splits)
    rows = read_table(hive, "s", "t", ["id", "$row_id"]).to_pylist()
    assert sorted(row["$row_id"]["rowid"] for row in rows if row["id"] < 10) == list(range(4030, 4040))


def test_small_splits_part_the_rows_of_an_original_file(hive: HiveConnector) -> None:
    register(hive, "alltypes_original", {"id": "int"})
    session = make_session(hive, max_split_size=2000)
    wanted = TupleDomain.with_column_domains({"id": Domain.single_value(pa.int32(), 5)})
    scan = scan_table(hive, "s", "t", ["id", "$row_id"], session=session)
    assert len(scan.splits) > 10
    assert sorted(row["$row_id"]["rowid"] for row in scan.rows.to_pylist()) == list(range(7300))
    some = scan_table(hive, "s", "t", ["id", "$row_id"], session=session, constraint=wanted)
    assert some.rows.num_rows < 7300
    assert [row["$row_id"]["rowid"] for row in some.rows.to_pylist() if row["id"] == 5] == [4035]


def test_files_whose_names_tell_no_bucket(hive: HiveConnector) -> None:
    """Read as they are; row ids nobody can give them."""
    register(hive, "load_data", {"name": "string"})
    assert scan_table(hive, "s", "t", []).rows.num_rows == 3
    with pytest.raises(NotSupportedError, match="its name has no bucket"):
        scan_table(hive, "s", "t", ["$row_id"])


def test_times_are_no_versions(hive: HiveConnector) -> None:
    register(hive, "query_compacted", {"i": "int"})
    session = make_session(hive)
    with open_metadata(hive, session) as metadata, pytest.raises(NotSupportedError, match="VERSION AS OF"):
        metadata.get_table_handle_at(session, NAME, TableVersion(VersionKind.TIMESTAMP, session.start))


def test_a_folder_that_is_gone_is_named(hive: HiveConnector, tmp_path: Path) -> None:
    hive.metastore.writes.create_database(Database("s"))
    fields, parameters = [FieldSchema("id", "int")], Parameters.of({"transactional": "true"})
    at = storage(fields, tmp_path / "gone", "orc")
    hive.metastore.writes.create_table(Table("s", "t", at, (), parameters, "MANAGED_TABLE"))
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        table = metadata.get_system_table(session, SystemTableName(NAME, "acid"))
        assert table is not None
        with pytest.raises(FileMissingError, match=r"the directory of table s\.t does not exist"):
            list(table.read(session, TupleDomain.all()))


def test_folders_are_shown(hive: HiveConnector) -> None:
    register(hive, "nation_acid", NATION, ValidWriteIds("s.t", 4, (), (4,)))
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        table = metadata.get_system_table(session, SystemTableName(NAME, "acid"))
        assert table is not None
        rows = [row for batch in table.read(session, TupleDomain.all()) for row in batch.to_pylist()]
    assert [(row["path"], row["kind"], row["files"], row["in_snapshot"]) for row in rows] == [
        ("base_0000002", "base", 1, True),
        ("delete_delta_0000003_0000003_0000", "delete_delta", 1, True),
        ("delete_delta_0000004_0000004_0000", "delete_delta", 1, False),
    ]
    assert rows[2]["reason"] == "its transaction was aborted"
