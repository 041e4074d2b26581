"""Tables that cannot be read right, and files that are wrong: each by name, with a code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connector_spi.errors import ConnectorError, CorruptFileError, FileMissingError, NotSupportedError
from connector_spi.metadata import SupportsTableRedirection
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connectors.hive.connector import HiveConnector
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, make_session, open_metadata, read_table, scan_table
from tests.connectors.hive.table_writer import create_table, storage, write_file

_DATA = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
_HUDI = "org.apache.hudi.hadoop.HoodieParquetInputFormat"


def _table(folder: Path, **changes: object) -> Table:
    columns = [FieldSchema("id", "bigint")]
    table = Table("s", "t", storage(columns, folder / "s" / "t", "parquet"), (), Parameters(), "EXTERNAL_TABLE")
    return replace(table, **changes)  # type: ignore[arg-type]  # fields of the table


def _with_classes(folder: Path, input_format: str, serde: str) -> StorageDescriptor:
    known = storage([FieldSchema("id", "bigint")], folder / "s" / "t", "parquet")
    return replace(known, input_format=input_format, serde=SerDeInfo(serde))


def _refusal(hive: HiveConnector, table: Table) -> ConnectorError:
    if hive.metastore.reads.get_database("s") is None:
        hive.metastore.writes.create_database(Database("s"))
    hive.metastore.writes.create_table(table)
    session = make_session(hive)
    with open_metadata(hive, session) as metadata, pytest.raises(ConnectorError) as caught:
        metadata.get_table_handle(session, SchemaTableName("s", "t"))
    assert "s.t" in caught.value.message
    return caught.value


@pytest.mark.parametrize("key", ["transactional", "TRANSACTIONAL"])
@pytest.mark.parametrize("value", ["true", "TRUE"])
def test_transactional_tables_with_deletes_in_another_format(
    hive: HiveConnector, tmp_path: Path, key: str, value: str
) -> None:
    error = _refusal(hive, _table(tmp_path, parameters=Parameters.of({key: value})))
    assert isinstance(error, NotSupportedError)
    assert error.code.name == "HIVE_TRANSACTIONAL_TABLE"
    assert "parquet" in error.message


def test_transactional_tables_of_an_unknown_kind(hive: HiveConnector, tmp_path: Path) -> None:
    parameters = Parameters.of({"transactional": "true", "transactional_properties": "append_and_pray"})
    error = _refusal(hive, _table(tmp_path, parameters=parameters))
    assert error.code.name == "HIVE_TRANSACTIONAL_TABLE"
    assert "append_and_pray" in error.message


def test_views(hive: HiveConnector, tmp_path: Path) -> None:
    view = _table(tmp_path, table_type="VIRTUAL_VIEW", view_expanded_text="SELECT 1", storage=StorageDescriptor())
    error = _refusal(hive, view)
    assert error.code.name == "HIVE_VIEW"
    assert "SELECT 1" in error.message


@pytest.mark.parametrize(
    ("input_format", "serde", "named"),
    [
        ("org.apache.hadoop.mapred.TextInputFormat", "com.acme.SerDe", r"com.acme.SerDe"),
        ("com.acme.Format", "com.acme.SerDe", r"com.acme.Format"),
        (
            "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
            "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
            "ParquetHiveSerDe",
        ),
        ("", "", "(none)"),
    ],
)
def test_unknown_formats(hive: HiveConnector, tmp_path: Path, input_format: str, serde: str, named: str) -> None:
    error = _refusal(hive, _table(tmp_path, storage=_with_classes(tmp_path, input_format, serde)))
    assert error.code.name == "HIVE_UNSUPPORTED_FORMAT"
    assert named in error.message


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"table_type": "ICEBERG"}, "HIVE_ICEBERG_TABLE"),
        ({"spark.sql.sources.provider": "delta"}, "HIVE_DELTA_LAKE_TABLE"),
        ({"storage_handler": "com.acme.Handler"}, "HIVE_UNSUPPORTED_FORMAT"),
    ],
)
def test_tables_that_are_not_their_files(
    hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], code: str
) -> None:
    assert _refusal(hive, _table(tmp_path, parameters=Parameters.of(parameters))).code.name == code


def test_a_delta_log_in_the_folder(hive: HiveConnector, tmp_path: Path) -> None:
    (tmp_path / "s" / "t" / "_delta_log").mkdir(parents=True)
    assert _refusal(hive, _table(tmp_path)).code.name == "HIVE_DELTA_LAKE_TABLE"


@pytest.mark.parametrize("sign", ["input format", "provider", "folder"])
def test_hudi_tables_are_redirected_and_never_read_as_files(hive: HiveConnector, tmp_path: Path, sign: str) -> None:
    table = _table(tmp_path)
    if sign == "input format":
        serde = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
        table = _table(tmp_path, storage=_with_classes(tmp_path, _HUDI, serde))
    elif sign == "provider":
        table = _table(tmp_path, parameters=Parameters.of({"spark.sql.sources.provider": "hudi"}))
    else:
        (tmp_path / "s" / "t" / ".hoodie").mkdir(parents=True)
    error = _refusal(hive, table)
    assert error.code.name == "HIVE_HUDI_TABLE"
    assert "connector.name=hudi" in error.message
    create_table(hive.metastore, tmp_path / "plain", "s", "plain", _DATA)
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        assert isinstance(metadata, SupportsTableRedirection)
        found = metadata.redirect_table(session, SchemaTableName("s", "t"))
        assert found is not None
        assert found.connector_name == "hudi"
        assert dict(found.properties)["hive.metastore.embedded.path"] == str(tmp_path / "metastore.db")
        assert metadata.redirect_table(session, SchemaTableName("s", "plain")) is None
        assert metadata.redirect_table(session, SchemaTableName("s", "none")) is None


def test_storage_is_asked_once_whether_a_table_is_hudis(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an object store that is two requests, in each plan. Who was not asked about redirection asks itself."""
    create_table(hive.metastore, tmp_path / "plain", "s", "plain", _DATA)
    name, session = SchemaTableName("s", "plain"), make_session(hive)
    asked: list[str] = []
    exists = FileSystem.exists

    def noted(files: FileSystem, uri: str) -> bool:
        asked.append(uri)
        return exists(files, uri)

    monkeypatch.setattr(FileSystem, "exists", noted)
    with open_metadata(hive, session) as metadata:
        assert isinstance(metadata, SupportsTableRedirection)
        assert metadata.redirect_table(session, name) is None
        assert metadata.get_table_handle(session, name) is not None
    with open_metadata(hive, session) as metadata:
        assert metadata.get_table_handle(session, name) is not None
    assert [uri.rpartition("/")[2] for uri in asked] == [".hoodie", "_delta_log"] * 2


def test_a_type_that_is_not_supported_names_its_column(hive: HiveConnector, tmp_path: Path) -> None:
    columns = [FieldSchema("id", "bigint"), FieldSchema("u", "map<int,interval_day_time>")]
    error = _refusal(hive, _table(tmp_path, storage=storage(columns, tmp_path / "s" / "t", "orc")))
    assert error.code.name == "HIVE_UNSUPPORTED_TYPE"
    assert "'u'" in error.message


def test_a_union_in_files_that_have_none(hive: HiveConnector, tmp_path: Path) -> None:
    columns = [FieldSchema("id", "bigint"), FieldSchema("u", "array<uniontype<int,string>>")]
    error = _refusal(hive, _table(tmp_path, storage=storage(columns, tmp_path / "s" / "t", "parquet")))
    assert error.code.name == "HIVE_UNSUPPORTED_TYPE"
    assert "'u'" in error.message
    assert "parquet" in error.message


@pytest.mark.parametrize(
    "name",
    ["delta_0000001_0000001_0000", "base_0000002", "delete_delta_0000003_0000003", "base_-9223372036854775808"],
)
def test_folders_of_a_transaction_in_a_plain_table(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _DATA)
    write_file(tmp_path / "s" / "t" / name / "bucket_00000", _DATA, "parquet")
    with pytest.raises(NotSupportedError, match=name) as caught:
        scan_table(hive, "s", "t")
    assert caught.value.code.name == "HIVE_ACID_LAYOUT"


def test_files_that_are_no_data(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _DATA)
    folder = tmp_path / "s" / "t"
    for name in ("_SUCCESS", ".000000_0.crc", "_temporary/0/x", ".hive-staging_x/000000_0", "a/_b/c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"no data")
    (folder / "000001_0").write_bytes(b"")
    write_file(folder / "sub" / "000000_0", _DATA, "parquet")
    assert read_table(hive, "s", "t").num_rows == 6


def test_folders_below_can_be_left_out(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, hive_recursive__directories="false")
    create_table(hive.metastore, tmp_path, "s", "t", _DATA)
    write_file(tmp_path / "s" / "t" / "sub" / "000000_0", _DATA, "parquet")
    assert read_table(hive, "s", "t").num_rows == 3
    hive.shutdown()


def test_a_table_may_lie_below_a_hidden_folder(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path / "_hidden" / ".warehouse", "s", "t", _DATA)
    assert read_table(hive, "s", "t").num_rows == 3


def test_a_missing_table_folder(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _DATA)
    (tmp_path / "s" / "t" / "000000_0").unlink()
    assert read_table(hive, "s", "t").num_rows == 0
    (tmp_path / "s" / "t").rmdir()
    with pytest.raises(FileMissingError, match=r"the directory of table s\.t does not exist"):
        read_table(hive, "s", "t")


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_file_that_is_damaged_or_vanishes_after_planning(
    hive: HiveConnector, tmp_path: Path, file_format: str
) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _DATA, file_format=file_format)
    file = tmp_path / "s" / "t" / "000000_0"
    session = make_session(hive)
    transaction = hive.begin_transaction(session)
    metadata = hive.get_metadata(transaction)
    handle = metadata.get_table_handle(session, SchemaTableName("s", "t"))
    assert handle is not None
    columns = tuple(metadata.get_column_handles(session, handle).values())[:1]
    with hive.split_manager.get_splits(transaction, session, handle, columns, TupleDomain.all()) as source:
        [split] = [split for batch in source for split in batch]
    transaction.rollback()

    def read() -> None:
        with hive.page_source_provider.create_page_source(session, split, handle, columns, TupleDomain.all()) as pages:
            list(pages)

    read()
    file.write_bytes(b"something else, longer than the file was" * 50)
    with pytest.raises(CorruptFileError, match="000000_0"):
        read()
    file.unlink()
    with pytest.raises(FileMissingError, match="000000_0"):
        read()
