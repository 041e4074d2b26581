"""Changes of what a metastore holds, whatever it is made of; and how an independent client of Hive sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from hmsclient import HMSClient

from catalog.metastore import error_codes
from catalog.metastore.factory import Metastore, MetastoreConfig, connect
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Parameters, Table
from connector_spi.errors import MetastoreError, NotSupportedError, SchemaNotFoundError, TableNotFoundError
from tests.catalog.metastore.objects import STORAGE, add_partitions, new_database, new_table
from tests.hms import HiveMetastoreServer


def _table(metastore: Metastore, database: str, name: str = "t") -> Table:
    found = metastore.reads.get_table(database, name)
    assert found is not None
    return found


def test_a_changed_database(metastore: Metastore) -> None:
    name = new_database(metastore)
    before = metastore.reads.get_database(name)
    assert before is not None
    # Hive 2 and 3 do not change the description.
    metastore.writes.alter_database(replace(before, parameters=Parameters.of({"a": "b"})))
    after = metastore.reads.get_database(name)
    assert after is not None
    assert (after.description, dict(after.parameters), after.location) == ("for a test", {"a": "b"}, before.location)
    with pytest.raises(SchemaNotFoundError, match="no_such"):
        metastore.writes.alter_database(Database("no_such", "x"))


def test_a_changed_table_keeps_partitions_and_statistics(metastore: Metastore) -> None:
    made = new_table(metastore, ("ds", "string"))
    add_partitions(metastore, made, ("a",), ("b",))
    statistics = {"ds=a": [ColumnStatistics("id", "bigint", null_count=1, distinct_count=2)]}
    metastore.writes.set_partition_statistics(made.database, "t", statistics)
    made = _table(metastore, made.database)
    columns = (FieldSchema("id", "bigint", "other words"), *made.storage.columns[1:])
    changed = replace(
        made,
        storage=replace(made.storage, columns=columns),
        parameters=made.parameters.with_entries({"comment": "of it"}),
    )
    metastore.writes.alter_table(made.database, "T", changed)
    after = _table(metastore, made.database)
    assert after.storage.columns[0].comment == "other words"
    assert after.parameters["comment"] == "of it"
    assert metastore.reads.get_partition_names(made.database, "t") == ["ds=a", "ds=b"]
    assert metastore.reads.get_partition_statistics(made.database, "t", ["ds=a"], ["id"])["ds=a"][0].null_count == 1


def test_a_renamed_table(metastore: Metastore) -> None:
    made = replace(new_table(metastore, ("ds", "string")), table_type="EXTERNAL_TABLE")
    add_partitions(metastore, made, ("a",))
    metastore.writes.alter_table(made.database, "t", replace(_table(metastore, made.database), name="u"))
    assert metastore.reads.get_table_names(made.database) == ["u"]
    assert metastore.reads.get_partition_names(made.database, "u") == ["ds=a"]
    metastore.writes.create_table(Table(made.database, "t", STORAGE))
    with pytest.raises(MetastoreError):
        metastore.writes.alter_table(made.database, "t", replace(_table(metastore, made.database), name="u"))
    with pytest.raises(TableNotFoundError, match="no_such"):
        metastore.writes.alter_table(made.database, "no_such", made)


def test_dropped_partitions(metastore: Metastore) -> None:
    made = new_table(metastore, ("ds", "string"), ("n", "int"))
    add_partitions(metastore, made, ("a/b", "1"), ("a/b", "2"), ("c", "1"))
    metastore.writes.drop_partitions(made.database, "t", ["ds=a%2Fb/n=1", "ds=c/n=1"])
    assert metastore.reads.get_partition_names(made.database, "t") == ["ds=a%2Fb/n=2"]
    with pytest.raises(MetastoreError) as met:
        metastore.writes.drop_partitions(made.database, "t", ["ds=a%2Fb/n=2", "ds=gone/n=1"])
    assert met.value.code == error_codes.REFUSED_REQUEST
    assert metastore.reads.get_partition_names(made.database, "t") == ["ds=a%2Fb/n=2"]
    with pytest.raises(TableNotFoundError, match="no_such"):
        metastore.writes.drop_partitions(made.database, "no_such", ["ds=a/n=1"])


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
    metastore = connect(MetastoreConfig(kind="embedded", embedded_path=path, read_only=True))
    writes = metastore.writes
    table = Table("default", "t", STORAGE)
    calls: list[Callable[[], None]] = [
        lambda: writes.create_database(Database("d")),
        lambda: writes.alter_database(Database("default")),
        lambda: writes.create_table(table),
        lambda: writes.alter_table("default", "t", table),
        lambda: writes.drop_table("default", "t"),
        lambda: writes.drop_database("default"),
        lambda: writes.add_partitions("default", "t", []),
        lambda: writes.drop_partitions("default", "t", []),
        lambda: writes.set_table_statistics("default", "t", []),
        lambda: writes.set_partition_statistics("default", "t", {}),
    ]
    for call in calls:
        with pytest.raises(NotSupportedError, match=r"hive\.read-only") as met:
            call()
        assert met.value.code.name == "READ_ONLY_CATALOG"
    assert metastore.reads.get_databases() == ["default"]
    metastore.close()
