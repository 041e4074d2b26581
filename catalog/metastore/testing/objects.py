"""Databases, tables and partitions for tests."""

from __future__ import annotations

from uuid import uuid4

from catalog.metastore.factory import Metastore
from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    SortColumn,
    StorageDescriptor,
    Table,
)

__all__ = ["STORAGE", "add_partitions", "new_database", "new_table"]

STORAGE = StorageDescriptor(
    columns=(
        FieldSchema("id", "bigint", "the key"),
        FieldSchema("name", "varchar(20)"),
        FieldSchema("nested", "struct<a:int,b:array<map<string,decimal(10,2)>>>"),
    ),
    input_format="org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    output_format="org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
    bucket_count=4,
    serde=SerDeInfo("org.apache.hadoop.hive.ql.io.orc.OrcSerde", Parameters.of({"serialization.format": "1"}), "orc"),
    bucket_columns=("id",),
    sort_columns=(SortColumn("id"), SortColumn("name", ascending=False)),
    parameters=Parameters.of({"odd": "é=1;ß"}),
)


def new_database(metastore: Metastore) -> str:
    """Makes a database of a name that no other test has."""
    name = f"db_{uuid4().hex[:12]}"
    metastore.writes.create_database(Database(name, "for a test", None, Parameters.of({"k": "v"})))
    return name


def new_table(metastore: Metastore, *keys: tuple[str, str]) -> Table:
    """Makes a table, partitioned by ``keys`` (name and type)."""
    database = new_database(metastore)
    fields = tuple(FieldSchema(name, type_text) for name, type_text in keys)
    metastore.writes.create_table(Table(database, "t", STORAGE, fields))
    table = metastore.reads.get_table(database, "t")
    assert table is not None
    return table


def add_partitions(metastore: Metastore, table: Table, *values: tuple[str, ...]) -> None:
    """Adds partitions of these values in the table's own format."""
    partitions = [Partition(table.database, table.name, one, STORAGE) for one in values]
    metastore.writes.add_partitions(table.database, table.name, partitions)
