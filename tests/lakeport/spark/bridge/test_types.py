"""Arrow types to Spark's and back; PySpark's own conversion is the judge."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type
from pyspark.sql.types import StructType

from connector_spi.errors import NotSupportedError
from connector_spi.schema import ColumnMetadata
from lakeport.spark.bridge.types import arrow_schema, arrow_type, spark_schema_json, spark_type_json, task_schema
from lakeport.type_names import type_name

SIMPLE = [
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("us", "UTC"),
    pa.duration("us"),
    pa.time64("us"),
    pa.decimal128(10, 0),
    pa.decimal128(38, 18),
]


def types() -> st.SearchStrategy[pa.DataType]:
    return st.recursive(
        st.sampled_from(SIMPLE),
        lambda inner: st.one_of(
            inner.map(lambda t: pa.list_(pa.field("element", t))),
            st.builds(pa.map_, st.sampled_from([pa.string(), pa.int32()]), inner),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda ts: pa.struct([pa.field(f"f{n}", t) for n, t in enumerate(ts)])
            ),
        ),
        max_leaves=5,
    )


@given(st.lists(types(), min_size=1, max_size=4))
def test_schema_is_that_of_pyspark(columns: list[pa.DataType]) -> None:
    schema = pa.schema([(f"c{n}", data_type) for n, data_type in enumerate(columns)])
    ours = spark_schema_json(ColumnMetadata(field.name, field.type) for field in schema)
    theirs = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    assert StructType.fromJson(json.loads(ours)) == theirs
    assert arrow_schema(ours).equals(schema)


@given(types())
def test_a_type_comes_back(data_type: pa.DataType) -> None:
    spark = json.loads(spark_type_json(data_type, "c"))
    assert arrow_type(spark) == data_type
    [field] = StructType.fromJson({"type": "struct", "fields": [_field(spark)]}).fields
    assert task_schema(pa.schema([("c", data_type)])).field(0).type == to_arrow_type(field.dataType, timezone="UTC")


@given(types())
def test_a_name_in_sql_is_that_of_pyspark(data_type: pa.DataType) -> None:
    [field] = from_arrow_schema(pa.schema([("c", data_type)]), prefer_timestamp_ntz=True).fields
    assert type_name(ColumnMetadata("c", data_type)) == field.dataType.simpleString()


@pytest.mark.parametrize(
    ("wide", "plain"),
    [
        (pa.large_string(), pa.string()),
        (pa.large_binary(), pa.binary()),
        (pa.binary(16), pa.binary()),
        (pa.dictionary(pa.int32(), pa.string()), pa.string()),
        (pa.large_list(pa.int32()), pa.list_(pa.field("element", pa.int32()))),
        (pa.timestamp("ns"), pa.timestamp("us")),
        (pa.time32("s"), pa.time64("ns")),
        (pa.timestamp("ms", "Europe/Berlin"), pa.timestamp("us", "UTC")),
    ],
)
def test_tasks_send_the_one_form_that_spark_takes(wide: pa.DataType, plain: pa.DataType) -> None:
    assert task_schema(pa.schema([("c", wide)])) == pa.schema([("c", plain)])


@pytest.mark.parametrize(
    "unknown",
    [pa.uint8(), pa.uint64(), pa.time64("ns"), pa.decimal256(50, 2), pa.month_day_nano_interval(), pa.date64()],
)
def test_what_spark_cannot_hold_is_refused_by_column(unknown: pa.DataType) -> None:
    nested = pa.struct([("deep", pa.list_(unknown))])
    for data_type, name in ((unknown, "'odd'"), (nested, "'odd.deep'")):
        with pytest.raises(NotSupportedError, match=name) as caught:
            spark_schema_json([ColumnMetadata("fine", pa.int32()), ColumnMetadata("odd", data_type)])
        assert str(unknown) in str(caught.value)


@pytest.mark.parametrize("text", ["char(3)", "varchar(10)", "string collate UNICODE"])
def test_declared_texts_are_strings(text: str) -> None:
    assert arrow_type(text) == pa.string()


def _field(spark: object) -> dict[str, object]:
    return {"name": "c", "type": spark, "nullable": True, "metadata": {}}
