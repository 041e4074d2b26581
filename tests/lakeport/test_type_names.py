"""Names of Arrow's types in Spark's SQL, without Spark; PySpark judges them in the bridge's tests."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.schema import ColumnMetadata
from lakeport.type_names import type_name


def test_types_are_sparks() -> None:
    point = pa.struct([("x", pa.int32()), ("m", pa.map_(pa.string(), pa.decimal128(10, 2)))])
    assert type_name(ColumnMetadata("c", point)) == "struct<x:int,m:map<string,decimal(10,2)>>"
    assert type_name(ColumnMetadata("c", pa.timestamp("us", "UTC"))) == "timestamp"
    assert type_name(ColumnMetadata("c", pa.timestamp("us"))) == "timestamp_ntz"
    assert type_name(ColumnMetadata("c", pa.string(), declared_type="varchar(10)")) == "varchar(10)"
    assert type_name(ColumnMetadata("c", pa.timestamp("ns", "Europe/Paris"))) == "timestamp"
    assert type_name(ColumnMetadata("c", pa.dictionary(pa.int32(), pa.large_string()))) == "string"
    assert type_name(ColumnMetadata("c", pa.list_(pa.binary(16), 2))) == "array<binary>"
    assert type_name(ColumnMetadata("c", pa.uint8())) == "uint8"
