"""Transactional tables of real Hive through SQL, against Hive's own answers; by both readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.hive_corpus import (
    FULL_ACID_CASES,
    INSERT_ONLY_CASES,
    canonical_rows,
    expected_answer,
    expected_row_ids,
    require_corpus,
    with_null_keys,
)
from tests.lakeport.spark.tables.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    require_corpus()
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    warehouse.add_hive_corpus("acid", (*FULL_ACID_CASES, *INSERT_ONLY_CASES))
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
@pytest.mark.parametrize("case", [*FULL_ACID_CASES, *INSERT_ONLY_CASES])
def test_rows(warehouse: Warehouse, case: str, native: bool) -> None:
    warehouse.native_reader("hive", native)
    answer = expected_answer(case)
    frame = warehouse.spark.table(f"hive.acid.{case}")
    assert frame.columns == [name for name, _ in answer.columns]
    assert canonical_rows(frame.toArrow()) == with_null_keys(answer.rows)
    assert frame.count() == sum(answer.rows.values())


@pytest.mark.parametrize("case", ["acid_flat", "acid_part_merge", "converted_union_subdirs", "load_data_acid"])
def test_row_ids(warehouse: Warehouse, case: str) -> None:
    query = f"SELECT `$row_id`.writeid, `$row_id`.bucketid, `$row_id`.rowid, `$path` FROM hive.acid.{case}"
    folder = f"file://{require_corpus()}/{case}/table"
    expected = Counter((*row[:3], folder + row[3]) for row in expected_row_ids(case).elements())
    assert Counter(warehouse.rows(query)) == expected


def test_a_row_id_is_a_filter(warehouse: Warehouse) -> None:
    query = "SELECT id FROM hive.acid.acid_flat WHERE `$row_id`.writeid = 3 AND `$bucket` = 0"
    assert warehouse.rows(query) == [(11,)]


def test_files_without_deletes_are_read_natively(warehouse: Warehouse) -> None:
    warehouse.native_reader("hive", True)
    assert "reader: native" in warehouse.plan("SELECT id FROM hive.acid.mm_parquet")
    assert "reader: native" in warehouse.plan("SELECT id FROM hive.acid.converted_unbucketed_fresh")
    assert "reader: Python" in warehouse.plan("SELECT id, `$row_id` FROM hive.acid.converted_unbucketed_fresh")
    assert "reader: Python" in warehouse.plan("SELECT id FROM hive.acid.converted_unbucketed")


def test_the_snapshot_is_explained(warehouse: Warehouse) -> None:
    plan = warehouse.plan("SELECT id FROM hive.acid.acid_aborted")
    assert "snapshot: write id 5 without 3 aborted" in plan
    assert "snapshot: version 2" in warehouse.plan("SELECT id FROM hive.acid.acid_flat VERSION AS OF 2")


def test_versions(warehouse: Warehouse) -> None:
    """acid_flat: 1 and 2 insert 10 and 2 rows, 3 updates two of them, 4 deletes two, 5 updates one."""
    counts = [
        warehouse.rows(f"SELECT count(*) FROM hive.acid.acid_flat VERSION AS OF {version}")[0][0]
        for version in range(6)
    ]
    assert counts == [0, 10, 12, 12, 10, 10]
    with pytest.raises(Exception, match="version 6 is not a write id"):
        warehouse.rows("SELECT * FROM hive.acid.acid_flat VERSION AS OF 6")
    with pytest.raises(Exception, match=r"as of a time.*VERSION AS OF"):
        warehouse.rows("SELECT * FROM hive.acid.acid_flat TIMESTAMP AS OF '2024-01-01'")
    with pytest.raises(Exception, match="can no longer be read"):
        warehouse.rows("SELECT * FROM hive.acid.acid_major_clean VERSION AS OF 2")


def test_folders_and_why_they_are_not_read(warehouse: Warehouse) -> None:
    rows = warehouse.rows(
        "SELECT path, kind, first_write_id, in_snapshot, reason FROM hive.acid.`acid_aborted_compacted$acid` "
        "ORDER BY path"
    )
    assert [(row[0], row[1], row[2], row[3]) for row in rows] == [
        ("base_0000003_v0000324", "base", 3, True),
        ("base_0000005", "base", 5, False),
        ("delete_delta_0000003_0000003_0000", "delete_delta", 3, False),
        ("delta_0000001_0000001_0000", "delta", 1, False),
        ("delta_0000002_0000002_0000", "delta", 2, False),
        ("delta_0000004_0000004_0000", "delta", 4, False),
        ("delta_0000006_0000006_0000", "delta", 6, True),
    ]
    reasons = {str(row[0]): str(row[4]) for row in rows}
    assert "aborted" in reasons["base_0000005"]
    assert "base_0000003_v0000324" in reasons["delta_0000001_0000001_0000"]
