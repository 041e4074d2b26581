"""The queries of TPC-DS in DuckDB and in Spark: equal rows, names and types. Their texts are not kept here.

``CONNECTOR_TEST_TPCDS_QUERIES`` names a folder of them in Spark's SQL, ``q1.sql`` to ``q99.sql``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connector_spi.errors import ConnectorError
from connector_spi.names import SchemaTableName
from lakeport.duckdb.engine import DuckDbEngine
from lakeport.session import Session
from lakeport.spark.results import arrow_result
from tests.lakeport.local_engine.tpcds_rows import tpcds_rows
from tests.lakeport.memory_session import memory_session

_FOLDER = os.environ.get("CONNECTOR_TEST_TPCDS_QUERIES")
_LAST_LIMIT = re.compile(r"\blimit\s+\d+\s*$", re.IGNORECASE)
_COMMENT = re.compile(r"^--.*$", re.MULTILINE)

pytestmark = [
    pytest.mark.skipif(_FOLDER is None, reason="CONNECTOR_TEST_TPCDS_QUERIES is not set"),
    pytest.mark.slow,
]


def _texts() -> dict[str, str]:
    paths = [] if _FOLDER is None else sorted(Path(_FOLDER).glob("q*.sql"))
    plain = {path.stem: _COMMENT.sub("", path.read_text(encoding="utf-8")).strip().rstrip("; \n") for path in paths}
    # Of rows that an order does not tell apart a limit shows any; the schema of these tables has one column's old name.
    return {
        name: re.sub(r"\bc_last_review_date\b", "c_last_review_date_sk", _LAST_LIMIT.sub("", text))
        for name, text in plain.items()
    }


@pytest.fixture(scope="module")
def engines(spark: SparkSession) -> Iterator[tuple[Session, DuckDbEngine]]:
    with memory_session(spark.newSession()) as (session, memory):
        for name, rows in tpcds_rows(_texts().values()).items():
            memory.create_table(SchemaTableName("tpcds", name), rows)
        session.sql("USE mem.tpcds")
        engine = DuckDbEngine(session.catalogs)
        engine.plan("USE mem.tpcds")
        yield session, engine
        engine.close()


@pytest.mark.parametrize("name", sorted(_texts()))
def test_equal_answers(engines: tuple[Session, DuckDbEngine], name: str) -> None:
    session, engine = engines
    text = _texts()[name]
    try:
        rows = arrow_result(session.sql(text))
        expected = pa.Table.from_batches(rows.batches, rows.schema)
    except Exception as error:
        code = re.search(r"\[([A-Z_]+)", str(error))
        assert code is not None
        # Such as a division by zero.
        with pytest.raises(ConnectorError, match=code[1]):
            engine.plan(text).arrow()
        return
    found = engine.plan(text).arrow()
    assert found.schema.names == expected.schema.names
    assert [field.type for field in found.schema] == [field.type for field in expected.schema]
    assert _sorted(found) == _sorted(expected)


def _sorted(table: pa.Table) -> list[str]:
    """Rows in one order; of doubles the digits that do not depend on the order in which they are added."""
    columns = [
        [f"{value:.12g}" if isinstance(value, float) else str(value) for value in column.to_pylist()]
        for column in table.columns
    ]
    return sorted(map(str, zip(*columns, strict=True)))
