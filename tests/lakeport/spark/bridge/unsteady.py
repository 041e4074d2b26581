"""A catalog whose tasks fail, hang or end as a test asks: one table for each kind of task."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import ConnectorContext, ConnectorFactory
from connector_spi.generated import GeneratedTable, GeneratorConnector, GeneratorSplit
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.properties import PropertyMetadata, PropertyValues

__all__ = ["BATCH_ROWS", "GO_ON", "KINDS", "UnsteadySplit", "busy_workers", "text_of", "unsteady_registry"]

BATCH_ROWS = 1000
KINDS = ("steady", "failing", "hanging")
GO_ON = "go on"
"""The file in the folder of a table that ends the waiting of what hangs."""
_LONG = 600.0
_SCHEMA = pa.schema(
    [("id", pa.int64()), ("text", pa.string()), ("attempt", pa.int32()), ("pid", pa.int64()), ("split", pa.int32())]
)


@dataclass(frozen=True, slots=True)
class UnsteadySplit(GeneratorSplit):
    """Rows in batches.

    Attributes:
        number: Of the split.
        batches: How many there are.
        folder: Gets a file that is named after each process that began to read.
        kind: One of ``KINDS``: what the first attempt does behind half of the batches.
    """

    number: int
    batches: int
    folder: str
    kind: str

    def read(self, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        attempt = context.attemptNumber()
        Path(self.folder, str(os.getpid())).touch()
        for batch in range(self.batches):
            if attempt == 0 and batch == self.batches // 2:
                if self.kind == "failing":
                    raise OSError("the first attempt fails")
                if self.kind == "hanging":
                    self._hang()
            first = (self.number * self.batches + batch) * BATCH_ROWS
            ids = range(first, first + BATCH_ROWS)
            yield pa.record_batch(
                {
                    "id": pa.array(ids, pa.int64()),
                    "text": pa.array([text_of(one) for one in ids]),
                    "attempt": pa.repeat(pa.scalar(attempt, pa.int32()), BATCH_ROWS),
                    "pid": pa.repeat(pa.scalar(os.getpid(), pa.int64()), BATCH_ROWS),
                    "split": pa.repeat(pa.scalar(self.number, pa.int32()), BATCH_ROWS),
                },
                _SCHEMA,
            )

    def _hang(self) -> None:
        end = time.monotonic() + _LONG
        while time.monotonic() < end and not Path(self.folder, GO_ON).exists():
            time.sleep(0.05)


def text_of(number: int) -> str:
    """The text of a row. A batch of them is more than what a worker keeps back before it sends."""
    return f"text {number:08}" + "x" * 100


def busy_workers(folder: Path) -> set[int]:
    """The processes that read, or have read."""
    return {int(path.name) for path in folder.iterdir() if path.name.isdigit()}


def unsteady_registry(folder: Path) -> CatalogRegistry:
    """A registry with the catalog ``unsteady``, whose schema ``s`` has a table for each of ``KINDS``.

    Each has four splits; the second one is of the kind, the others are steady.
    """
    registry = CatalogRegistry(PluginSet.of(_Factory(str(folder))), "test")
    registry.register("unsteady", "unsteady", {})
    return registry


class _Factory(ConnectorFactory):
    name, spi_version = "unsteady", 2

    def __init__(self, folder: str) -> None:
        self._folder = folder

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        return ()

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> GeneratorConnector:
        return GeneratorConnector({SchemaTableName("s", kind): self._table(kind) for kind in KINDS})

    def _table(self, kind: str) -> GeneratedTable:
        kinds = ("steady", kind, "steady", "steady")
        splits = [UnsteadySplit(number, 20, self._folder, kind) for number, kind in enumerate(kinds)]
        return GeneratedTable(_SCHEMA, lambda: splits)
