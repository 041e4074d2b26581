"""The connector over a real Hive metastore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.errors import NotSupportedError
from connector_spi.predicate import Domain, TupleDomain, Value
from connector_spi.properties import parse_properties
from connectors.hive.connector import HiveConnector, HiveFactory
from tests.connectors.hive.reading import make_session, scan_table
from tests.connectors.hive.table_writer import create_table, write_file
from tests.hive_corpus import canonical_rows, expected_answer, register_cases
from tests.hms import HiveMetastoreServer


@pytest.fixture
def thrift_hive(hive_metastore_server: HiveMetastoreServer) -> Iterator[HiveConnector]:
    factory = HiveFactory()
    given = {"hive.metastore.uri": hive_metastore_server.uri, "hive.metastore.username": "tester"}
    properties = parse_properties(factory.config_properties, given, str)
    connector = factory.create("hive", properties, ConnectorContext(SPI_VERSION, "test"))
    yield connector
    connector.shutdown()


def _schema() -> str:
    return f"hive_{uuid4().hex[:12]}"


@pytest.mark.parametrize("case", ["evolve_ext_orc", "ext_orc_none_part", "parquet_alltypes_ny"])
def test_real_tables(thrift_hive: HiveConnector, case: str) -> None:
    schema = _schema()
    register_cases(thrift_hive.metastore.writes, schema, [case])
    assert canonical_rows(scan_table(thrift_hive, schema, case).rows) == expected_answer(case).rows


def test_keys_with_odd_characters(thrift_hive: HiveConnector, tmp_path: Path) -> None:
    keys = ["a/b", "100%", "x=y", "{}", "A.B-C_D[1]", None]
    data = pa.table({"id": pa.array(range(len(keys)), pa.int64()), "s": keys})
    schema = _schema()
    create_table(thrift_hive.metastore, tmp_path, schema, "t", data, ["s"])
    for number, key in enumerate(keys):
        domain = Domain.only_null(pa.string()) if key is None else Domain.single_value(pa.string(), key)
        wanted = TupleDomain.with_column_domains({"s": domain})
        assert scan_table(thrift_hive, schema, "t", constraint=wanted).rows.to_pylist() == [{"id": number, "s": key}]


def test_a_filter_on_partitions_costs_three_calls(thrift_hive: HiveConnector, tmp_path: Path) -> None:
    data = pa.table({"id": pa.array(range(40), pa.int64()), "p": pa.array([n // 2 for n in range(40)], pa.int32())})
    schema = _schema()
    create_table(thrift_hive.metastore, tmp_path, schema, "t", data, ["p"])
    before = thrift_hive.metastore.calls.total().count
    wanted = TupleDomain.with_column_domains({"p": Domain.multiple_values(pa.int32(), [3, 5])})
    scan = scan_table(thrift_hive, schema, "t", constraint=wanted)
    assert sorted(scan.rows["id"].to_pylist()) == [6, 7, 10, 11]
    assert thrift_hive.metastore.calls.total().count - before <= 3


def test_register_and_unregister(thrift_hive: HiveConnector, tmp_path: Path) -> None:
    schema = _schema()
    write_file(tmp_path / "d" / "day=2024-01-01" / "f", pa.table({"v": [1.5]}), "parquet")
    by_name = {procedure.name: procedure for procedure in thrift_hive.procedures}
    session = make_session(thrift_hive)
    names = {"schema_name": schema, "table_name": "t"}
    named: dict[str, Value | None] = {**names, "table_location": str(tmp_path / "d")}
    with pytest.raises(NotSupportedError, match="write ids of its own"):
        by_name["register_table"].function(session, {**named, "transactional": True})
    by_name["register_table"].function(session, named)
    assert scan_table(thrift_hive, schema, "t", ["v"]).rows.to_pylist() == [{"v": 1.5}]
    by_name["unregister_table"].function(session, names)
    assert thrift_hive.metastore.reads.get_table_names(schema) == []
    assert (tmp_path / "d" / "day=2024-01-01" / "f").exists()
