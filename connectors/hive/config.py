"""Settings of the hive connector, by Trino's keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast
from zoneinfo import ZoneInfo

from catalog.metastore.cache.policy import CACHE_PROPERTIES, CachePolicy, cache_policy
from catalog.metastore.factory import MetastoreConfig
from catalog.metastore.properties import METASTORE_PROPERTIES, metastore_config
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    data_size_property,
    duration_property,
    integer_property,
    string_list_property,
)
from connectors.hive.acid.read.deletes import MAX_DELETE_MEMORY
from connectors.hive.buckets.layout import BUCKET_EXECUTION, VALIDATE_BUCKETING
from connectors.hive.formats.avro.schema_url import HOSTS
from connectors.hive.listing.cache import LISTING_PROPERTIES, ListingPolicy, listing_policy
from connectors.toolkit.storage.properties import STORAGE_PROPERTIES, storage_options

__all__ = [
    "CONFIG_PROPERTIES",
    "IGNORE_ABSENT_PARTITIONS",
    "MAX_SPLIT_SIZE",
    "PARTITION_FILTER_REQUIRED",
    "TRANSACTIONAL_READ_LOCK",
    "HiveConfig",
    "session_properties",
]

IGNORE_ABSENT_PARTITIONS = "ignore_absent_partitions"
"""Session property: a partition without a folder has no rows."""
MAX_SPLIT_SIZE = "max_split_size"
"""Session property: most bytes of a split."""
PARTITION_FILTER_REQUIRED = "query_partition_filter_required"
"""Session property: partitioned tables are read with a filter on a partition key only."""
TRANSACTIONAL_READ_LOCK = "transactional_read_lock"
"""Session property: transactional tables are read inside of a metastore transaction, under a shared lock."""

_MEGABYTE = 1 << 20
_BUCKET_EXECUTION = "Whether filters on the bucketing columns of tables choose files."
_VALIDATE_BUCKETING = "Whether rows of bucketed tables are checked to be in their file's bucket."
_FILTER_REQUIRED = "Whether partitioned tables are read with a filter on a partition key only."


def _zone_property(name: str, description: str, default: str) -> PropertyMetadata[str]:
    def parse(text: str) -> str:
        try:
            return ZoneInfo(text.strip()).key if text.strip() else default
        except (KeyError, OSError) as error:
            raise ValueError(f"unknown zone {text}") from error

    return PropertyMetadata(name, description, "IANA time zone such as Europe/Berlin", parse, default)


CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    *METASTORE_PROPERTIES,
    *CACHE_PROPERTIES,
    boolean_property("hive.query-partition-filter-required", _FILTER_REQUIRED, False),
    string_list_property(
        "hive.query-partition-filter-required-schemas",
        "Schemas whose tables want a filter on a partition key, where one is required; all if not set.",
    ),
    integer_property("hive.max-partitions-per-scan", "Most partitions that one scan may read.", 1_000_000, minimum=1),
    boolean_property("hive.recursive-directories", "Whether files in folders below a partition belong to it.", True),
    boolean_property("hive.ignore-absent-partitions", "Whether a partition without a folder has no rows.", False),
    data_size_property("hive.max-split-size", "Most bytes of a split.", 64 * _MEGABYTE, minimum=1),
    boolean_property(
        "hive.orc.use-column-names", "Whether columns of ORC files are found by name, else by place.", False
    ),
    boolean_property(
        "hive.parquet.use-column-names", "Whether columns of Parquet files are found by name, else by place.", True
    ),
    integer_property("hive.split-loader-concurrency", "Folders that are listed at once.", 16, minimum=1, maximum=256),
    _zone_property(
        "hive.parquet.time-zone",
        "Zone of Parquet's instants in timestamp columns where the file names none; empty is the session's.",
        "",
    ),
    _zone_property(
        "hive.orc.time-zone",
        "Zone in which instants of ORC files are shown in timestamp columns; empty is the session's.",
        "",
    ),
    _zone_property(
        "hive.rcfile.time-zone",
        "Zone in which Hive before 3.1, or Spark, wrote timestamps by LazyBinary SerDes; UTC for Hive since 3.1.",
        "UTC",
    ),
    string_list_property(
        HOSTS,
        "Web servers, as host or host:port, that schemas at avro.schema.url may be fetched from; none if not set.",
    ),
    data_size_property(
        "hive.max-delete-memory",
        "Most bytes of keys of deleted rows that a process keeps; more of them are read again for each stripe.",
        256 * _MEGABYTE,
        minimum=1,
    ),
    boolean_property(
        "hive.transactional-read.lock",
        "Whether transactional tables are read inside of a metastore transaction, under a shared lock.",
        True,
    ),
    duration_property(
        "hive.metastore.thrift.txn-lock-max-wait", "Longest wait for a lock of the metastore.", 600.0, minimum=0
    ),
    duration_property(
        "hive.transaction-heartbeat-interval",
        "Time between two heartbeats of a transaction; half of the metastore's timeout if not set.",
        minimum=0.01,
    ),
    boolean_property(
        "hive.assume-committed-write-ids",
        "Whether transactional tables of a metastore without write ids (Hive 2) are read as if all were committed.",
        False,
    ),
    boolean_property("hive.bucket-execution", _BUCKET_EXECUTION, True),
    boolean_property("hive.validate-bucketing", _VALIDATE_BUCKETING, False),
    *LISTING_PROPERTIES,
    *STORAGE_PROPERTIES,
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
        orc_by_name: Columns of ORC files are found by name, unless all are called ``_colN``; else by place.
        parquet_by_name: Columns of Parquet files are found by name; else by place.
        split_loader_concurrency: Folders that are listed at once.
        parquet_zone: Zone of Parquet's instants, or empty for the session's.
        max_delete_memory: Default of the session property.
        transactional_read_lock: Default of the session property.
        lock_max_wait: Seconds to wait for a lock.
        heartbeat_interval: Seconds between two heartbeats; ``None`` is half of the metastore's timeout.
        assume_committed_write_ids: Where the metastore has no write ids, take all that is on disk as committed.
        storage_options: Settings of storage, by key. They travel to the tasks.
        cache: What is kept of the metastore across transactions.
        partition_filter_required: Default of the session property.
        partition_filter_schemas: Lower-case names of the schemas it is about; empty for all.
        listings: Which listings of folders are kept.
        binary_zone: Zone of timestamps in RCFiles and of ``LazyBinarySerDe``.
        bucket_execution: Default of the session property.
        validate_bucketing: Default of the session property.
        orc_zone: Zone of ORC's instants in timestamp columns, or empty for the session's.
        avro_schema_hosts: Web servers that schemas of Avro tables may be fetched from, in lower case.
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
    max_delete_memory: int
    transactional_read_lock: bool
    lock_max_wait: float
    heartbeat_interval: float | None
    assume_committed_write_ids: bool
    storage_options: tuple[tuple[str, str], ...] = field(repr=False)
    cache: CachePolicy = field(default_factory=CachePolicy)
    partition_filter_required: bool = False
    partition_filter_schemas: frozenset[str] = frozenset()
    binary_zone: str = "UTC"
    listings: ListingPolicy = field(default_factory=ListingPolicy)
    bucket_execution: bool = True
    validate_bucketing: bool = False
    orc_zone: str = ""
    avro_schema_hosts: tuple[str, ...] = ()

    @classmethod
    def from_properties(cls, properties: Mapping[str, object]) -> HiveConfig:
        """Takes the values of ``CONFIG_PROPERTIES``."""
        return cls(
            metastore_config(properties),
            cast(int, properties["hive.max-partitions-per-scan"]),
            bool(properties["hive.recursive-directories"]),
            bool(properties["hive.ignore-absent-partitions"]),
            cast(int, properties["hive.max-split-size"]),
            bool(properties["hive.orc.use-column-names"]),
            bool(properties["hive.parquet.use-column-names"]),
            cast(int, properties["hive.split-loader-concurrency"]),
            str(properties["hive.parquet.time-zone"]),
            cast(int, properties["hive.max-delete-memory"]),
            bool(properties["hive.transactional-read.lock"]),
            cast(float, properties["hive.metastore.thrift.txn-lock-max-wait"]),
            cast("float | None", properties["hive.transaction-heartbeat-interval"]),
            bool(properties["hive.assume-committed-write-ids"]),
            storage_options(properties),
            cache_policy(properties),
            bool(properties["hive.query-partition-filter-required"]),
            _lower_case(properties["hive.query-partition-filter-required-schemas"]),
            str(properties["hive.rcfile.time-zone"]),
            listing_policy(properties),
            bool(properties["hive.bucket-execution"]),
            bool(properties["hive.validate-bucketing"]),
            orc_zone=str(properties["hive.orc.time-zone"]),
            avro_schema_hosts=tuple(sorted(_lower_case(properties[HOSTS]))),
        )


def session_properties(config: HiveConfig) -> tuple[PropertyMetadata[object], ...]:
    """What a session may set."""
    return (
        boolean_property(BUCKET_EXECUTION, _BUCKET_EXECUTION, config.bucket_execution),
        boolean_property(VALIDATE_BUCKETING, _VALIDATE_BUCKETING, config.validate_bucketing),
        boolean_property(
            IGNORE_ABSENT_PARTITIONS,
            "Whether a partition without a folder has no rows (else it is an error).",
            config.ignore_absent_partitions,
        ),
        boolean_property(PARTITION_FILTER_REQUIRED, _FILTER_REQUIRED, config.partition_filter_required),
        boolean_property(
            TRANSACTIONAL_READ_LOCK,
            "Whether transactional tables are read inside of a metastore transaction, under a shared lock.",
            config.transactional_read_lock,
        ),
        data_size_property(
            MAX_DELETE_MEMORY,
            "Most bytes of keys of deleted rows that a process keeps; more of them are read again for each stripe.",
            config.max_delete_memory,
            minimum=1,
        ),
        data_size_property(MAX_SPLIT_SIZE, "Most bytes of a split.", config.max_split_bytes, minimum=1),
    )


def _lower_case(names: object) -> frozenset[str]:
    return frozenset(str(name).lower() for name in names) if isinstance(names, tuple) else frozenset()
