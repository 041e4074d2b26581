"""The properties of the memory connector."""

from __future__ import annotations

from connector_spi.properties import PropertyMetadata, data_size_property, integer_property

__all__ = ["CONFIG_PROPERTIES", "MAX_DATA_SIZE", "MAX_SPLIT_ROWS"]

MAX_DATA_SIZE = data_size_property("memory.max-data-size", "Most bytes that all tables may hold together.", 1 << 30)
MAX_SPLIT_ROWS = integer_property(
    "memory.max-split-rows", "Most rows of a split.", 100_000, minimum=1, session="max_split_rows"
)

CONFIG_PROPERTIES: tuple[PropertyMetadata[object], ...] = (MAX_DATA_SIZE, MAX_SPLIT_ROWS)
