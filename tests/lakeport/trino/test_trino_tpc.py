"""TPC-DS and TPC-H in Trino's text, which is read from a folder and not kept here.

``CONNECTOR_TEST_TRINO_QUERIES`` names a folder with ``tpcds/*.sql`` and ``tpch/*.sql``, as in the jar
``io.trino:trino-benchto-benchmarks``, with its placeholders such as ``${database}``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from connector_spi.names import SchemaTableName
from lakeport.session import Session
from tests.lakeport.memory_session import memory_session
from tests.lakeport.trino.tpc_tables import TPC_TABLES

_FOLDER = os.environ.get("CONNECTOR_TEST_TRINO_QUERIES")
_COUNTS = {"tpcds": 99, "tpch": 22}

pytestmark = [
    pytest.mark.skipif(_FOLDER is None, reason="CONNECTOR_TEST_TRINO_QUERIES is not set"),
    pytest.mark.slow,
]


@pytest.mark.parametrize("catalog", sorted(_COUNTS))
def test_all_are_translated_and_understood_by_spark(spark: SparkSession, catalog: str) -> None:
    texts = _texts(catalog)
    assert len(texts) >= _COUNTS[catalog]
    with memory_session(spark.newSession()) as (session, memory):
        for name, columns in TPC_TABLES[catalog].items():
            memory.create_table(SchemaTableName("tiny", name), pa.schema(list(columns.items())).empty_table())
        refused = {name: str(error) for name, text in texts.items() if (error := _refusal(session, text)) is not None}
    assert refused == {}


def _texts(catalog: str) -> dict[str, str]:
    assert _FOLDER is not None
    values = {"database": "mem", "schema": "tiny", "prefix": "", "scale": "1"}
    found = {}
    for path in sorted(Path(_FOLDER, catalog).glob("q*.sql")):
        text = re.sub(r"\$\{(\w+)\}", lambda match: values[match.group(1)], path.read_text(encoding="utf-8"))
        found[path.stem] = text.strip().rstrip(";")
    return found


def _refusal(session: Session, text: str) -> Exception | None:
    """Spark analyses the text when it makes the frame."""
    try:
        session.sql(text, dialect="trino")
    except Exception as error:
        return error
    return None
