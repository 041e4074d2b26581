"""Statements about settings, definitions and functions, and parameters: what Spark shows, DuckDB shows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import ConnectorError
from lakeport.duckdb.session import LocalSession
from lakeport.session import Session
from lakeport.spark.results import arrow_result
from tests.lakeport.sample_session import sample_session

pytestmark = [pytest.mark.slow, pytest.mark.spark]

Both = tuple[Session, LocalSession]
# Spark before 4.3 and since differ in whether they write it; STRING alone means the same.
_COLLATION = " COLLATE UTF8_BINARY"


@pytest.fixture(scope="module")
def both(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("words")
    sample_session(folder).close()
    catalogs = folder / "catalogs"
    with (
        lakeport.connect(spark.newSession(), catalogs) as of_spark,
        lakeport.connect(catalogs=catalogs, engine="duckdb") as of_duckdb,
    ):
        yield of_spark, of_duckdb


def _shown(session: Session, text: str, args: list[object] | dict[str, object] | None = None) -> pa.Table:
    found = arrow_result(session.sql(text, args))
    return pa.Table.from_batches(found.batches, found.schema)


@pytest.mark.parametrize(
    "statements",
    [
        ["SET spark.lakeport.hive.native_reader=false", "SET spark.lakeport.hive.native_reader"],
        ["SET `spark.lakeport.hudi.native_reader` =  true", "RESET spark.lakeport.hudi.native_reader",
         "SET spark.lakeport.hudi.native_reader"],
        ["SET spark.lakeport.hive.native_reader = FALSE", "RESET", "SET spark.lakeport.hive.native_reader"],
    ],
)  # fmt: skip
def test_settings(both: Both, statements: list[str]) -> None:
    for text in statements:
        expected, found = _shown(both[0], text), both[1].sql(text).arrow()
        assert (found.schema.names, found.to_pylist()) == (expected.schema.names, expected.to_pylist())


@pytest.mark.parametrize("name", ["hive.sales.labels", "hive.sales.products", "hive.sales.notes", "hudi.sales.items",
                                  "hudi.sales.visits", "hive.sales.`items$files`"])  # fmt: skip
def test_definitions(both: Both, name: str) -> None:
    expected, found = _shown(both[0], f"SHOW CREATE TABLE {name}"), both[1].sql(f"SHOW CREATE TABLE {name}").arrow()
    assert found.schema.names == expected.schema.names
    assert found[0].to_pylist() == [text.replace(_COLLATION, "") for text in expected[0].to_pylist()]


def test_a_definition_with_all_that_there_may_be(both: Both, tmp_path: Path) -> None:
    both[0].sql(
        "CREATE TABLE hive.sales.`odd name` (id INT COMMENT 'it''s', `a b` VARCHAR(5), c CHAR(3), d DECIMAL(12, 3), "
        "n STRUCT<`x y`: ARRAY<INT>, m: MAP<STRING, DATE>>, p STRING) USING parquet OPTIONS ('k' = 'v') "
        f"PARTITIONED BY (p) CLUSTERED BY (id) SORTED BY (d) INTO 3 BUCKETS LOCATION '{tmp_path}' "
        "COMMENT 'a \\\\ ''table''' TBLPROPERTIES ('my.key' = 'x', 'b' = 'y')"
    )
    expected = _shown(both[0], "SHOW CREATE TABLE hive.sales.`odd name`")[0].to_pylist()
    found = both[1].sql("SHOW CREATE TABLE hive.sales.`odd name`").arrow()[0].to_pylist()
    assert found == [text.replace(_COLLATION, "") for text in expected]


def test_functions(both: Both) -> None:
    every = {row["function"] for row in _shown(both[0], "SHOW FUNCTIONS").to_pylist()}
    ours = both[1].sql("SHOW FUNCTIONS").arrow()
    assert ours.schema.names == ["function"]
    assert {row["function"] for row in ours.to_pylist()} <= every
    for text in ("SHOW FUNCTIONS LIKE 'abs|sum'", "SHOW ALL FUNCTIONS IN hive.sales LIKE 'COALESCE'",
                 "SHOW FUNCTIONS abs", "SHOW USER FUNCTIONS", "SHOW SYSTEM FUNCTIONS LIKE 'dense_*'"):  # fmt: skip
        assert both[1].sql(text).arrow().to_pylist() == _shown(both[0], text).to_pylist()


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("SELECT ? + 1.5 AS a, ? AS b, -? AS c", [1, 5_000_000_000, 7]),
        ("SELECT ? AS a, ? AS b", [1.25, -2.5e-7]),
        ("SELECT ? AS a, ? * id AS b FROM hive.sales.labels ORDER BY b", [Decimal("-1.50"), Decimal("1E+2")]),
        ("SELECT :x AS a, :y AS b, :z AS c", {"x": None, "y": "it's", "z": True}),
        ("SELECT count(*) AS n FROM hive.sales.products WHERE dt >= :day", {"day": date(2024, 1, 1)}),
        ("SELECT id FROM hive.sales.labels WHERE id > ? ORDER BY id LIMIT ?", [1, 2]),
    ],
)
def test_parameters(both: Both, text: str, args: list[object] | dict[str, object]) -> None:
    expected, found = _shown(both[0], text, args), both[1].sql(text, args).arrow()
    assert found.schema.types == expected.schema.types
    assert found.to_pylist() == expected.to_pylist()


def test_a_parameter_without_a_value(both: Both) -> None:
    with pytest.raises(Exception, match="UNBOUND_SQL_PARAMETER"):
        both[0].sql("SELECT :a AS a", {"b": 1})
    with pytest.raises(ConnectorError, match=":a has no value"):
        both[1].sql("SELECT :a AS a", {"b": 1})
