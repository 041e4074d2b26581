"""Takes what Spark's optimizer pushes into a scan."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.connections import forget_connections
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.plan_words.nodes import AggregationWords, OrderWords, PredicateWords
from lakeport.spark.bridge.plan_words.reading import (
    MOST_NODES,
    aggregation_of_words,
    chosen,
    orders_of_words,
    predicates_of_words,
    read_aggregation,
    read_orders,
    read_predicates,
)
from lakeport.spark.bridge.proxies import CALLED_IN_WORDS, Proxy
from lakeport.spark.bridge.session_settings import FileSettings
from lakeport.spark.scan.aggregates import spark_aggregation
from lakeport.spark.scan.environment import JvmEnvironment
from lakeport.spark.scan.partitioning.pushdown_round import PushdownRound
from lakeport.spark.scan.partitioning.table_layout import table_layout
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.scan.pushed_state import OfferedPredicate, PushedState
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.scan.scan_proxy import PREDICATE, PushedPredicates, ScanProxy
from lakeport.spark.scan.sort_orders import sort_items

__all__ = ["ScanBuilderProxy"]

_IN_WORDS = frozenset(
    {
        "build",
        "pruneColumns",
        "pushAggregation",
        "pushPredicates",
        "pushTopN",
        "pushedPredicates",
        "supportCompletePushDown",
    }
)


class ScanBuilderProxy(Proxy):
    """Reads what Spark's optimizer pushes, and hands it to the scan's state."""

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsPushDownRequiredColumns",
            READ + "SupportsPushDownV2Filters",
            READ + "SupportsPushDownLimit",
            READ + "SupportsPushDownTopN",
            READ + "SupportsPushDownAggregates",
            CALLED_IN_WORDS,
        ]

    def __init__(self, jvm: Jvm, table: ScannedTable, files: FileSettings | None = None) -> None:
        super().__init__(jvm)
        self._table = table
        environment = JvmEnvironment(jvm, files)
        layout = table_layout(table.plan, table.columns, environment)
        self._state = PushedState(table, environment, PushdownRound.join(layout), layout)
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
        return self._may_complete(lambda: read_aggregation(self._jvm, aggregation))

    def _may_complete(self, asked: Callable[[], AggregationWords]) -> bool:
        access = self._table.plan.access
        if not self._state.connector_may_aggregate and not access.engine.task_pushdown:
            return False
        found = spark_aggregation(asked(), self._table.columns)
        offered = found.in_connector() if self._state.connector_may_aggregate else None
        if offered is not None and self._state.aggregate_in_connector(offered, only_complete=True):
            return True
        self._has_other_average |= access.engine.task_pushdown and found.has_other_average
        return False

    def pushAggregation(self, aggregation: JavaObject) -> bool:
        """Lets the connector aggregate, or the tasks where they read; Spark asks once all filters are taken over."""
        return self._aggregate(lambda: read_aggregation(self._jvm, aggregation))

    def _aggregate(self, words: Callable[[], AggregationWords]) -> bool:
        if self._state.is_aggregated_in_connector:
            return True
        if self._has_other_average or not (self._state.connector_may_aggregate or self._state.may_aggregate):
            return False
        asked = spark_aggregation(words(), self._table.columns)
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
        return self._choose_first(lambda: read_orders(self._jvm, orders), limit)

    def _choose_first(self, words: Callable[[], list[OrderWords]], limit: int) -> bool:
        if not self._state.may_choose_first:
            return False
        order = sort_items(words(), self._table.columns)
        return order is not None and self._state.top_n(limit, order)

    def isPartiallyPushed(self) -> bool:
        """Spark keeps its own limit, and its own order, above the scan."""
        return True

    def build(self) -> ScanProxy:
        """The scan."""
        forget_connections(self._jvm)
        return ScanProxy(self._jvm, self._state.scan(), self._pushed)

    def _called_in_words(self, name: str, words: str) -> object:
        if name == "pushPredicates":
            found = self._offer_words(predicates_of_words(words))
            taken = [(one.pushed, one.for_files, one.left) for one in found]
            names = ("pushed", "in files", "left")
            return json.dumps({key: _marks(one[at] for one in taken) for at, key in enumerate(names)})
        if name == "supportCompletePushDown":
            return self._may_complete(lambda: aggregation_of_words(words))
        if name == "pushAggregation":
            return self._aggregate(lambda: aggregation_of_words(words))
        if name == "pushTopN":
            asked = json.loads(words)
            return self._choose_first(lambda: orders_of_words(asked["orders"]), asked["count"])
        if name != "build":
            return super()._called_in_words(name, words)
        columns = json.loads(words)["columns"]
        if columns is not None:
            self._state.prune(columns)
        forget_connections(self._jvm)
        return ScanProxy(self._jvm, self._state.scan(), None)

    def _known(self) -> KnownAnswers:
        known = {**self._named(), "isPartiallyPushed": answers.plain(True)}
        return KnownAnswers(known, in_words=_IN_WORDS, kept_between_calls={"most nodes": MOST_NODES})

    def _offer_words(self, predicates: Sequence[PredicateWords]) -> list[OfferedPredicate]:
        return self._state.offer([translate(one, self._table.columns) for one in predicates])

    def _offer(self, predicates: JavaObject) -> list[OfferedPredicate]:
        found = self._offer_words(read_predicates(self._jvm, predicates))
        taken, for_files = [one.pushed for one in found], [one.for_files for one in found]
        self._pushed = PushedPredicates(predicates, tuple(taken), tuple(for_files))
        return found


def _marks(taken: Iterable[bool]) -> str:
    """For each item an x where it is taken, as ``PlanWords.chosen`` in Java reads it."""
    return "".join("x" if one else "-" for one in taken)
