"""Properties of CREATE TABLE by Trino's names, as the metastore has them afterwards."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, SortColumn, Table
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import ColumnMetadata, TableBuckets
from connector_spi.testing.reading import ReferenceQuery
from connectors.hive.connector import HiveConnector
from connectors.hive.definitions.storage_classes import declared_storage
from connectors.hive.metadata import HiveMetadata
from tests.connectors.hive.reading import make_session

NAME = SchemaTableName("s", "t")
_COLUMNS = (
    ColumnMetadata("ds", pa.string()),
    ColumnMetadata("id", pa.int64()),
    ColumnMetadata("v", pa.string()),
)


def created(
    hive: HiveConnector,
    folder: object,
    provider: str | None = None,
    buckets: TableBuckets | None = None,
    **properties: str,
) -> Table:
    if hive.metastore.reads.get_database("s") is None:
        hive.metastore.writes.create_database(Database("s", location=f"file://{folder}/s"))
    given = tuple(properties.items())
    definition = TableDefinition(NAME, _COLUMNS, provider=provider, properties=given, buckets=buckets)
    with ReferenceQuery(hive) as query:
        assert isinstance(query.metadata, HiveMetadata)
        query.metadata.create_table(make_session(hive), definition)
    found = hive.metastore.reads.get_table("s", "t")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("trino", "stored_as", "serde"),
    [
        ("ORC", "orc", "org.apache.hadoop.hive.ql.io.orc.OrcSerde"),
        ("parquet", "parquet", "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"),
        ("AVRO", "avro", "org.apache.hadoop.hive.serde2.avro.AvroSerDe"),
        ("RCBINARY", "rcfile", "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe"),
        ("RCTEXT", "rcfile", "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"),
        ("SEQUENCEFILE", "sequencefile", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
        ("JSON", "textfile", "org.apache.hive.hcatalog.data.JsonSerDe"),
        ("CSV", "textfile", "org.apache.hadoop.hive.serde2.OpenCSVSerde"),
    ],
)
def test_formats(hive: HiveConnector, tmp_path: object, trino: str, stored_as: str, serde: str) -> None:
    table = created(hive, tmp_path, format=trino, partitioned_by="ds")
    expected = declared_storage(stored_as, {}, (), "")
    assert (table.storage.input_format, table.storage.output_format) == (expected.input_format, expected.output_format)
    assert table.storage.serde.serialization_lib == serde
    assert [key.name for key in table.partition_keys] == ["ds"]
    assert "format" not in table.parameters
    assert "partitioned_by" not in table.parameters


def test_properties_of_formats_have_hives_names(hive: HiveConnector, tmp_path: object) -> None:
    table = created(
        hive, tmp_path, format="TEXTFILE", textfile_field_separator=";", null_format="-", skip_header_line_count="1"
    )
    assert table.parameters["field.delim"] == ";"
    assert table.parameters["serialization.null.format"] == "-"
    assert table.parameters["skip.header.line.count"] == "1"


def test_buckets_and_their_order(hive: HiveConnector, tmp_path: object) -> None:
    table = created(hive, tmp_path, bucketed_by="id", bucket_count="4", sorted_by="v, id DESC")
    assert (table.storage.bucket_columns, table.storage.bucket_count) == (("id",), 4)
    assert table.storage.sort_columns == (SortColumn("v"), SortColumn("id", ascending=False))


def test_buckets_of_a_clause(hive: HiveConnector, tmp_path: object) -> None:
    buckets = TableBuckets(("ID",), 4, ("v", "ds"))
    table = created(hive, tmp_path, buckets=buckets)
    assert (table.storage.bucket_columns, table.storage.bucket_count) == (("id",), 4)
    assert table.storage.sort_columns == (SortColumn("v"), SortColumn("ds"))
    with ReferenceQuery(hive) as query:
        shown = query.metadata.get_table_metadata(query.session, query.table(NAME).table)
    assert shown.buckets == TableBuckets(("id",), 4, ("v", "ds"))
    assert not {"bucketed_by", "bucket_count", "sorted_by"} & set(dict(shown.properties))


def test_buckets_that_descend_are_shown_as_properties(hive: HiveConnector, tmp_path: object) -> None:
    created(hive, tmp_path, bucketed_by="id", bucket_count="4", sorted_by="v DESC,id")
    with ReferenceQuery(hive) as query:
        shown = query.metadata.get_table_metadata(query.session, query.table(NAME).table)
    expected = {"bucketed_by": "id", "bucket_count": "4", "sorted_by": "v DESC,id"}
    assert (shown.buckets, expected.items() <= dict(shown.properties).items()) == (None, True)


@pytest.mark.parametrize(
    ("buckets", "properties", "message"),
    [
        (TableBuckets(("nope",), 4), {}, "expected columns of the table"),
        (TableBuckets(("id",), 4, ("nope",)), {}, "'nope' in 'sorted_by'"),
        (TableBuckets(("id",), 4), {"bucket_count": "4"}, "say one of them"),
        (TableBuckets(("id",), 4), {"partitioned_by": "id"}, "expected columns of the table"),
        (TableBuckets(("id",), 4, ("v",)), {"transactional": "true"}, "leave SORTED BY out"),
    ],
)
def test_buckets_that_cannot_be_are_refused(
    hive: HiveConnector, tmp_path: object, buckets: TableBuckets, properties: dict[str, str], message: str
) -> None:
    with pytest.raises((InvalidArgumentError, NotSupportedError), match=message):
        created(hive, tmp_path, buckets=buckets, **properties)


@pytest.mark.parametrize(
    ("provider", "properties", "message"),
    [
        (None, {"format": "CARBON"}, "expected one of ORC"),
        ("parquet", {"format": "ORC"}, "say one of them"),
        (None, {"format": "ORC", "csv_separator": ";"}, "expected it with 'format' one of CSV, not ORC"),
        (None, {"format": "CSV", "csv_separator": ";;"}, "expected one character"),
        (None, {"partitioned_by": "nope"}, "partitioned by 'nope'"),
        (None, {"bucketed_by": "id", "bucket_count": "2", "sorted_by": "nope"}, "'nope' in 'sorted_by'"),
        (None, {"sorted_by": "id"}, "'bucket_count'=''"),
    ],
)
def test_what_does_not_fit_is_refused(
    hive: HiveConnector, tmp_path: object, provider: str | None, properties: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        created(hive, tmp_path, provider, None, **properties)
