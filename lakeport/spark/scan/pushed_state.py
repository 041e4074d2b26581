"""What Spark has pushed into one scan so far: who takes it, and the scan that comes of it. No call into Java here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.optional.aggregation import AggregateKind, Aggregation, SupportsAggregation
from connector_spi.optional.partitioning import TablePartitioning
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import Constraint, TupleDomain, references
from lakeport.planning.scan_plan import PlannedSplits, plan_splits
from lakeport.spark.bridge.types import arrow_schema
from lakeport.spark.scan.aggregates import grouped_schema
from lakeport.spark.scan.environment import SparkEnvironment
from lakeport.spark.scan.partitioning.pushdown_round import PushdownRound
from lakeport.spark.scan.partitioning.table_layout import TableLayout
from lakeport.spark.scan.pushdown import Translated
from lakeport.spark.scan.reader_choice import EarlyPlanning, PlannedScan, TaskRead, in_reading_order
from lakeport.spark.scan.scan import PushedScan, Scan, ScannedTable
from lakeport.spark.tasks.partial_aggregate import PartialAggregation
from lakeport.spark.tasks.row_predicate import Junction
from lakeport.spark.tasks.task import TaskWork
from lakeport.spark.tasks.top_n import SortKey, TopN

__all__ = ["OfferedPredicate", "PushedState"]

_MOST_FIRST_ROWS = 100_000
"""Tasks keep so many rows in memory to choose the first ones; Spark sorts more of them."""


@dataclass(frozen=True, slots=True)
class OfferedPredicate:
    """What became of one predicate.

    Attributes:
        pushed: The connector or the tasks got it.
        for_files: Spark's own reader may skip parts of files by it.
        left: Spark has to check it again.
    """

    pushed: bool
    for_files: bool
    left: bool


class PushedState:
    """Collects what Spark pushes into one scan.

    Args:
        table: The table.
        environment: Spark.
        together: The scans that are built with this one.
        layout: How the table's rows lie; ``None`` where no join may go by it.
    """

    def __init__(
        self,
        table: ScannedTable,
        environment: SparkEnvironment,
        together: PushdownRound,
        layout: TableLayout | None = None,
    ) -> None:
        self._table = table
        self._environment = environment
        self._together = together
        self._layout = layout
        self._plan = table.plan
        self._early = EarlyPlanning(environment, table.partition_keys)
        self._schema_json = table.schema_json
        self._checked: list[Translated] = []
        self._left: list[str] = []
        self._limit: int | None = None
        self._aggregation: PartialAggregation | None = None
        self._top_n: TopN | None = None
        self._grouped: PlannedSplits | None = None

    def offer(self, predicates: Sequence[Translated]) -> list[OfferedPredicate]:
        """Offers predicates to the connector and to the tasks; what became of each.

        Of several scans Spark gets all back that the connector does not guarantee, also what tasks check.
        """
        self._together.begin_pushing()
        summary = TupleDomain[ColumnHandle].all()
        for one in predicates:
            summary = summary.intersect(one.domain)
        inexact = [one for one in predicates if not one.exact]
        expressions = tuple(one.expression for one in inexact if one.expression is not None)
        self._plan = self._plan.with_filter(Constraint(summary, tuple(one.text for one in inexact), expressions))
        checked = self._checked_in_tasks([one for one in predicates if not self._is_guaranteed(one)])
        self._checked += checked
        found = []
        for one in predicates:
            is_checked = self._together.is_alone and one in checked and not one.looks_into_structs
            is_done = self._is_guaranteed(one) or is_checked
            is_pushed = not one.domain.is_all or one in checked or one.expression in self._plan.applied
            found.append(OfferedPredicate(is_pushed, self._may_skip_in_files(one), left=not is_done))
        self._left = [one.text for one, offered in zip(predicates, found, strict=True) if offered.left]
        return found

    @property
    def may_aggregate(self) -> bool:
        """Whether tasks might aggregate; looking at an aggregation costs round trips."""
        return self._plan.access.engine.task_pushdown and self._early.tasks_read is not False

    def aggregate(self, aggregation: PartialAggregation) -> bool:
        """Lets the tasks aggregate, where tasks read; Spark asks once all filters above are taken over."""
        if not self._early.aggregate_in_tasks(self._plan, self._columns_of(aggregation)):
            return False
        self._aggregation = aggregation
        return True

    @property
    def connector_may_aggregate(self) -> bool:
        """Whether the connector aggregates at all, and knows all filters."""
        access = self._plan.access
        can = access.engine.task_pushdown and isinstance(access.metadata, SupportsAggregation)
        return can and not (self._checked or self._left)

    @property
    def is_aggregated_in_connector(self) -> bool:
        """The connector has taken over an aggregation."""
        return self._plan.aggregation is not None

    def aggregate_in_connector(self, aggregation: Aggregation, *, only_complete: bool) -> bool:
        """Offers an aggregation to the connector.

        Args:
            aggregation: All that Spark asks.
            only_complete: Take it only if each group comes once.
        """
        plan = self._plan.with_aggregation(aggregation)
        if plan is None or (only_complete and not plan.aggregation_complete):
            return False
        has_decimal_sum = any(
            one.kind is AggregateKind.SUM and pa.types.is_decimal(one.type) for one in aggregation.functions
        )
        if has_decimal_sum and not plan.aggregation_complete:
            # Spark casts partial sums back to the digits of the column: a larger one would become NULL.
            return False
        splits = plan_splits(plan)
        if not splits.splits and not aggregation.keys:
            # Spark makes a sum of counts, which over nothing would be NULL instead of 0.
            return False
        self._plan, self._grouped = plan, splits
        return True

    @property
    def may_choose_first(self) -> bool:
        """Whether the first rows in an order may be chosen; looking at an order costs round trips."""
        is_of_rows = self._aggregation is None and not self.is_aggregated_in_connector
        return self._plan.access.engine.task_pushdown and is_of_rows and not self._left

    def top_n(self, count: int, order: Sequence[SortItem]) -> bool:
        """Offers the first rows in an order to the connector, if it knows all filters, and to the tasks if they read.

        Spark sorts and cuts again in any case.
        """
        if not self._checked:
            self._plan = self._plan.with_top_n(count, tuple(order))
        columns = [self._table.columns[item.column.name] for item in order]
        if count <= _MOST_FIRST_ROWS and self._early.filter_in_tasks(self._plan, columns):
            keys = tuple(SortKey(item.column.name, item.ascending, item.nulls_first) for item in order)
            self._top_n = TopN(count, keys)
        return self._top_n is not None or self._plan.top_n is not None

    def prune(self, schema_json: str) -> None:
        """The columns that the query reads, nested ones narrowed to the fields used."""
        self._schema_json = schema_json

    def limit(self, limit: int) -> None:
        """Offers a limit. Each task may give up to it, so Spark always checks again."""
        if self.is_aggregated_in_connector:
            return
        if self._aggregation is None and not self._checked:
            self._plan = self._plan.with_limit(limit)
        elif self._aggregation is None and not self._left:
            # The connector does not know which of its rows will pass.
            self._limit = limit

    def scan(self) -> Scan:
        """The scan."""
        self._together.begin_pushing()
        if self._grouped is not None:
            return self._grouped_scan(self._grouped)
        if self._aggregation is None:
            output = self._output()
            columns = [replace(self._table.columns[f.name], type=self._narrowed(f)) for f in output]
        else:
            output = self._aggregation.schema
            columns = self._columns_of(self._aggregation)
        ordered = in_reading_order(columns, self._table.partition_keys)
        known = {column.name for column in ordered}
        others = tuple(column for column in self._work_columns() if column.name not in known)
        if self._aggregation is None:
            output = pa.schema([output.field(column.name) for column in ordered])
        work = self._work()
        plan, planned = self._early.planned(self._plan, (*ordered, *others), work)
        asked = PushedScan(
            table=self._table,
            plan=plan,
            output=output,
            work=work,
            checked=tuple(one.text for one in self._checked),
            left=tuple(self._left),
            partitioning=self._partitioning(output.names),
        )
        return Scan(asked, self._environment, planned)

    def _partitioning(self, names: Sequence[str]) -> TablePartitioning | None:
        """By what rows lie, as far as a join of the query may go by it."""
        if self._layout is None or self._aggregation is not None:
            return None
        found = self._layout.told(self._together.others(self._layout))
        if found is None:
            return None
        bucketed_by = () if found.bucketed_by is None else found.bucketed_by.columns
        return found if {*found.partitioned_by, *bucketed_by}.issubset(names) else None

    def _grouped_scan(self, splits: PlannedSplits) -> Scan:
        plan = self._plan
        assert plan.aggregation is not None
        asked = PushedScan(self._table, plan, grouped_schema(plan.aggregation), TaskWork())
        return Scan(asked, self._environment, PlannedScan(splits, TaskRead()))

    def _work(self) -> TaskWork:
        predicates = tuple(one.rows for one in self._checked if one.rows is not None)
        predicate = Junction(True, predicates) if predicates else None
        return TaskWork(predicate, self._limit, self._aggregation, self._top_n)

    def _checked_in_tasks(self, left: list[Translated]) -> list[Translated]:
        """Those of the predicates that the tasks are going to check, if tasks read."""
        exact = [one for one in left if one.rows is not None]
        if not exact or not self._plan.access.engine.task_pushdown:
            return []
        return exact if self._early.filter_in_tasks(self._plan, self._columns_in(exact)) else []

    def _work_columns(self) -> list[ColumnHandle]:
        names = {key.column for key in self._top_n.order} if self._top_n is not None else set()
        checked = {column.name for column in self._columns_in(self._checked)}
        return [column for name, column in self._table.columns.items() if name in names | checked]

    def _columns_in(self, predicates: Sequence[Translated]) -> list[ColumnHandle]:
        names = {name for one in predicates if one.rows is not None for name in one.rows.columns()}
        return [column for name, column in self._table.columns.items() if name in names]

    def _columns_of(self, aggregation: PartialAggregation) -> list[ColumnHandle]:
        names = {*aggregation.keys, *(aggregate.column for aggregate in aggregation.aggregates)}
        return [column for name, column in self._table.columns.items() if name in names]

    def _output(self) -> pa.Schema:
        wanted = arrow_schema(self._schema_json)
        return self._one_column() if not wanted.names and self._environment.rows_need_a_column() else wanted

    def _one_column(self) -> pa.Schema:
        """A column that is cheap to read: one that is read anyway, a partition key, one of fixed width, or any."""
        visible = arrow_schema(self._table.schema_json)
        checked = {column.name for column in self._work_columns()}
        read = [field for field in visible if field.name in checked]
        keys = [field for field in visible if field.name in self._table.partition_keys]
        narrow = [field for field in visible if pa.types.is_primitive(field.type)]
        return pa.schema([*read, *keys, *narrow, *visible][:1])

    def _narrowed(self, wanted: pa.Field) -> pa.DataType:
        return _narrow(self._table.columns[wanted.name].type, wanted.type)

    def _may_skip_in_files(self, one: Translated) -> bool:
        """Whether Spark's own reader may skip parts of files by it; files may have other values of a key."""
        met = [] if one.expression is None else list(references(one.expression))
        # What one domain for each column cannot say: an OR over columns, a field of a struct.
        says_more = any(reference.path for reference in met) or len({reference.column for reference in met}) > 1
        if one.kept_from_files or (one.domain.is_all and not says_more):
            return False
        columns = {*(one.domain.domains or ()), *(reference.column for reference in met)}
        return all(column.name not in self._table.partition_keys for column in columns)

    def _is_guaranteed(self, one: Translated) -> bool:
        """Whether the connector guarantees the predicate, so that no one has to check it."""
        if one.expression is not None and one.expression in self._plan.applied:
            return True
        remaining = self._plan.remaining.domains
        if not one.exact or one.domain.domains is None or remaining is None:
            return False
        return all(column not in remaining for column in one.domain.domains)


def _narrow(whole: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_struct(whole) and types.is_struct(wanted):
        return pa.struct([_narrow_field(whole.field(field.name), field) for field in wanted])
    if types.is_map(whole) and types.is_map(wanted):
        return pa.map_(_narrow(whole.key_type, wanted.key_type), _narrow_field(whole.item_field, wanted.item_field))
    if types.is_list(whole) and types.is_list(wanted):
        return pa.list_(_narrow_field(whole.value_field, wanted.value_field))
    return whole


def _narrow_field(whole: pa.Field, wanted: pa.Field) -> pa.Field:
    return whole.with_type(_narrow(whole.type, wanted.type))
