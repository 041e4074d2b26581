"""Catalogs that Spark makes by the name of a class: in sessions of Java, in clones, and from Spark's settings."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

import lakeport
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError
from lakeport.spark.catalog.catalog_class import CATALOG_CLASS, register_configured
from lakeport.spark.catalog.install import install
from tests.lakeport.memory_session import memory_session, put


def rows(session: JavaObject, text: str) -> list[str]:
    """The rows of a statement of a session that Python has not seen before, as texts."""
    return [str(row.toString()) for row in session.sql(text).collectAsList()]


def failure(session: JavaObject, text: str) -> str:
    with pytest.raises(Exception) as met:  # noqa: PT011 - PySpark's or py4j's
        rows(session, text)
    return str(met.value)


def test_sessions_that_java_makes_and_clones_see_the_catalogs(spark: SparkSession) -> None:
    given = spark.newSession()
    with memory_session() as (session, connector):
        put(connector, "t", pa.table({"id": [1, 2]}))
        installed = install(given, session.catalogs)
        made = given._jsparkSession.newSession()
        clone = made.cloneSession()
        for one in (made, clone, given._jsparkSession.cloneSession()):
            assert "[s]" in rows(one, "SHOW SCHEMAS IN mem")
            assert rows(one, "SHOW TABLES IN mem.s") == ["[s,t,false]"]
        installed.remove()
        # Spark takes a name that it has no setting for for a schema.
        assert "`spark_catalog`.`mem` cannot be found" in failure(
            given._jsparkSession.newSession(), "SHOW SCHEMAS IN mem"
        )
        assert "Lakeport has no catalog 'mem'" in failure(made.cloneSession(), "SHOW SCHEMAS IN mem")


def test_rows_are_written_and_read_in_a_session_of_java(spark: SparkSession) -> None:
    given = spark.newSession()
    with memory_session() as (session, connector):
        put(connector, "t", pa.table({"id": range(5), "s": ["x"] * 5}))
        installed = install(given, session.catalogs)
        made = given._jsparkSession.newSession()
        made.sql("INSERT INTO mem.s.t VALUES (7, 'y')")
        assert rows(made, "SELECT count(*), max(id) FROM mem.s.t WHERE id > 1") == ["[4,7]"]
        assert rows(made.cloneSession(), "SELECT s FROM mem.s.t WHERE id = 7") == ["[y]"]
        assert "TABLE_OR_VIEW_NOT_FOUND" in failure(made, "SELECT * FROM mem.s.u")
        installed.remove()


def test_a_client_cannot_bring_a_catalog(spark: SparkSession) -> None:
    given = spark.newSession()
    with memory_session() as (session, _):
        installed = install(given, session.catalogs)
        made = given._jsparkSession.newSession()
        for name, text in {"": CATALOG_CLASS, ".connector.name": "memory", ".lakeport.registry": "no such"}.items():
            made.sessionState().conf().setConfString(f"spark.sql.catalog.mine{name}", text)
        assert "Lakeport has no catalog 'mine'" in failure(made, "SHOW SCHEMAS IN mine")
        installed.remove()


def test_catalogs_in_the_settings_of_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = spark.newSession()
    given.conf.set("spark.sql.catalog.conf", CATALOG_CLASS)
    given.conf.set("spark.sql.catalog.conf.connector.name", "hive")
    given.conf.set("spark.sql.catalog.conf.hive.metastore", "embedded")
    given.conf.set("spark.sql.catalog.conf.hive.metastore.embedded.path", str(tmp_path / "metastore.db"))
    session = lakeport.connect(given)
    try:
        assert session.catalogs.names() == ["conf"]
        assert "default" in [row[0] for row in session.sql("SHOW SCHEMAS IN conf").collect()]
        assert "[default]" in rows(given._jsparkSession.newSession(), "SHOW SCHEMAS IN conf")
    finally:
        session.close()


def test_a_catalog_in_the_settings_and_in_a_file() -> None:
    settings = {
        "spark.sql.catalog.mem": CATALOG_CLASS,
        "spark.sql.catalog.mem.connector.name": "memory",
        "spark.sql.catalog.other": "org.example.Catalog",
        "spark.sql.catalog.other.connector.name": "memory",
        "spark.sql.catalog.named": CATALOG_CLASS,
    }
    registry = CatalogRegistry(discover_plugins, "test")
    register_configured(settings, registry)
    register_configured(settings, registry)
    assert registry.names() == ["mem"]
    registry.drop("mem")
    registry.register("mem", "hive", {"hive.metastore": "embedded", "hive.metastore.embedded.path": "m.db"})
    with pytest.raises(InvalidPropertyError, match=r"'mem' is in the settings of Spark .*, and in the session"):
        register_configured(settings, registry)
    registry.shutdown()
