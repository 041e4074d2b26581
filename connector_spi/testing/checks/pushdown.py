"""Pushdown equals no pushdown; pruning only over-includes (invariant I3)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from connector_spi.metadata import SupportsLimit, SupportsPartitionListing, SupportsStatistics
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Constraint, Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.statistics import TableStatistics
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import ReferenceScan, rows_that_fit
from connector_spi.testing.sample_data import mixed_table
from connector_spi.testing.shared_checks import assert_filtered, assert_pruned
from connector_spi.testing.strategies import predicates

__all__ = ["PushdownChecks"]


class PushdownChecks(ConformanceBase):
    """Filter, projection, limit, dynamic filters, statistics, partitions."""

    @pytest.mark.parametrize("partitioned_by", [(), ("part",)], ids=["plain", "partitioned"])
    def test_a_pushed_filter_gives_the_rows_of_an_engine_side_one(self, partitioned_by: Sequence[str]) -> None:
        data, name = self._mixed(partitioned_by)

        @settings(max_examples=self.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(predicates(data))
        def check(predicate: TupleDomain[str]) -> None:
            assert_filtered(self.connector, name, data, predicate)

        check()

    @pytest.mark.parametrize("partitioned_by", [(), ("part",)], ids=["plain", "partitioned"])
    def test_a_dynamic_filter_loses_no_row_of_it(self, partitioned_by: Sequence[str]) -> None:
        data, name = self._mixed(partitioned_by)

        @settings(max_examples=self.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(predicates(data))
        def check(predicate: TupleDomain[str]) -> None:
            assert_pruned(self.connector, name, data, predicate)

        check()

    def test_filters_offered_one_after_the_other_add_up(self) -> None:
        data, name = self._mixed(())
        first = TupleDomain({"id": Domain.multiple_values(pa.int64(), range(4, 20))})
        second = TupleDomain({"name": Domain.not_null(pa.string())})
        with self.query() as query:
            met = query.table(name).filter_by_name(first).filter_by_name(second).project_names(["id", "name"]).read()
        assert_same_rows(met, rows_that_fit(data, first.intersect(second)).select(["id", "name"]))

    def test_apply_methods_come_to_rest(self) -> None:
        _, name = self._mixed(("part",) if self.has(Behaviour.PARTITIONED_TABLES) else ())
        with self.query() as query:
            scan = query.table(name)
            domain = scan.by_handle(TupleDomain({"part": Domain.single_value(pa.string(), "p1")}))
            filtered = scan.filter(domain)
            assert query.metadata.apply_filter(query.session, filtered.table, Constraint(domain)) is None
            assert query.metadata.apply_filter(query.session, scan.table, Constraint.always_true()) is None
            if self.has(Behaviour.FILTER_PUSHDOWN):
                assert filtered.table != scan.table
            projected = filtered.project_names(["id"])
            again = query.metadata.apply_projection(query.session, projected.table, projected.read_columns())
            assert again is None
            limited, _ = scan.limit(5)
            if isinstance(query.metadata, SupportsLimit):
                assert query.metadata.apply_limit(query.session, limited.table, 5) is None

    def test_a_filter_on_a_partition_key_leaves_the_others_out(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES, Behaviour.PARTITION_PRUNING)
        data, name = self._mixed(("part",))
        predicate = TupleDomain({"part": Domain.multiple_values(pa.string(), ["p1", "p3", "p77"])})
        with self.query() as query:
            scan = query.table(name).filter_by_name(predicate).project_names(["id", "part"])
            _, summary = scan.splits()
            raw = scan.read_raw()
        assert_same_rows(raw.select(["id", "part"]), rows_that_fit(data, predicate).select(["id", "part"]))
        assert summary.partitions_kept in (None, 2)

    def test_a_filter_on_no_partition_reads_nothing(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES, Behaviour.PARTITION_PRUNING)
        _, name = self._mixed(("part",))
        predicate = TupleDomain({"part": Domain.single_value(pa.string(), "no such partition")})
        with self.query() as query:
            assert query.table(name).filter_by_name(predicate).read_raw().num_rows == 0

    @pytest.mark.parametrize("count", [1, 3, 23, 1000])
    def test_a_limit_never_gives_fewer_rows_than_asked(self, count: int) -> None:
        data, name = self._mixed(())
        with self.query() as query:
            scan, guaranteed = query.table(name).limit(count)
            rows = scan.read_raw()
        assert rows.num_rows >= min(count, data.num_rows)
        if guaranteed:
            assert rows.num_rows <= count
        assert_same_rows(_with_ids_of(data, rows), rows)

    def test_a_limit_after_a_filter_counts_the_filtered_rows(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES)
        data, name = self._mixed(("part",))
        predicate = TupleDomain({"part": Domain.multiple_values(pa.string(), ["p2", "p3"])})
        with self.query() as query:
            filtered = query.table(name).filter_by_name(predicate)
            if not filtered.remaining.is_all:
                pytest.skip("the engine offers no limit while a filter is left")
            limited, _ = filtered.limit(7)
            rows = limited.read_raw()
        assert rows.num_rows >= 7
        assert set(rows.column("id").to_pylist()) <= set(rows_that_fit(data, predicate).column("id").to_pylist())

    def test_statistics_bound_what_is_read(self) -> None:
        self.require(Behaviour.STATISTICS)
        partitioned_by = ("part",) if self.has(Behaviour.PARTITIONED_TABLES) else ()
        data, name = self._mixed(partitioned_by)
        predicate = TupleDomain({"part": Domain.single_value(pa.string(), "p1")})
        with self.query() as query:
            scan = query.table(name)
            whole, part = _statistics(scan), _statistics(scan.filter_by_name(predicate))
        assert whole.row_count == data.num_rows
        assert part.row_count is not None
        assert rows_that_fit(data, predicate).num_rows <= part.row_count <= data.num_rows

    def test_column_statistics_hold_every_value(self) -> None:
        self.require(Behaviour.STATISTICS, Behaviour.COLUMN_STATISTICS)
        data, name = self._mixed(())
        with self.query() as query:
            known = dict(_statistics(query.table(name)).columns)
        assert known["id"].low is not None
        assert known["id"].high is not None
        for column, found in known.items():
            if column not in data.column_names:
                continue
            values = data.column(column)
            if found.null_fraction is not None:
                assert found.null_fraction == pytest.approx(values.null_count / len(values)), column
            held = _between(values.type, found.low, found.high)
            # A NaN has no place between the bounds that formats keep.
            met = [value for value in values.drop_null().to_pylist() if value == value]
            assert all(held.contains_value(value) for value in met), column

    def test_partitions_are_listed_typed_and_once(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES, Behaviour.PARTITION_LISTING)
        _, name = self._mixed(("part",))
        only = TupleDomain({"part": Domain.single_value(pa.string(), "p1")})
        with self.query() as query:
            assert isinstance(query.metadata, SupportsPartitionListing)
            table = query.table(name).table
            every = list(query.metadata.list_partitions(query.session, table, TupleDomain.all()))
            some = list(query.metadata.list_partitions(query.session, table, only))
        assert every == [("p0",), ("p1",), ("p2",), ("p3",), ("p4",)]
        assert ("p1",) in some
        assert set(some) <= set(every)

    def _mixed(self, partitioned_by: Sequence[str]) -> tuple[pa.Table, SchemaTableName]:
        if partitioned_by:
            self.require(Behaviour.PARTITIONED_TABLES)
        data = mixed_table(self.missing_behaviours)
        return data, self.made(data, partitioned_by)


def _statistics(scan: ReferenceScan) -> TableStatistics:
    metadata = scan.query.metadata
    assert isinstance(metadata, SupportsStatistics)
    return metadata.get_table_statistics(scan.query.session, scan.table)


def _between(data_type: pa.DataType, low: Value | None, high: Value | None) -> ValueSet:
    held = ValueSet.all(data_type)
    if low is not None:
        held = held.intersect(ValueSet.of_ranges(data_type, [Range.greater_or_equal(data_type, low)]))
    if high is not None:
        held = held.intersect(ValueSet.of_ranges(data_type, [Range.less_or_equal(data_type, high)]))
    return held


def _with_ids_of(data: pa.Table, rows: pa.Table) -> pa.Table:
    ids = TupleDomain({"id": Domain.multiple_values(pa.int64(), rows.column("id").to_pylist())})
    return rows_that_fit(data, ids).select(rows.column_names)
