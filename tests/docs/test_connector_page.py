"""The connector of docs/writing-a-connector.md runs: without Spark, and in Spark's tasks."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import ConnectorFactory
from connector_spi.names import SchemaTableName
from connector_spi.testing import Behaviour, FixedTablesConformance, read_table
from lakeport.session import Session
from tests.paths import PROJECT

_ROWS = 120_000


@pytest.fixture(scope="module")
def page_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The page's example as a module that can be imported."""
    page = (PROJECT / "docs" / "writing-a-connector.md").read_text()
    example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    assert len([line for line in example.splitlines() if line.strip()]) < 25
    path = tmp_path_factory.mktemp("page") / "range_connector.py"
    path.write_text(example)
    sys.path.append(str(path.parent))
    yield path
    sys.path.remove(str(path.parent))
    sys.modules.pop("range_connector", None)


@pytest.fixture
def registry(page_module: Path) -> CatalogRegistry:
    factory = importlib.import_module("range_connector").RangeFactory()
    assert isinstance(factory, ConnectorFactory)
    registry = CatalogRegistry(PluginSet.of(factory), "test")
    registry.register("numbers", "range", {"range.rows": str(_ROWS)})
    return registry


@pytest.mark.usefixtures("page_module")
class TestRangeConformance(FixedTablesConformance):
    """Its one table is what it is: the suite reads it, and makes none."""

    missing_behaviours = frozenset(Behaviour)
    max_examples = 10

    def factory(self) -> ConnectorFactory:
        factory = importlib.import_module("range_connector").RangeFactory()
        assert isinstance(factory, ConnectorFactory)
        return factory

    def catalog_properties(self) -> Mapping[str, str]:
        return {"range.rows": "300"}

    def fixed_tables(self) -> Mapping[SchemaTableName, pa.Table]:
        return {SchemaTableName("default", "ids"): pa.table({"id": pa.array(range(300), pa.int64())})}


def test_without_spark(registry: CatalogRegistry) -> None:
    with Session(registry) as session:
        name = "numbers.default.ids"
        assert session.arrow(name).read_all().column("id").to_pylist() == list(range(_ROWS))
        assert session.arrow(name, where=[("id", ">", _ROWS - 3)]).read_all().to_pydict() == {"id": [119_998, 119_999]}
        counted = read_table(registry.get("numbers"), SchemaTableName("default", "ids"), columns=[])
        assert (counted.num_rows, counted.num_columns) == (_ROWS, 0)


@pytest.mark.slow
@pytest.mark.spark
def test_in_spark(registry: CatalogRegistry, page_module: Path, spark: SparkSession) -> None:
    spark.sparkContext.addPyFile(str(page_module))
    with Session(registry, spark.newSession()) as session:
        assert session.sql("SELECT count(*) FROM numbers.default.ids").collect() == [(_ROWS,)]
        query = (
            "SELECT sum(a.id), count(*) FROM numbers.default.ids a JOIN numbers.default.ids b USING (id) WHERE id < 10"
        )
        assert session.sql(query).collect() == [(45, 10)]
        assert session.sql("SHOW TABLES IN numbers.default").collect() == [("default", "ids", False)]
