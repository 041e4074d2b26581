"""Trino's formats of Hive tables: Hive's words for the files, and the SerDe where it is not theirs. Driver side.

Source: ``HiveStorageFormat`` of Trino.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["TRINO_FORMATS"]

TRINO_FORMATS: Mapping[str, tuple[str, str]] = {
    "ORC": ("orc", ""),
    "PARQUET": ("parquet", ""),
    "AVRO": ("avro", ""),
    "RCBINARY": ("rcfile", "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe"),
    "RCTEXT": ("rcfile", "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"),
    "SEQUENCEFILE": ("sequencefile", ""),
    "JSON": ("textfile", "org.apache.hive.hcatalog.data.JsonSerDe"),
    "OPENX_JSON": ("textfile", "org.openx.data.jsonserde.JsonSerDe"),
    "TEXTFILE": ("textfile", ""),
    "CSV": ("textfile", "org.apache.hadoop.hive.serde2.OpenCSVSerde"),
    "REGEX": ("textfile", "org.apache.hadoop.hive.serde2.RegexSerDe"),
}
"""By Trino's name."""
