"""Unpacks the sample tables, and writes catalogs for them. Repeating it is safe."""

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
    """A table of the sample, which has a zip of its name.

    Attributes:
        connector: The catalog that it is registered through, named after its connector.
        name: Name of the table.
        transactional: It is a transactional table, which an embedded metastore alone takes.
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
        folder: Absolute path of the warehouse, which holds the metastore's file too.
    """

    folder: Path

    @property
    def catalogs(self) -> Path:
        """The folder of the catalog files."""
        return self.folder / "catalogs"

    def location(self, table: SampleTable) -> Path:
        """The folder of a table."""
        return self.folder / SCHEMA / table.name

    def registrations(self) -> Sequence[str]:
        """The statements that register the tables, in SQL."""
        return [self._registration(table) for table in TABLES]

    def _registration(self, table: SampleTable) -> str:
        transactional = ", transactional => true" if table.transactional else ""
        return (
            f"CALL {table.connector}.system.register_table("
            f"schema_name => '{SCHEMA}', table_name => '{table.name}', "
            f"table_location => {_sql_text(str(self.location(table)))}{transactional})"
        )


def prepare(folder: Path) -> SampleWarehouse:
    """Unpacks the tables that are not there yet, and takes them out of the metastore so that they can be registered.

    Tables of others in the same warehouse and the same metastore stay as they are.

    Args:
        folder: The warehouse; made if missing.

    Raises:
        UserError: The metastore has another table of a sample's name, or the folder cannot be written.
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
            "run from another folder, or give one with --warehouse",
            SAMPLE_WAREHOUSE_TAKEN,
        ) from error
    _forget(warehouse, metastore_file)
    return warehouse


def _unpack(name: str, target: Path) -> None:
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A table is there wholly or not at all, also when this is stopped half-way.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as staging:
        inner = Path(staging, name)
        with (resources.files(__package__) / "data" / f"{name}.zip").open("rb") as packed, zipfile.ZipFile(packed) as z:
            for entry in z.infolist():
                # The one folder that a zip holds has the name of the run that made the table.
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
            # A warehouse that was moved has its old places in the metastore that moved with it.
            moved = location.parts[-2:] == (SCHEMA, table.name) and not location.exists()
            if location != warehouse.location(table) and not moved:
                raise UserError(
                    f"the metastore {metastore_file} has another table {SCHEMA}.{table.name}, at {location}; "
                    "give the tour a folder of its own with --warehouse",
                    SAMPLE_WAREHOUSE_TAKEN,
                )
            metastore.writes.drop_table(SCHEMA, table.name, delete_data=False)
    finally:
        metastore.close()


def _sql_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
