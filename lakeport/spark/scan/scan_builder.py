"""Takes what Spark's optimizer pushes into a scan."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Constraint, TupleDomain
from lakeport.spark.bridge.connections import forget_connections
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.types import arrow_schema
from lakeport.spark.bridge.versions import rows_need_a_column
from lakeport.spark.explain.description import ScanTexts
from lakeport.spark.scan.aggregates import has_other_average, partial_aggregation
from lakeport.spark.scan.pushdown import Translated, translate
from lakeport.spark.scan.reader_choice import EarlyPlanning, PushdownRound, in_reading_order
from lakeport.spark.scan.scan import PREDICATE, PushedPredicates, ScannedTable, ScanProxy
from lakeport.spark.tasks.partial_aggregate import PartialAggregation
from lakeport.spark.tasks.row_predicate import Junction
from lakeport.spark.tasks.task import TaskWork

__all__ = ["ScanBuilderProxy"]


class ScanBuilderProxy(Proxy):
    """Takes what Spark's optimizer pushes."""

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsPushDownRequiredColumns",
            READ + "SupportsPushDownV2Filters",
            READ + "SupportsPushDownLimit",
            READ + "SupportsPushDownAggregates",
        ]

    def __init__(self, jvm: Jvm, table: ScannedTable) -> None:
        super().__init__(jvm)
        self._table = table
        self._plan = table.plan
        self._early = EarlyPlanning(jvm, table.partition_keys)
        self._round = PushdownRound.join()
        self._schema_json = table.schema_json
        self._pushed: list[JavaObject] = []
        self._for_files: list[JavaObject] = []
        self._left: list[str] = []
        self._checked: list[Translated] = []
        self._limit: int | None = None
        self._aggregation: PartialAggregation | None = None
        self._has_other_average = False

    def pushPredicates(self, predicates: JavaObject) -> JavaObject:
        """Offers the predicates to the connector and to the tasks; gives back those that Spark has to check again.

        Of several scans Spark gets all back that the connector does not guarantee, also what tasks check.
        """
        offered = self._jvm.items(predicates)
        left = self._take(offered)
        return predicates if len(left) == len(offered) else self._jvm.array(PREDICATE, [offered[at] for at in left])

    def pushedPredicates(self) -> JavaObject:
        """What the connector and the tasks got, for Spark's own plan text."""
        return self._jvm.array(PREDICATE, self._pushed)

    def supportCompletePushDown(self, aggregation: JavaObject) -> bool:
        """Never: each task gives results of its own. Asked before Spark makes sums and counts of averages."""
        if self._plan.access.task_pushdown and has_other_average(self._jvm, aggregation, self._table.columns):
            self._has_other_average = True
        return False

    def pushAggregation(self, aggregation: JavaObject) -> bool:
        """Lets the tasks aggregate, where tasks read; Spark asks once all filters above are taken over."""
        if not self._plan.access.task_pushdown or self._has_other_average or self._early.is_python is False:
            return False
        found = partial_aggregation(self._jvm, aggregation, self._table.columns)
        if found is None or not self._early.aggregate_in_tasks(self._plan, self._columns_of(found)):
            return False
        self._aggregation = found
        return True

    def pruneColumns(self, schema: JavaObject) -> None:
        """The columns that the query reads, nested ones narrowed to the fields used."""
        self._schema_json = str(schema.json())

    def pushLimit(self, limit: int) -> bool:
        """Offers a limit. Each task may give up to it, so Spark always checks again."""
        if self._aggregation is None and not self._checked:
            self._plan = self._plan.with_limit(limit)
        elif self._aggregation is None and not self._left:
            # The connector does not know which of its rows will pass.
            self._limit = limit
        return False

    def isPartiallyPushed(self) -> bool:
        """Spark keeps its own limit above the scan."""
        return True

    def build(self) -> ScanProxy:
        """The scan."""
        self._round.begin_pushing()
        forget_connections(self._jvm)
        if self._aggregation is None:
            output = self._output()
            columns = [replace(self._table.columns[f.name], type=self._narrowed(f)) for f in output]
        else:
            output = self._aggregation.schema
            columns = self._columns_of(self._aggregation)
        ordered = in_reading_order(columns, self._table.partition_keys)
        known = {column.name for column in ordered}
        others = tuple(column for column in self._predicate_columns() if column.name not in known)
        plan, planned = self._early.planned(self._plan, (*ordered, *others))
        if self._aggregation is None:
            output = pa.schema([output.field(column.name) for column in ordered])
        predicates = tuple(one.rows for one in self._checked if one.rows is not None)
        work = TaskWork(Junction(True, predicates) if predicates else None, self._limit, self._aggregation)
        texts = ScanTexts(tuple(one.text for one in self._checked), tuple(self._left))
        pushed = PushedPredicates(self._pushed, self._for_files)
        return ScanProxy(self._jvm, self._table, plan, output, work, planned, texts, pushed)

    def _take(self, offered: list[JavaObject]) -> list[int]:
        """Offers the predicates to the connector and to the tasks; which of them Spark has to check again."""
        self._round.begin_pushing()
        translated = [translate(self._jvm, predicate, self._table.columns) for predicate in offered]
        summary = TupleDomain[ColumnHandle].all()
        for one in translated:
            summary = summary.intersect(one.domain)
        words = tuple(one.text for one in translated if not one.exact)
        self._plan = self._plan.with_filter(Constraint(summary, words))
        checked = self._checked_in_tasks([one for one in translated if not self._is_done(one)])
        self._checked += checked
        done = [self._is_done(one) or (self._round.is_alone and one in checked) for one in translated]
        pairs = list(zip(offered, translated, strict=True))
        self._pushed = [predicate for predicate, one in pairs if not one.domain.is_all or one in checked]
        self._for_files = [predicate for predicate, one in pairs if self._may_skip_in_files(one)]
        self._left = [one.text for one, is_done in zip(translated, done, strict=True) if not is_done]
        return [at for at, is_done in enumerate(done) if not is_done]

    def _checked_in_tasks(self, left: list[Translated]) -> list[Translated]:
        """Those of the predicates that the tasks are going to check, if tasks read."""
        exact = [one for one in left if one.rows is not None]
        if not exact or not self._plan.access.task_pushdown:
            return []
        names = {name for one in exact if one.rows is not None for name in one.rows.columns()}
        checked = [column for name, column in self._table.columns.items() if name in names]
        return exact if self._early.filter_in_tasks(self._plan, checked) else []

    def _predicate_columns(self) -> list[ColumnHandle]:
        names = {name for one in self._checked if one.rows is not None for name in one.rows.columns()}
        return [column for name, column in self._table.columns.items() if name in names]

    def _columns_of(self, aggregation: PartialAggregation) -> list[ColumnHandle]:
        names = {*aggregation.keys, *(aggregate.column for aggregate in aggregation.aggregates)}
        return [column for name, column in self._table.columns.items() if name in names]

    def _output(self) -> pa.Schema:
        wanted = arrow_schema(self._schema_json)
        return self._one_column() if not wanted.names and rows_need_a_column(self._jvm) else wanted

    def _one_column(self) -> pa.Schema:
        """A column that is cheap to read: one that is read anyway, a partition key, one of fixed width, or any."""
        visible = arrow_schema(self._table.schema_json)
        checked = {column.name for column in self._predicate_columns()}
        read = [field for field in visible if field.name in checked]
        keys = [field for field in visible if field.name in self._table.partition_keys]
        narrow = [field for field in visible if pa.types.is_primitive(field.type)]
        return pa.schema([*read, *keys, *narrow, *visible][:1])

    def _narrowed(self, wanted: pa.Field) -> pa.DataType:
        return _narrow(self._table.columns[wanted.name].type, wanted.type)

    def _may_skip_in_files(self, one: Translated) -> bool:
        """Whether Spark's own reader may skip parts of files by it: not by a key, which a file may hold otherwise."""
        domains = one.domain.domains
        if one.domain.is_all or one.kept_from_files:
            return False
        return domains is None or all(column.name not in self._table.partition_keys for column in domains)

    def _is_done(self, one: Translated) -> bool:
        """Whether the connector guarantees the predicate, so that nobody need check it."""
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
