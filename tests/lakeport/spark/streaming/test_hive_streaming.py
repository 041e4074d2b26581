"""Transactional tables that real Hive wrote, as streams: the whole table, and its write ids one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.hive.connector import HiveConnector
from tests.hive_corpus import canonical_rows, expected_answer, require_corpus
from tests.lakeport.spark.tables.test_hive_changes import folded
from tests.lakeport.spark.tables.warehouse import Warehouse


@pytest.mark.slow
def test_a_table_of_hives(spark: SparkSession, tmp_path: Path) -> None:
    """acid_flat: write ids 1 and 2 insert 10 and 2 rows, 3 updates two of them, 4 deletes two, 5 updates one."""
    require_corpus()
    warehouse = Warehouse(spark, tmp_path)
    warehouse.add_hive_corpus("acid", ["acid_flat"])
    counts: list[int] = []
    for name, options in (("whole", {}), ("rest", {"startingVersion": "2", "maxVersionsPerTrigger": "1"})):
        frame = warehouse.spark.readStream.options(**options).table("hive.acid.acid_flat")
        writer = frame.writeStream.format("memory").queryName(f"flat_{name}").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path / name)).start()
        query.awaitTermination()
        counts += [progress.numInputRows for progress in query.recentProgress if progress.numInputRows]
    whole = warehouse.spark.table("flat_whole").toArrow()
    assert canonical_rows(whole) == expected_answer("acid_flat").rows
    assert counts == [whole.num_rows, 2, 2, 1]
    hive = warehouse.registry.get("hive")
    assert isinstance(hive, HiveConnector)
    assert hive.metastore.transactions.show_locks("acid", "acid_flat") == []
    warehouse.registry.shutdown()


@pytest.mark.slow
def test_changes_of_a_table_of_hives(spark: SparkSession, tmp_path: Path) -> None:
    """An update is a delete and an insert; together all changes make the rows that Hive has in the end."""
    require_corpus()
    if not hasattr(spark.readStream, "changes"):
        pytest.skip(f"Spark {spark.version} has no changes of streams")
    warehouse = Warehouse(spark, tmp_path)
    warehouse.add_hive_corpus("acid", ["acid_flat"])
    reader = warehouse.spark.readStream.options(startingVersion="1", maxVersionsPerTrigger="1")
    frame = reader.changes("hive.acid.acid_flat")
    writer = frame.writeStream.format("memory").queryName("flat_changes").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    query.awaitTermination()
    told = warehouse.spark.table("flat_changes").toArrow()
    assert folded(told) == expected_answer("acid_flat").rows
    sizes = [progress.numInputRows for progress in query.recentProgress if progress.numInputRows]
    assert sizes == [10, 2, 4, 2, 2]
    warehouse.registry.shutdown()
