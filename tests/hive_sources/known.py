"""Hive's q-tests with answers that are other than ours on purpose, and where the documentation says so."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["KNOWN"]

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "char_join1": "docs/hive-formats.md: char against string",
        "type_change_test_fraction": "docs/hive-formats.md: 0 and -0.0 of Parquet as float",
    }
)
"""By the name of the q-test."""
