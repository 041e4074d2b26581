"""Locks of a real metastore after the connection died between taking them and letting them go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from catalog.metastore.client import TransactionClient
from catalog.metastore.factory import Metastore
from catalog.metastore.testing.objects import new_table
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.wrappers.availability import Availability
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connectors.hive.transactions.heartbeats import Heartbeat, Heartbeats
from connectors.hive.transactions.snapshots import SnapshotPolicy, StatementSnapshots
from tests.catalog.metastore.thrift.fault_proxy import Fault, FaultProxy, fault_proxy
from tests.hms import HiveMetastoreServer

POLICY = SnapshotPolicy(True, 5.0, assume_committed=True, user="ann", agent="query 1")

NEVER = 3600.0


@pytest.fixture
def healthy(hive_metastore_server: HiveMetastoreServer) -> Iterator[Metastore]:
    with closing(connect_thrift(ThriftConfig(uri=hive_metastore_server.uri))) as metastore:
        yield metastore


@pytest.fixture
def network(hive_metastore_server: HiveMetastoreServer) -> Iterator[FaultProxy]:
    with fault_proxy(hive_metastore_server.port, Fault()) as proxy:
        yield proxy


@pytest.fixture
def metastore(network: FaultProxy) -> Iterator[Metastore]:
    config = ThriftConfig(uri=network.uri, availability=Availability(min_backoff=0.01, max_backoff=0.02))
    with closing(connect_thrift(config)) as found:
        yield found


@pytest.fixture
def table(healthy: Metastore) -> SchemaTableName:
    """Of this test alone: a lock that is left behind keeps no other test of the same server waiting."""
    made = new_table(healthy)
    return SchemaTableName(made.database, made.name)


def holders(healthy: Metastore, table: SchemaTableName) -> list[str]:
    return [lock.user for lock in healthy.transactions.show_locks(table.schema, table.table)]


@pytest.mark.slow
@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("lost", ["request", "answer"])
def test_the_end_of_a_statement_lets_locks_go_over_another_connection(
    healthy: Metastore, network: FaultProxy, metastore: Metastore, table: SchemaTableName, lost: str, commit: bool
) -> None:
    with closing(Heartbeats(metastore.transactions, NEVER)) as heartbeats:
        snapshots = StatementSnapshots(metastore.transactions, heartbeats, POLICY)
        snapshots.snapshot(table)
        assert holders(healthy, table) == ["ann"]
        setattr(network, f"lost_{lost}s", 1)
        snapshots.end(commit=commit)
    assert holders(healthy, table) == []


def test_a_lock_whose_answer_is_lost_is_released(
    healthy: Metastore, network: FaultProxy, metastore: Metastore, table: SchemaTableName
) -> None:
    class LosesNext(Heartbeats):
        """The first heartbeat is due between the transaction's beginning and its first lock."""

        def add(self, transaction: int, client: TransactionClient | None = None) -> Heartbeat:
            network.lost_answers = 1
            return super().add(transaction, client)

    with closing(LosesNext(metastore.transactions, NEVER)) as heartbeats:
        snapshots = StatementSnapshots(metastore.transactions, heartbeats, POLICY)
        with pytest.raises(MetastoreError, match="whether it was done is not known"):
            snapshots.snapshot(table)
    assert holders(healthy, table) == []
