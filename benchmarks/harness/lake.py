"""A Spark session with a ``hive`` and a ``hudi`` catalog over one embedded metastore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HiveConnector
from lakeport.session import Session
from lakeport.spark.bridge.options import SparkOptions
from lakeport.version import VERSION

__all__ = ["Lake", "open_lake"]


@dataclass(frozen=True, slots=True)
class Lake:
    """What the benchmarks query.

    Attributes:
        session: The session; its Spark starts on first use.
        hive: The connector of the catalog ``hive``.
        others: The connectors of more catalogs of Hive.
    """

    session: Session
    hive: HiveConnector
    others: Mapping[str, HiveConnector]

    def register(self, catalog: str, name: str, folder: Path, *, transactional: bool = False) -> None:
        """Makes a folder the table ``<catalog>.bench.<name>``; all write ids of a transactional one are committed."""
        more = ", transactional => true" if transactional else ""
        self.session.sql(
            f"CALL {catalog}.system.register_table(schema_name => 'bench', table_name => '{name}', "
            f"table_location => '{folder}'{more})"
        ).collect()

    def view(self, name: str, folder: Path) -> None:
        """Makes a folder the temporary view ``name`` over Spark's own Parquet reader."""
        self.session.spark.read.parquet(str(folder)).createOrReplaceTempView(name)

    def collect(self, text: str, native: bool | None = None) -> list[tuple[object, ...]]:
        """Runs a query to its end.

        Args:
            text: The query.
            native: Whether Spark's reader may read the files of our catalogs; ``None`` leaves it as it is.
        """
        if native is not None:
            for catalog in ("hive", "hudi"):
                self.session.spark.conf.set(f"spark.lakeport.{catalog}.native_reader", str(native).lower())
        return [tuple(row) for row in self.session.sql(text).collect()]


@contextmanager
def open_lake(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    others: Mapping[str, Mapping[str, str]] | None = None,
    metastore: str | None = None,
) -> Iterator[Lake]:
    """Opens a session whose metastore lies in ``folder``; Spark's log goes there too.

    Args:
        folder: Exists.
        settings: Spark's, beside those of Lakeport.
        others: More catalogs of Hive over the same metastore, by name, with properties of theirs.
        metastore: The address of a metastore of Hive; ``None`` is one that is embedded.
    """
    registry = CatalogRegistry(discover_plugins(), VERSION)
    properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    if metastore is not None:
        properties = {"hive.metastore.uri": metastore}
    for name in ("hive", "hudi"):
        registry.register(name, name, properties)
    for name, own in (others or {}).items():
        registry.register(name, "hive", {**properties, **own})
    made = {name: registry.get(name) for name in ("hive", *(others or {}))}
    connectors = {name: connector for name, connector in made.items() if isinstance(connector, HiveConnector)}
    options = SparkOptions(settings=settings or {}, log=folder / "spark.log")
    with Session(registry, options=options) as session:
        yield Lake(session, connectors.pop("hive"), connectors)
