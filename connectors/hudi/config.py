"""Catalog and session properties of the hudi connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.metastore.cache.policy import CACHE_PROPERTIES, CachePolicy, cache_policy
from catalog.metastore.factory import MetastoreConfig
from catalog.metastore.properties import METASTORE_PROPERTIES, metastore_config
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    data_size_property,
    integer_property,
    string_list_property,
)
from connector_spi.session import ConnectorSession
from connectors.hudi.handles import IndexUse
from connectors.hudi.merge.config import MERGE_MEMORY
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.toolkit.storage.properties import STORAGE_PROPERTIES, storage_options

__all__ = [
    "CONFIG_PROPERTIES",
    "IGNORE_ABSENT_PARTITIONS",
    "MAX_SPLIT_SIZE",
    "PARTITION_FILTER_REQUIRED",
    "READ_OPTIMIZED",
    "HudiConfig",
    "index_use",
    "session_properties",
]

MAX_SPLIT_SIZE = "max_split_size"
IGNORE_ABSENT_PARTITIONS = "ignore_absent_partitions"
PARTITION_FILTER_REQUIRED = "query_partition_filter_required"
READ_OPTIMIZED = "read_optimized"

_MERGE_MEMORY_TEXT = "Memory for the logs of a split of a merge-on-read table; what is above it goes through disk."

_FILTER_REQUIRED = "Whether partitioned tables are read with a filter on a partition field only."

_METADATA_ENABLED = "metadata_enabled"
_PARTITION_STATS = "partition_stats_index_enabled"
_COLUMN_STATS = "column_stats_index_enabled"
_RECORD_INDEX = "record_level_index_enabled"

# By the names that Trino gave them: of the catalog, of the session, and what they say.
_INDEX_PROPERTIES: tuple[tuple[str, str, str], ...] = (
    (
        "hudi.metadata-enabled",
        _METADATA_ENABLED,
        "Find files by the metadata table of a Hudi table where it is valid, instead of listing folders.",
    ),
    (
        "hudi.index.partition-stats-index-enabled",
        _PARTITION_STATS,
        "Leave out partitions by the metadata table's partition_stats.",
    ),
    (
        "hudi.index.column-stats-index-enabled",
        _COLUMN_STATS,
        "Leave out files by the metadata table's column_stats.",
    ),
    (
        "hudi.index.record-level-index-enabled",
        _RECORD_INDEX,
        "Find files of record keys by the metadata table's record_index.",
    ),
)

CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    *METASTORE_PROPERTIES,
    *CACHE_PROPERTIES,
    *STORAGE_PROPERTIES,
    string_list_property("hudi.columns-to-hide", "Columns that SELECT * leaves out, such as _hoodie_commit_seqno."),
    boolean_property("hudi.hide-meta-columns", "SELECT * leaves out the columns _hoodie_* that Hudi adds.", False),
    data_size_property("hudi.max-split-size", "Base files above it are cut into ranges.", 64 << 20, minimum=1 << 10),
    data_size_property("hudi.merge-memory", _MERGE_MEMORY_TEXT, 512 << 20, minimum=1 << 10),
    integer_property("hudi.split-loader-parallelism", "Folders listed at once.", 8, minimum=1, maximum=256),
    boolean_property(
        "hudi.ignore-absent-partitions",
        "Read on when the metastore names a partition whose folder is not on storage.",
        False,
    ),
    boolean_property("hudi.query-partition-filter-required", _FILTER_REQUIRED, False),
    *(boolean_property(name, text, True) for name, _, text in _INDEX_PROPERTIES),
)


@dataclass(frozen=True, slots=True)
class HudiConfig:
    """The properties of one hudi catalog.

    Attributes:
        metastore: How to reach the metastore.
        storage: Settings of the storage, by Trino's keys.
        columns_to_hide: Lower-case names of columns that ``SELECT *`` leaves out.
        max_split_size: Bytes above which a base file is cut.
        merge_memory: Bytes that the logs of a split may take in memory.
        parallelism: Folders listed at once.
        ignore_absent_partitions: Whether folders may be missing.
        indexes: Names of the session properties of the metadata table that are on by default.
        cache: What is kept of the metastore across transactions.
        partition_filter_required: Default of the session property.
    """

    metastore: MetastoreConfig
    storage: tuple[tuple[str, str], ...] = field(repr=False)
    columns_to_hide: frozenset[str]
    max_split_size: int
    merge_memory: int
    parallelism: int
    ignore_absent_partitions: bool
    indexes: frozenset[str]
    cache: CachePolicy = field(default_factory=CachePolicy)
    partition_filter_required: bool = False

    @classmethod
    def of(cls, properties: Mapping[str, object]) -> HudiConfig:
        """Makes the configuration of typed properties, one for each of ``CONFIG_PROPERTIES``.

        Raises:
            InvalidPropertyError: They do not fit together.
        """
        given = properties["hudi.columns-to-hide"]
        hidden = given if isinstance(given, tuple) else ()
        meta = META_COLUMNS if properties["hudi.hide-meta-columns"] else ()
        return cls(
            metastore=metastore_config(properties),
            storage=storage_options(properties),
            columns_to_hide=frozenset(str(name).lower() for name in (*hidden, *meta)),
            max_split_size=int(str(properties["hudi.max-split-size"])),
            merge_memory=int(str(properties["hudi.merge-memory"])),
            parallelism=int(str(properties["hudi.split-loader-parallelism"])),
            ignore_absent_partitions=bool(properties["hudi.ignore-absent-partitions"]),
            indexes=frozenset(session for name, session, _ in _INDEX_PROPERTIES if properties[name]),
            cache=cache_policy(properties),
            partition_filter_required=bool(properties["hudi.query-partition-filter-required"]),
        )


def session_properties(config: HudiConfig) -> tuple[PropertyMetadata[object], ...]:
    """What a session may set; the catalog's values are the defaults."""
    return (
        data_size_property(
            MAX_SPLIT_SIZE, "Base files above it are cut into ranges.", config.max_split_size, minimum=1 << 10
        ),
        data_size_property(MERGE_MEMORY, _MERGE_MEMORY_TEXT, config.merge_memory, minimum=1 << 10),
        boolean_property(
            IGNORE_ABSENT_PARTITIONS,
            "Read on when the metastore names a partition whose folder is not on storage.",
            config.ignore_absent_partitions,
        ),
        boolean_property(PARTITION_FILTER_REQUIRED, _FILTER_REQUIRED, config.partition_filter_required),
        boolean_property(
            READ_OPTIMIZED,
            "Read the base files of merge-on-read tables without their logs, as a table named _ro does.",
            False,
        ),
        *(boolean_property(name, text, name in config.indexes) for _, name, text in _INDEX_PROPERTIES),
    )


def index_use(session: ConnectorSession) -> IndexUse:
    """What of the metadata table a session lets be used."""
    return IndexUse(
        files=session.flag(_METADATA_ENABLED),
        partition_stats=session.flag(_PARTITION_STATS),
        column_stats=session.flag(_COLUMN_STATS),
        record_index=session.flag(_RECORD_INDEX),
    )
