"""Hudi tables in a metastore: finding them, and registering one as hive sync does. Driver side."""

from __future__ import annotations

import pyarrow as pa

from catalog.metastore.model import FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.types import hive_type_text
from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hudi.error_codes import HUDI_BAD_SCHEMA, HUDI_NOT_A_HUDI_TABLE
from connectors.hudi.table_config import TableConfig
from connectors.hudi.table_properties import is_hudi_table
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = [
    "READ_OPTIMIZED_TABLE",
    "hive_column_type",
    "hudi_location",
    "is_read_optimized",
    "keys_shown_last",
    "metastore_table",
]

_PARQUET_INPUT = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
_BASE_FILE_FORMATS = frozenset(
    {
        _PARQUET_INPUT,
        "org.apache.hudi.hadoop.HoodieHFileInputFormat",
        "com.uber.hoodie.hadoop.HoodieInputFormat",
    }
)
_REALTIME_INPUT = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
_INPUT_FORMATS = _BASE_FILE_FORMATS | {
    _REALTIME_INPUT,
    "org.apache.hudi.hadoop.realtime.HoodieHFileRealtimeInputFormat",
    "com.uber.hoodie.hadoop.realtime.HoodieRealtimeInputFormat",
}
# ConfigUtils.IS_QUERY_AS_RO_TABLE: what Spark goes by, where Hive goes by the input format.
READ_OPTIMIZED_TABLE = "hoodie.query.as.ro.table"
_PROVIDER = "spark.sql.sources.provider"
_SPARK_SCHEMA = "spark.sql.sources.schema"
_PLACEHOLDER = "__PLACEHOLDER__"
# Per base format: input format, output format, SerDe (HoodieInputFormatUtils).
_CLASSES = {
    "parquet": (
        _PARQUET_INPUT,
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    "orc": (
        "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
    ),
}


def hudi_location(table: Table, files: FileSystem) -> str:
    """The folder of a Hudi table.

    Known by its input format, by Spark's provider, or by what lies in its folder (an ORC table has Hive's own input
    format).

    Raises:
        NotSupportedError: The table is of another kind, or a view.
    """
    location = table.storage.location
    if location is None or location.endswith(_PLACEHOLDER):
        # Spark keeps the location of some tables in the SerDe only.
        location = table.storage.serde.parameters.get("path", location)
    is_hudi = table.storage.input_format in _INPUT_FORMATS or table.parameters.get(_PROVIDER, "").lower() == "hudi"
    if location is not None and not table.is_view and (is_hudi or is_hudi_table(files, location)):
        return location.rstrip("/")
    kind = "a view" if table.is_view else f"of the input format {table.storage.input_format}"
    raise NotSupportedError(
        f"{SchemaTableName(table.database, table.name)} is no Hudi table but {kind}; read it through a catalog of the "
        "hive connector",
        HUDI_NOT_A_HUDI_TABLE,
    )


def is_read_optimized(table: Table) -> bool:
    """Whether the metastore's object of a merge-on-read table stands for its base files alone, as ``t_ro`` does."""
    for parameters in (table.storage.serde.parameters, table.parameters):
        text = parameters.get(READ_OPTIMIZED_TABLE, "").strip().lower()
        if text in ("true", "false"):
            return text == "true"
    return table.storage.input_format in _BASE_FILE_FORMATS


def keys_shown_last(table: Table) -> tuple[str, ...]:
    """The partition keys, in lower case, of a table that Hudi put into the metastore with a schema for Spark.

    Such a schema has them after all other columns, wherever the table's own has them, and so have Hive and Spark's
    ``SELECT *`` (SparkDataSourceTableUtils); a table by its path keeps its own order.
    """
    is_synced = any(name.startswith(_SPARK_SCHEMA) for name in table.parameters)
    return tuple(key.name.lower() for key in table.partition_keys) if is_synced else ()


def metastore_table(name: SchemaTableName, location: str, config: TableConfig, schema: pa.Schema, owner: str) -> Table:
    """What hive sync would put into the metastore for a table that is read with its logs.

    Raises:
        NotSupportedError: Columns differ only in case, or Hive has no type for one.
    """
    fields = {field.name.lower(): FieldSchema(field.name.lower(), hive_column_type(field.type)) for field in schema}
    if len(fields) != len(schema):
        raise NotSupportedError(
            f"{location} has columns whose names differ only in case, which a metastore cannot hold", HUDI_BAD_SCHEMA
        )
    keys = [key.lower() for key in config.partition_fields if key.lower() in fields]
    input_format, output_format, serde = _CLASSES[config.base_format]
    if config.merge_on_read and input_format == _PARQUET_INPUT:
        input_format = _REALTIME_INPUT
    storage = StorageDescriptor(
        columns=tuple(field for column, field in fields.items() if column not in keys),
        location=location,
        input_format=input_format,
        output_format=output_format,
        serde=SerDeInfo(
            serde,
            Parameters.of({"path": location, READ_OPTIMIZED_TABLE: "false", "serialization.format": "1"}),
        ),
    )
    return Table(
        database=name.schema,
        name=name.table,
        storage=storage,
        partition_keys=tuple(fields[key] for key in keys),
        parameters=Parameters.of({"EXTERNAL": "TRUE", _PROVIDER: "hudi"}),
        table_type="EXTERNAL_TABLE",
        owner=owner,
    )


def hive_column_type(arrow: pa.DataType) -> str:
    """The type of a column as hive sync puts it into the metastore.

    Raises:
        NotSupportedError: Hive has no such type.
    """
    return hive_type_text(_hive(arrow))


def _hive(arrow: pa.DataType) -> pa.DataType:
    """Hive sync writes instants as timestamp, and times of day as whole numbers (HiveSchemaUtil)."""
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us")
    if pa.types.is_time(arrow):
        return pa.int32() if pa.types.is_time32(arrow) else pa.int64()
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_hive(field.type)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(_hive(arrow.value_type))
    if pa.types.is_map(arrow):
        return pa.map_(_hive(arrow.key_type), _hive(arrow.item_type))
    return arrow
