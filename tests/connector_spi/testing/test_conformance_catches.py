"""The conformance suite is worth something only if a connector that breaks the contract fails it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.connector import ConnectorContext, ConnectorFactory
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import (
    ConnectorMetadata,
    FilterApplication,
    LimitApplication,
    TableVersion,
    VersionKind,
)
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange, TableChanges
from connector_spi.optional.page_sink import InsertHandle
from connector_spi.optional.writing import Overwrite
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.properties import PropertyValues
from connector_spi.session import ConnectorSession
from connector_spi.splits import ScanSummary, SplitManager, SplitSource
from connector_spi.testing import Behaviour, ConnectorConformance
from connectors.memory.connector import MemoryConnector, MemoryFactory
from connectors.memory.handles import MemorySplit, MemoryTableHandle
from connectors.memory.metadata import MemoryMetadata, MemoryTransaction
from connectors.memory.page_sink import MemoryFragment, MemoryInsertHandle, MemoryMergeHandle
from connectors.memory.page_source import MemoryPageSourceProvider
from connectors.memory.splits import MemorySplitManager
from tests.sampling import without_shrinking


class ForgetfulSplitManager(MemorySplitManager):
    """Loses the last split of a scan of several."""

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: MemoryTableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[MemorySplit]:
        source = super().get_splits(transaction, session, table, columns, dynamic_filter)
        return LosingSource(source)


class LosingSource(SplitSource[MemorySplit]):
    def __init__(self, source: SplitSource[MemorySplit]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[Sequence[MemorySplit]]:
        yield from list(self._source)[:-1]

    def summary(self) -> ScanSummary:
        return self._source.summary()


class LateSplitManager(MemorySplitManager):
    """Asks for the newest snapshot again, whatever the handle says."""

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: MemoryTableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[MemorySplit]:
        assert isinstance(transaction, MemoryTransaction)
        later = MemoryTransaction(transaction.metadata._store)
        newest = later.metadata.get_table_handle(session, table.name)
        assert newest is not None
        return super().get_splits(later, session, newest, columns, dynamic_filter)


class BackwardsProvider(MemoryPageSourceProvider):
    """Gives the columns in the wrong order."""

    def create_page_source(
        self,
        session: ConnectorSession,
        split: MemorySplit,
        table: MemoryTableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        return super().create_page_source(session, split, table, columns[::-1], dynamic_filter)


class LockedProvider(MemoryPageSourceProvider):
    """Cannot travel."""

    def __init__(self) -> None:
        self.secret = lambda: "driver"


class BoastfulMetadata(MemoryMetadata):
    """Says that every filter is exact."""

    def apply_filter(
        self, session: ConnectorSession, table: MemoryTableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        taken = super().apply_filter(session, table, constraint)
        return taken and FilterApplication(taken.table, TupleDomain.all())


class RestlessMetadata(MemoryMetadata):
    """Has something new to say for ever."""

    def apply_filter(
        self, session: ConnectorSession, table: MemoryTableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        return FilterApplication(table, constraint.summary)


class StingyMetadata(MemoryMetadata):
    """Gives one row fewer than the limit."""

    def apply_limit(self, session: ConnectorSession, table: MemoryTableHandle, limit: int) -> LimitApplication | None:
        if table.limit == limit - 1:
            return None
        return LimitApplication(dataclasses.replace(table, limit=limit - 1), guaranteed=True)


class UnsortedMetadata(MemoryMetadata):
    """Lists tables in no order."""

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        return list(super().list_tables(session, schema))[::-1]


class ForgivingMetadata(MemoryMetadata):
    """Always tells the changes of the first version of the range, too."""

    def get_changes(
        self, session: ConnectorSession, table: MemoryTableHandle, change_range: ChangeRange
    ) -> TableChanges:
        return super().get_changes(session, table, dataclasses.replace(change_range, start_inclusive=True))


class HastyMetadata(MemoryMetadata):
    """Shows the rows of an insert before the commit."""

    def finish_insert(
        self, session: ConnectorSession, insert: MemoryInsertHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        super().finish_insert(session, insert, fragments)
        self._store.write(self._transaction._added)
        self._transaction._added.clear()


class PartialMetadata(MemoryMetadata):
    """Takes what the first sink alone has written."""

    def finish_insert(
        self, session: ConnectorSession, insert: MemoryInsertHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        super().finish_insert(session, insert, fragments[:1])

    def finish_merge(
        self, session: ConnectorSession, merge: MemoryMergeHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        super().finish_merge(session, merge, fragments[:1])


class GreedyMetadata(MemoryMetadata):
    """Replaces all rows, whatever is asked."""

    def begin_overwrite(
        self, session: ConnectorSession, table: MemoryTableHandle, overwrite: Overwrite
    ) -> InsertHandle:
        return super().begin_overwrite(session, table, Overwrite())


class CarelessMetadata(MemoryMetadata):
    """Changes rows whatever others have made of them."""

    def finish_merge(
        self, session: ConnectorSession, merge: MemoryMergeHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        newest = self._store.newest(merge.name).version
        super().finish_merge(session, dataclasses.replace(merge, version=newest), fragments)


@dataclasses.dataclass
class Defect:
    """What is replaced in a memory connector."""

    metadata: type[MemoryMetadata] = MemoryMetadata
    splits: type[SplitManager] = MemorySplitManager
    provider: Callable[[], PageSourceProvider] = MemoryPageSourceProvider


class DefectiveConnector(MemoryConnector):
    defect: Defect

    @property
    def split_manager(self) -> SplitManager:
        return self.defect.splits()

    @property
    def page_source_provider(self) -> PageSourceProvider:
        return self.defect.provider()

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        assert isinstance(transaction, MemoryTransaction)
        if type(transaction.metadata) is not self.defect.metadata:
            transaction.metadata = self.defect.metadata(self._store, transaction)
        return transaction.metadata


class DefectiveFactory(MemoryFactory):
    def __init__(self, defect: Defect) -> None:
        self._defect = defect

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> DefectiveConnector:
        connector = DefectiveConnector(super().create(catalog, properties, context)._config)
        connector.defect = self._defect
        return connector


class Suite(ConnectorConformance):
    """Not collected by itself: the test below runs single checks of it."""

    missing_behaviours = frozenset({Behaviour.DAMAGED_DATA})
    defect = Defect()

    def factory(self) -> ConnectorFactory:
        return DefectiveFactory(self.defect)

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        assert isinstance(self.connector, MemoryConnector)
        self.connector.create_table(name, data, partitioned_by, chunk_rows=5 if data.num_rows < 1000 else None)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        assert isinstance(self.connector, MemoryConnector)
        self.connector.insert(name, data)

    def merge_rows(self, name: SchemaTableName, data: pa.Table, deletes: Sequence[int]) -> None:
        assert isinstance(self.connector, MemoryConnector)
        self.connector.merge(name, "id", data, deletes)

    def newest_version(self, name: SchemaTableName) -> TableVersion:
        assert isinstance(self.connector, MemoryConnector)
        return TableVersion(VersionKind.VERSION, str(self.connector._store.newest(name).version))


CAUGHT: list[tuple[Defect, Callable[[Suite], object]]] = [
    (Defect(splits=ForgetfulSplitManager), lambda suite: suite.test_columns_come_in_the_asked_order()),
    (Defect(splits=ForgetfulSplitManager), lambda suite: suite.test_no_columns_count_rows()),
    (Defect(provider=BackwardsProvider), lambda suite: suite.test_columns_come_in_the_asked_order()),
    (Defect(provider=LockedProvider), lambda suite: suite.test_a_split_can_be_read_again()),
    (Defect(BoastfulMetadata), lambda suite: suite.test_a_pushed_filter_gives_the_rows_of_an_engine_side_one(())),
    (Defect(RestlessMetadata), lambda suite: suite.test_apply_methods_come_to_rest()),
    (Defect(StingyMetadata), lambda suite: suite.test_a_limit_never_gives_fewer_rows_than_asked(3)),
    (Defect(splits=LateSplitManager), lambda suite: suite.test_rows_added_after_the_handle_was_made_are_not_seen()),
    (Defect(ForgivingMetadata), lambda suite: suite.test_the_changes_of_any_range_are_those_of_a_model()),
    (Defect(splits=ForgetfulSplitManager), lambda suite: suite.test_the_changes_of_any_range_are_those_of_a_model()),
    (Defect(HastyMetadata), lambda suite: suite.test_inserted_rows_are_seen_after_the_commit_and_not_before()),
    (Defect(PartialMetadata), lambda suite: suite.test_rows_of_several_sinks_all_come()),
    (Defect(PartialMetadata), lambda suite: suite.test_rows_of_several_sinks_are_replaced_and_added()),
    (
        Defect(GreedyMetadata),
        lambda suite: suite.test_an_overwrite_leaves_the_other_partitions_alone(Overwrite(dynamic=True), ["b", "c"]),
    ),
    (Defect(CarelessMetadata), lambda suite: suite.test_no_update_is_lost()),
    (Defect(UnsortedMetadata), lambda suite: suite.test_tables_are_listed_sorted_with_their_schema()),
]


@pytest.mark.parametrize(("defect", "check"), CAUGHT)
def test_a_broken_connector_fails(defect: Defect, check: Callable[[Suite], object], tmp_path: Path) -> None:
    for tried, fails in ((Defect(), False), (defect, True)):
        suite = Suite()
        suite.max_examples = 200 if fails else 20  # type: ignore[misc]  # of this one suite
        suite.defect = tried
        suite.folder = tmp_path
        suite.connector = suite.create_connector()
        try:
            with without_shrinking():
                check(suite)
        except (Exception, pytest.fail.Exception):
            assert fails, "the check fails without the defect"
        else:
            assert not fails, "the check passes in spite of the defect"


def test_a_misspelt_behaviour_is_refused() -> None:
    with pytest.raises(TypeError, match=r"missing_behaviours holds .*expected members of Behaviour"):
        type("Odd", (ConnectorConformance,), {"missing_behaviours": frozenset({"TIME_TRAVEL", Behaviour.LIMIT})})
