"""Real tables behind SQL: a hive and a hudi catalog over one embedded metastore."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HiveConnector, HivePlugin
from connectors.hudi.connector import HudiPlugin
from lakeport.spark.catalog.install import install
from tests.hive_corpus import PLAIN_CASES, register_cases
from tests.paths import CORPUS

__all__ = ["Warehouse", "open_warehouse"]


class Warehouse:
    """Catalogs ``hive`` and ``hudi`` in a Spark session of their own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.folder = folder
        self.registry = CatalogRegistry(PluginSet.of(HivePlugin(), HudiPlugin()), "test")
        properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
        for name in ("hive", "hudi"):
            self.registry.register(name, name, properties)
        self.spark = spark.newSession()
        self.spark.sql("SET spark.sql.session.timeZone=UTC")
        self.spark.sql("SET spark.sql.shuffle.partitions=2")
        install(self.spark, self.registry)

    def add_hive_corpus(self, schema: str = "corpus", cases: Iterable[str] = PLAIN_CASES) -> None:
        """Registers tables of real Hive with the objects of its metastore."""
        hive = self.registry.get("hive")
        assert isinstance(hive, HiveConnector)
        register_cases(hive.metastore.writes, schema, cases, hive.metastore.transactions)

    def add_hudi_corpus(self, cases: Iterable[str], schema: str = "hudi_corpus") -> None:
        """Unpacks tables of real Hudi and registers them through SQL."""
        for case in cases:
            with zipfile.ZipFile(CORPUS / "hudi" / f"{case}.zip") as packed:
                packed.extractall(self.folder / "hudi" / case)
            [table] = [path.parent for path in (self.folder / "hudi" / case).glob("*/.hoodie")]
            self.call("hudi", schema, case, table)

    def call(self, catalog: str, schema: str, table: str, location: Path) -> None:
        """``CALL catalog.system.register_table``."""
        arguments = f"schema_name => '{schema}', table_name => '{table}', table_location => '{location}'"
        self.spark.sql(f"CALL {catalog}.system.register_table({arguments})")

    def native_reader(self, catalog: str, on: bool) -> None:
        """Lets Spark's own readers read files natively, or not."""
        self.spark.sql(f"SET spark.lakeport.{catalog}.native_reader={str(on).lower()}")

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """The rows of a statement."""
        return [tuple(row) for row in self.spark.sql(text).collect()]

    def plan(self, text: str) -> str:
        """The text of EXPLAIN."""
        [[plan]] = self.rows(f"EXPLAIN {text}")
        return str(plan)


def open_warehouse(spark: SparkSession, folder: Path) -> Warehouse:
    """An empty warehouse in a folder."""
    return Warehouse(spark, folder)
