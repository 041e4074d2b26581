"""Tables that real Hudi wrote, as streams of their changes: what Hudi's own change queries tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.hudi.schema.table_schema import META_COLUMNS
from tests.connectors.hudi.changes.test_planning import TOLD, hudis, ours
from tests.connectors.hudi.corpus import CASES, answers
from tests.lakeport.spark.tables.warehouse import Warehouse

FEEDS = ["v9_cdc_beforeafter_mor", "v9_cdc_key_cow"]
ASKED = [(case, between) for case in FEEDS if case in CASES for between in answers(case, "cdc")]


@pytest.mark.slow
@pytest.mark.skipif(FEEDS[0] not in CASES, reason="the corpus is not here")
@pytest.mark.parametrize(("case", "between"), ASKED)
def test_changes_of_a_table_of_hudis(spark: SparkSession, tmp_path: Path, case: str, between: str) -> None:
    if not hasattr(spark.readStream, "changes"):
        pytest.skip(f"Spark {spark.version} has no changes of streams")
    warehouse = Warehouse(spark, tmp_path)
    warehouse.add_hudi_corpus([case])
    begin = between.partition("_")[0]
    reader = warehouse.spark.readStream.option("maxVersionsPerTrigger", "1")
    if begin != "000":
        reader = reader.options(startingVersion=begin, startingBoundInclusive="false")
    frame = reader.changes(f"hudi.hudi_corpus.{case}")
    writer = frame.writeStream.format("memory").queryName("changes_of_hudis").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    query.awaitTermination()
    told = warehouse.spark.table("changes_of_hudis").toArrow()
    user = set(told.column_names) - set(META_COLUMNS) - TOLD
    assert ours(told, user) == hudis(case, between, user)
    warehouse.registry.shutdown()
