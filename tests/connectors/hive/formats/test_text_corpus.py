"""Tables of text files that real Hive wrote, against Hive's own answers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector, read_table, scan_table
from tests.hive_corpus import (
    INSERT_ONLY_TEXT_CASES,
    TEXT_CASES,
    canonical_rows,
    expected_answer,
    register_cases,
    require_corpus,
    with_null_keys,
)

CASES = (*TEXT_CASES, *INSERT_ONLY_TEXT_CASES)


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    require_corpus()
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    register_cases(connector.metastore.writes, "corpus", CASES, connector.metastore.transactions)
    yield connector
    connector.shutdown()


@pytest.mark.parametrize("case", CASES)
def test_rows_and_types_are_hives(connector: HiveConnector, case: str) -> None:
    answer = expected_answer(case)
    rows = read_table(connector, "corpus", case)
    assert rows.schema == pa.schema([(name, parse_hive_type(text)) for name, text in answer.columns])
    assert canonical_rows(rows) == with_null_keys(answer.rows)


@pytest.mark.parametrize("case", CASES)
def test_every_column_alone_is_the_same_as_among_all(connector: HiveConnector, case: str) -> None:
    rows = read_table(connector, "corpus", case)
    for name in rows.schema.names:
        assert canonical_rows(read_table(connector, "corpus", case, [name])) == canonical_rows(rows.select([name]))


@pytest.mark.parametrize("case", CASES)
def test_rows_are_counted_without_columns(connector: HiveConnector, case: str) -> None:
    assert scan_table(connector, "corpus", case, []).rows.num_rows == sum(expected_answer(case).rows.values())
