"""``CHANGES`` of transactional tables that real Hive wrote, through SQL and with no Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeport.session import Session
from tests.hive_corpus import canonical_rows, expected_answer, require_corpus, with_null_keys
from tests.lakeport.spark.tables.warehouse import Warehouse

CASES = [
    "acid_aborted",
    "acid_flat",
    "acid_minor_clean",
    "acid_multistmt",
    "acid_overwrite",
    "acid_part_merge",
    "acid_streaming_closed",
    "converted_unbucketed",
    "mm_orc",
    "mm_minor",
]


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    require_corpus()
    if tuple(int(part) for part in spark.version.split(".")[:2]) < (4, 2):
        pytest.skip(f"Spark {spark.version} has no CHANGES clause")
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("warehouse"))
    warehouse.add_hive_corpus("acid", [*CASES, "acid_major_clean"])
    yield warehouse
    warehouse.registry.shutdown()


def folded(changes: pa.Table) -> Counter[tuple[object, ...]]:
    """Inserts without deletes."""
    data = changes.drop_columns([name for name in changes.column_names if name.startswith("_")])
    kinds = changes.column("_change_type").to_pylist()
    parts = [data.filter(pa.array([kind == one for kind in kinds], pa.bool_())) for one in ("insert", "delete")]
    came, went = (canonical_rows(part) for part in parts)
    assert not went - came
    return came - went


@pytest.mark.parametrize("case", CASES)
def test_all_changes_make_hives_rows(warehouse: Warehouse, case: str) -> None:
    frame = warehouse.spark.sql(f"SELECT * FROM hive.acid.{case} CHANGES FROM VERSION 0")
    told = frame.toArrow()
    assert folded(told) == with_null_keys(expected_answer(case).rows)
    assert frame.count() == told.num_rows
    alone = Session(warehouse.registry).changes(f"hive.acid.{case}").read_all()
    assert canonical_rows(alone) == canonical_rows(told)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["acid_flat", "acid_multistmt", "converted_unbucketed"])
def test_net_changes_of_everything_are_inserts_of_the_rows_that_are_left(warehouse: Warehouse, case: str) -> None:
    net = warehouse.spark.sql(
        f"SELECT * FROM hive.acid.{case} CHANGES FROM VERSION 0 WITH (deduplicationMode = 'netChanges')"
    )
    assert {row[0] for row in net.select("_change_type").distinct().collect()} == {"insert"}
    columns = [name for name, _ in expected_answer(case).columns]
    assert canonical_rows(net.select(*columns).toArrow()) == expected_answer(case).rows


@pytest.mark.slow
def test_bounds_filters_and_what_explain_says(warehouse: Warehouse) -> None:
    """acid_flat: 1 and 2 insert 10 and 2 rows, 3 updates two of them, 4 deletes two, 5 updates one."""

    def count(bounds: str, where: str = "true") -> object:
        text = f"SELECT count(*) FROM hive.acid.acid_flat CHANGES {bounds} WHERE {where}"
        return warehouse.rows(text)[0][0]

    assert [count(f"FROM VERSION {one} TO VERSION {one}") for one in range(6)] == [0, 10, 2, 4, 2, 2]
    assert count("FROM VERSION 2 EXCLUSIVE") == 8
    assert count("FROM VERSION 2 EXCLUSIVE", "_change_type = 'delete'") == 5
    assert count("FROM VERSION 1", "_commit_version IN (3, 4)") == 6
    plan = warehouse.plan("SELECT id FROM hive.acid.acid_flat CHANGES FROM VERSION 3 TO VERSION 4 WHERE id > 2")
    assert "snapshot: changes from write id 3 to 4" in plan
    assert "id > 2" in plan


@pytest.mark.slow
def test_what_is_refused(warehouse: Warehouse) -> None:
    for text, words in (
        ("acid_major_clean CHANGES FROM VERSION 1", "changes that can be read: after version 6"),
        ("acid_flat CHANGES FROM VERSION 6", "has no version '6': expected a write id from 0 to 5"),
        ("acid_flat CHANGES FROM TIMESTAMP '2024-01-01'", "does not record when a write id was committed"),
        (
            "acid_flat CHANGES FROM VERSION 1 WITH (computeUpdates = 'true')",
            "tells an update as a delete and an insert",
        ),
        ("mm_orc CHANGES FROM VERSION 1 WITH (deduplicationMode = 'netChanges')", "have no identity"),
    ):
        with pytest.raises(PySparkException, match=words):
            warehouse.spark.sql(f"SELECT * FROM hive.acid.{text}").collect()
