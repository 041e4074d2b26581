"""Every table of the corpus, of whatever kind: rows and types are those that Hive itself gave.

Hive's rows are changed in one point only (``with_null_keys``): a NULL key of a text type is NULL, not the name of
its folder. ``docs/hive-formats.md`` tells why, and names the cases below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector, make_session, open_metadata, read_table, scan_table
from tests.hive_corpus import (
    FULL_ACID_CASES,
    INSERT_ONLY_CASES,
    INSERT_ONLY_TEXT_CASES,
    PLAIN_CASES,
    TEXT_CASES,
    canonical_rows,
    expected_answer,
    expected_row_ids,
    register_cases,
    require_corpus,
    with_null_keys,
)
from tests.paths import CORPUS

CHOSEN_CASES = (*PLAIN_CASES, *TEXT_CASES, *INSERT_ONLY_TEXT_CASES, *FULL_ACID_CASES, *INSERT_ONLY_CASES)
CASES = sorted(one.parent.name for one in (CORPUS / "hive").glob("*/expected.json")) or ["no corpus"]
# Tables of Avro files have columns of tinyint and smallint, which Hive itself shows as int.
_WIDER_IN_HIVE = {"avro_alltypes": {"ti", "si"}, "avro_alltypes_ny": {"ti", "si"}}


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
    told = pa.schema([(name, parse_hive_type(text)) for name, text in answer.columns])
    wider = _WIDER_IN_HIVE.get(case, set())
    assert rows.schema.names == told.names
    assert [field for field in rows.schema if field.name not in wider] == [
        field for field in told if field.name not in wider
    ]
    assert canonical_rows(rows) == with_null_keys(answer.rows)


@pytest.mark.parametrize("case", CHOSEN_CASES)
def test_every_column_alone_is_the_same_as_among_all(connector: HiveConnector, case: str) -> None:
    rows = read_table(connector, "corpus", case)
    for name in rows.schema.names:
        assert canonical_rows(read_table(connector, "corpus", case, [name])) == canonical_rows(rows.select([name]))


@pytest.mark.parametrize("case", CHOSEN_CASES)
def test_rows_are_counted_without_columns(connector: HiveConnector, case: str) -> None:
    assert scan_table(connector, "corpus", case, []).rows.num_rows == sum(expected_answer(case).rows.values())


@pytest.mark.parametrize("case", FULL_ACID_CASES)
def test_row_ids_are_hives(connector: HiveConnector, case: str) -> None:
    rows = read_table(connector, "corpus", case, ["$row_id", "$path"]).to_pylist()
    folder = f"{require_corpus()}/{case}/table"
    found = Counter(
        (row["$row_id"]["writeid"], row["$row_id"]["bucketid"], row["$row_id"]["rowid"], row["$path"]) for row in rows
    )
    answer = Counter({(*row[:3], f"file://{folder}{row[3]}"): count for row, count in expected_row_ids(case).items()})
    assert found == answer


def test_declared_types_tell_char_and_varchar(connector: HiveConnector) -> None:
    session = make_session(connector)
    with open_metadata(connector, session) as metadata:
        handle = metadata.get_table_handle(session, SchemaTableName("corpus", "orc_alltypes"))
        assert handle is not None
        columns = metadata.get_table_metadata(session, handle).visible_columns()
    declared = {column.name: column.declared_type for column in columns if column.declared_type}
    assert declared == {"vc": "varchar(20)", "ch": "char(10)"}
