"""A restricted server: clients reach the tables of the catalogs, and nothing else that Spark's SQL can reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lakeport.sample_session import sample_session
from tests.lakeport.server.clients import COMMAND, Client, wait_for
from tests.server_process import running_process

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("restricted")


@pytest.fixture(scope="module")
def client(spark: SparkSession, folder: Path) -> Iterator[Client]:
    with sample_session(folder / "warehouse"):
        pass
    (folder / "current").mkdir()
    log = folder / "server.log"
    command = [*COMMAND, "--catalogs", str(folder / "warehouse" / "catalogs"), "--thrift-port", "0", "--restricted"]
    with running_process(command, folder / "current", log) as process:
        wait_for(lambda: "JDBC: " in log.read_text("utf-8") or process.poll() is not None, log)
        found = re.search(r"^JDBC: (\S+)$", log.read_text("utf-8"), re.MULTILINE)
        assert found, log.read_text("utf-8")
        assert "Spark Connect" not in log.read_text("utf-8")
        made = Client(spark, found[1])
        yield made
        made.java.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM hive.sales.labels WHERE id < 3",
        "SELECT l.id FROM hive.sales.labels l JOIN hudi.sales.items i ON l.id = i.id WHERE l.id IN (SELECT 1)",
        "WITH x AS (SELECT id FROM hive.sales.labels) SELECT count(*), max(upper(string(id))) FROM x",
        "SHOW TABLES IN hive.sales",
        "SHOW SCHEMAS IN hive",
        "SHOW CATALOGS",
        "DESCRIBE hive.sales.labels",
        "DESCRIBE EXTENDED hive.sales.labels",
        "SHOW CREATE TABLE hive.sales.labels",
        "EXPLAIN SELECT id FROM hive.sales.labels",
        "USE hive.sales",
        "SET spark.lakeport.hive.native_reader = false",
        "SET spark.sql.session.timeZone = UTC",
        "CREATE TEMPORARY VIEW mine AS SELECT id FROM hive.sales.labels",
        "SELECT * FROM system.runtime.queries",
        "SELECT * FROM VALUES (1), (2)",
        "SELECT explode(sequence(1, 3))",
        "CALL hive.system.flush_metadata_cache()",
    ],
)
def test_statements_over_the_catalogs_run(client: Client, text: str) -> None:
    client.rows(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM parquet.`{files}`",
        "SELECT * FROM text.`/etc/passwd`",
        "SELECT (SELECT max(value) FROM text.`/etc/passwd`)",
        "CREATE TEMPORARY VIEW peek USING text OPTIONS (path '/etc/passwd')",
        "CREATE TABLE spark_catalog.default.peek USING text LOCATION '/etc/passwd'",
        "CREATE TABLE spark_catalog.default.made AS SELECT 1 AS one",
        "INSERT OVERWRITE DIRECTORY '{files}/out' USING parquet SELECT * FROM hive.sales.labels",
        "ADD JAR '/tmp/some.jar'",
        "ADD FILE '/etc/passwd'",
        "LIST JARS",
        "CREATE TEMPORARY FUNCTION f AS 'java.lang.Runtime'",
        "SELECT reflect('java.lang.System', 'getProperty', 'user.home')",
        "SELECT java_method('java.lang.System', 'getProperty', 'user.home')",
        "SELECT id FROM hive.sales.labels WHERE reflect('java.lang.System', 'lineSeparator') = 'x'",
        "SELECT TRANSFORM (id) USING 'cat' AS (a) FROM hive.sales.labels",
        "SET spark.sql.runSQLOnFiles = true",
        "SET spark.sql.catalog.other = org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "SET",
        "SET -v",
        "RESET",
        "CREATE OR REPLACE VIEW spark_catalog.default.v AS SELECT 1 AS one",
    ],
)
def test_nothing_else_runs(client: Client, folder: Path, text: str) -> None:
    met = client.error(text.format(files=folder / "warehouse" / "sales" / "products"))
    assert (
        "restricted to the tables of its catalogs" in met
        or "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY" in met
        or ("TABLE_OR_VIEW_NOT_FOUND" in met)
    )
    assert "root:" not in met
