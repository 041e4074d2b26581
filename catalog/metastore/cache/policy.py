"""How long answers of a metastore are kept across transactions, by Trino's keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connector_spi.properties import PropertyMetadata, boolean_property, duration_property, integer_property

__all__ = ["CACHE_PROPERTIES", "CachePolicy", "cache_policy", "cache_texts"]

_TTL = "hive.metastore-cache-ttl"
_REFRESH = "hive.metastore-refresh-interval"
_SIZE = "hive.metastore-cache-maximum-size"
_THREADS = "hive.metastore-refresh-max-threads"
_MISSING = "hive.metastore-cache.cache-missing"
_PARTITIONS = "hive.metastore-cache.cache-partitions"


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

CACHE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    duration_property(
        _TTL, "How long answers of the metastore serve later statements, too; 0s keeps none.", _DEFAULTS.ttl, minimum=0
    ),
    duration_property(
        _REFRESH,
        "Age at which an answer that is kept is asked for again, while the old one still serves; never if not set.",
        minimum=0.001,
    ),
    integer_property(_SIZE, "Most answers of the metastore that are kept.", _DEFAULTS.maximum_size, minimum=1),
    integer_property(
        _THREADS, "Most answers that are refreshed at once.", _DEFAULTS.refresh_threads, minimum=1, maximum=256
    ),
    boolean_property(_MISSING, "Whether it is kept, too, that a schema, table or partition is not there.", False),
    boolean_property(_PARTITIONS, "Whether names, entries and statistics of partitions are kept.", True),
)
"""Descriptors for a connector's ``config_properties``."""


def cache_policy(properties: Mapping[str, object]) -> CachePolicy:
    """Takes the cache's part out of a catalog's typed properties, which has a value for each of them."""
    refresh = properties[_REFRESH]
    return CachePolicy(
        float(str(properties[_TTL])),
        None if refresh is None else float(str(refresh)),
        int(str(properties[_SIZE])),
        int(str(properties[_THREADS])),
        bool(properties[_MISSING]),
        bool(properties[_PARTITIONS]),
    )


def cache_texts(policy: CachePolicy) -> tuple[tuple[str, str], ...]:
    """The properties of a policy, as a catalog file has them; the reverse of ``cache_policy``."""
    texts = {
        _TTL: f"{policy.ttl}s",
        _REFRESH: "" if policy.refresh is None else f"{policy.refresh}s",
        _SIZE: str(policy.maximum_size),
        _THREADS: str(policy.refresh_threads),
        _MISSING: str(policy.missing).lower(),
        _PARTITIONS: str(policy.partitions).lower(),
    }
    return tuple((key, text) for key, text in texts.items() if text)
