"""Text tables through SQL: of real Hive against Hive's answers, and of PySpark against what PySpark reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connectors.hive.connector import HiveConnector
from tests.hive_corpus import canonical_rows, expected_answer, require_corpus
from tests.lakeport.spark.tables.warehouse import Warehouse

CASES = ("ext_csv_custom", "ext_json_hcat", "ext_regex", "ext_text_custom", "mm_text", "text_alltypes")
_ROWS = """
    SELECT CAST(id AS int) id, IF(id % 7 = 0, NULL, id * 12345678901) bi, id / 3.0D d,
      CAST(id * 1.37 - 100 AS decimal(12, 3)) de, IF(id % 5 = 0, NULL, concat('é ', id)) s, id % 3 = 0 b,
      date_add(DATE '1970-01-01', CAST(id * 101 - 20000 AS int)) dt
    FROM range(0, 3000, 1, 2)
"""
_NESTED = ", array(id, NULL, -id) ar, named_struct('x', id, 'y', concat('y', id)) st, map(concat('k', id), id) m"


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.parametrize("case", CASES)
def test_hive_table(warehouse: Warehouse, case: str) -> None:
    require_corpus()
    warehouse.add_hive_corpus(f"corpus_{case}", [case])
    answer = expected_answer(case)
    frame = warehouse.spark.table(f"hive.corpus_{case}.{case}")
    assert frame.columns == [name for name, _ in answer.columns]
    assert canonical_rows(frame.toArrow()) == answer.rows
    assert frame.count() == sum(answer.rows.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text", "json", "nested json"])
def test_tables_that_pyspark_wrote(warehouse: Warehouse, kind: str) -> None:
    folder = warehouse.folder / kind.replace(" ", "_")
    rows = _ROWS.replace(" dt\n", f" dt{_NESTED}\n") if kind == "nested json" else _ROWS
    frame = warehouse.spark.sql(rows)
    if kind == "text":
        frame.write.csv(str(folder), sep="|", nullValue="\\N", escapeQuotes=False, quote="\0", encoding="UTF-8")
        _register(warehouse, frame, folder, "lazy.LazySimpleSerDe", {"field.delim": "|"})
        read = warehouse.spark.read.csv(str(folder), frame.schema, sep="|", nullValue="\\N", quote="\0")
    else:
        frame.write.json(str(folder), ignoreNullFields=False)
        _register(warehouse, frame, folder, "JsonSerDe", {})
        read = warehouse.spark.read.json(str(folder), frame.schema)
    name = f"hive.written.{folder.name}"
    assert canonical_rows(warehouse.spark.table(name).toArrow()) == canonical_rows(read.toArrow())
    found = warehouse.rows(f"SELECT count(*), sum(de), max(s) FROM {name} WHERE b AND id >= 100")
    read.createOrReplaceTempView("read_by_spark")
    assert found == warehouse.rows("SELECT count(*), sum(de), max(s) FROM read_by_spark WHERE b AND id >= 100")


def _register(warehouse: Warehouse, frame: DataFrame, folder: Path, serde: str, properties: Mapping[str, str]) -> None:
    hive = warehouse.registry.get("hive")
    assert isinstance(hive, HiveConnector)
    if hive.metastore.reads.get_database("written") is None:
        hive.metastore.writes.create_database(Database("written"))
    columns = tuple(FieldSchema(field.name, field.dataType.simpleString()) for field in frame.schema)
    storage = StorageDescriptor(
        columns,
        f"file://{folder}",
        "org.apache.hadoop.mapred.TextInputFormat",
        serde=SerDeInfo(f"org.apache.hadoop.hive.serde2.{serde}", Parameters.of(properties)),
    )
    hive.metastore.writes.create_table(Table("written", folder.name, storage, (), Parameters(), "EXTERNAL_TABLE"))
