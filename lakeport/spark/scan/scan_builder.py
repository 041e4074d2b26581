"""Takes what Spark's optimizer pushes into a scan."""

from __future__ import annotations

from typing import ClassVar

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.connections import forget_connections
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.plan_words.reading import chosen, read_aggregation, read_orders, read_predicates
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.scan.aggregates import spark_aggregation
from lakeport.spark.scan.environment import JvmEnvironment
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.scan.pushed_state import OfferedPredicate, PushdownRound, PushedState
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.scan.scan_proxy import PREDICATE, PushedPredicates, ScanProxy
from lakeport.spark.scan.sort_orders import sort_items

__all__ = ["ScanBuilderProxy"]


class ScanBuilderProxy(Proxy):
    """Reads what Spark's optimizer pushes, and hands it to the scan's state."""

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsPushDownRequiredColumns",
            READ + "SupportsPushDownV2Filters",
            READ + "SupportsPushDownLimit",
            READ + "SupportsPushDownTopN",
            READ + "SupportsPushDownAggregates",
        ]

    def __init__(self, jvm: Jvm, table: ScannedTable) -> None:
        super().__init__(jvm)
        self._table = table
        self._state = PushedState(table, JvmEnvironment(jvm), PushdownRound.join())
        self._pushed = PushedPredicates()
        self._has_other_average = False

    def pushPredicates(self, predicates: JavaObject) -> JavaObject:
        """Offers the predicates to the connector and to the tasks; gives back those that Spark has to check again."""
        return chosen(self._jvm, predicates, PREDICATE, [one.left for one in self._offer(predicates)])

    def pushedPredicates(self) -> JavaObject:
        """What the connector and the tasks got, for Spark's own plan text."""
        return self._pushed.all(self._jvm)

    def supportCompletePushDown(self, aggregation: JavaObject) -> bool:
        """Whether the connector gives each group once; tasks give results of their own each.

        Asked before Spark makes sums and counts of averages.
        """
        access = self._table.plan.access
        if not self._state.connector_may_aggregate and not access.engine.task_pushdown:
            return False
        found = spark_aggregation(read_aggregation(self._jvm, aggregation), self._table.columns)
        offered = found.in_connector() if self._state.connector_may_aggregate else None
        if offered is not None and self._state.aggregate_in_connector(offered, only_complete=True):
            return True
        self._has_other_average |= access.engine.task_pushdown and found.has_other_average
        return False

    def pushAggregation(self, aggregation: JavaObject) -> bool:
        """Lets the connector aggregate, or the tasks where they read; Spark asks once all filters are taken over."""
        if self._state.is_aggregated_in_connector:
            return True
        if self._has_other_average or not (self._state.connector_may_aggregate or self._state.may_aggregate):
            return False
        asked = spark_aggregation(read_aggregation(self._jvm, aggregation), self._table.columns)
        offered = asked.in_connector() if self._state.connector_may_aggregate else None
        if offered is not None and self._state.aggregate_in_connector(offered, only_complete=False):
            return True
        found = asked.in_tasks() if self._state.may_aggregate else None
        return found is not None and self._state.aggregate(found)

    def pruneColumns(self, schema: JavaObject) -> None:
        """The columns that the query reads, nested ones narrowed to the fields used."""
        self._state.prune(str(schema.json()))

    def pushLimit(self, limit: int) -> bool:
        """Offers a limit. Each task may give up to it, so Spark always checks again."""
        self._state.limit(limit)
        return False

    def pushTopN(self, orders: JavaObject, limit: int) -> bool:
        """Offers the first rows in an order to the connector and to the tasks; Spark always sorts and cuts again."""
        if not self._state.may_choose_first:
            return False
        order = sort_items(read_orders(self._jvm, orders), self._table.columns)
        return order is not None and self._state.top_n(limit, order)

    def isPartiallyPushed(self) -> bool:
        """Spark keeps its own limit, and its own order, above the scan."""
        return True

    def build(self) -> ScanProxy:
        """The scan."""
        forget_connections(self._jvm)
        return ScanProxy(self._jvm, self._state.scan(), self._pushed)

    def _known(self) -> KnownAnswers:
        return KnownAnswers({**self._named(), "isPartiallyPushed": answers.plain(True)})

    def _offer(self, predicates: JavaObject) -> list[OfferedPredicate]:
        columns = self._table.columns
        found = self._state.offer([translate(one, columns) for one in read_predicates(self._jvm, predicates)])
        taken, for_files = [one.pushed for one in found], [one.for_files for one in found]
        self._pushed = PushedPredicates(predicates, tuple(taken), tuple(for_files))
        return found
