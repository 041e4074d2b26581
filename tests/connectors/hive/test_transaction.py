"""Snapshots of transactional tables over the embedded metastore."""

from __future__ import annotations

from catalog.metastore.embedded_transactions import EmbeddedTransactions
from catalog.metastore.transactions import ValidWriteIds
from connector_spi.names import SchemaTableName
from connectors.hive.acid.valid_ids import ALL_VALID, AcidSnapshot, ValidIds
from connectors.hive.connector import HiveConnector
from connectors.hive.transaction import HiveTransaction, hive_transaction
from tests.connectors.hive.reading import make_session

ORDERS, ITEMS = SchemaTableName("shop", "orders"), SchemaTableName("shop", "items")


def begin(hive: HiveConnector, **properties: object) -> HiveTransaction:
    return hive_transaction(hive.begin_transaction(make_session(hive, **properties)))


def write(hive: HiveConnector, table: SchemaTableName, count: int = 1) -> None:
    client = hive.metastore.transactions
    for _ in range(count):
        transaction = client.open_transaction("bob", "writer")
        client.allocate_write_ids([transaction], table.schema, table.table)
        client.commit(transaction)


def test_what_is_on_disk_is_committed_where_nothing_is_recorded(hive: HiveConnector) -> None:
    assert begin(hive).snapshot(ORDERS) == AcidSnapshot(ALL_VALID, ALL_VALID)


def test_recorded_write_ids_are_the_snapshot(hive: HiveConnector) -> None:
    client = hive.metastore.transactions
    assert isinstance(client, EmbeddedTransactions)
    client.record_write_ids(ValidWriteIds("shop.orders", 9, (7,), (2, 3), 7))
    snapshot = begin(hive).snapshot(ORDERS)
    assert snapshot == AcidSnapshot(ValidIds(9, (7,), (2, 3), 7), ALL_VALID)


def test_tables_of_a_statement_are_seen_at_one_moment(hive: HiveConnector) -> None:
    for table in (ORDERS, ITEMS):
        write(hive, table, 2)
    reader = begin(hive)
    assert reader.snapshot(ORDERS).write_ids == ValidIds(2)
    for table in (ORDERS, ITEMS):
        write(hive, table)
    assert reader.snapshot(ORDERS).write_ids == ValidIds(2)
    assert reader.snapshot(ITEMS).write_ids == ValidIds(2)
    assert begin(hive).snapshot(ITEMS).write_ids == ValidIds(3)
