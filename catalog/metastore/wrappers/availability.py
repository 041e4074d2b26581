"""How calls of a Thrift metastore are made: waits, repetitions, connections, addresses, the catalog behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    data_size_property,
    duration_property,
    enum_property,
    integer_property,
    string_property,
)

__all__ = ["AVAILABILITY_PROPERTIES", "Availability", "availability_of"]


@dataclass(frozen=True, slots=True)
class Availability:
    """How calls are made; each field is a property of the catalog.

    Attributes:
        max_wait: Seconds that one call may take in all, with its repetitions and at all addresses.
        min_backoff: Seconds before the first repetition, at most; each later wait may be twice as long.
        max_backoff: Seconds of the longest wait between two tries.
        max_connections: Most connections at once; further threads wait for a free one.
        max_message_size: Most bytes of one answer.
        selection: Whether the first address is tried first, or addresses are tried in a random order.
        catalog: The metastore's catalog (Hive 3 and later); empty for the default one.
    """

    max_wait: float = 300.0
    min_backoff: float = 0.2
    max_backoff: float = 5.0
    max_connections: int = 32
    max_message_size: int = 256 << 20
    selection: Literal["sequential", "random"] = "sequential"
    catalog: str = ""


_DEFAULTS = Availability()
_CLIENT = "hive.metastore.thrift.client."
_MAX_WAIT = duration_property(
    f"{_CLIENT}max-wait", "Longest time of one call in all, repetitions included.", _DEFAULTS.max_wait, minimum=0.001
)
_MIN_BACKOFF = duration_property(
    f"{_CLIENT}min-backoff-delay",
    "Longest wait before the first repetition; it doubles.",
    _DEFAULTS.min_backoff,
    minimum=0.0,
)
_MAX_BACKOFF = duration_property(
    f"{_CLIENT}max-backoff-delay", "Longest wait between two repetitions.", _DEFAULTS.max_backoff, minimum=0.0
)
_MAX_CONNECTIONS = integer_property(
    f"{_CLIENT}max-connections",
    "Most connections at once; further threads wait.",
    _DEFAULTS.max_connections,
    minimum=1,
)
_MAX_MESSAGE_SIZE = data_size_property(
    f"{_CLIENT}max-message-size",
    "Most bytes of one answer of the metastore.",
    _DEFAULTS.max_message_size,
    minimum=1 << 16,
)
_SELECTION = enum_property(
    "hive.metastore.uri.selection",
    "Order in which several addresses are tried.",
    ("sequential", "random"),
    _DEFAULTS.selection,
)
_CATALOG = string_property(
    "hive.metastore.catalog.name",
    "The metastore's own catalog, as Hive 3 and later have; the default one if not set.",
)

AVAILABILITY_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    _MAX_WAIT,
    _MIN_BACKOFF,
    _MAX_BACKOFF,
    _MAX_CONNECTIONS,
    _MAX_MESSAGE_SIZE,
    _SELECTION,
    _CATALOG,
)
"""Descriptors of the fields of ``Availability``, part of the thrift metastore's."""


def availability_of(config: PropertyValues) -> Availability:
    """Takes the values of ``AVAILABILITY_PROPERTIES`` out of a catalog's properties."""
    return Availability(
        max_wait=config.get(_MAX_WAIT),
        min_backoff=config.get(_MIN_BACKOFF),
        max_backoff=config.get(_MAX_BACKOFF),
        max_connections=config.get(_MAX_CONNECTIONS),
        max_message_size=config.get(_MAX_MESSAGE_SIZE),
        selection="random" if config.get(_SELECTION) == "random" else "sequential",
        catalog=(config.get(_CATALOG) or "").lower(),
    )
