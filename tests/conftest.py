"""Fixtures of more than one package."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.hms import hive_metastore_server as hive_metastore_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How long an example takes is the machine's affair; tests are not timed.
settings.register_profile("lakeport", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lakeport")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark of the test run; tests that change its settings or catalogs take ``spark.newSession()``."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession  # a run without Spark tests starts faster without it

    session = (
        SparkSession.builder.master("local[2]")
        .appName("lakeport tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for Spark gets the mark, so that ``-m 'not spark'`` needs no Java."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
