"""Tables as streams: exactly once, over restarts, with limits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.session import Session
from lakeport.spark.catalog.install import install

NAME = SchemaTableName("s", "t")
_SCHEMA = pa.schema([("p", pa.string()), ("id", pa.int64()), ("v", pa.string())])

Row = tuple[object, ...]


class Streams:
    """A memory catalog, and queries on its tables with one checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
        registry.register("mem", "memory", {})
        self.registry = registry
        self.spark = spark.newSession()
        install(self.spark, registry)
        memory = registry.get("mem")
        assert isinstance(memory, MemoryConnector)
        self.memory = memory
        self.checkpoint = folder / "checkpoint"
        self.batches: list[tuple[int, list[Row]]] = []

    def start(self, options: Mapping[str, str], *, once: bool = True, table: str = "mem.s.t") -> StreamingQuery:
        """Starts a query that keeps what comes."""

        def keep(frame: DataFrame, batch: int) -> None:
            self.batches.append((batch, [tuple(row) for row in frame.collect()]))

        writer = self.spark.readStream.options(**options).table(table).writeStream.foreachBatch(keep)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        return (writer.trigger(availableNow=True) if once else writer).start()

    def run(self, table: str = "mem.s.t", **options: str) -> list[list[Row]]:
        """Runs a query over what is there; gives the batches that came."""
        before = len(self.batches)
        query = self.start(options, table=table)
        try:
            query.awaitTermination()
        finally:
            query.stop()
        return [sorted(rows, key=repr) for _, rows in self.batches[before:] if rows]

    def forget_last_commit(self) -> None:
        """As if the query had been killed behind the last batch's rows and before its commit."""
        last = max((int(path.name), path) for path in (self.checkpoint / "commits").glob("[0-9]*"))[1]
        last.unlink()
        (last.parent / f".{last.name}.crc").unlink(missing_ok=True)


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Iterator[Streams]:
    made = Streams(spark, tmp_path)
    yield made
    for query in made.spark.streams.active:
        query.stop()
    made.registry.shutdown()


def rows(*ids: int, value: str = "a") -> pa.Table:
    """Rows with these ids."""
    return pa.table({"p": [f"p{one % 2}" for one in ids], "id": list(ids), "v": [value] * len(ids)}, _SCHEMA)


def told(*ids: int, value: str = "a") -> list[Row]:
    """The same as Spark gives them: partition keys stay where the table has them."""
    return sorted(((f"p{one % 2}", one, value) for one in ids), key=repr)


@pytest.mark.slow
def test_a_table_and_then_what_comes(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1, 2), ["p"])
    assert streams.run() == [told(1, 2)]
    assert streams.run() == []
    streams.memory.insert(NAME, rows(3))
    streams.memory.merge(NAME, "id", rows(1, value="b"), [2])
    assert streams.run() == [sorted([*told(3), *told(1, value="b")], key=repr)]


@pytest.mark.slow
def test_a_batch_that_was_not_committed_comes_again_as_it_was(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1, 2), ["p"])
    assert streams.run(startingVersion="latest") == []
    streams.memory.insert(NAME, rows(3))
    assert streams.run(startingVersion="latest") == [told(3)]
    streams.forget_last_commit()
    streams.memory.insert(NAME, rows(4))
    assert streams.run(startingVersion="latest") == [told(3), told(4)]
    numbers = [number for number, _ in streams.batches]
    assert numbers == [0, 1, 1, 2], "the sink can tell that the first batch came again"


@pytest.mark.slow
def test_the_rows_of_a_parquet_sink_after_kills(streams: Streams, tmp_path: Path) -> None:
    streams.memory.create_table(NAME, rows(0), ["p"])
    expected = [0]
    for number in range(1, 4):
        frame = streams.spark.readStream.option("maxVersionsPerTrigger", "1").table("mem.s.t")
        writer = frame.writeStream.format("parquet").option("checkpointLocation", str(streams.checkpoint))
        writer.trigger(availableNow=True).start(str(tmp_path / "sink")).awaitTermination()
        if number % 2:
            streams.forget_last_commit()
        added = [number * 10, number * 10 + 1]
        expected += added
        for one in added:
            streams.memory.insert(NAME, rows(one))
    writer.trigger(availableNow=True).start(str(tmp_path / "sink")).awaitTermination()
    found = streams.spark.read.parquet(str(tmp_path / "sink")).select("p", "id", "v").collect()
    assert Counter(tuple(row) for row in found) == Counter(told(*expected))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "value", "sizes"),
    [
        ("maxVersionsPerTrigger", "2", [1, 2, 2, 1]),
        ("maxFilesPerTrigger", "3", [1, 2, 3]),
        ("maxBytesPerTrigger", "1", [1, 1, 1, 1, 1, 1]),
        ("maxBytesPerTrigger", "1g", [1, 5]),
    ],
)
def test_limits(streams: Streams, option: str, value: str, sizes: list[int]) -> None:
    streams.memory.create_table(NAME, rows(0), ["p"])
    streams.run(**{option: value})
    for number in range(1, 6):
        streams.memory.insert(NAME, rows(number))
    met = streams.run(**{option: value})
    assert [len(batch) for batch in met] == sizes[1:]
    assert sorted((row for batch in met for row in batch), key=repr) == told(1, 2, 3, 4, 5)


@pytest.mark.slow
def test_where_a_stream_begins(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1), ["p"])
    for number in (2, 3):
        streams.memory.insert(NAME, rows(number))
    for options, expected in (
        ({}, [1, 2, 3]),
        ({"startingVersion": "2"}, [2, 3]),
        ({"startingOffset": "2"}, [3]),
        ({"startingOffset": "earliest"}, [1, 2, 3]),
        ({"startingTimestamp": "2020-01-01"}, [1, 2, 3]),
        ({"startingTimestamp": "2120-01-01 00:00:00+01:00"}, []),
    ):
        streams.checkpoint = streams.checkpoint.with_name(
            "-".join(["from", *options, *options.values()]).replace(" ", "_")
        )
        assert sorted(row for batch in streams.run(**options) for row in batch) == sorted(told(*expected)), options


@pytest.mark.slow
def test_a_running_query_reads_on_and_lets_go_of_each_batch(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(0), ["p"])
    query = streams.start({}, once=False)
    query.processAllAvailable()
    open_before = streams.memory.transactions.open
    for number in range(1, 13):
        streams.memory.insert(NAME, rows(number))
        query.processAllAvailable()
    assert streams.memory.transactions.open <= open_before
    query.stop()
    assert sorted(row for _, batch in streams.batches for row in batch) == sorted(told(*range(13)))


def test_a_batch_is_let_go_of_though_the_next_trigger_is_far(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1), ["p"])
    frame = streams.spark.readStream.table("mem.s.t")
    query = frame.writeStream.format("noop").trigger(processingTime="1 hour").start()
    deadline = time.monotonic() + 60
    while not query.recentProgress or streams.memory.transactions.open > 1:
        assert time.monotonic() < deadline, "the batch's transaction stays open"
        time.sleep(0.05)
    query.stop()
    # That of the table as it was resolved is left, for as long as somebody has the frame.
    assert frame.isStreaming


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"startingVersion": "9"}, "has no version '9'"),
        ({"startingVersion": "1", "startingTimestamp": "2024-01-01"}, "both set the start"),
        ({"maxBytesPerTrigger": "many"}, "expected such as 128m"),
        ({"startingTimestamp": "soon"}, "expected a time such as 2024-01-31"),
        ({"no.such.option": "1"}, "no.such.option"),
    ],
)
def test_options_that_are_refused(streams: Streams, options: dict[str, str], words: str) -> None:
    streams.memory.create_table(NAME, rows(1), ["p"])
    with pytest.raises(Exception, match=words):
        streams.run(**options)


def test_what_is_refused(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1), ["p"])
    with pytest.raises(Exception, match=r"only spark\.readStream supports"):
        streams.spark.read.option("maxFilesPerTrigger", "1").table("mem.s.t").collect()
    streams.memory.insert(NAME, rows(2))
    streams.run()
    streams.memory.drop_table(NAME)
    streams.memory.create_table(NAME, rows(1), ["p"])
    with pytest.raises(Exception, match="the table was made again; start the query with a new checkpoint"):
        streams.run()


def test_columns_that_change_while_a_query_runs(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1), ["p"])
    query = streams.start({}, once=False)
    query.processAllAvailable()
    streams.memory.drop_table(NAME)
    streams.memory.create_table(NAME, rows(1).append_column("w", pa.array([1.5])), ["p"])
    streams.memory.insert(NAME, rows(2).append_column("w", pa.array([2.5])))
    with pytest.raises(Exception, match=r"have changed since this query was started \(.*: w double\); start it again"):
        query.processAllAvailable()


def test_changes_as_a_stream(streams: Streams) -> None:
    if not hasattr(streams.spark.readStream, "changes"):
        pytest.skip(f"Spark {streams.spark.version} has no changes of streams")
    streams.memory.create_table(NAME, rows(1, 2), ["p"])
    streams.memory.merge(NAME, "id", rows(1, value="b"), [2])

    def run() -> list[Row]:
        found: list[Row] = []

        def keep(frame: DataFrame, batch: int) -> None:
            found.extend(tuple(row) for row in frame.select("id", "v", "_change_type", "_commit_version").collect())

        frame = streams.spark.readStream.option("startingVersion", "2").changes("mem.s.t")
        writer = frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(streams.checkpoint))
        writer.trigger(availableNow=True).start().awaitTermination()
        return sorted(found, key=repr)

    assert run() == [(1, "a", "update_preimage", 2), (1, "b", "update_postimage", 2), (2, "a", "delete", 2)]
    streams.memory.insert(NAME, rows(3))
    assert run() == [(3, "a", "insert", 3)]
    frame = streams.spark.readStream.option("startingOffset", "2").changes("mem.s.t")
    with pytest.raises(Exception, match="option startingoffset; expected startingVersion"):
        frame.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination()


@pytest.mark.slow
def test_a_stream_in_sql(streams: Streams) -> None:
    """``STREAM t`` makes a streaming frame of a statement; options are written behind it."""
    streams.memory.create_table(NAME, rows(1, 2), ["p"])
    streams.memory.insert(NAME, rows(3, 4))
    text = "SELECT id FROM STREAM mem.s.t WITH ('maxVersionsPerTrigger' = '1', 'startingVersion' = '2') WHERE id > 3"
    batches: list[list[Row]] = []

    def run(session: Session | SparkSession) -> None:
        frame = session.sql(text)
        assert frame.isStreaming
        writer = frame.writeStream.foreachBatch(
            lambda batch, _: batches.append([tuple(row) for row in batch.collect()])
        )
        writer.option("checkpointLocation", str(streams.checkpoint)).trigger(
            availableNow=True
        ).start().awaitTermination()

    run(streams.spark)
    streams.memory.insert(NAME, rows(5))
    streams.memory.insert(NAME, rows(6))
    run(Session(streams.registry, streams.spark))
    assert batches == [[(4,)], [(5,)], [(6,)]]


@pytest.mark.slow
def test_a_stream_joined_with_a_table_and_with_itself(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1, 2), ["p"])
    streams.memory.create_table(SchemaTableName("s", "names"), pa.table({"id": [1, 2], "name": ["x", "y"]}))
    found: list[Row] = []

    def keep(frame: DataFrame, batch: int) -> None:
        joined = frame.join(frame.sparkSession.table("mem.s.names"), "id")
        found.extend(tuple(row) for row in joined.select("id", "name").collect())

    frame = streams.spark.readStream.table("mem.s.t").where("id > 1")
    both = frame.union(streams.spark.readStream.table("mem.s.t").where("id < 2"))
    both.writeStream.foreachBatch(keep).trigger(availableNow=True).start().awaitTermination()
    assert sorted(found) == [(1, "x"), (2, "y")]
