"""No secret of a catalog's metastore shows up in what SQL tells, in plans, settings, errors or logs."""

from __future__ import annotations

import logging
import traceback
import zipfile
from collections.abc import Iterator
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import lakeport
from connectors.hive.connector import HiveConnector
from lakeport import Session
from tests.catalog.metastore.security.test_secrets import MARK, SECRETS
from tests.connectors.hive.table_writer import create_table
from tests.paths import CORPUS

CASE = "v9_basic_cow"
STATEMENTS = [
    "SHOW CATALOGS",
    "SHOW NAMESPACES IN {}",
    "SHOW TABLES IN {}.s",
    "SHOW TABLE EXTENDED IN {}.s LIKE '*'",
    "SHOW CREATE TABLE {}.s.t",
    "SHOW TBLPROPERTIES {}.s.t",
    "SHOW COLUMNS IN {}.s.t",
    "DESCRIBE NAMESPACE EXTENDED {}.s",
    "DESCRIBE TABLE EXTENDED {}.s.t",
    "EXPLAIN EXTENDED SELECT * FROM {}.s.t WHERE p = 1",
    "EXPLAIN FORMATTED SELECT count(*) FROM {}.s.t GROUP BY p",
    "EXPLAIN CODEGEN SELECT * FROM {}.s.t",
    "SELECT * FROM {}.s.t",
    "SELECT * FROM {}.s.`t$properties`",
    "SELECT * FROM {}.s.`t$partitions`",
    "SELECT * FROM {}.system.metastore_calls",
    "SHOW STATS FOR {}.s.t",
    "SHOW STATS FOR {}.s.nothing",
    "SELECT nothing FROM {}.s.t",
    "SELECT * FROM {}.nothing.t",
    "INSERT INTO {}.s.t VALUES (1, 2)",
    "CALL {}.system.nothing()",
    "CALL {}.system.register_table(schema_name => 's', table_name => 'u', table_location => '/nowhere')",
    "CALL {}.system.unregister_table(schema_name => 's', table_name => 'u')",
    "SHOW FUNCTIONS IN {}.s",
    "SHOW CREATE TABLE hudi.s.h",
    "EXPLAIN EXTENDED SELECT * FROM {}.s.h",
    "SELECT * FROM {}.s.h",
    "SHOW CREATE TABLE {}.s.h",
    "SELECT * FROM {}.s.`h$timeline`",
    "SELECT * FROM broken.s.t",
    "SHOW TABLES IN broken.s",
    "SET",
    "SET -v",
]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("secrets")
    catalogs = folder / "catalogs"
    catalogs.mkdir()
    secrets = "".join(f"{key}={text}\n" for key, text in SECRETS.items()) + f"s3.aws-access-key={MARK}-key\n"
    secrets += f"s3.aws-secret-key={MARK}-secret\n"
    for name in ("hive", "hudi"):
        where = f"hive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
        (catalogs / f"{name}.properties").write_text(f"connector.name={name}\n{where}{secrets}")
    refused = "hive.metastore.uri=thrift://127.0.0.1:1\nhive.metastore.authentication.type=PLAIN\n"
    (catalogs / "broken.properties").write_text(
        f"connector.name=hive\n{refused}hive.metastore.thrift.client.max-retries=0\n{secrets}"
    )
    with lakeport.connect(spark.newSession(), catalogs) as opened:
        metastore = cast(HiveConnector, opened.catalogs.get("hive")).metastore
        create_table(metastore, folder, "s", "t", pa.table({"id": [1, 2], "p": [1, 2]}), ["p"])
        packed = CORPUS / "hudi" / f"{CASE}.zip"
        if packed.exists():
            with zipfile.ZipFile(packed) as archive:
                archive.extractall(folder / "hudi")
            [table] = [path.parent for path in (folder / "hudi").glob("*/.hoodie")]
            place = f"schema_name => 's', table_name => 'h', table_location => '{table}'"
            opened.sql(f"CALL hudi.system.register_table({place})")
        yield opened


def told(frame: DataFrame) -> str:
    """Rows, and all that Spark knows of how it got them."""
    plans = frame._jdf.queryExecution()
    return f"{frame.collect()}{plans.toString()}{plans.logical().toJSON()}{frame.schema.json()}{frame!r}"


@pytest.mark.slow
def test_nothing_tells_a_secret(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    # PySpark's own handler asks Java for words while it holds its lock; a callback that logged meanwhile would wait
    # for that lock, and Java for the callback.
    caplog.set_level(logging.CRITICAL, logger="py4j")
    texts = [repr(session), repr(session.catalogs), str(vars(session))]
    failures = 0
    for statement in STATEMENTS:
        try:
            texts.append(told(session.sql(statement.format("hive"))))
        except Exception as error:
            failures += 1
            texts += [str(error), repr(error), "".join(traceback.format_exception(error))]
    for name in ("hive", "hudi"):
        connector = session.catalogs.get(name)
        texts += [repr(connector), repr(connector.page_source_provider)]
    texts += [f"{key}={text}" for key, text in session.spark.sparkContext.getConf().getAll()]
    texts += [record.getMessage() for record in caplog.records]
    everything = "\n".join(texts)
    assert "metastore: " in everything
    assert 5 < failures < len(STATEMENTS) - 10
    for text in texts:
        assert MARK not in text
