"""Fixtures of more than one package."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.hms import hive_metastore_server as hive_metastore_server
from tests.java import start_java_quickly
from tests.marks import add_marks, held_to_its_marks, watch_processes
from tests.processes import SharedServers
from tests.rows import explain_rows
from tests.sampling import mark_left_out, register_profiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer

register_profiles()
start_java_quickly()
watch_processes()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark of the test run; tests that change its settings or catalogs take ``spark.newSession()``."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession  # a run without Spark tests starts faster without it

    from lakeport.spark.session_factory import ARROW_OPTIONS

    session = (
        SparkSession.builder.master("local[2]")
        .appName("lakeport tests")
        # As in the sessions that Lakeport starts.
        .config("spark.driver.defaultJavaOptions", ARROW_OPTIONS)
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks come before ``-m`` selects by them."""
    for item in items:
        add_marks(item)
    mark_left_out(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with held_to_its_marks(item):
        return (yield)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedServers:
    return SharedServers(config, log)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    return explain_rows(left, right) if op == "==" else None
