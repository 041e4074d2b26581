"""RCFile, SequenceFile and Avro tables that real Hive wrote, against Hive's own answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector, make_session, read_table, scan_table
from tests.hive_corpus import canonical_rows, expected_answer, register_cases, require_corpus

CASES = (
    "avro_alltypes",
    "avro_alltypes_ny",
    "ext_avro",
    "ext_avro_schema_evolved",
    "ext_rcfile_binary",
    "ext_rcfile_text",
    "ext_seq",
    "ext_seq_lazybinary",
    "ext_seq_record",
)


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    require_corpus()
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    register_cases(connector.metastore.writes, "corpus", CASES)
    yield connector
    connector.shutdown()


@pytest.mark.parametrize("case", CASES)
def test_rows_and_types_are_hives(connector: HiveConnector, case: str) -> None:
    answer = expected_answer(case)
    rows = read_table(connector, "corpus", case)
    assert rows.schema.names == [name for name, _ in answer.columns]
    assert canonical_rows(rows) == answer.rows


@pytest.mark.parametrize("case", CASES)
def test_every_column_alone_is_the_same_as_among_all(connector: HiveConnector, case: str) -> None:
    rows = read_table(connector, "corpus", case)
    for name in rows.schema.names:
        assert canonical_rows(read_table(connector, "corpus", case, [name])) == canonical_rows(rows.select([name]))
    assert scan_table(connector, "corpus", case, []).rows.num_rows == rows.num_rows


@pytest.mark.parametrize("case", CASES)
def test_every_cut_gives_each_row_once(connector: HiveConnector, case: str) -> None:
    answer = expected_answer(case)
    for size in (100, 333, 1000):
        session = make_session(connector, max_split_size=size)
        scan = scan_table(connector, "corpus", case, session=session)
        assert canonical_rows(scan.rows) == answer.rows
        assert size > 333 or len(scan.splits) > 1


@pytest.mark.parametrize("case", CASES)
def test_types_are_those_that_are_declared(connector: HiveConnector, case: str) -> None:
    answer = expected_answer(case)
    declared = pa.schema([(name, parse_hive_type(text)) for name, text in answer.columns])
    rows = read_table(connector, "corpus", case)
    # Hive tells int for columns that are tinyint and smallint in the metastore of Avro tables.
    narrow = {name for name in ("ti", "si") if name in declared.names}
    assert [field for field in rows.schema if field.name not in narrow] == [
        field for field in declared if field.name not in narrow
    ]


@pytest.mark.parametrize("case", ["ext_rcfile_binary", "ext_seq_lazybinary"])
def test_timestamps_of_older_writers_are_instants_of_their_zone(tmp_path: Path, case: str) -> None:
    require_corpus()
    connector = make_connector(tmp_path, hive_rcfile_time__zone="Asia/Tokyo")
    register_cases(connector.metastore.writes, "corpus", [case])
    # Hive 4 wrote the fields as of UTC; an older Hive in Tokyo that writes this second means nine hours later there.
    column = [name for name, kind in expected_answer(case).columns].index("ts")
    moments = Counter(row[column] for row in expected_answer(case).rows)
    found = read_table(connector, "corpus", case, ["ts"]).column("ts")
    connector.shutdown()
    assert moments["2020-01-01 00:00:00.000000"] == 1
    assert Counter(found.cast(pa.string()).to_pylist())["2020-01-01 09:00:00.000000"] == 1
