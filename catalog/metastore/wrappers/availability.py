"""How calls of a Thrift metastore are made: waits, repetitions, connections, addresses, the catalog behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from connector_spi.properties import (
    PropertyMetadata,
    data_size_property,
    duration_property,
    enum_property,
    integer_property,
    string_property,
)

__all__ = ["AVAILABILITY_PROPERTIES", "Availability", "availability_from", "availability_texts"]

_CLIENT = "hive.metastore.thrift.client."
_MAX_WAIT = f"{_CLIENT}max-wait"
_MIN_BACKOFF = f"{_CLIENT}min-backoff-delay"
_MAX_BACKOFF = f"{_CLIENT}max-backoff-delay"
_MAX_CONNECTIONS = f"{_CLIENT}max-connections"
_MAX_MESSAGE_SIZE = f"{_CLIENT}max-message-size"
_SELECTION = "hive.metastore.uri.selection"
_CATALOG = "hive.metastore.catalog.name"


@dataclass(frozen=True, slots=True)
class Availability:
    """How calls are made; each field is a property of the catalog.

    Attributes:
        max_wait: Seconds that one call may take in all, with its repetitions and at all addresses.
        min_backoff: Seconds before the first repetition, at most; each later wait may be twice as long.
        max_backoff: Seconds of the longest wait between two tries.
        max_connections: Most connections at once; further threads wait for a free one.
        max_message_size: Most bytes of one answer.
        selection: Whether the first address is tried first, or addresses are tried in an order of chance.
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

AVAILABILITY_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    duration_property(
        _MAX_WAIT, "Longest time of one call in all, repetitions included.", _DEFAULTS.max_wait, minimum=0.001
    ),
    duration_property(
        _MIN_BACKOFF, "Longest wait before the first repetition; it doubles.", _DEFAULTS.min_backoff, minimum=0.0
    ),
    duration_property(_MAX_BACKOFF, "Longest wait between two repetitions.", _DEFAULTS.max_backoff, minimum=0.0),
    integer_property(
        _MAX_CONNECTIONS, "Most connections at once; further threads wait.", _DEFAULTS.max_connections, minimum=1
    ),
    data_size_property(
        _MAX_MESSAGE_SIZE, "Most bytes of one answer of the metastore.", _DEFAULTS.max_message_size, minimum=1 << 16
    ),
    enum_property(
        _SELECTION, "Order in which several addresses are tried.", ("sequential", "random"), _DEFAULTS.selection
    ),
    string_property(_CATALOG, "The metastore's own catalog, as Hive 3 and later have; the default one if not set."),
)
"""Descriptors, part of ``METASTORE_PROPERTIES``."""


def availability_from(properties: Mapping[str, object]) -> Availability:
    """Takes the values of ``AVAILABILITY_PROPERTIES`` out of a catalog's typed properties."""
    return Availability(
        max_wait=_number(properties[_MAX_WAIT]),
        min_backoff=_number(properties[_MIN_BACKOFF]),
        max_backoff=_number(properties[_MAX_BACKOFF]),
        max_connections=int(_number(properties[_MAX_CONNECTIONS])),
        max_message_size=int(_number(properties[_MAX_MESSAGE_SIZE])),
        selection="random" if properties[_SELECTION] == "random" else "sequential",
        catalog=str(properties[_CATALOG] or "").lower(),
    )


def availability_texts(availability: Availability) -> dict[str, str]:
    """The same as a catalog file has it."""
    return {
        _MAX_WAIT: f"{availability.max_wait}s",
        _MIN_BACKOFF: f"{availability.min_backoff}s",
        _MAX_BACKOFF: f"{availability.max_backoff}s",
        _MAX_CONNECTIONS: str(availability.max_connections),
        _MAX_MESSAGE_SIZE: f"{availability.max_message_size}B",
        _SELECTION: availability.selection,
        _CATALOG: availability.catalog,
    }


def _number(value: object) -> float:
    return float(str(value))
