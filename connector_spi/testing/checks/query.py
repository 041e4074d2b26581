"""Conditions that are no domains, aggregates and first rows: what a connector takes over it does exactly."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from connector_spi.names import SchemaTableName
from connector_spi.optional.aggregation import AggregateFunction, AggregateKind, Aggregation
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import Call, ColumnReference, ConnectorExpression, Constant, Domain, Function, TupleDomain
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import ReferenceScan, rows_that_fit
from connector_spi.testing.reference_queries import (
    aggregated,
    first_keys,
    merged,
    offer_aggregation,
    offer_expression,
    offer_top_n,
    rows_that_fit_expression,
)
from connector_spi.testing.sample_data import column_table, mixed_table
from connector_spi.testing.shared_checks import assert_travels
from connector_spi.testing.strategies import aggregations, expressions, sort_orders

__all__ = ["QueryChecks"]

_COUNT = AggregateFunction(AggregateKind.COUNT_ROWS, None, pa.int64())


class QueryChecks(ConformanceBase):
    """Expressions, aggregation, top-N."""

    @pytest.mark.parametrize("partitioned", [False, True], ids=["plain", "partitioned"])
    def test_an_expression_loses_no_row_and_is_exact_where_guaranteed(self, partitioned: bool) -> None:
        data, name = self._table(partitioned)
        taken = []

        @settings(max_examples=self.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(expressions(data))
        def check(expression: ConnectorExpression) -> None:
            with self.query() as query:
                scan, guaranteed = offer_expression(query.table(name).project_names(data.column_names), expression)
                assert_travels(scan.table)
                taken.append(guaranteed)
                raw = scan.read_raw()
            expected = rows_that_fit_expression(data, expression)
            met = raw if guaranteed else rows_that_fit_expression(raw, expression)
            assert_same_rows(met, expected)

        check()
        if self.has(Behaviour.EXPRESSION_PUSHDOWN) and not partitioned:
            assert any(taken), "no expression was guaranteed; list EXPRESSION_PUSHDOWN as missing"

    def test_a_field_of_a_struct_is_null_where_the_struct_is(self) -> None:
        self.require(Behaviour.TYPE_STRUCT)
        data = column_table(Behaviour.TYPE_STRUCT, self.missing_behaviours)
        name = self.made(data)

        @settings(max_examples=self.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(expressions(data))
        def check(expression: ConnectorExpression) -> None:
            with self.query() as query:
                scan, guaranteed = offer_expression(query.table(name).project_names(data.column_names), expression)
                assert_travels(scan.table)
                raw = scan.read_raw()
            met = raw if guaranteed else rows_that_fit_expression(raw, expression)
            assert_same_rows(met, rows_that_fit_expression(data, expression))

        check()

    def test_an_expression_adds_to_the_filter_that_is_there(self) -> None:
        data, name = self._table(False)
        low = TupleDomain({"id": Domain.multiple_values(pa.int64(), range(3, 20))})
        with self.query() as query:
            scan = query.table(name).project_names(["id", "name"])
            either = _either(scan, data)
            expected = rows_that_fit(rows_that_fit_expression(data, either), low).select(["id", "name"])
            for filtered in (
                offer_expression(scan.filter_by_name(low), either)[0],
                offer_expression(scan, either)[0].filter_by_name(low),
            ):
                raw = rows_that_fit(rows_that_fit_expression(filtered.read_raw(), either), low)
                assert_same_rows(raw.select(["id", "name"]), expected)

    def test_a_limit_counts_the_rows_of_an_expression(self) -> None:
        data, name = self._table(False)
        with self.query() as query:
            scan = query.table(name).project_names(["id", "name"])
            either = _either(scan, data)
            filtered, guaranteed = offer_expression(scan, either)
            if not guaranteed:
                pytest.skip("the engine offers no limit while a filter is left")
            rows = filtered.limit(4)[0].read_raw()
        assert rows.num_rows >= 4
        assert rows_that_fit_expression(rows, either).num_rows == rows.num_rows

    @pytest.mark.parametrize("partitioned", [False, True], ids=["plain", "partitioned"])
    def test_aggregates_are_those_of_the_rows(self, partitioned: bool) -> None:
        data, name = self._table(partitioned)

        @settings(max_examples=self.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(aggregations(data))
        def check(aggregation: Aggregation) -> None:
            with self.query() as query:
                self._check_groups(query.table(name), aggregation, data)

        check()
        with self.query() as query:
            found = self._check_groups(query.table(name), Aggregation((), (_COUNT,)), data)
        if self.has(Behaviour.AGGREGATION):
            assert found, "count(*) was declined; list AGGREGATION as missing"

    @pytest.mark.parametrize("partitioned", [False, True], ids=["plain", "partitioned"])
    def test_aggregates_know_the_filters(self, partitioned: bool) -> None:
        self.require(Behaviour.AGGREGATION)
        data, name = self._table(partitioned)
        column = "part" if partitioned else "id"
        values = data.column(column).to_pylist()
        some = TupleDomain({column: Domain.multiple_values(data.column(column).type, values[:7])})
        with self.query() as query:
            filtered = query.table(name).filter_by_name(some)
            if not filtered.remaining.is_all:
                pytest.skip("the engine offers no aggregation while a filter is left")
            self._check_groups(filtered, Aggregation((), (_COUNT,)), rows_that_fit(data, some))
            self._check_groups(filtered, Aggregation((filtered.column(column),), (_COUNT,)), rows_that_fit(data, some))

    def test_aggregates_of_no_rows(self) -> None:
        self.require(Behaviour.AGGREGATION, Behaviour.EMPTY_TABLES)
        data = mixed_table(self.missing_behaviours).slice(0, 0)
        name = self.made(data)
        with self.query() as query:
            scan = query.table(name)
            column = scan.column("id")
            functions = (
                _COUNT,
                AggregateFunction(AggregateKind.COUNT, column, pa.int64()),
                AggregateFunction(AggregateKind.MAX, column, column.type),
            )
            self._check_groups(scan, Aggregation((), functions), data)
            self._check_groups(scan, Aggregation((column,), functions), data)

    @pytest.mark.parametrize("count", [0, 1, 5, 1000])
    def test_the_first_rows_are_among_those_that_come(self, count: int) -> None:
        data, name = self._table(False)

        @settings(max_examples=self.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
        @given(sort_orders(data))
        def check(order: tuple[SortItem, ...]) -> None:
            with self.query() as query:
                scan, guaranteed = offer_top_n(query.table(name).project_names(data.column_names), count, order)
                assert_travels(scan.table)
                rows = scan.read_raw()
            assert first_keys(rows, count, order) == first_keys(data, count, order)
            if guaranteed:
                assert rows.num_rows <= count
            kept = TupleDomain({"id": Domain.multiple_values(pa.int64(), rows.column("id").to_pylist())})
            assert_same_rows(rows, rows_that_fit(data, kept))

        check()

    def test_the_first_rows_are_taken(self) -> None:
        self.require(Behaviour.TOP_N)
        _, name = self._table(False)
        with self.query() as query:
            scan = query.table(name)
            order = (SortItem(scan.column("id"), ascending=False, nulls_first=False),)
            assert offer_top_n(scan, 3, order)[0].table != scan.table

    def _check_groups(self, scan: ReferenceScan, aggregation: Aggregation, data: pa.Table) -> bool:
        found = offer_aggregation(scan, aggregation)
        if found is None:
            return False
        groups, complete = found
        assert_travels(groups.table)
        splits, _ = groups.splits()
        rows = [tuple(row.values()) for split in splits for row in groups.read_split(split).to_pylist()]
        expected = sorted(aggregated(data, aggregation), key=repr)
        together = sorted(merged(rows, aggregation), key=repr)
        assert together == expected, f"{aggregation}: met {together}, expected {expected}"
        if complete:
            assert len(rows) == len(expected), (
                f"{aggregation} is said to be complete, and a group came {len(rows)} times"
            )
        return True

    def _table(self, partitioned: bool) -> tuple[pa.Table, SchemaTableName]:
        if partitioned:
            self.require(Behaviour.PARTITIONED_TABLES)
        data = mixed_table(self.missing_behaviours)
        return data, self.made(data, ("part",) if partitioned else ())


def _either(scan: ReferenceScan, data: pa.Table) -> ConnectorExpression:
    name, number = ColumnReference(scan.column("name")), ColumnReference(scan.column("id"))
    some = Call(Function.EQUAL, (name, Constant(data.column("name")[0].as_py(), name.type)))
    return Call(Function.OR, (some, Call(Function.GREATER, (number, Constant(12, number.type)))))
