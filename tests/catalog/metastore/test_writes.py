"""Changes of what a metastore holds: by every kind, as an independent client sees them, and where they are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hmsclient import HMSClient

from catalog.metastore.factory import Metastore
from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.model import Database, Table
from catalog.metastore.testing import WritingChecks
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_table
from connector_spi.errors import NotSupportedError
from connector_spi.properties import parse_properties
from tests.hms import HiveMetastoreServer


class TestThrift(WritingChecks):
    @pytest.fixture
    def metastore(self, thrift_metastore: Metastore) -> Metastore:
        return thrift_metastore

    @pytest.fixture
    def has_write_ids(self, hive_metastore_server: HiveMetastoreServer) -> bool:
        return not hive_metastore_server.release.startswith("2.")


class TestEmbedded(WritingChecks):
    @pytest.fixture
    def metastore(self, embedded_metastore: Metastore) -> Metastore:
        return embedded_metastore


def test_hmsclient_sees_what_was_changed(
    thrift_metastore: Metastore, hive_metastore_server: HiveMetastoreServer
) -> None:
    if hive_metastore_server.release.startswith("4."):
        pytest.skip("hmsclient asks with get_table, which Hive 4 lacks")
    made = new_table(thrift_metastore, ("ds", "string"))
    add_partitions(thrift_metastore, made, ("a",), ("b",))
    entry = replace(made, parameters=made.parameters.with_entries({"comment": "é"}))
    thrift_metastore.writes.alter_table(made.database, "t", entry)
    thrift_metastore.writes.drop_partitions(made.database, "t", ["ds=a"])
    with HMSClient(host="127.0.0.1", port=hive_metastore_server.port) as client:
        assert client.get_table(made.database, "t").parameters["comment"] == "é"
        assert client.get_partition_names(made.database, "t", -1) == ["ds=b"]


def test_dropping_deletes_files_of_managed_tables_alone(
    thrift_metastore: Metastore, hive_metastore_server: HiveMetastoreServer, tmp_path: Path
) -> None:
    if hive_metastore_server.release.startswith("4."):
        pytest.skip("Hive 4 makes external tables of managed ones")
    database = f"db_{uuid4().hex[:12]}"
    thrift_metastore.writes.create_database(Database(database, location=f"file://{tmp_path}"))
    for kind, purge in (("MANAGED_TABLE", False), ("MANAGED_TABLE", True), ("EXTERNAL_TABLE", True)):
        folder = tmp_path / f"{kind}_{purge}".lower()
        storage = replace(STORAGE, location=f"file://{folder}")
        thrift_metastore.writes.create_table(Table(database, "t", storage, table_type=kind))
        (folder / "part-0").write_text("x")
        thrift_metastore.writes.drop_table(database, "t", delete_data=True, purge=purge)
        assert folder.exists() == (kind == "EXTERNAL_TABLE")


def test_a_read_only_metastore_refuses_every_write(tmp_path: Path) -> None:
    path = str(tmp_path / "metastore.db")
    given = {"hive.metastore": "embedded", "hive.metastore.embedded.path": path, "hive.read-only": "true"}
    metastore = metastore_kinds().open(parse_properties(metastore_kinds().properties, given, str))
    writes = metastore.writes
    table = Table("default", "t", STORAGE)
    calls: list[Callable[[], None]] = [
        lambda: writes.check_allowed("add rows"),
        lambda: writes.create_database(Database("d")),
        lambda: writes.alter_database(Database("default")),
        lambda: writes.create_table(table),
        lambda: writes.alter_table("default", "t", table),
        lambda: writes.drop_table("default", "t"),
        lambda: writes.drop_database("default"),
        lambda: writes.add_partitions("default", "t", []),
        lambda: writes.drop_partitions("default", "t", []),
        lambda: writes.set_partition_parameters("default", "t", {}),
        lambda: writes.set_table_statistics("default", "t", []),
        lambda: writes.set_partition_statistics("default", "t", {}),
        lambda: writes.drop_table_statistics("default", "t", []),
        lambda: writes.drop_partition_statistics("default", "t", [], []),
    ]
    for call in calls:
        with pytest.raises(NotSupportedError, match=r"hive\.read-only") as met:
            call()
        assert met.value.code.name == "READ_ONLY_CATALOG"
    assert metastore.reads.get_databases() == ["default"]
    metastore.close()
