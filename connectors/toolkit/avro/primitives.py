"""Arrow's types for Avro's primitive types, and for its logical types of instants (Avro specification)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

__all__ = ["PRIMITIVES", "TIMESTAMPS"]

PRIMITIVES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "null": pa.null(),
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "bytes": pa.binary(),
        "string": pa.string(),
    }
)

TIMESTAMPS: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "timestamp-millis": pa.timestamp("ms", "UTC"),
        "timestamp-micros": pa.timestamp("us", "UTC"),
        "local-timestamp-millis": pa.timestamp("ms"),
        "local-timestamp-micros": pa.timestamp("us"),
    }
)
"""By the name of the logical type; all of them are of ``long``."""
