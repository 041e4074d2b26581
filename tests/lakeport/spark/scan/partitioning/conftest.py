"""A session whose joins go by buckets, over an embedded metastore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakeport
from lakeport import Session

BUCKETING = "spark.sql.sources.v2.bucketing."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("partitioning")


@pytest.fixture(scope="module")
def session(spark: SparkSession, folder: Path) -> Iterator[Session]:
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    own = spark.newSession()
    settings = {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        # More than it has tables, so that no shuffle has as many partitions as there are buckets.
        "spark.sql.shuffle.partitions": "3",
        "spark.lakeport.hive.storage_partitioning": "ALL",
        f"{BUCKETING}enabled": "true",
    }
    for name, text in settings.items():
        own.conf.set(name, text)
    with lakeport.connect(own, folder) as opened:
        opened.sql("CREATE SCHEMA hive.s")
        yield opened
