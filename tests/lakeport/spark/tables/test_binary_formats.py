"""Avro, RCFile and SequenceFile tables of real Hive through SQL, against Hive's own answers; unions in all formats."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.unions.union_tables import UNION_KINDS, make_union_table
from tests.connectors.hive.reading import read_table
from tests.hive_corpus import canonical_rows, expected_answer, require_corpus
from tests.lakeport.spark.tables.warehouse import Warehouse

CASES = ("avro_alltypes_ny", "ext_avro_schema_evolved", "ext_rcfile_binary", "ext_rcfile_text", "ext_seq_lazybinary")


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    require_corpus()
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    warehouse.add_hive_corpus(cases=CASES)
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.parametrize("case", CASES)
def test_hive_table(warehouse: Warehouse, case: str) -> None:
    answer = expected_answer(case)
    frame = warehouse.spark.table(f"hive.corpus.{case}")
    assert frame.columns == [name for name, _ in answer.columns]
    assert canonical_rows(frame.toArrow()) == answer.rows
    assert warehouse.spark.table(f"hive.corpus.{case}").count() == sum(answer.rows.values())


def test_filter_and_aggregate(warehouse: Warehouse) -> None:
    found = warehouse.spark.sql(
        "SELECT count(*), max(s) FROM hive.corpus.ext_rcfile_binary WHERE id > 5 AND b"
    ).collect()
    rows = expected_answer("ext_rcfile_binary").rows
    kept = [row for row in rows if row[0] is not None and int(str(row[0])) > 5 and row[6] is True]
    assert [tuple(row) for row in found] == [(len(kept), max(str(row[1]) for row in kept if row[1] is not None))]


@pytest.mark.parametrize("kind", UNION_KINDS)
def test_unions(warehouse: Warehouse, kind: str) -> None:
    hive = warehouse.registry.get("hive")
    assert isinstance(hive, HiveConnector)
    make_union_table(hive, warehouse.folder / "unions", kind)
    found = warehouse.spark.table(f"hive.s.{kind}").toArrow()
    alone = read_table(hive, "s", kind)
    assert found.num_rows == alone.num_rows > 0
    assert found.to_pylist() == alone.to_pylist()
    union = alone.column_names[0]
    chosen = [row["tag"] for row in alone.column(union).to_pylist() if row and row["field1"] is not None]
    asked = f"SELECT {union}.tag FROM hive.s.{kind} WHERE {union}.field1 IS NOT NULL"
    assert chosen
    assert [tag for (tag,) in warehouse.rows(asked)] == chosen
