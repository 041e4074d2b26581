"""Catalogs in sessions that are there, and in those that they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from connector_spi.errors import InvalidPropertyError
from lakeport.spark.catalog.install import install
from tests.lakeport.memory_session import memory_session


def sees(spark: SparkSession, catalog: str = "mem") -> bool:
    try:
        spark.sql(f"SHOW SCHEMAS IN {catalog}").collect()
    except AnalysisException:
        return False
    return True


def test_new_sessions_see_the_catalogs(spark: SparkSession) -> None:
    given = spark.newSession()
    with memory_session() as (session, _):
        installed = install(given, session.catalogs)
        child = given.newSession()
        grandchild = child.newSession()
        assert [sees(one) for one in (given, child, grandchild)] == [True] * 3
        session.catalogs.register("more", "memory", {})
        assert sees(grandchild, "more")
        session.catalogs.drop("more")
        assert not sees(child, "more")
        installed.remove()
        assert [sees(one) for one in (given, child, given.newSession())] == [False] * 3
        session.catalogs.register("later", "memory", {})
        assert not sees(given, "later")


def test_sessions_are_made_after_the_catalogs_are_closed(spark: SparkSession) -> None:
    given = spark.newSession()
    with memory_session() as (session, _):
        install(given, session.catalogs)
    session.catalogs.shutdown()
    assert given.newSession().sql("SELECT 1 AS n").collect() == [(1,)]


def test_a_folder_of_catalog_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "mem.properties").write_text("connector.name=memory\n", encoding="utf-8")
    given = spark.newSession()
    installed = install(given, tmp_path)
    assert sees(given)
    installed.remove()


def test_a_folder_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidPropertyError, match="nowhere"):
        install(spark.newSession(), tmp_path / "nowhere")
