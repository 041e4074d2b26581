"""Unpacks the sample tables and writes catalogs for them. It can be repeated."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

from catalog.metastore.embedded.factory import open_embedded
from connector_spi.errors import UserError
from lakeport.error_codes import SAMPLE_WAREHOUSE_TAKEN

__all__ = ["SCHEMA", "TABLES", "SampleTable", "SampleWarehouse", "prepare"]

SCHEMA = "sales"
_CONNECTORS = ("hive", "hudi")


@dataclass(frozen=True, slots=True)
class SampleTable:
    """A sample table, stored in a zip file of its name.

    Attributes:
        connector: The catalog to register it in, named after its connector.
        name: Name of the table.
        transactional: Whether it is a transactional table, which only an embedded metastore can register.
    """

    connector: str
    name: str
    transactional: bool = False


TABLES = (
    SampleTable("hive", "products"),
    SampleTable("hive", "labels"),
    SampleTable("hive", "notes", transactional=True),
    SampleTable("hudi", "items"),
    SampleTable("hudi", "visits"),
    SampleTable("hudi", "prices"),
)


@dataclass(frozen=True, slots=True)
class SampleWarehouse:
    """An unpacked sample.

    Attributes:
        folder: Absolute path of the warehouse, which also holds the metastore's file.
    """

    folder: Path

    @property
    def catalogs(self) -> Path:
        """The directory of the catalog files."""
        return self.folder / "catalogs"

    def location(self, table: SampleTable) -> Path:
        """The directory of a table."""
        return self.folder / SCHEMA / table.name

    def registrations(self) -> Sequence[str]:
        """The SQL statements that register the tables."""
        return [self._registration(table) for table in TABLES]

    def _registration(self, table: SampleTable) -> str:
        transactional = ", transactional => true" if table.transactional else ""
        return (
            f"CALL {table.connector}.system.register_table("
            f"schema_name => '{SCHEMA}', table_name => '{table.name}', "
            f"table_location => {_sql_text(str(self.location(table)))}{transactional})"
        )


def prepare(folder: Path) -> SampleWarehouse:
    """Unpacks missing tables, and removes the sample tables from the metastore so that they can be registered.

    Other tables in the same warehouse and metastore do not change.

    Args:
        folder: The warehouse; created if missing.

    Raises:
        UserError: The metastore has another table with a sample's name, or the directory cannot be written.
    """
    warehouse = SampleWarehouse(folder.absolute())
    metastore_file = warehouse.folder / "metastore.db"
    try:
        for table in TABLES:
            _unpack(table.name, warehouse.location(table))
        _write_catalogs(warehouse.catalogs, metastore_file)
    except OSError as error:
        raise UserError(
            f"cannot write the sample warehouse to {warehouse.folder}: {error.strerror}; "
            "run from another directory, or give one with --warehouse",
            SAMPLE_WAREHOUSE_TAKEN,
        ) from error
    _forget(warehouse, metastore_file)
    return warehouse


def _unpack(name: str, target: Path) -> None:
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A table is unpacked completely or not at all, even if this is interrupted.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as staging:
        inner = Path(staging, name)
        with (resources.files(__package__) / "data" / f"{name}.zip").open("rb") as packed, zipfile.ZipFile(packed) as z:
            for entry in z.infolist():
                # The only top directory of a zip has the name of the run that created the table.
                path = inner.joinpath(*PurePosixPath(entry.filename).parts[1:])
                if entry.is_dir():
                    path.mkdir(parents=True, exist_ok=True)
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                with z.open(entry) as source, path.open("wb") as file:
                    shutil.copyfileobj(source, file)
        inner.rename(target)


def _write_catalogs(folder: Path, metastore_file: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for connector in _CONNECTORS:
        lines = (
            f"connector.name={connector}",
            "hive.metastore=embedded",
            f"hive.metastore.embedded.path={metastore_file}",
        )
        (folder / f"{connector}.properties").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _forget(warehouse: SampleWarehouse, metastore_file: Path) -> None:
    metastore = open_embedded(metastore_file)
    try:
        for table in TABLES:
            entry = metastore.reads.get_table(SCHEMA, table.name)
            if entry is None:
                continue
            location = Path((entry.storage.location or "").removeprefix("file://"))
            # The metastore in a moved warehouse still has the old locations.
            moved = location.parts[-2:] == (SCHEMA, table.name) and not location.exists()
            if location != warehouse.location(table) and not moved:
                raise UserError(
                    f"the metastore {metastore_file} has another table {SCHEMA}.{table.name}, at {location}; "
                    "give the tour its own directory with --warehouse",
                    SAMPLE_WAREHOUSE_TAKEN,
                )
            metastore.writes.drop_table(SCHEMA, table.name, delete_data=False)
    finally:
        metastore.close()


def _sql_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
