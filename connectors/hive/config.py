"""The properties of the hive connector, by Trino's keys.

A value is read by its property: ``config.get(MAX_SPLIT_SIZE)``. A property with ``session=`` can also be set for a
session, by that name; its default there is the catalog's value.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from catalog.access_control.catalog_security import CATALOG_SECURITY_PROPERTIES
from catalog.metastore.cache.policy import CACHE_PROPERTIES
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    data_size_property,
    duration_property,
    integer_property,
    string_list_property,
)
from connectors.hive.acid.delete_set import MAX_DELETE_MEMORY
from connectors.hive.buckets.layout import (
    BUCKET_EXECUTION,
    EMPTY_BUCKET_FILES,
    PREFERRED_PARTITIONING,
    VALIDATE_BUCKETING,
)
from connectors.hive.formats.avro.schema_url import HOSTS
from connectors.hive.listing.cache import LISTING_PROPERTIES
from connectors.hive.listing.first_rows import TOP_N_THRESHOLD
from connectors.hive.statistics.footer_statistics import FOOTER_STATISTICS
from connectors.hive.write.codec_setting import COMPRESSION_CODEC
from connectors.hive.write.statistics.counted_columns import COLLECT_STATISTICS
from connectors.toolkit.storage.properties import STORAGE_PROPERTIES

__all__ = [
    "ASSUME_COMMITTED_WRITE_IDS",
    "CONFIG_PROPERTIES",
    "FOOTER_CACHE",
    "HEARTBEAT_INTERVAL",
    "IGNORE_ABSENT_PARTITIONS",
    "LOCK_MAX_WAIT",
    "MAX_PARTITIONS",
    "MAX_SPLIT_SIZE",
    "ORC_BY_NAME",
    "ORC_ZONE",
    "PARQUET_BY_NAME",
    "PARQUET_ZONE",
    "PARTITION_FILTER_REQUIRED",
    "PARTITION_FILTER_SCHEMAS",
    "RCFILE_ZONE",
    "RECURSIVE_DIRECTORIES",
    "SHARED_PROPERTIES",
    "SPLIT_LOADER_CONCURRENCY",
    "TOP_N_THRESHOLD",
    "TRANSACTIONAL_READ_LOCK",
    "VIEWS_AS_INVOKER",
]


def _zone_property(name: str, description: str, default: str) -> PropertyMetadata[str]:
    def parse(text: str) -> str:
        try:
            return ZoneInfo(text.strip()).key if text.strip() else default
        except (KeyError, OSError) as error:
            raise ValueError(f"unknown zone {text}") from error

    return PropertyMetadata(name, description, "IANA time zone such as Europe/Berlin", parse, default)


PARTITION_FILTER_REQUIRED = boolean_property(
    "hive.query-partition-filter-required",
    "Whether partitioned tables are read with a filter on a partition key only.",
    False,
    session="query_partition_filter_required",
)
PARTITION_FILTER_SCHEMAS = string_list_property(
    "hive.query-partition-filter-required-schemas",
    "Schemas whose tables want a filter on a partition key, where one is required; all if not set.",
    lower=True,
)
MAX_PARTITIONS = integer_property(
    "hive.max-partitions-per-scan", "Most partitions that one scan may read.", 1_000_000, minimum=1
)
# On by default, since Tez writes the parts of a UNION ALL into directories of their own.
RECURSIVE_DIRECTORIES = boolean_property(
    "hive.recursive-directories", "Whether files in directories below a partition belong to it.", True
)
IGNORE_ABSENT_PARTITIONS = boolean_property(
    "hive.ignore-absent-partitions",
    "Whether a partition without a directory has no rows (else it is an error).",
    False,
    session="ignore_absent_partitions",
)
MAX_SPLIT_SIZE = data_size_property(
    "hive.max-split-size", "Most bytes of a split.", 64 << 20, minimum=1, session="max_split_size"
)
ORC_BY_NAME = boolean_property(
    "hive.orc.use-column-names", "Whether columns of ORC files are found by name, else by position.", False
)
PARQUET_BY_NAME = boolean_property(
    "hive.parquet.use-column-names", "Whether columns of Parquet files are found by name, else by position.", True
)
SPLIT_LOADER_CONCURRENCY = integer_property(
    "hive.split-loader-concurrency", "Directories that are listed at once.", 16, minimum=1, maximum=256
)
FOOTER_CACHE = data_size_property(
    "hive.footer-cache",
    "Memory of the process for what planning has read of footers, by path, size and modification time; 0B keeps none.",
    64 << 20,
    minimum=0,
    session="footer_cache",
)
PARQUET_ZONE = _zone_property(
    "hive.parquet.time-zone",
    "Zone of Parquet's instants in timestamp columns where the file names none; empty is the session's.",
    "",
)
ORC_ZONE = _zone_property(
    "hive.orc.time-zone",
    "Zone in which instants of ORC files are shown in timestamp columns; empty is the session's.",
    "",
)
RCFILE_ZONE = _zone_property(
    "hive.rcfile.time-zone",
    "Zone in which Hive before 3.1, or Spark, wrote timestamps by LazyBinary SerDes; UTC for Hive since 3.1.",
    "UTC",
)
TRANSACTIONAL_READ_LOCK = boolean_property(
    "hive.transactional-read.lock",
    "Whether transactional tables are read inside of a metastore transaction, under a shared lock.",
    True,
    session="transactional_read_lock",
)
LOCK_MAX_WAIT = duration_property(
    "hive.metastore.thrift.txn-lock-max-wait", "Longest wait for a lock of the metastore.", 600.0, minimum=0
)
HEARTBEAT_INTERVAL = duration_property(
    "hive.transaction-heartbeat-interval",
    "Time between two heartbeats of a transaction; half of the metastore's timeout if not set.",
    minimum=0.01,
)
ASSUME_COMMITTED_WRITE_IDS = boolean_property(
    "hive.assume-committed-write-ids",
    "Whether transactional tables of a metastore without write ids (Hive 2) are read as if all were committed.",
    False,
)
VIEWS_AS_INVOKER = boolean_property(
    "hive.hive-views.run-as-invoker",
    "Whether views of Hive and Spark are read with the rights of who asks, not of their owner.",
    False,
)

SHARED_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    *CACHE_PROPERTIES,
    *STORAGE_PROPERTIES,
)
"""Beside the metastore's, what the hudi connector has, too: by these it reads a table of the same metastore."""

CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    *CACHE_PROPERTIES,
    PARTITION_FILTER_REQUIRED,
    PARTITION_FILTER_SCHEMAS,
    MAX_PARTITIONS,
    RECURSIVE_DIRECTORIES,
    IGNORE_ABSENT_PARTITIONS,
    MAX_SPLIT_SIZE,
    ORC_BY_NAME,
    PARQUET_BY_NAME,
    SPLIT_LOADER_CONCURRENCY,
    FOOTER_CACHE,
    TOP_N_THRESHOLD,
    FOOTER_STATISTICS,
    PARQUET_ZONE,
    ORC_ZONE,
    RCFILE_ZONE,
    HOSTS,
    MAX_DELETE_MEMORY,
    TRANSACTIONAL_READ_LOCK,
    LOCK_MAX_WAIT,
    HEARTBEAT_INTERVAL,
    COMPRESSION_CODEC,
    COLLECT_STATISTICS,
    ASSUME_COMMITTED_WRITE_IDS,
    BUCKET_EXECUTION,
    EMPTY_BUCKET_FILES,
    PREFERRED_PARTITIONING,
    VALIDATE_BUCKETING,
    *CATALOG_SECURITY_PROPERTIES,
    VIEWS_AS_INVOKER,
    *LISTING_PROPERTIES,
    *STORAGE_PROPERTIES,
)
"""All of a catalog but the metastore's, which depend on the kinds that are installed."""
