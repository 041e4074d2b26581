"""A table that is replaced: what stays where the metastore gives no answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.embedded.metastore import EmbeddedMetastore
from catalog.metastore.error_codes import CONNECTION_FAILED, REFUSED_REQUEST
from catalog.metastore.model import Database, Table
from connector_spi.errors import ErrorCode, MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import ColumnMetadata
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.registration.renames import take_name
from connectors.hive.registration.replacement import swap
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_session, open_metadata, read_table
from tests.connectors.hive.table_writer import create_table

_OLD, _NEW = SchemaTableName("s", "old"), SchemaTableName("s", "new")
_Alter = Callable[[EmbeddedMetastore, str, str, Table], None]


@pytest.mark.parametrize(("code", "kept"), [(CONNECTION_FAILED, True), (REFUSED_REQUEST, False)])
def test_new_rows_stay_where_the_metastore_may_have_taken_them(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: ErrorCode, kept: bool
) -> None:
    for name in ("old", "new"):
        create_table(hive.metastore, tmp_path, "s", name, pa.table({"id": [1]}), file_format="orc")

    def fail(*arguments: object) -> None:
        raise MetastoreError("no answer", code)

    monkeypatch.setattr("connectors.hive.registration.replacement.is_swapped", lambda old, new: True)
    monkeypatch.setattr(EmbeddedMetastore, "alter_table", fail)
    with pytest.raises(MetastoreError, match="no answer"):
        swap(hive.metastore, FileSystem(), SchemaTableName("s", "old"), SchemaTableName("s", "new"))
    assert (tmp_path / "s" / "old").exists()
    assert (tmp_path / "s" / "new").exists() is kept


def _refuse(monkeypatch: pytest.MonkeyPatch, refused: Callable[[str, str], bool], *, first: bool = False) -> None:
    """Lets renames fail by their old and new name, before they are done or after that."""
    alter: _Alter = EmbeddedMetastore.alter_table

    def fail(self: EmbeddedMetastore, database: str, name: str, table: Table) -> None:
        if refused(name, table.name):
            if first:
                alter(self, database, name, table)
            raise MetastoreError("no answer", CONNECTION_FAILED)
        alter(self, database, name, table)

    monkeypatch.setattr(EmbeddedMetastore, "alter_table", fail)


def _two_tables(hive: HiveConnector, folder: Path) -> None:
    for number, name in enumerate((_OLD, _NEW)):
        create_table(hive.metastore, folder, "s", name.table, pa.table({"id": [number]}), file_format="orc")


def test_a_name_is_given_back(hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _two_tables(hive, tmp_path)
    _refuse(monkeypatch, lambda name, new: (name, new) == ("new", "old"))
    with pytest.raises(MetastoreError, match="no answer"):
        take_name(hive.metastore, _OLD, _NEW)
    assert hive.metastore.reads.get_table_names("s") == ["new", "old"]
    assert read_table(hive, "s", "old").to_pydict() == {"id": [0]}


def test_a_name_that_is_not_given_back_is_told(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _two_tables(hive, tmp_path)
    _refuse(monkeypatch, lambda name, new: new == "old")
    with pytest.raises(MetastoreError, match=r"run ALTER TABLE s\.old__old_\w+ RENAME TO s\.old"):
        take_name(hive.metastore, _OLD, _NEW)
    assert len(hive.metastore.reads.get_table_names("s")) == 2


def test_answers_that_are_lost_are_no_failures(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _two_tables(hive, tmp_path)
    _refuse(monkeypatch, lambda name, new: name != new, first=True)
    aside = take_name(hive.metastore, _OLD, _NEW)
    assert hive.metastore.reads.get_table_names("s") == ["old", aside.table]
    assert read_table(hive, "s", "old").to_pydict() == {"id": [1]}


def test_rows_that_come_meanwhile_are_not_lost_with_the_old_table(hive: HiveConnector, tmp_path: Path) -> None:
    acid = (("transactional", "true"),)
    hive.metastore.writes.create_database(Database("s", location=(tmp_path / "s").as_uri()))
    name = SchemaTableName("s", "t")
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        metadata.create_table(session, TableDefinition(name, (ColumnMetadata("id", pa.int64()),), properties=acid))
    with open_metadata(hive, session) as metadata:
        other = TableDefinition(name, (ColumnMetadata("other", pa.string()),), properties=acid)
        made = metadata.begin_replace_table(session, other)
        assert made is not None
        insert_rows(hive, name, [pa.table({"id": [7]})])
        with pytest.raises(MetastoreError) as caught:
            metadata.finish_replace_table(session, name, made)
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert read_table(hive, "s", "t").to_pydict() == {"id": [7]}
    with open_metadata(hive, session) as metadata:
        metadata.finish_replace_table(session, name, made)
    assert read_table(hive, "s", "t").to_pydict() == {"other": []}
    assert hive.metastore.reads.get_table_names("s") == ["t"]


def test_rows_for_the_old_table_are_not_put_into_the_new_one(hive: HiveConnector, tmp_path: Path) -> None:
    hive.metastore.writes.create_database(Database("s", location=(tmp_path / "s").as_uri()))
    name, session = SchemaTableName("s", "t"), make_session(hive)

    def keyed(data_type: pa.DataType) -> TableDefinition:
        columns = (ColumnMetadata("id", data_type), ColumnMetadata("k", pa.string()))
        return TableDefinition(name, columns, partitioned_by=("k",))

    def insert_while_it_is_replaced() -> None:
        with ReferenceQuery(hive) as query:
            insert = ReferenceInsert(query, name)
            written = insert.write(pa.table({"id": [7], "k": ["a"]}))
            with open_metadata(hive, session) as metadata:
                made = metadata.begin_replace_table(session, keyed(pa.string()))
                assert made is not None
                metadata.finish_replace_table(session, name, made)
            insert.finish([written])

    with open_metadata(hive, session) as metadata:
        metadata.create_table(session, keyed(pa.int64()))
    with pytest.raises(MetastoreError, match="has replaced the table meanwhile") as caught:
        insert_while_it_is_replaced()
    assert caught.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert read_table(hive, "s", "t").to_pydict() == {"id": [], "k": []}
