"""Tables of Avro files that fastavro wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import fastavro

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import read_table

__all__ = ["Row", "field", "make_table", "record", "rows_of"]

Row = dict[str, object]
INPUT_FORMAT = "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"
SERDE = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"


def record(*fields: Mapping[str, object]) -> dict[str, object]:
    """The schema of a record."""
    return {"type": "record", "name": "r", "namespace": "n", "fields": list(fields)}


def field(name: str, kind: object, **more: object) -> dict[str, object]:
    """A field of a record."""
    return {"name": name, "type": kind, **more}


def make_table(
    hive: HiveConnector,
    folder: Path,
    columns: Mapping[str, str],
    files: Sequence[tuple[dict[str, object], Sequence[Row]]],
    properties: Mapping[str, str] | None = None,
    **options: object,
) -> None:
    """The table ``s.t``, with a file for each schema and rows."""
    location = folder / "t"
    location.mkdir()
    for number, (schema, rows) in enumerate(files):
        with (location / f"part-{number}").open("wb") as file:
            fastavro.writer(file, schema, rows, **options)
    storage = StorageDescriptor(
        tuple(FieldSchema(name, kind) for name, kind in columns.items()),
        f"file://{location}",
        INPUT_FORMAT,
        serde=SerDeInfo(SERDE, Parameters()),
    )
    hive.metastore.writes.create_database(Database("s"))
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters.of(properties or {}), "EXTERNAL_TABLE"))


def rows_of(hive: HiveConnector, columns: Sequence[str] | None = None) -> list[Row]:
    """The rows of the table ``s.t``."""
    return cast("list[Row]", read_table(hive, "s", "t", columns).to_pylist())
