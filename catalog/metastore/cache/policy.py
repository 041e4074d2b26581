"""How long answers of a metastore are kept across transactions, by Trino's keys."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    boolean_property,
    duration_property,
    integer_property,
)

__all__ = ["CACHE_PROPERTIES", "CachePolicy", "cache_policy"]


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """What a ``SharedMetastoreCache`` keeps.

    Attributes:
        ttl: Most seconds from when an answer was asked for to when it is last given; 0 keeps nothing.
        refresh: After so many seconds an answer is asked for again, while the old one is still given; ``None`` never.
        maximum_size: Most answers kept; those not asked for longest go first. A list of names counts as one.
        refresh_threads: Most answers that are refreshed at once.
        missing: Keep also that something is not there.
        partitions: Keep names and entries of partitions, and their statistics.
    """

    ttl: float = 0.0
    refresh: float | None = None
    maximum_size: int = 20_000
    refresh_threads: int = 10
    missing: bool = False
    partitions: bool = True


_DEFAULTS = CachePolicy()

_TTL = duration_property(
    "hive.metastore-cache-ttl",
    "How long answers of the metastore serve later statements, too; 0s keeps none.",
    _DEFAULTS.ttl,
    minimum=0,
)
_REFRESH = duration_property(
    "hive.metastore-refresh-interval",
    "Age at which an answer that is kept is asked for again, while the old one still serves; never if not set.",
    minimum=0.001,
)
_SIZE = integer_property(
    "hive.metastore-cache-maximum-size",
    "Most answers of the metastore that are kept.",
    _DEFAULTS.maximum_size,
    minimum=1,
)
_THREADS = integer_property(
    "hive.metastore-refresh-max-threads",
    "Most answers that are refreshed at once.",
    _DEFAULTS.refresh_threads,
    minimum=1,
    maximum=256,
)
_MISSING = boolean_property(
    "hive.metastore-cache.cache-missing",
    "Whether it is kept, too, that a schema, table or partition is missing.",
    False,
)
_PARTITIONS = boolean_property(
    "hive.metastore-cache.cache-partitions", "Whether names, entries and statistics of partitions are kept.", True
)

CACHE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (_TTL, _REFRESH, _SIZE, _THREADS, _MISSING, _PARTITIONS)
"""Descriptors for a connector's ``config_properties``."""


def cache_policy(config: PropertyValues) -> CachePolicy:
    """Takes the values of ``CACHE_PROPERTIES`` out of a catalog's properties."""
    return CachePolicy(
        ttl=config.get(_TTL),
        refresh=config.get(_REFRESH),
        maximum_size=config.get(_SIZE),
        refresh_threads=config.get(_THREADS),
        missing=config.get(_MISSING),
        partitions=config.get(_PARTITIONS),
    )
