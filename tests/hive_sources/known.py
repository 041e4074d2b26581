"""Hive's q-tests with answers that are other than ours on purpose, and where the documentation says so."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["KNOWN"]

_NESTED_CHAR = "docs/known-gaps.md: CREATE TABLE declares a char inside of a nested type as string"
_NUMBERS = "docs/hive-formats.md: numbers out of range, nanoseconds, years after 9999"
_OLD_TIMES = "Hive before 4.0.1 read old instants with the zone's history; the q-test's answer of today is ours"
_BLANKS = "docs/hive-formats.md: blanks of a char count in length() and casts; casts to char and varchar cut nothing"
_ARITHMETIC = "docs/hive-formats.md: Queries of Hive in Spark"
_EVOLVED = (
    ("text", "part", _NUMBERS),
    ("text", "table", _NUMBERS),
    ("orc", "part", _NUMBERS),
    ("orc", "table", _NUMBERS),
    ("text", "part_all_complex", f"{_NUMBERS}; {_NESTED_CHAR}"),
    ("orc", "part_all_complex", f"{_NUMBERS}; {_NESTED_CHAR}; bytes of ORC as text"),
    ("text", "part_all_primitive", _NUMBERS),
    ("orc", "part_all_primitive", f"{_NUMBERS}; ORC before 1.6 took integers for milliseconds"),
)
_VECTORIZED = ("0", "14", "4", "div0", "limit", "not", "part_project")
_WAYS = ("nonvec", "nonvec_mapwork", "vec", "vec_mapwork", "vecrow", "vecrow_mapwork")

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "alter_char2": _BLANKS,
        "avro_legacy_mixed_timestamp": _OLD_TIMES,
        "char_1": _BLANKS,
        "char_nested_types": _NESTED_CHAR,
        "char_join1": "docs/hive-formats.md: blanks of a char count against a string",
        "parquet_int_decimal": "docs/hive-formats.md: 0 of a Parquet double as float",
        "parquet_legacy_mixed_timestamp": _OLD_TIMES,
        "parquet_mixed_partition_formats": _NESTED_CHAR,
        "parquet_ppd_date": _ARITHMETIC,
        "parquet_ppd_decimal": _ARITHMETIC,
        "parquet_timestamp": "a setting that one distribution sets in a comment only, with the answers of the setting",
        "parquet_types": _NESTED_CHAR,
        "parquet_types_non_dictionary_encoding_vectorization": _NESTED_CHAR,
        "parquet_types_vectorization": _NESTED_CHAR,
        **{f"schema_evol_{kind}_{way}_{what}": why for kind, what, why in _EVOLVED for way in _WAYS},
        **{f"parquet_vectorization_{what}": _ARITHMETIC for what in _VECTORIZED},
        "read_uint_parquet": "docs/hive-formats.md: unsigned integers of Parquet above the signed range of their size",
        "type_change_test_fraction": "docs/hive-formats.md: floating-point numbers as text, and as decimals through it",
        "type_change_test_int": "docs/hive-formats.md: 32-bit integers of Parquet as double, without vectorization",
        "varchar_1": _BLANKS,
        "timestamp_formats": "Hive before 3.1 took no T between date and time",
    }
)
"""By the name of the q-test."""
