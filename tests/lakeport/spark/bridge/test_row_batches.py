"""Many rows that cross together, against the same rows one by one."""

from __future__ import annotations

from datetime import date

import pyarrow as pa

from connector_spi.schema import ColumnMetadata
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.row_batches import are_plain, many_internal_rows
from lakeport.spark.bridge.rows import internal_row
from lakeport.spark.bridge.types import spark_schema_json
from tests.lakeport.spark.conftest import Lake


def test_rows_are_those_made_one_by_one(lake: Lake) -> None:
    schema = pa.schema(
        [("s", pa.string()), ("n", pa.int32()), ("d", pa.date32()), ("b", pa.bool_()), ("l", pa.int64())]
    )
    odd = ["a/b", "", None, "日本", "100%", "it's"]
    rows = [
        (odd[n % 6], None if n % 5 == 4 else n - 7, date(1900 + n, 1, 1) if n % 3 else None, n % 2 == 0, n * -(2**40))
        for n in range(40)
    ]
    jvm = Jvm(lake.spark)
    text = spark_schema_json([ColumnMetadata(field.name, field.type) for field in schema])
    together = many_internal_rows(text, schema, rows)
    struct, types = jvm.data_type(text), list(schema.types)
    assert are_plain(types)
    assert len(together) == len(rows)
    for made, values in zip(together, rows, strict=True):
        one = internal_row(jvm, struct, types, values)
        assert made.toSeq(struct).toString() == one.toSeq(struct).toString()


def test_other_types_cross_one_by_one() -> None:
    assert not are_plain([pa.string(), pa.decimal128(5, 2)])
    assert not are_plain([pa.timestamp("us")])
