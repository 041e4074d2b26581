"""The connector of another package through SQL: ours know nothing of it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from lakeport.spark.catalog.install import install
from tests.paths import PROJECT

EXAMPLE = PROJECT / "tests" / "plugin_example"


def test_a_plugin_is_queried_through_sql(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    plugin = importlib.import_module("arrow_files").ArrowFilesFactory()
    spark.sparkContext.addPyFile(str(EXAMPLE / "arrow_files.py"))  # tasks import the page source
    data = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"], "at": [{"x": 1, "y": 2}] * 3})
    (tmp_path / "s").mkdir()
    with pa.ipc.new_file(tmp_path / "s" / "t.arrow", data.schema) as writer:
        writer.write_table(data)
    registry = CatalogRegistry(PluginSet.of(plugin), "test")
    session = spark.newSession()
    installation = install(session, registry)
    registry.register("files", "arrow_files", {"arrow-files.folder": str(tmp_path)})
    query = "SELECT name, at.y FROM files.s.t WHERE id >= 2 ORDER BY id"
    assert [tuple(row) for row in session.sql(query).collect()] == [(None, 2), ("c", 2)]
    assert session.sql("SELECT count(*) FROM files.s.t").collect() == [(3,)]
    assert session.sql("SHOW TABLES IN files.s").collect() == [("s", "t", False)]
    installation.remove()
    registry.shutdown()
    assert ("files",) not in [tuple(row) for row in session.sql("SHOW CATALOGS").collect()]
