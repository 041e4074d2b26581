"""What Spark does with tasks that hand over columns: it kills them, uses their Python again, counts, spills."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.catalog.install import install
from tests.lakeport.spark.bridge.unsteady import BATCH_ROWS, GO_ON, busy_workers, text_of, unsteady_registry

pytestmark = pytest.mark.spark

_ROWS = 4 * 20 * BATCH_ROWS
_WAIT = 60.0
_GROUP = "lakeport: columns in tasks"


@dataclass(frozen=True)
class Tasks:
    """A session with the catalog ``unsteady``.

    Attributes:
        spark: The session.
        folder: Where workers leave their ids.
    """

    spark: SparkSession
    folder: Path

    def arrow_bytes(self) -> int:
        """What Arrow holds in Spark's Java."""
        arrow = Jvm(self.spark).scala_object("org.apache.spark.sql.util.ArrowUtils")
        return int(arrow.rootAllocator().getAllocatedMemory())

    def descendants(self) -> set[int]:
        """The processes below Spark's Java that live."""
        jvm = Jvm(self.spark)
        below = jvm.cls("java.lang.ProcessHandle").current().descendants().toArray()
        return {int(process.pid()) for process in jvm.items(below)}


@pytest.fixture(params=[True, False], ids=["columns", "rows"])
def tasks(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Tasks]:
    registry = unsteady_registry(tmp_path)
    session = spark.newSession()
    install(session, registry)
    for name, value in (("columnar_reader", request.param), ("task_pushdown", False)):
        session.conf.set(f"spark.lakeport.unsteady.{name}", str(value).lower())
    plan = str(session.sql("EXPLAIN SELECT id FROM unsteady.s.steady").collect()[0][0])
    assert ("as columns" if request.param else "row by row") in plan
    yield Tasks(session, tmp_path)
    registry.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    ["SELECT sum(hash(text)) FROM unsteady.s.hanging", "SELECT text FROM unsteady.s.hanging SORT BY text"],
    ids=["aggregation", "sort"],
)
def test_a_query_that_is_cancelled_leaves_nothing(tasks: Tasks, query: str) -> None:
    """No memory of Arrow, and no Python of a task that was killed while it had handed over half of its batches."""
    arrow = tasks.arrow_bytes()
    context = tasks.spark.sparkContext
    with running(tasks, query) as found:
        wait_until(lambda: tasks.arrow_bytes() > arrow and len(busy_workers(tasks.folder)) >= 2)
        assert not found.done()
        context.cancelJobGroup(_GROUP)
        with pytest.raises(Exception, match="cancelled"):
            found.result(_WAIT)
    wait_until(lambda: tasks.arrow_bytes() == arrow)
    wait_until(lambda: not context.statusTracker().getActiveStageIds())
    # Spark ends the Python of a task that does not end in time; that of one that does ends where it would hand over.
    Path(tasks.folder, GO_ON).touch()
    wait_until(lambda: len(busy_workers(tasks.folder) & tasks.descendants()) < len(busy_workers(tasks.folder)))
    check_steady(tasks)


@pytest.mark.slow
def test_a_query_is_cancelled_while_java_reads_what_it_sorted(tasks: Tasks) -> None:
    """All rows of a task are in Spark's sorter then, and its Python has given them all."""
    arrow = tasks.arrow_bytes()
    system = Jvm(tasks.spark).cls("java.lang.System")
    # Each run has a name of its own: a task that is being killed sets its property once more.
    left_the_sort = f"lakeport.test.{tasks.folder.name}"
    said = f"reflect('java.lang.System', 'setProperty', '{left_the_sort}', text)"
    slowly = f"{said}, reflect('java.lang.Thread', 'sleep', 50L)"
    with running(tasks, f"SELECT {slowly} FROM (SELECT text FROM unsteady.s.steady SORT BY text)") as found:
        wait_until(lambda: system.getProperty(left_the_sort) is not None)
        assert not found.done()
        tasks.spark.sparkContext.cancelJobGroup(_GROUP)
        with pytest.raises(Exception, match="cancelled"):
            found.result(_WAIT)
    wait_until(lambda: not tasks.spark.sparkContext.statusTracker().getActiveStageIds())
    wait_until(lambda: tasks.arrow_bytes() == arrow)
    check_steady(tasks)


def test_a_limit_ends_what_it_does_not_need(tasks: Tasks) -> None:
    """Behind half of the batches the task would hang."""
    arrow = tasks.arrow_bytes()
    query = f"SELECT id FROM unsteady.s.hanging WHERE split = 1 LIMIT {BATCH_ROWS}"
    found = [row["id"] for row in tasks.spark.sql(query).collect()]
    assert found == list(range(20 * BATCH_ROWS, 21 * BATCH_ROWS))
    wait_until(lambda: tasks.arrow_bytes() == arrow)


@pytest.mark.slow
def test_a_worker_reads_again(tasks: Tasks) -> None:
    for _ in range(2):
        tasks.spark.sql("SELECT max(text) FROM unsteady.s.steady").collect()
    before = tasks.descendants()
    for _ in range(3):
        found = tasks.spark.sql("SELECT DISTINCT pid FROM unsteady.s.steady").collect()
        assert {row["pid"] for row in found} <= before
    assert tasks.descendants() <= before


@contextmanager
def running(tasks: Tasks, query: str) -> Iterator[Future[object]]:
    """A query that runs in another thread, in a group of jobs that is cancelled at the end."""

    def run() -> object:
        tasks.spark.sparkContext.setJobGroup(_GROUP, "is cancelled", interruptOnCancel=True)
        return tasks.spark.sql(query).collect()

    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(run)
        finally:
            tasks.spark.sparkContext.cancelJobGroup(_GROUP)


def check_steady(tasks: Tasks) -> None:
    """The next query answers."""
    found = tasks.spark.sql("SELECT count(*), sum(id) FROM unsteady.s.steady").collect()
    assert found == [(_ROWS, _ROWS * (_ROWS - 1) // 2)]


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT
    while not holds():
        assert time.monotonic() < deadline, "it stays so"
        time.sleep(0.05)


@dataclass(frozen=True)
class Counted:
    """What Spark's UI shows of a query, from the same stores.

    Attributes:
        rows: Read by the tasks of its stages.
        size_bytes: Read by them.
        spilled: Bytes that they moved out of memory.
        scan: Figures of the scan's node, by their names.
    """

    rows: int
    size_bytes: int
    spilled: int
    scan: dict[str, str]


def _complete(store: JavaObject, stage: int) -> JavaObject | None:
    """A stage that has run: one that was skipped is not, and Spark forgets it where it has many others."""
    try:
        found = store.lastStageAttempt(stage)
    except Py4JJavaError as error:
        if "No stage with id" not in str(error.java_exception):
            raise
        return None
    return found if str(found.status()) == "COMPLETE" else None


def counted(spark: SparkSession, text: str) -> tuple[list[object], Counted]:
    """A query's rows, and what Spark counted of it."""
    jvm, context = Jvm(spark), spark.sparkContext
    context.setJobGroup(f"counted {time.monotonic_ns()}", text)
    try:
        frame = spark.sql(text)
        rows: list[object] = [tuple(row) for row in frame.collect()]
        group = str(context.getLocalProperty("spark.jobGroup.id"))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    context._jsc.sc().listenerBus().waitUntilEmpty()
    stages = set()
    for job in tracker.getJobIdsForGroup(group):
        found = tracker.getJobInfo(job)
        assert found is not None
        stages |= set(found.stageIds)
    data = [found for stage in sorted(stages) if (found := _complete(store, stage)) is not None]
    return rows, Counted(
        rows=sum(int(one.inputRecords()) for one in data),
        size_bytes=sum(int(one.inputBytes()) for one in data),
        spilled=sum(int(one.memoryBytesSpilled()) for one in data),
        scan=_scan_metrics(jvm, frame),
    )


def _scan_metrics(jvm: Jvm, frame: DataFrame) -> dict[str, str]:
    """Of the newest execution's ``BatchScan``."""
    store = frame.sparkSession._jsparkSession.sharedState().statusStore()
    newest = store.executionsList().last().executionId()
    values = store.executionMetrics(newest)
    nodes = store.planGraph(newest).allNodes()
    found = {}
    for index in range(nodes.size()):
        node = nodes.apply(index)
        if str(node.name()).startswith("BatchScan"):
            metrics = node.metrics()
            for number in range(metrics.size()):
                metric = metrics.apply(number)
                value = values.get(metric.accumulatorId())
                found[str(metric.name())] = str(value.get()) if value.isDefined() else ""
    return found


@pytest.mark.slow
def test_spark_counts_what_tasks_give(tasks: Tasks) -> None:
    rows, found = counted(tasks.spark, "SELECT count(text), sum(id + 1) FROM unsteady.s.steady")
    assert rows == [(_ROWS, _ROWS * (_ROWS + 1) // 2)]
    assert found.rows == _ROWS
    assert found.size_bytes == 0  # Spark counts what its own file systems read
    assert found.scan["number of output rows"] == f"{_ROWS:,}"
    assert found.spilled == 0


@pytest.mark.slow
def test_spark_counts_the_bytes_of_python_by_query(tasks: Tasks) -> None:
    """Spark's own readers of Python count for all queries of a process together, so that of rows nothing is shown."""
    # Texts and their offsets, and numbers; what Arrow adds to each batch is little.
    size = _ROWS * (len(text_of(0)) + 4 + 8)
    for _ in range(2):
        _, found = counted(tasks.spark, "SELECT count(text), sum(id + 1) FROM unsteady.s.steady")
        shown = {name: text for name, text in found.scan.items() if "Python" in name}
        if tasks.spark.conf.get("spark.lakeport.unsteady.columnar_reader") == "false":
            assert shown == {}
            continue
        assert shown.keys() == {"data sent to Python workers", "data returned from Python workers"}
        assert size < bytes_of(shown["data returned from Python workers"]) < 1.1 * size
        assert 0 < bytes_of(shown["data sent to Python workers"]) < size / 100


def bytes_of(shown: str) -> float:
    """The total that a text of Spark's UI begins with, such as 9.5 MiB."""
    number, unit = shown.rpartition("\n")[2].split(" ")[:2]
    return float(number) * float(1024 ** ["B", "KiB", "MiB"].index(unit))


@contextmanager
def spilling(tasks: Tasks) -> Iterator[None]:
    """Sorts spill every 5,000 rows, and windows and joins keep no more than 2,000 in memory."""
    force = "spark.shuffle.spill.numElementsForceSpillThreshold"
    names = ["spark.sql.windowExec.buffer", "spark.sql.sortMergeJoinExec.buffer"]
    options = {f"{name}.{kind}.threshold": "2000" for name in names for kind in ("in.memory", "spill")}
    conf = Jvm(tasks.spark).context._jsc.sc().conf()  # that of tasks, in local mode
    conf.set(force, "5000")
    for name, value in options.items():
        tasks.spark.conf.set(name, value)
    try:
        yield
    finally:
        conf.remove(force)
        for name in options:
            tasks.spark.conf.unset(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (
            "SELECT sum(n * id) FROM (SELECT id, row_number() OVER (PARTITION BY split ORDER BY text, id) AS n "
            "FROM unsteady.s.steady)",
            None,
        ),
        ("SELECT count(*), max(c) FROM (SELECT text, count(*) AS c FROM unsteady.s.steady GROUP BY text)", (_ROWS, 1)),
        (
            "SELECT /*+ MERGE(b) */ count(*) FROM unsteady.s.steady a JOIN unsteady.s.steady b ON a.text = b.text",
            (_ROWS,),
        ),
    ],
    ids=["window", "aggregation", "merge join"],
)
def test_what_spills_is_right_and_gives_arrows_memory_back(
    tasks: Tasks, query: str, answer: tuple[object, ...] | None
) -> None:
    arrow = tasks.arrow_bytes()
    if answer is None:
        # Texts are in the order of the ids.
        answer = (sum((one % (_ROWS // 4) + 1) * one for one in range(_ROWS)),)
    tasks.spark.conf.set("spark.sql.TungstenAggregate.testFallbackStartsAt", "1000, 2000")
    try:
        with spilling(tasks):
            rows, found = counted(tasks.spark, query)
    finally:
        tasks.spark.conf.unset("spark.sql.TungstenAggregate.testFallbackStartsAt")
    assert rows == [answer]
    assert found.spilled > 0
    wait_until(lambda: tasks.arrow_bytes() == arrow)
