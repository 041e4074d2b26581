"""Where users are impersonated, nothing is asked of the metastore as the catalog's own user."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.definitions import PartitionDefinition, TableDefinition
from connector_spi.predicate import TupleDomain
from connector_spi.properties import parse_properties
from connector_spi.schema import ColumnMetadata
from connectors.hive.connector import HiveConnector, HiveFactory
from connectors.hive.metadata import HiveMetadata
from tests.catalog.metastore.impersonated import Impersonated
from tests.connectors.hive.reading import make_session, open_metadata, scan_table

NAME, RENAMED = SchemaTableName("s", "t"), SchemaTableName("s", "u")


@pytest.fixture
def impersonated(tmp_path: Path) -> Impersonated:
    return Impersonated(tmp_path)


@pytest.fixture
def hive(impersonated: Impersonated) -> Iterator[HiveConnector]:
    given = {"hive.metastore.uri": "thrift://127.0.0.1:1", "hive.metastore-cache-ttl": "1h"}
    given["hive.transaction-heartbeat-interval"] = "10ms"
    typed = parse_properties(HiveFactory().config_properties, given, lambda name: name)
    connector = HiveConnector(typed, impersonated.metastore)
    yield connector
    connector.shutdown()


def folders(root: Path) -> Path:
    for number in range(3):
        (root / f"p={number}").mkdir(parents=True)
        pq.write_table(pa.table({"id": [number]}), root / f"p={number}" / "part-0.parquet")
    return root


def call(hive: HiveConnector, name: str, **arguments: object) -> None:
    [procedure] = [one for one in hive.procedures if one.name == name]
    given = {one.name: one.default for one in procedure.arguments} | arguments
    procedure.function(make_session(hive), given)  # type: ignore[arg-type]  # plain values


def test_definitions_reads_and_procedures(hive: HiveConnector, impersonated: Impersonated, tmp_path: Path) -> None:
    root, session = folders(tmp_path / "t"), make_session(hive)
    columns = (ColumnMetadata("id", pa.int64()), ColumnMetadata("p", pa.int32()))
    definition = TableDefinition(NAME, columns, ("p",), str(root), "parquet")

    def each(use: Callable[[HiveMetadata], object]) -> None:
        with open_metadata(hive, session) as metadata:
            use(metadata)

    each(lambda metadata: metadata.create_schema(session, "s", {}))
    each(lambda metadata: metadata.set_schema_properties(session, "s", {"k": "v"}))
    each(lambda metadata: metadata.create_table(session, definition))
    each(lambda metadata: metadata.add_partitions(session, NAME, [PartitionDefinition((0,))]))
    call(hive, "register_partition", schema_name="s", table_name="t", partition_columns=["p"], partition_values=["1"])
    call(hive, "sync_partition_metadata", schema_name="s", table_name="t", mode="FULL")
    call(hive, "flush_metadata_cache")
    assert sorted(scan_table(hive, "s", "t").rows["p"].to_pylist()) == [0, 1, 2]
    each(lambda metadata: metadata.redirect_table(session, NAME))
    each(lambda metadata: metadata.get_system_table(session, SystemTableName(NAME, "partitions")))
    each(lambda metadata: (metadata.get_view(session, NAME), metadata.list_views(session, "s")))

    def read(metadata: HiveMetadata) -> None:
        handle = metadata.get_table_handle(session, NAME)
        assert handle is not None
        metadata.get_table_statistics(session, handle)
        metadata.get_column_statistics(session, handle)
        assert len(metadata.list_partitions(session, handle, TupleDomain.all())) == 3

    each(read)
    each(lambda metadata: metadata.set_table_properties(session, NAME, {"comment": "x"}))
    each(lambda metadata: metadata.set_column_comment(session, NAME, "id", "y"))
    each(lambda metadata: metadata.drop_partitions(session, NAME, [(0,)]))
    call(hive, "unregister_partition", schema_name="s", table_name="t", partition_columns=["p"], partition_values=["1"])
    each(lambda metadata: metadata.rename_table(session, NAME, RENAMED))
    each(lambda metadata: metadata.drop_table(session, RENAMED, purge=False))
    call(hive, "register_table", schema_name="s", table_name="t", table_location=str(root))
    call(hive, "unregister_table", schema_name="s", table_name="t")
    each(lambda metadata: metadata.drop_schema(session, "s", cascade=True))
    assert impersonated.own == []
    assert list(impersonated.of_users) == [session.user]


def test_transactions_and_their_heartbeats(hive: HiveConnector, impersonated: Impersonated, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        metadata.create_schema(session, "s", {})
    users = impersonated.of_users[session.user]
    transaction = hive.begin_transaction(session)
    with closing(impersonated.metastore.as_user(session.user).reads):
        transaction.snapshot(NAME)  # type: ignore[attr-defined]  # of a hive catalog
        deadline = time.monotonic() + 60
        while "heartbeat" not in users:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    transaction.commit()
    assert {"open_transaction", "lock", "commit"} <= set(users)
    assert impersonated.own == []
