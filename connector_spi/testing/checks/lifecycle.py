"""Transactions, snapshots and the end of a connector (invariant I1)."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest

from connector_spi.connector_transaction import TransactionState
from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.metadata import SupportsTimeTravel, TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange, SupportsChanges
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.base import SCHEMA, ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table
from connector_spi.testing.shared_checks import assert_read_at_once

__all__ = ["LifecycleChecks"]

_BEFORE = pa.table({"id": pa.array([1, 2], pa.int64()), "name": pa.array(["a", "b"])})
_ADDED = pa.table({"id": pa.array([3], pa.int64()), "name": pa.array(["c"])})
_BOTH = pa.concat_tables([_BEFORE, _ADDED])


class LifecycleChecks(ConformanceBase):
    """What begins, ends and stays as it was."""

    @pytest.mark.parametrize("first", ["commit", "rollback"])
    @pytest.mark.parametrize("second", ["commit", "rollback"])
    def test_a_transaction_ends_once(self, first: str, second: str) -> None:
        name = self.made(_BEFORE)
        query = self.query()
        assert query.transaction.state is TransactionState.OPEN
        query.table(name).read()
        getattr(query.transaction, first)()
        assert query.transaction.state is not TransactionState.OPEN
        with pytest.raises(InternalError):
            getattr(query.transaction, second)()

    def test_a_transaction_has_one_metadata(self) -> None:
        with self.query() as query:
            assert self.connector.get_metadata(query.transaction) is query.metadata
            with self.query() as other:
                assert other.transaction is not query.transaction

    def test_several_transactions_read_side_by_side(self) -> None:
        name = self.made(_BEFORE)
        with self.query() as one, self.query() as other:
            scan = one.table(name)
            assert_same_rows(other.table(name).read(), _BEFORE)
            other.transaction.rollback()
            assert_same_rows(scan.read(), _BEFORE)

    def test_threads_read_at_once(self) -> None:
        name = self.made(_BEFORE)
        assert_read_at_once(self.connector, name, _BEFORE)

    def test_rows_added_after_the_handle_was_made_are_not_seen(self) -> None:
        self.require(Behaviour.SNAPSHOT_ISOLATION)
        name = self.made(_BEFORE)
        with self.query() as query:
            scan = query.table(name)
            self.add_rows(name, _ADDED)
            assert_same_rows(scan.read(), _BEFORE)
            splits, _ = scan.splits()
            self.add_rows(name, _ADDED)
            met = pa.concat_tables([scan.read_split(split) for split in splits])
            assert_same_rows(met, _BEFORE)
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BOTH, _ADDED]))

    def test_one_handle_serves_all_reads_of_a_transaction(self) -> None:
        """The engine asks for it once, and answers everything else from it."""
        self.require(Behaviour.SNAPSHOT_ISOLATION)
        name = self.made(_BEFORE)
        with self.query() as query:
            table = query.table(name).table
            metadata = query.metadata.get_table_metadata(query.session, table)
            columns = query.metadata.get_column_handles(query.session, table)
            self.add_rows(name, _ADDED)
            assert query.metadata.get_table_metadata(query.session, table) == metadata
            assert query.metadata.get_column_handles(query.session, table) == columns
            for _ in range(2):
                assert_same_rows(query.scan(table).read(), _BEFORE)
                low = TupleDomain.with_column_domains({"id": Domain.single_value(pa.int64(), 2)})
                assert_same_rows(
                    query.scan(table).filter_by_name(low).project_names(["name"]).read(),
                    pa.table({"name": pa.array(["b"])}),
                )
                assert query.table(name).table == table
            if isinstance(query.metadata, SupportsChanges) and self.has(Behaviour.CHANGES):
                changes = query.metadata.get_changes(query.session, table, ChangeRange())
                assert_same_rows(query.scan(changes.table).project_names(["id", "name"]).read(), _BEFORE)
        assert_same_rows(read_table(self.connector, name), _BOTH)

    def test_a_table_is_read_as_it_was(self) -> None:
        self.require(Behaviour.TIME_TRAVEL)
        name = self.made(_BEFORE)
        old = self.newest_version(name)
        self.add_rows(name, _ADDED)
        assert_same_rows(read_table(self.connector, name, version=old), _BEFORE)
        assert_same_rows(read_table(self.connector, name, version=self.newest_version(name)), _BOTH)
        assert_same_rows(read_table(self.connector, name), _BOTH)

    def test_versions_that_are_not_there(self) -> None:
        self.require(Behaviour.TIME_TRAVEL)
        name = self.made(_BEFORE)
        version = self.newest_version(name)
        with self.query() as query:
            assert isinstance(query.metadata, SupportsTimeTravel)
            missing = SchemaTableName(SCHEMA, "no_such_table")
            assert query.metadata.get_table_handle_at(query.session, missing, version) is None
            with pytest.raises(InvalidArgumentError):
                query.metadata.get_table_handle_at(
                    query.session, name, TableVersion(VersionKind.VERSION, "no such version")
                )

    def test_shutdown_leaves_no_thread(self) -> None:
        name = self.made(_BEFORE)
        before = set(threading.enumerate())
        connector = self.connector
        read_table(connector, name)
        connector.shutdown()
        left = [thread for thread in set(threading.enumerate()) - before if thread.is_alive()]
        # The fixture shuts down what this leaves in its place.
        self.connector = self.create_connector()
        assert left == []
