"""Tables as streams: exactly once, over restarts, with limits."""

from __future__ import annotations

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
from lakeport.spark.install import install

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
        return [sorted(rows, key=repr) for _, rows in self.batches[before:]]

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


def test_a_table_and_then_what_comes(streams: Streams) -> None:
    streams.memory.create_table(NAME, rows(1, 2), ["p"])
    assert streams.run() == [told(1, 2)]
    assert streams.run() == []
    streams.memory.insert(NAME, rows(3))
    streams.memory.merge(NAME, "id", rows(1, value="b"), [2])
    assert streams.run() == [sorted([*told(3), *told(1, value="b")], key=repr)]
