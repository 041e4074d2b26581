"""Writes tables by pyarrow and registers them in an embedded metastore, as another engine would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import orc

from catalog.metastore.factory import Metastore
from catalog.metastore.model import (
    ColumnStatistics,
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from catalog.metastore.partitions.names import make_partition_name
from catalog.metastore.types import hive_type_text

__all__ = ["ORC_CLASSES", "PARQUET_CLASSES", "add_partition", "create_table", "storage", "write_file"]

ORC_CLASSES = (
    "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
)
PARQUET_CLASSES = (
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
)
TEXT_CLASSES = (
    "org.apache.hadoop.mapred.TextInputFormat",
    "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
)
_CLASSES = {"orc": ORC_CLASSES, "parquet": PARQUET_CLASSES, "text": TEXT_CLASSES}


def write_file(path: Path, data: pa.Table, file_format: str, group_rows: int = 0) -> None:
    """Writes a data file of several row groups or stripes: of ``group_rows`` rows, or a hundred at most."""
    group_rows = group_rows or max(5, len(data) // 100)
    path.parent.mkdir(parents=True, exist_ok=True)
    if file_format == "parquet":
        pq.write_table(data, path, row_group_size=group_rows, store_schema=False)
    else:
        orc.write_table(data, str(path), stripe_size=1, batch_size=group_rows)


def storage(columns: Sequence[FieldSchema], location: Path, file_format: str) -> StorageDescriptor:
    """A storage descriptor with Hive's classes."""
    input_format, output_format, serde = _CLASSES[file_format]
    return StorageDescriptor(
        tuple(columns), f"file://{location}", input_format, output_format, serde=SerDeInfo(serde, Parameters())
    )


def create_table(
    metastore: Metastore,
    folder: Path,
    schema: str,
    name: str,
    data: pa.Table,
    partitioned_by: Sequence[str] = (),
    *,
    file_format: str = "parquet",
    group_rows: int = 0,
    parameters: dict[str, str] | None = None,
) -> Table:
    """Writes the rows and registers the table, its schema too where that is missing."""
    if metastore.reads.get_database(schema) is None:
        metastore.writes.create_database(Database(schema))
    fields = [FieldSchema(field.name, hive_type_text(field.type)) for field in data.schema]
    columns = [field for field in fields if field.name not in partitioned_by]
    keys = tuple(next(field for field in fields if field.name == key) for key in partitioned_by)
    location = folder / schema / name
    location.mkdir(parents=True)
    counted = {"numRows": str(data.num_rows), "EXTERNAL": "TRUE", **(parameters or {})}
    table = Table(schema, name, storage(columns, location, file_format), keys, Parameters.of(counted), "EXTERNAL_TABLE")
    metastore.writes.create_table(table)
    if not keys:
        write_file(location / "000000_0", data, file_format, group_rows)
        metastore.writes.set_table_statistics(schema, name, list(_statistics(data)))
        return table
    for values in sorted({tuple(row[key] for key in partitioned_by) for row in data.to_pylist()}, key=repr):
        chosen = data.filter(_equal(data, partitioned_by, values)).drop_columns(list(partitioned_by))
        add_partition(metastore, table, [_text(value) for value in values], chosen, file_format, group_rows)
    return table


def add_partition(
    metastore: Metastore, table: Table, values: Sequence[str], data: pa.Table, file_format: str, group_rows: int = 0
) -> Path:
    """Writes the rows of a partition and registers it; returns its folder."""
    keys = [key.name for key in table.partition_keys]
    folder = Path(str(table.storage.location).removeprefix("file://")) / make_partition_name(keys, values)
    write_file(folder / "000000_0", data, file_format, group_rows)
    own = replace(table.storage, location=f"{table.storage.location}/{make_partition_name(keys, values)}")
    counted = Parameters.of({"numRows": str(data.num_rows)})
    values = [value or "__HIVE_DEFAULT_PARTITION__" for value in values]
    metastore.writes.add_partitions(
        table.database, table.name, [Partition(table.database, table.name, tuple(values), own, counted)]
    )
    return folder


def _equal(data: pa.Table, keys: Sequence[str], values: Sequence[object]) -> pa.ChunkedArray:
    mask = pa.chunked_array([pa.repeat(True, data.num_rows)])
    for key, value in zip(keys, values, strict=True):
        column = data[key]
        same = pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), False)
        mask = pc.and_(mask, same)
    return mask


def _text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _statistics(data: pa.Table) -> list[ColumnStatistics]:
    found = []
    for field in data.schema:
        if pa.types.is_nested(field.type) or pa.types.is_boolean(field.type):
            continue
        bounds = [pc.min(data[field.name]).as_py(), pc.max(data[field.name]).as_py()]
        low, high = [value if isinstance(value, int | float | Decimal | date | datetime) else None for value in bounds]
        found.append(
            ColumnStatistics(field.name, hive_type_text(field.type), data[field.name].null_count, None, low, high)
        )
    return found
