"""An error in the code of a plugin says which plugin, which table and which split, and whom to tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import connector_spi as spi
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from lakeport.session import Session
from lakeport.spark.bridge.errors import original

FAULT = spi.string_property("faulty.at", "Where to fail.", "nowhere")
NAME = spi.SchemaTableName("s", "t")


class OddError(Exception):
    """One that no one knows."""


@dataclass(frozen=True, slots=True)
class FaultySplit(spi.GeneratorSplit):
    number: int
    fault: str

    def read(self, columns: tuple[spi.ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        if self.fault == "open" and self.number == 2:
            raise KeyError("page")
        yield pa.record_batch({"other" if self.fault == "columns" else "id": pa.array([self.number], pa.int64())})
        if self.fault == "read" and self.number == 2:
            raise OddError("first line\nsecond line")
        if self.fault == "file":
            raise spi.FileMissingError("/data/x is not there")


class FaultyMetadata(spi.ConnectorMetadata):
    def __init__(self, inner: spi.ConnectorMetadata, fault: str) -> None:
        self._inner = inner
        self._fault = fault

    def list_schema_names(self, session: spi.ConnectorSession) -> list[str]:
        if self._fault == "list":
            raise ZeroDivisionError("division by zero")
        return list(self._inner.list_schema_names(session))

    def list_tables(self, session: spi.ConnectorSession, schema: str) -> list[spi.SchemaTableName]:
        return list(self._inner.list_tables(session, schema))

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> spi.TableHandle | None:
        if self._fault == "resolve":
            raise IndexError("list index out of range")
        return self._inner.get_table_handle(session, name)

    def get_table_metadata(self, session: spi.ConnectorSession, table: spi.TableHandle) -> spi.TableMetadata:
        return self._inner.get_table_metadata(session, table)

    def apply_filter(
        self, session: spi.ConnectorSession, table: spi.TableHandle, constraint: spi.Constraint
    ) -> spi.FilterApplication | None:
        if self._fault == "filter":
            raise AttributeError("no attribute")
        return None


class FaultyConnector(spi.GeneratorConnector):
    def __init__(self, fault: str) -> None:
        self._fault = fault
        super().__init__({NAME: spi.GeneratedTable(pa.schema([("id", pa.int64())]), self._splits)})
        self._faulty = FaultyMetadata(self._metadata, fault)

    def begin_transaction(self, session: spi.ConnectorSession) -> spi.ConnectorTransaction:
        if self._fault == "begin":
            raise OSError("no connection")
        return super().begin_transaction(session)

    def get_metadata(self, transaction: spi.ConnectorTransaction) -> spi.ConnectorMetadata:
        return self._faulty

    def _splits(self) -> list[FaultySplit]:
        if self._fault == "splits":
            raise ValueError("no splits")
        return [FaultySplit(number, self._fault) for number in range(3)]


class FaultyFactory(spi.ConnectorFactory):
    name, spi_version, config_properties = "faulty", spi.SPI_VERSION, (FAULT,)

    def create(self, catalog: str, properties: spi.PropertyValues, context: spi.ConnectorContext) -> FaultyConnector:
        return FaultyConnector(properties.get(FAULT))


WHO = "connector 'faulty' of catalog 'mine' failed to "
WAY_OUT = "; report it to the connector's author"
SPLIT = r"FaultySplit\(number=2, fault='(open|read)'\) of table s\.t: "
FAULTS = [
    ("begin", "begin a transaction: OSError: no connection"),
    ("resolve", r"resolve table mine\.s\.t: IndexError: list index out of range"),
    ("filter", r"take a filter for table s\.t: AttributeError: no attribute"),
    ("splits", r"plan the splits of table s\.t: ValueError: no splits"),
    ("open", f"read {SPLIT}KeyError: 'page'"),
    ("read", f"read {SPLIT}OddError: first line"),
    ("columns", r"read FaultySplit\(number=., .*\) of table s\.t: a page source was asked for the column 'id'"),
]


def session_at(fault: str, spark: SparkSession | None = None) -> Session:
    registry = CatalogRegistry(PluginSet.of(FaultyFactory()), "test")
    registry.register("mine", "faulty", {"faulty.at": fault})
    return Session(registry, spark)


@pytest.mark.parametrize(("fault", "words"), FAULTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_without_spark(fault: str, words: str, threads: int) -> None:
    with session_at(fault) as session, pytest.raises(spi.InternalError, match=WHO + words) as met:
        session.arrow("mine.s.t", where=[("id", ">=", 0)], threads=threads).read_all()
    assert WAY_OUT in str(met.value)
    assert met.value.__cause__ is not None


def test_what_the_connector_says_itself_stays() -> None:
    words = r"^\[FILE_MISSING\] /data/x is not there$"
    with session_at("file") as session, pytest.raises(spi.FileMissingError, match=words):
        session.arrow("mine.s.t").read_all()


@pytest.mark.slow
@pytest.mark.spark
def test_in_spark(spark: SparkSession) -> None:
    for fault, words in [*FAULTS, ("list", "say what it has: ZeroDivisionError: division by zero")]:
        statement = "SHOW SCHEMAS IN mine" if fault == "list" else "SELECT id FROM mine.s.t WHERE id >= 0"
        session = session_at(fault, spark.newSession())
        with session, pytest.raises((PySparkException, spi.InternalError)) as met:
            session.sql(statement).collect()
        found = original(met.value)
        assert isinstance(found, spi.InternalError), fault
        assert re.search(WHO + words, found.message), fault
        assert WAY_OUT in found.message
