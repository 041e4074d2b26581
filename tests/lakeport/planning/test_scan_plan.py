"""Planning without Spark: connectors that loop are refused, and splits are packed into tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import FilterApplication, LimitApplication, ProjectionApplication
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Constraint, Domain, TupleDomain
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector
from connectors.memory.handles import MemoryTableHandle
from connectors.memory.metadata import MemoryMetadata
from lakeport.planning.scan_plan import ScanPlan, plan_splits
from lakeport.transactions.plain_statement import plain_statement
from tests.lakeport.memory_session import memory_session, put

ID = ColumnHandle("id", pa.int64())
FILTER = Constraint(TupleDomain.with_column_domains({ID: Domain.single_value(pa.int64(), 2)}))


def changed(table: TableHandle) -> MemoryTableHandle:
    assert isinstance(table, MemoryTableHandle)
    return replace(table, limit=(table.limit or 0) + 1)


class Looping(MemoryMetadata):
    """Changes its handle at every call."""

    def apply_filter(
        self, session: ConnectorSession, table: TableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        return FilterApplication(changed(table), constraint.summary)

    def apply_projection(
        self, session: ConnectorSession, table: TableHandle, columns: tuple[ColumnHandle, ...]
    ) -> ProjectionApplication | None:
        return ProjectionApplication(changed(table), columns)

    def apply_limit(self, session: ConnectorSession, table: TableHandle, limit: int) -> LimitApplication | None:
        return LimitApplication(changed(table), False)


class Stubborn(MemoryMetadata):
    """Gives its handle back as it was, instead of None."""

    def apply_filter(
        self, session: ConnectorSession, table: TableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        return FilterApplication(table, constraint.summary)


def planned(metadata: type[MemoryMetadata], use: Callable[[ScanPlan], object]) -> object:
    """Gives a plan over a table of the memory connector to ``use``."""
    with memory_session() as (session, memory):
        put(memory, "t", pa.table({"id": [1, 2, 3]}))
        access = plain_statement(session.catalogs).access("mem")
        given = access.metadata
        assert isinstance(memory, MemoryConnector)
        assert isinstance(given, MemoryMetadata)
        table = given.get_table_handle(access.session, SchemaTableName("s", "t"))
        assert table is not None
        given.__class__ = metadata
        everything = TupleDomain[ColumnHandle].all()
        return use(ScanPlan(access, table, (ID,), everything, everything))


@pytest.mark.parametrize(
    ("use", "method"),
    [
        (lambda plan: plan.with_filter(FILTER), "apply_filter"),
        (lambda plan: plan.with_columns((ID,)), "apply_projection"),
        (lambda plan: plan.with_limit(1), "apply_limit"),
    ],
)
def test_a_connector_that_loops_is_refused(use: Callable[[ScanPlan], object], method: str) -> None:
    with pytest.raises(InternalError, match=rf"{method} still changed its handle after \d+ calls"):
        planned(Looping, use)


def test_a_connector_that_returns_the_same_handle_is_refused() -> None:
    with pytest.raises(InternalError, match="apply_filter returned the same handle instead of None"):
        planned(Stubborn, lambda plan: plan.with_filter(FILTER))


def test_a_filter_that_is_never_true_asks_no_connector() -> None:
    def use(plan: ScanPlan) -> object:
        never = plan.with_filter(Constraint(TupleDomain.none()))
        return plan_splits(never, TupleDomain.all())

    assert planned(Looping, use).splits == ()  # type: ignore[attr-defined]


def test_what_is_offered_in_part_is_checked_again() -> None:
    # Longer lists are offered as ranges that hold them.
    listed = Domain.multiple_values(pa.int64(), range(0, 4000, 2))
    with memory_session() as (session, memory):
        put(memory, "t", pa.table({"key": pa.array(range(10), pa.int64())}), "key")
        access = plain_statement(session.catalogs).access("mem")
        table = access.metadata.get_table_handle(access.session, SchemaTableName("s", "t"))
        assert table is not None
        key = ColumnHandle("key", pa.int64())
        everything = TupleDomain[ColumnHandle].all()
        plan = ScanPlan(access, table, (key,), everything, everything)
        short = Constraint(TupleDomain({key: Domain.multiple_values(pa.int64(), range(0, 100, 2))}))
        assert plan.with_filter(short).remaining.is_all
        assert plan.with_filter(Constraint(TupleDomain({key: listed}))).remaining == TupleDomain({key: listed})
        others = Domain.not_null(pa.int64()).intersect(listed.complement())
        assert plan.with_filter(Constraint(TupleDomain({key: others}))).remaining == TupleDomain({key: others})
