"""Settings of the hive connector, by Trino's keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast
from zoneinfo import ZoneInfo

from catalog.metastore.factory import MetastoreConfig
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    data_size_property,
    duration_property,
    enum_property,
    integer_property,
    string_property,
)

__all__ = [
    "CONFIG_PROPERTIES",
    "IGNORE_ABSENT_PARTITIONS",
    "MAX_SPLIT_SIZE",
    "METASTORE_PROPERTIES",
    "HiveConfig",
    "session_properties",
]

IGNORE_ABSENT_PARTITIONS = "ignore_absent_partitions"
"""Session property: a partition without a folder has no rows."""
MAX_SPLIT_SIZE = "max_split_size"
"""Session property: most bytes of a split."""

_CLIENT = "hive.metastore.thrift.client."
_MEGABYTE = 1 << 20

METASTORE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    enum_property("hive.metastore", "Kind of metastore.", ("thrift", "embedded"), "thrift"),
    string_property("hive.metastore.uri", "Addresses of the metastore: thrift://host:9083, more joined by commas.", ""),
    string_property("hive.metastore.embedded.path", "SQLite file of an embedded metastore.", ""),
    duration_property(_CLIENT + "connect-timeout", "Longest wait for a connection.", 10.0, minimum=0.001),
    duration_property(_CLIENT + "read-timeout", "Longest silence within a call.", 60.0, minimum=0.001),
    integer_property(_CLIENT + "max-retries", "Repetitions of a read whose connection was lost.", 3, minimum=0),
    string_property(
        "hive.metastore.username", "Whom the metastore takes us for; empty is the user of the process.", ""
    ),
)
"""What reaching the metastore needs: shared with other connectors over the same metastore."""


def _zone_property() -> PropertyMetadata[str]:
    def parse(text: str) -> str:
        try:
            return ZoneInfo(text.strip()).key if text.strip() else ""
        except (KeyError, OSError) as error:
            raise ValueError(f"unknown zone {text}") from error

    description = "Zone of Parquet's instants in timestamp columns where the file names none; empty is the session's."
    return PropertyMetadata("hive.parquet.time-zone", description, "IANA time zone such as Europe/Berlin", parse, "")


CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    *METASTORE_PROPERTIES,
    integer_property("hive.max-partitions-per-scan", "Most partitions that one scan may read.", 1_000_000, minimum=1),
    boolean_property("hive.recursive-directories", "Whether files in folders below a partition belong to it.", True),
    boolean_property("hive.ignore-absent-partitions", "Whether a partition without a folder has no rows.", False),
    data_size_property("hive.max-split-size", "Most bytes of a split.", 64 * _MEGABYTE, minimum=1),
    boolean_property("hive.orc.use-column-names", "Whether columns of ORC files are found by name.", True),
    boolean_property("hive.parquet.use-column-names", "Whether columns of Parquet files are found by name.", True),
    integer_property("hive.split-loader-concurrency", "Folders that are listed at once.", 16, minimum=1, maximum=256),
    _zone_property(),
    string_property("s3.endpoint", "Address of an S3 store other than Amazon's.", ""),
    string_property("s3.region", "Region of the S3 store.", ""),
    string_property("s3.aws-access-key", "Access key of the S3 store.", "", sensitive=True),
    string_property("s3.aws-secret-key", "Secret key of the S3 store.", "", sensitive=True),
)


@dataclass(frozen=True, slots=True)
class HiveConfig:
    """Typed properties of a catalog.

    Attributes:
        metastore: How to reach the metastore.
        max_partitions_per_scan: Most partitions that one scan may read.
        recursive_directories: Files in folders below a partition belong to it. On by default, since Tez writes the
            parts of a UNION ALL into folders of their own.
        ignore_absent_partitions: Default of the session property.
        max_split_bytes: Default of the session property.
        orc_by_name: Columns of ORC files are found by name, unless all are called ``_colN``.
        parquet_by_name: Columns of Parquet files are found by name.
        split_loader_concurrency: Folders that are listed at once.
        parquet_zone: Zone of Parquet's instants, or empty for the session's.
        storage_options: Settings of storage, by key. They travel to the tasks.
    """

    metastore: MetastoreConfig
    max_partitions_per_scan: int
    recursive_directories: bool
    ignore_absent_partitions: bool
    max_split_bytes: int
    orc_by_name: bool
    parquet_by_name: bool
    split_loader_concurrency: int
    parquet_zone: str
    storage_options: tuple[tuple[str, str], ...] = field(repr=False)

    @classmethod
    def from_properties(cls, properties: Mapping[str, object]) -> HiveConfig:
        """Takes the values of ``CONFIG_PROPERTIES``."""
        return cls(
            _metastore(properties),
            cast(int, properties["hive.max-partitions-per-scan"]),
            bool(properties["hive.recursive-directories"]),
            bool(properties["hive.ignore-absent-partitions"]),
            cast(int, properties["hive.max-split-size"]),
            bool(properties["hive.orc.use-column-names"]),
            bool(properties["hive.parquet.use-column-names"]),
            cast(int, properties["hive.split-loader-concurrency"]),
            str(properties["hive.parquet.time-zone"]),
            tuple((key, str(value)) for key, value in sorted(properties.items()) if key.startswith("s3.") and value),
        )

    def metastore_properties(self) -> tuple[tuple[str, str], ...]:
        """The properties that reach the same metastore, as a catalog file has them."""
        config = self.metastore
        texts = {
            "hive.metastore": config.kind,
            "hive.metastore.uri": config.uri,
            "hive.metastore.embedded.path": config.embedded_path,
            _CLIENT + "connect-timeout": f"{config.connect_timeout}s",
            _CLIENT + "read-timeout": f"{config.read_timeout}s",
            _CLIENT + "max-retries": str(config.max_retries),
            "hive.metastore.username": config.username,
        }
        return tuple((key, text) for key, text in texts.items() if text)


def session_properties(config: HiveConfig) -> tuple[PropertyMetadata[object], ...]:
    """What a session may set."""
    return (
        boolean_property(
            IGNORE_ABSENT_PARTITIONS,
            "Whether a partition without a folder has no rows (else it is an error).",
            config.ignore_absent_partitions,
        ),
        data_size_property(MAX_SPLIT_SIZE, "Most bytes of a split.", config.max_split_bytes, minimum=1),
    )


def _metastore(properties: Mapping[str, object]) -> MetastoreConfig:
    kind: Literal["thrift", "embedded"] = "embedded" if properties["hive.metastore"] == "embedded" else "thrift"
    return MetastoreConfig(
        kind,
        str(properties["hive.metastore.uri"]),
        str(properties["hive.metastore.embedded.path"]),
        cast(float, properties[_CLIENT + "connect-timeout"]),
        cast(float, properties[_CLIENT + "read-timeout"]),
        cast(int, properties[_CLIENT + "max-retries"]),
        str(properties["hive.metastore.username"]),
    )
