"""Who reads a scan, and how often its splits are planned; with no Spark."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle, Split
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.splits import ScanSummary
from lakeport.planning.scan_plan import PlannedSplits
from lakeport.scan_facts import ObservedScan
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.scan.partitioning.pushdown_round import PushdownRound
from lakeport.spark.scan.pushdown import Translated
from lakeport.spark.scan.pushed_state import PushedState
from lakeport.spark.scan.reader_choice import NativeRead, TaskRead, choose_reader
from lakeport.spark.scan.scan import PushedScan, Scan, ScannedTable
from lakeport.spark.tasks.aggregate_states import Aggregate, AggregateFunction
from lakeport.spark.tasks.partial_aggregate import PartialAggregation
from lakeport.spark.tasks.row_predicate import Comparison, Junction
from lakeport.spark.tasks.task import TaskWork
from tests.lakeport.spark.scan.fakes import AT, FOR_TASKS, ID, PART, FakeSpark, native, scanned

ROW_CHECK = Comparison("id", "=", 1)
IS_ONE = Translated(
    TupleDomain.with_column_domains({ID: Domain.single_value(ID.type, 1)}), True, "id = 1", ROW_CHECK, False
)
COUNT = PartialAggregation(
    ("part",),
    (Aggregate(AggregateFunction.COUNT_ROWS, "", pa.int64()),),
    pa.schema([("part", pa.int64()), ("count", pa.int64())]),
)


def pushed(table: ScannedTable, spark: FakeSpark | None = None) -> PushedState:
    together = PushdownRound()
    together._scans = 1
    return PushedState(table, spark or FakeSpark(), together)


def schema_json(*columns: ColumnHandle) -> str:
    return spark_schema_json(ColumnMetadata(column.name, column.type) for column in columns)


def scan_of(table: ScannedTable) -> Scan:
    output = pa.schema([(column.name, column.type) for column in table.plan.columns])
    return Scan(PushedScan(table, table.plan, output, TaskWork()), FakeSpark())


@pytest.mark.parametrize(
    ("splits", "spark", "expected"),
    [
        ([native(), native("/t/g")], FakeSpark(), NativeRead("parquet", ())),
        ([native("/t/f", "parquet", "part")], FakeSpark(), NativeRead("parquet", ("part",))),
        ([native("file:/t/f")], FakeSpark(), NativeRead("parquet", ())),
        ([native("/t/f", "orc", "at", "part")], FakeSpark(), NativeRead("orc", ("at", "part"))),
        ([], FakeSpark(), None),
        ([native(), FOR_TASKS], FakeSpark(), None),
        ([native(), native("/t/f", "orc")], FakeSpark(), None),
        ([native(), native("/t/f", "parquet", "part")], FakeSpark(), None),
        ([native("/t/f", "avro")], FakeSpark(), None),
        # Spark's reader gives constants after the columns of the file.
        ([native("/t/f", "parquet", "id")], FakeSpark(), None),
        ([native("s3a://b/f")], FakeSpark(), None),
        ([native()], FakeSpark(case_sensitive=True), None),
        ([native("/t/f", "orc")], FakeSpark(utc=False), None),
        ([native("/t/f", "parquet")], FakeSpark(utc=False), NativeRead("parquet", ())),
    ],
)
def test_the_reader(splits: Sequence[Split], spark: FakeSpark, expected: NativeRead | None) -> None:
    with scanned(lambda _: splits) as (table, _):
        found = choose_reader(table.plan, PlannedSplits(tuple(splits), ScanSummary()), TaskWork(), spark)
    assert found == (expected or TaskRead())


def test_tasks_read_where_they_have_work_or_are_asked_for() -> None:
    splits = PlannedSplits((native(),), ScanSummary())
    work = TaskWork(predicate=ROW_CHECK)
    with scanned(lambda _: splits.splits) as (table, _):
        assert choose_reader(table.plan, splits, work, FakeSpark()) == TaskRead(work)
    with scanned(lambda _: splits.splits, native_reader=False) as (table, _):
        assert choose_reader(table.plan, splits, TaskWork(), FakeSpark()) == TaskRead()


def test_a_scan_that_is_not_asked_plans_nothing() -> None:
    with scanned(lambda _: [native()]) as (table, splits):
        scan_of(table)
    assert splits.asked == []


def test_a_scan_is_planned_once() -> None:
    with scanned(lambda _: [native(), native("/t/g")]) as (table, splits):
        scan = scan_of(table)
        assert scan.reader == NativeRead("parquet", ())
        facts = scan.described().facts
        assert (facts.splits, facts.tasks, facts.size_bytes, facts.native) == (2, 2, 20, True)
        assert scan.start() == scan.tasks() == [(native(),), (native("/t/g"),)]
    assert splits.asked == [["id", "at", "part"]]


def test_a_runtime_filter_prunes_again_and_keeps_the_reader() -> None:
    found: list[Split] = [native(), native("/t/g")]
    with scanned(lambda _: found) as (table, splits):
        scan = scan_of(table)
        before = scan.fingerprint
        assert scan.reader == NativeRead("parquet", ())
        found[:] = []
        seven = TupleDomain[ColumnHandle].with_column_domains({PART: Domain.single_value(PART.type, 7)})
        assert scan.prune(seven)
        assert not scan.prune(seven)
        assert scan.tasks() == []
        assert scan.reader == NativeRead("parquet", ())
        assert scan.fingerprint != before
    assert len(splits.asked) == 2


def test_what_is_found_native_while_spark_pushes_is_handed_to_the_scan() -> None:
    with scanned(lambda columns: [native("/t/f", "parquet", "part")]) as (table, splits):
        state = pushed(table)
        [offered] = state.offer([IS_ONE])
        assert (offered.pushed, offered.for_files, offered.left) == (True, True, True)
        assert not state.may_aggregate
        state.prune(schema_json(ID))
        scan = state.scan()
        # The file has a value of its own for every column but the key, which is not read.
        assert scan.reader == NativeRead("parquet", ())
        assert scan.asked.work == TaskWork()
    assert splits.asked == [["id", "at", "part"]]


def test_constants_are_in_the_order_of_the_columns() -> None:
    read = NativeRead("parquet", ("at", "part"))
    assert read.with_columns((ID, PART, AT)) == NativeRead("parquet", ("part", "at"))
    assert read.with_columns((ID, AT)) == NativeRead("parquet", ("at",))
    assert read.with_columns((AT, ID)) is None
    assert read.with_columns((ID,)) == NativeRead("parquet", ())


def test_tasks_check_what_only_they_can_read() -> None:
    with scanned(lambda _: [FOR_TASKS]) as (table, splits):
        state = pushed(table)
        [offered] = state.offer([IS_ONE])
        assert not offered.left
        state.prune(schema_json(AT))
        state.limit(3)
        scan = state.scan()
        work = TaskWork(Junction(True, (ROW_CHECK,)), 3)
        assert scan.reader == TaskRead(work)
        assert [column.name for column in scan.asked.plan.columns] == ["at", "id"]
        assert scan.asked.output.names == ["at"]
    # All visible columns, those of the filter, and those that are read.
    assert splits.asked == [["id", "at", "part"], ["id"], ["at", "id"]]


def test_a_column_that_is_not_read_may_be_why_files_are_not_native() -> None:
    with scanned(lambda columns: [FOR_TASKS if AT in columns else native()]) as (table, _):
        state = pushed(table)
        [offered] = state.offer([IS_ONE])
        assert offered.left
        state.prune(schema_json(ID))
        assert state.scan().reader == NativeRead("parquet", ())


def test_an_aggregation_is_planned_once() -> None:
    with scanned(lambda _: [FOR_TASKS]) as (table, splits):
        state = pushed(table)
        assert state.may_aggregate
        assert state.aggregate(COUNT)
        scan = state.scan()
        assert scan.reader == TaskRead(TaskWork(aggregation=COUNT))
        assert scan.prunable_columns() == []
        assert scan.described().pushdown.aggregated == "count(*) by part"
    assert splits.asked == [["part"]]


def test_spark_aggregates_what_it_reads_itself() -> None:
    with scanned(lambda _: [native("/t/f", "parquet", "part")]) as (table, splits):
        state = pushed(table)
        assert not state.aggregate(COUNT)
        state.prune(schema_json(PART))
        assert state.scan().reader == NativeRead("parquet", ("part",))
    assert splits.asked == [["part"]]


def test_a_scan_of_nothing_is_planned_once() -> None:
    with scanned(lambda _: []) as (table, splits):
        state = pushed(table)
        [offered] = state.offer([IS_ONE])
        assert not offered.left
        state.prune(schema_json(AT))
        assert state.scan().tasks() == []
    assert splits.asked == [["id", "at", "part"]]


class Observer:
    wants_metrics = False

    def __init__(self) -> None:
        self.built: list[ObservedScan] = []
        self.started: list[ObservedScan] = []

    def scan_built(self, scan: ObservedScan) -> None:
        self.built.append(scan)

    def scan_started(self, scan: ObservedScan) -> None:
        self.started.append(scan)


def test_an_observer_is_notified() -> None:
    with scanned(lambda _: [FOR_TASKS]) as (table, _):
        observer = Observer()
        table.plan.access.statement.observer = observer
        scan = scan_of(table)
        assert (observer.built, observer.started) == ([scan], [])
        scan.start()
        assert observer.started == [scan]
        scan.task_reader(TaskWork())
        assert scan.metrics() is None
