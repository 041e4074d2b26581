"""Parquet files. Executor side."""

from __future__ import annotations

from connector_spi.page_source import PageSource
from connectors.hive.formats.coercions.rules import PARQUET_PLACE_RULES, PARQUET_RULES
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import by_position
from connectors.toolkit.parquet.reader import ParquetPageSource

__all__ = ["ParquetFormat"]


class _HiveParquetPageSource(ParquetPageSource):
    rules = PARQUET_RULES
    skips_rows = True


class _PlacedParquetPageSource(_HiveParquetPageSource):
    rules = PARQUET_PLACE_RULES


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
        make = _HiveParquetPageSource if by_name else _PlacedParquetPageSource
        return make(
            request.files,
            request.path,
            request.start,
            request.length,
            request.columns,
            request.constants,
            request.predicate,
            sources=request.sources(by_name=by_name, position_names=False),
            whole=request.types_by_column,
            zone=request.settings.parquet_zone or request.zone,
        )
