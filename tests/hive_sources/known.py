"""Hive's q-tests with answers that are other than ours on purpose, and where the documentation says so."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["KNOWN"]

_NESTED_CHAR = "docs/known-gaps.md: CREATE TABLE declares a char inside of a nested type as string"

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "char_join1": "docs/hive-formats.md: blanks of a char count against a string",
        "parquet_types": _NESTED_CHAR,
        "parquet_types_non_dictionary_encoding_vectorization": _NESTED_CHAR,
        "parquet_types_vectorization": _NESTED_CHAR,
        "timestamp_formats": "Hive before 3.1 took no T between date and time",
    }
)
"""By the name of the q-test."""
