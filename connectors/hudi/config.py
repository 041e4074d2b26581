"""The properties of the hudi connector.

A value is read by its property: ``config.get(MAX_SPLIT_SIZE)``. A property with ``session=`` can also be set for a
session, by that name; its default there is the catalog's value.
"""

from __future__ import annotations

from catalog.access_control.catalog_security import CATALOG_SECURITY_PROPERTIES
from catalog.metastore.cache.policy import CACHE_PROPERTIES
from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    boolean_property,
    data_size_property,
    integer_property,
    string_list_property,
)
from connector_spi.session import ConnectorSession
from connectors.hudi.handles import IndexUse
from connectors.hudi.merge.config import MERGE_CACHE, MERGE_MEMORY
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.toolkit.storage.properties import STORAGE_PROPERTIES

__all__ = [
    "CONFIG_PROPERTIES",
    "IGNORE_ABSENT_PARTITIONS",
    "MAX_SPLIT_SIZE",
    "PARTITION_FILTER_REQUIRED",
    "PLANNING_CACHE",
    "READ_OPTIMIZED",
    "SESSION_PROPERTIES",
    "SPLIT_LOADER_PARALLELISM",
    "hidden_columns",
    "index_use",
]

_COLUMNS_TO_HIDE = string_list_property(
    "hudi.columns-to-hide", "Columns that SELECT * leaves out, such as _hoodie_commit_seqno.", lower=True
)
_HIDE_META_COLUMNS = boolean_property(
    "hudi.hide-meta-columns", "SELECT * leaves out the columns _hoodie_* that Hudi adds.", False
)
MAX_SPLIT_SIZE = data_size_property(
    "hudi.max-split-size",
    "Base files above it are cut into ranges.",
    64 << 20,
    minimum=1 << 10,
    session="max_split_size",
)
PLANNING_CACHE = data_size_property(
    "hudi.planning-cache",
    "Memory of the process for what planning has read of tables, used again while their timelines do not change; "
    "0B keeps nothing.",
    256 << 20,
    minimum=0,
    session="planning_cache",
)
SPLIT_LOADER_PARALLELISM = integer_property(
    "hudi.split-loader-parallelism", "Directories listed at once.", 8, minimum=1, maximum=256
)
IGNORE_ABSENT_PARTITIONS = boolean_property(
    "hudi.ignore-absent-partitions",
    "Read on when the metastore names a partition whose directory is not on storage.",
    False,
    session="ignore_absent_partitions",
)
PARTITION_FILTER_REQUIRED = boolean_property(
    "hudi.query-partition-filter-required",
    "Whether partitioned tables are read with a filter on a partition field only.",
    False,
    session="query_partition_filter_required",
)
# By the names that Trino gave them.
_METADATA_ENABLED = boolean_property(
    "hudi.metadata-enabled",
    "Find files by the metadata table of a Hudi table where it is valid, instead of listing directories.",
    True,
    session="metadata_enabled",
)
_PARTITION_STATS = boolean_property(
    "hudi.index.partition-stats-index-enabled",
    "Leave out partitions by the metadata table's partition_stats.",
    True,
    session="partition_stats_index_enabled",
)
_COLUMN_STATS = boolean_property(
    "hudi.index.column-stats-index-enabled",
    "Leave out files by the metadata table's column_stats.",
    True,
    session="column_stats_index_enabled",
)
_RECORD_INDEX = boolean_property(
    "hudi.index.record-level-index-enabled",
    "Find files of record keys by the metadata table's record_index.",
    True,
    session="record_level_index_enabled",
)
READ_OPTIMIZED = boolean_property(
    "read_optimized",
    "Read the base files of merge-on-read tables without their logs, as a table named _ro does.",
    False,
)

CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    *CACHE_PROPERTIES,
    *STORAGE_PROPERTIES,
    *CATALOG_SECURITY_PROPERTIES,
    _COLUMNS_TO_HIDE,
    _HIDE_META_COLUMNS,
    MAX_SPLIT_SIZE,
    MERGE_CACHE,
    MERGE_MEMORY,
    PLANNING_CACHE,
    SPLIT_LOADER_PARALLELISM,
    IGNORE_ABSENT_PARTITIONS,
    PARTITION_FILTER_REQUIRED,
    _METADATA_ENABLED,
    _PARTITION_STATS,
    _COLUMN_STATS,
    _RECORD_INDEX,
)
"""All of a catalog but the metastore's, which depend on the kinds that are installed."""

SESSION_PROPERTIES: tuple[PropertyMetadata[object], ...] = (READ_OPTIMIZED,)
"""What a session may set and a catalog may not."""


def hidden_columns(config: PropertyValues) -> frozenset[str]:
    """Lower-case names of columns that ``SELECT *`` leaves out."""
    return frozenset((*config.get(_COLUMNS_TO_HIDE), *(META_COLUMNS if config.get(_HIDE_META_COLUMNS) else ())))


def index_use(session: ConnectorSession) -> IndexUse:
    """What of the metadata table a session lets be used."""
    return IndexUse(
        files=session.get(_METADATA_ENABLED),
        partition_stats=session.get(_PARTITION_STATS),
        column_stats=session.get(_COLUMN_STATS),
        record_index=session.get(_RECORD_INDEX),
    )
