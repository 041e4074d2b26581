"""The catalog properties by which the connectors find their metastore, with Trino's keys."""

from __future__ import annotations

from catalog.metastore.factory import MetastoreConfig
from catalog.metastore.security.properties import SECURITY_PROPERTIES, security_settings
from catalog.metastore.wrappers.availability import AVAILABILITY_PROPERTIES, availability_of
from catalog.metastore.wrappers.read_only import READ_ONLY
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    duration_property,
    enum_property,
    integer_property,
    string_property,
)
from connector_spi.property_values import PropertyValues

__all__ = ["METASTORE_PROPERTIES", "metastore_config"]

_DEFAULTS = MetastoreConfig()
_CLIENT = "hive.metastore.thrift.client."
_KIND = enum_property("hive.metastore", "Kind of metastore.", ("thrift", "embedded"), _DEFAULTS.kind)
_URI = string_property(
    "hive.metastore.uri", "Addresses of a Thrift metastore, such as thrift://host:9083[,thrift://...]."
)
_PATH = string_property("hive.metastore.embedded.path", "SQLite file of an embedded metastore; made if missing.")
_CONNECT_TIMEOUT = duration_property(
    f"{_CLIENT}connect-timeout", "Wait for a connection to one address.", _DEFAULTS.connect_timeout, minimum=0.001
)
_READ_TIMEOUT = duration_property(
    f"{_CLIENT}read-timeout", "Silence after which a call fails.", _DEFAULTS.read_timeout, minimum=0.001
)
_MAX_RETRIES = integer_property(
    f"{_CLIENT}max-retries", "Most repetitions of a read that lost its connection.", _DEFAULTS.max_retries, minimum=0
)
_USERNAME = string_property(
    "hive.metastore.username", "Whom the metastore takes us for; the user of this process if not set."
)
_CANONICAL_KEYS = boolean_property(
    "hive.metastore.thrift.assume-canonical-partition-keys",
    "Whether values of integral partition keys and dates are all written as Hive does (no 007, no 2024-1-1), so "
    "that the metastore may look for them.",
    False,
)

METASTORE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    _KIND,
    _URI,
    _PATH,
    _CONNECT_TIMEOUT,
    _READ_TIMEOUT,
    _MAX_RETRIES,
    *AVAILABILITY_PROPERTIES,
    _USERNAME,
    _CANONICAL_KEYS,
    *SECURITY_PROPERTIES,
    READ_ONLY,
)
"""Descriptors for a connector's ``config_properties``."""


def metastore_config(config: PropertyValues) -> MetastoreConfig:
    """Takes the metastore's part out of a catalog's properties; ``factory.connect`` checks if they fit together."""
    return MetastoreConfig(
        kind="embedded" if config.get(_KIND) == "embedded" else "thrift",
        uri=config.get(_URI) or "",
        embedded_path=config.get(_PATH) or "",
        connect_timeout=config.get(_CONNECT_TIMEOUT),
        read_timeout=config.get(_READ_TIMEOUT),
        max_retries=config.get(_MAX_RETRIES),
        username=config.get(_USERNAME) or "",
        availability=availability_of(config),
        security=security_settings(config),
        canonical_keys=config.get(_CANONICAL_KEYS),
        read_only=config.get(READ_ONLY),
    )
