"""Tables that real Hive wrote, against Hive's own answers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector, make_session, open_metadata, read_table, scan_table
from tests.hive_corpus import PLAIN_CASES, canonical_rows, expected_answer, register_cases, require_corpus


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    require_corpus()
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    register_cases(connector.metastore.writes, "corpus")
    yield connector
    connector.shutdown()


@pytest.mark.parametrize("case", PLAIN_CASES)
def test_rows_and_types_are_hives(connector: HiveConnector, case: str) -> None:
    answer = expected_answer(case)
    rows = read_table(connector, "corpus", case)
    assert rows.schema == pa.schema([(name, parse_hive_type(text)) for name, text in answer.columns])
    assert canonical_rows(rows) == answer.rows


@pytest.mark.parametrize("case", PLAIN_CASES)
def test_every_column_alone_is_the_same_as_among_all(connector: HiveConnector, case: str) -> None:
    rows = read_table(connector, "corpus", case)
    for name in rows.schema.names:
        assert canonical_rows(read_table(connector, "corpus", case, [name])) == canonical_rows(rows.select([name]))


@pytest.mark.parametrize("case", PLAIN_CASES)
def test_rows_are_counted_without_columns(connector: HiveConnector, case: str) -> None:
    session = make_session(connector)
    scan = scan_table(connector, "corpus", case, [], session=session)
    assert scan.rows.num_rows == sum(expected_answer(case).rows.values())


def test_declared_types_tell_char_and_varchar(connector: HiveConnector) -> None:
    session = make_session(connector)
    with open_metadata(connector, session) as metadata:
        handle = metadata.get_table_handle(session, SchemaTableName("corpus", "orc_alltypes"))
        assert handle is not None
        columns = metadata.get_table_metadata(session, handle).visible_columns()
    declared = {column.name: column.declared_type for column in columns if column.declared_type}
    assert declared == {"vc": "varchar(20)", "ch": "char(10)"}
