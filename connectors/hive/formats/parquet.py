"""Parquet files. Executor side."""

from __future__ import annotations

from dataclasses import replace

from connector_spi.page_source import PageSource
from connectors.hive.formats.coercions.rules import PARQUET_POSITION_RULES, PARQUET_RULES
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import by_position
from connectors.toolkit.parquet.reader import parquet_page_source

__all__ = ["ParquetFormat"]


class ParquetFormat(HiveFileFormat):
    """``STORED AS PARQUET``."""

    name = "parquet"
    input_formats = frozenset(
        {
            "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
            "org.apache.hadoop.hive.ql.io.parquet.VectorizedParquetInputFormat",
            "parquet.hive.DeprecatedParquetInputFormat",
            "parquet.hive.MapredParquetInputFormat",
        }
    )
    serdes = frozenset(
        {
            "",
            "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
            "parquet.hive.serde.ParquetHiveSerDe",
        }
    )
    asks_partition_columns = False

    def page_source(self, request: FileRequest) -> PageSource:
        by_name = request.settings.parquet_by_name and not by_position(request.storage)
        read = replace(
            request.read,
            rules=PARQUET_RULES if by_name else PARQUET_POSITION_RULES,
            sources=request.sources(by_name=by_name, position_names=False),
            whole_types=request.types_by_column,
            zone=request.settings.parquet_zone or request.read.zone,
            skips_rows=True,
        )
        return parquet_page_source(request.files, read)
