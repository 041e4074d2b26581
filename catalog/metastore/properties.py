"""The catalog properties by which the connectors find their metastore, with Trino's keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from catalog.metastore.factory import MetastoreConfig
from catalog.metastore.security.properties import SECURITY_PROPERTIES, security_properties, security_settings
from catalog.metastore.wrappers.availability import AVAILABILITY_PROPERTIES, availability_from, availability_texts
from catalog.metastore.wrappers.read_only import READ_ONLY
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    duration_property,
    enum_property,
    integer_property,
    string_property,
)

__all__ = ["METASTORE_PROPERTIES", "metastore_config", "metastore_properties"]

_DEFAULTS = MetastoreConfig()
_CLIENT = "hive.metastore.thrift.client."
_CANONICAL_KEYS = "hive.metastore.thrift.assume-canonical-partition-keys"

METASTORE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    enum_property("hive.metastore", "Kind of metastore.", ("thrift", "embedded"), _DEFAULTS.kind),
    string_property(
        "hive.metastore.uri", "Addresses of a Thrift metastore, such as thrift://host:9083[,thrift://...]."
    ),
    string_property("hive.metastore.embedded.path", "SQLite file of an embedded metastore; made if missing."),
    duration_property(
        f"{_CLIENT}connect-timeout", "Wait for a connection to one address.", _DEFAULTS.connect_timeout, minimum=0.001
    ),
    duration_property(
        f"{_CLIENT}read-timeout", "Silence after which a call fails.", _DEFAULTS.read_timeout, minimum=0.001
    ),
    integer_property(
        f"{_CLIENT}max-retries",
        "Most repetitions of a read that lost its connection.",
        _DEFAULTS.max_retries,
        minimum=0,
    ),
    *AVAILABILITY_PROPERTIES,
    string_property("hive.metastore.username", "Whom the metastore takes us for; the user of this process if not set."),
    boolean_property(
        _CANONICAL_KEYS,
        "Whether values of integral partition keys and dates are all written as Hive does (no 007, no 2024-1-1), so "
        "that the metastore may look for them.",
        False,
    ),
    *SECURITY_PROPERTIES,
    boolean_property(READ_ONLY, "Whether everything that would change the metastore is refused.", False),
)
"""Descriptors for a connector's ``config_properties``."""


def metastore_config(properties: Mapping[str, object]) -> MetastoreConfig:
    """Takes the metastore's part out of a catalog's typed properties; ``factory.connect`` checks if they fit together.

    Args:
        properties: A value for each of ``METASTORE_PROPERTIES``; others are not looked at.
    """
    kind: Literal["thrift", "embedded"] = "embedded" if properties["hive.metastore"] == "embedded" else "thrift"
    return MetastoreConfig(
        kind=kind,
        uri=_text(properties["hive.metastore.uri"]),
        embedded_path=_text(properties["hive.metastore.embedded.path"]),
        connect_timeout=float(_text(properties[f"{_CLIENT}connect-timeout"])),
        read_timeout=float(_text(properties[f"{_CLIENT}read-timeout"])),
        max_retries=int(_text(properties[f"{_CLIENT}max-retries"])),
        username=_text(properties["hive.metastore.username"]),
        availability=availability_from(properties),
        security=security_settings(properties),
        canonical_keys=bool(properties[_CANONICAL_KEYS]),
        read_only=bool(properties[READ_ONLY]),
    )


def metastore_properties(config: MetastoreConfig) -> tuple[tuple[str, str], ...]:
    """The properties that reach the same metastore, as a catalog file has them; the reverse of ``metastore_config``."""
    texts = {
        "hive.metastore": config.kind,
        "hive.metastore.uri": config.uri,
        "hive.metastore.embedded.path": config.embedded_path,
        f"{_CLIENT}connect-timeout": f"{config.connect_timeout}s",
        f"{_CLIENT}read-timeout": f"{config.read_timeout}s",
        f"{_CLIENT}max-retries": str(config.max_retries),
        "hive.metastore.username": config.username,
        **availability_texts(config.availability),
        **dict(security_properties(config.security)),
        _CANONICAL_KEYS: "true" if config.canonical_keys else "",
        READ_ONLY: "true" if config.read_only else "",
    }
    return tuple((key, text) for key, text in texts.items() if text)


def _text(value: object) -> str:
    return "" if value is None else str(value)
