"""From a table and what a query wants of it to its splits: the part of a scan that needs no Spark."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import SupportsLimit
from connector_spi.optional.aggregation import Aggregation, SupportsAggregation
from connector_spi.optional.top_n import SortItem, SupportsTopN
from connector_spi.predicate import ConnectorExpression, Constraint, TupleDomain
from connector_spi.predicate.expression import references
from connector_spi.splits import ScanSummary, SplitSource
from lakeport.planning.long_lists import shortened
from lakeport.plugin_errors import table_words
from lakeport.transactions.statement import CatalogAccess

__all__ = ["PlannedSplits", "ScanPlan", "needs_connector", "plan_native_splits", "plan_splits"]

_LOG = logging.getLogger(__name__)
_MAX_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """A scan with everything pushed that the connector takes.

    Attributes:
        access: The catalog in its statement.
        table: The handle, with filter, projection and limit in it.
        columns: What to read, in output order.
        pushed: All that was offered as a filter, for ``EXPLAIN`` and for the tasks.
        remaining: What the engine has to check again.
        limit: The limit that was offered, or ``None``.
        limit_guaranteed: Never more rows come than the limit.
        applied: Expressions that the connector guarantees for every row.
        top_n: The connector chooses so many rows, the first in this order; ``None`` for all.
        aggregation: Rows are groups: what the connector aggregates; ``None`` for rows of the table.
        aggregation_complete: Each group comes once.
    """

    access: CatalogAccess
    table: TableHandle
    columns: tuple[ColumnHandle, ...]
    pushed: TupleDomain[ColumnHandle]
    remaining: TupleDomain[ColumnHandle]
    limit: int | None = None
    limit_guaranteed: bool = False
    applied: tuple[ConnectorExpression, ...] = ()
    given: tuple[ConnectorExpression, ...] = ()
    top_n: tuple[int, tuple[SortItem, ...]] | None = None
    aggregation: Aggregation | None = None
    aggregation_complete: bool = False

    def column_names(self) -> tuple[str, ...]:
        """Names of the columns that are read or filtered by, sorted; a filter tells of rows as well."""
        read: Iterable[ColumnHandle | None] = self.columns
        if self.aggregation is not None:
            read = (*self.aggregation.keys, *(function.column for function in self.aggregation.functions))
        names = {column.name for column in read if column is not None}
        names.update(column.name for column in self.pushed.domains or ())
        names.update(one.column.name for expression in self.given for one in references(expression))
        return tuple(sorted(names))

    def with_filter(self, constraint: Constraint) -> ScanPlan:
        """Offers a filter until the connector says that nothing changes.

        Of very long lists ranges that hold them are offered; the lists themselves remain to be checked.

        Raises:
            InternalError: The connector keeps changing its handle.
        """
        asked = constraint.summary
        offered = shortened(asked, self.access.metadata.most_filter_values)
        plan = replace(self, pushed=self.pushed.intersect(offered))
        if offered.is_none or (offered.is_all and not constraint.expressions):
            return replace(plan, remaining=self.remaining.intersect(asked))
        constraint = Constraint(offered, constraint.remaining, constraint.expressions)
        remaining = offered
        for _ in range(_MAX_ROUNDS):
            with self.access.lock.asking(f"take a filter for table {table_words(plan.table)}"):
                taken = self.access.metadata.apply_filter(self.access.session, plan.table, constraint)
            if taken is None:
                remaining = remaining.intersect(_widened(asked, offered))
                return replace(plan, remaining=self.remaining.intersect(remaining))
            if taken.table == plan.table:
                raise _loops("apply_filter", "returned the same handle instead of None")
            remaining = taken.remaining
            applied = tuple(one for one in constraint.expressions if one in taken.applied)
            given = tuple(dict.fromkeys((*plan.given, *constraint.expressions)))
            plan = replace(plan, table=taken.table, applied=(*plan.applied, *applied), given=given)
        raise _loops("apply_filter", f"still changed its handle after {_MAX_ROUNDS} calls")

    def with_columns(self, columns: tuple[ColumnHandle, ...]) -> ScanPlan:
        """Offers the columns to read."""
        plan = replace(self, columns=columns)
        for _ in range(_MAX_ROUNDS):
            with self.access.lock.asking(f"take the columns of table {table_words(plan.table)}"):
                taken = self.access.metadata.apply_projection(self.access.session, plan.table, columns)
            if taken is None:
                return plan
            plan = replace(plan, table=taken.table, columns=taken.columns)
        raise _loops("apply_projection", f"still changed its handle after {_MAX_ROUNDS} calls")

    def in_order(self, columns: tuple[ColumnHandle, ...]) -> ScanPlan:
        """The same plan, read with these columns; the connector is offered nothing."""
        return replace(self, columns=columns)

    def with_limit(self, limit: int) -> ScanPlan:
        """Offers a limit on the rows of the whole scan."""
        plan = replace(self, limit=limit)
        metadata = self.access.metadata
        if not isinstance(metadata, SupportsLimit):
            return plan
        for _ in range(_MAX_ROUNDS):
            with self.access.lock.asking(f"take a limit for table {table_words(plan.table)}"):
                taken = metadata.apply_limit(self.access.session, plan.table, limit)
            if taken is None:
                return plan
            plan = replace(plan, table=taken.table, limit_guaranteed=taken.guaranteed)
        raise _loops("apply_limit", f"still changed its handle after {_MAX_ROUNDS} calls")

    def with_top_n(self, count: int, order: tuple[SortItem, ...]) -> ScanPlan:
        """Offers ``ORDER BY order LIMIT count``; whoever reads sorts and cuts again."""
        plan, metadata = self, self.access.metadata
        if not isinstance(metadata, SupportsTopN):
            return plan
        for _ in range(_MAX_ROUNDS):
            with self.access.lock.asking(f"take the first rows of table {table_words(plan.table)}"):
                taken = metadata.apply_top_n(self.access.session, plan.table, count, order)
            if taken is None:
                return plan
            plan = replace(plan, table=taken.table, top_n=(count, order))
        raise _loops("apply_top_n", f"still changed its handle after {_MAX_ROUNDS} calls")

    def with_aggregation(self, aggregation: Aggregation) -> ScanPlan | None:
        """Offers an aggregation; ``None`` where the connector does not aggregate.

        Raises:
            InternalError: The connector took it over with other columns than were asked.
        """
        metadata = self.access.metadata
        if not isinstance(metadata, SupportsAggregation):
            return None
        with self.access.lock.asking(f"aggregate table {table_words(self.table)}"):
            taken = metadata.apply_aggregation(self.access.session, self.table, aggregation)
        if taken is None:
            return None
        asked = [*(key.type for key in aggregation.keys), *(one.type for one in aggregation.functions)]
        if [column.type for column in taken.columns] != asked or len({c.name for c in taken.columns}) < len(asked):
            raise InternalError(
                f"the connector's apply_aggregation was asked for {aggregation}, of the types {asked}, and gave the "
                f"columns {list(taken.columns)}: expected these types under different names (a defect of the connector)"
            )
        return replace(
            self,
            table=taken.table,
            columns=taken.columns,
            aggregation=aggregation,
            aggregation_complete=taken.complete,
        )


@dataclass(frozen=True, slots=True)
class PlannedSplits:
    """All splits of a scan, what was skipped, and how many seconds the connector took."""

    splits: tuple[Split, ...]
    summary: ScanSummary
    seconds: float = 0.0

    @property
    def size_bytes(self) -> int:
        """Bytes of all splits."""
        return sum(split.size_bytes for split in self.splits)


def plan_splits(plan: ScanPlan, dynamic_filter: TupleDomain[ColumnHandle] | None = None) -> PlannedSplits:
    """Asks the connector for the splits of a scan; nothing where the filter can never be true."""
    dynamic = TupleDomain[ColumnHandle].all() if dynamic_filter is None else dynamic_filter
    if plan.pushed.is_none or dynamic.is_none or plan.limit == 0:
        return PlannedSplits((), ScanSummary(notes=("the filter is never true: nothing is read",)))
    began = time.monotonic()
    with _split_source(plan, dynamic) as source:
        splits = tuple(split for batch in source for split in batch)
        planned = PlannedSplits(splits, source.summary(), time.monotonic() - began)
    _LOG.debug(
        "query %(query)s: %(catalog)s, %(count)d splits of %(bytes)d bytes, planned in %(ms).0f ms; %(summary)s",
        {
            "query": plan.access.session.query_id,
            "catalog": plan.access.catalog,
            "count": len(planned.splits),
            "bytes": planned.size_bytes,
            "ms": 1000 * planned.seconds,
            "summary": planned.summary,
        },
    )
    return planned


def plan_native_splits(plan: ScanPlan) -> PlannedSplits | None:
    """As ``plan_splits``; ``None`` as soon as a split is met that only the connector can read."""
    if plan.pushed.is_none or plan.limit == 0:
        return plan_splits(plan)
    splits: list[Split] = []
    began = time.monotonic()
    with _split_source(plan, TupleDomain.all()) as source:
        for batch in source:
            if any(split.native_file is None for split in batch):
                return None
            splits += batch
        return PlannedSplits(tuple(splits), source.summary(), time.monotonic() - began)


def needs_connector(plan: ScanPlan) -> bool:
    """Whether one of the first splits can be read by the connector only, or there is none."""
    if plan.pushed.is_none or plan.limit == 0:
        return True
    with _split_source(plan, TupleDomain.all()) as source:
        for batch in source:
            if batch:
                return any(split.native_file is None for split in batch)
    return True


def _widened(asked: TupleDomain[ColumnHandle], offered: TupleDomain[ColumnHandle]) -> TupleDomain[ColumnHandle]:
    """The domains that were offered wider than they are: no connector can guarantee those."""
    if asked.domains is None or offered.domains is None:
        return TupleDomain.all()
    met = offered.domains
    return TupleDomain({column: domain for column, domain in asked.domains.items() if met.get(column) != domain})


@contextmanager
def _split_source(plan: ScanPlan, dynamic_filter: TupleDomain[ColumnHandle]) -> Iterator[SplitSource]:
    access = plan.access
    access.statement.lease.check_unwritten(access.catalog, table_words(plan.table))
    access.statement.about_to_read()
    with access.origin.errors(f"plan the splits of table {table_words(plan.table)}"):
        manager = access.connector.split_manager
        with manager.get_splits(access.transaction, access.session, plan.table, plan.columns, dynamic_filter) as source:
            yield source


def _loops(method: str, how: str) -> InternalError:
    return InternalError(
        f"the connector's {method} {how}: it must return None when nothing changes (a defect of the connector)"
    )
