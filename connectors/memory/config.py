"""Settings of the memory connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from connector_spi.properties import PropertyMetadata, data_size_property, integer_property

__all__ = ["CONFIG_PROPERTIES", "MAX_SPLIT_ROWS", "MemoryConfig", "session_properties"]

MAX_SPLIT_ROWS = "max_split_rows"
"""Session property: most rows of a split."""

CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    data_size_property("memory.max-data-size", "Most bytes that all tables may hold together.", 1 << 30),
    integer_property("memory.max-split-rows", "Most rows of a split.", 100_000, minimum=1),
)


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Typed properties of a catalog.

    Attributes:
        max_data_bytes: Most bytes that all tables may hold together.
        max_split_rows: Default of the session property.
    """

    max_data_bytes: int
    max_split_rows: int

    @classmethod
    def from_properties(cls, properties: Mapping[str, object]) -> MemoryConfig:
        """Takes the values of ``CONFIG_PROPERTIES``."""
        return cls(cast(int, properties["memory.max-data-size"]), cast(int, properties["memory.max-split-rows"]))


def session_properties(config: MemoryConfig) -> tuple[PropertyMetadata[object], ...]:
    """What a session may set."""
    return (integer_property(MAX_SPLIT_ROWS, "Most rows of a split.", config.max_split_rows, minimum=1),)
