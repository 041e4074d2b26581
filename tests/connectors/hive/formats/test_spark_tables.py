"""Tables that PySpark wrote with Hive's classes, against what PySpark reads from them itself."""

from __future__ import annotations

import bz2
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.types import hive_type_text
from connectors.hive.connector import HiveConnector
from connectors.toolkit.codecs.bzip2_blocks import read_blocks
from tests.connectors.hive.formats.spark_writer import TABLES
from tests.connectors.hive.reading import make_connector, make_session, scan_table
from tests.hive_corpus import canonical_rows

pytestmark = [pytest.mark.slow, pytest.mark.spark]
ROOT = Path(__file__).parents[4]
INPUT_FORMATS = {
    "seq": "org.apache.hadoop.mapred.SequenceFileInputFormat",
    "rc": "org.apache.hadoop.hive.ql.io.RCFileInputFormat",
    "text": "org.apache.hadoop.mapred.TextInputFormat",
    "avro": "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
}
SERDES = {
    "seq": "lazy.LazySimpleSerDe",
    "text": "lazy.LazySimpleSerDe",
    "rc": "columnar.LazyBinaryColumnarSerDe",
    "avro": "avro.AvroSerDe",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    program = ["-m", "tests.connectors.hive.formats.spark_writer", str(folder)]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, *program], check=True, cwd=folder, env=environment, timeout=600)
    return folder


@pytest.fixture(scope="module")
def connector(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    writer = connector.metastore.writes
    writer.create_database(Database("s"))
    for name, (stored, _, _) in TABLES.items():
        kind = name.partition("_")[0]
        serde = stored.split("'")[1] if "'" in stored else f"org.apache.hadoop.hive.serde2.{SERDES[kind]}"
        columns = tuple(FieldSchema(field.name, hive_type_text(field.type)) for field in expected(written, name).schema)
        storage = StorageDescriptor(
            columns,
            f"file://{written}/tables/{name}",
            INPUT_FORMATS[kind],
            serde=SerDeInfo(serde, Parameters.of({"serialization.format": "1"})),
        )
        writer.create_table(Table("s", name, storage, (), Parameters(), "EXTERNAL_TABLE"))
    yield connector
    connector.shutdown()


def expected(folder: Path, name: str) -> pa.Table:
    """What PySpark read, in the types that Hive's tables have here."""
    (file,) = (folder / "expected" / name).glob("*.parquet")
    table = pq.read_table(file)
    columns = [
        column.cast(pa.timestamp("us")) if pa.types.is_timestamp(column.type) else column for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_those_that_pyspark_reads(connector: HiveConnector, written: Path, name: str) -> None:
    answer = expected(written, name)
    rows = canonical_rows(answer)
    for size in (64 << 20, 5000):
        scan = scan_table(connector, "s", name, session=make_session(connector, max_split_size=size))
        assert scan.rows.num_rows == answer.num_rows
        assert canonical_rows(scan.rows) == rows


def test_blocks_of_hadoops_bzip2_are_the_file(written: Path) -> None:
    (file,) = (written / "tables" / "text_bzip2").glob("*.bz2")
    with pafs.LocalFileSystem().open_input_file(str(file)) as data:
        blocks = list(read_blocks(data, "f", 0, data.size()))
    assert b"".join(block.data for block in blocks) == bz2.decompress(file.read_bytes())
    assert len(blocks) > 2
