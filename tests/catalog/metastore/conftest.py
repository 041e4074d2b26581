"""Metastores under test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Database, Partition, Table
from catalog.metastore.testing.objects import STORAGE
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import ConnectorError
from tests.catalog.metastore.operations import DATABASE, KEY, NAMES, STATISTICS, TABLE, all_operations
from tests.catalog.metastore.thrift.fault_proxy import recording
from tests.hms import HiveMetastoreServer


@pytest.fixture
def thrift_metastore(hive_metastore_server: HiveMetastoreServer) -> Iterator[Metastore]:
    metastore = connect_thrift(ThriftConfig(uri=hive_metastore_server.uri, username="tester"))
    yield metastore
    metastore.close()


@pytest.fixture
def embedded_metastore(tmp_path: Path) -> Iterator[Metastore]:
    metastore = open_embedded(tmp_path / "store" / "metastore.db")
    yield metastore
    metastore.close()


@pytest.fixture(params=[pytest.param("thrift", marks=pytest.mark.spark), "embedded"])
def metastore(request: pytest.FixtureRequest) -> Metastore:
    """The same tests for every kind."""
    found = request.getfixturevalue(f"{request.param}_metastore")
    assert isinstance(found, Metastore)
    return found


@pytest.fixture(scope="session")
def recorded_answers(hive_metastore_server: HiveMetastoreServer) -> dict[str, bytes]:
    """A real metastore's answer to each call that it has, by the call's name."""
    with recording(hive_metastore_server.port) as (uri, answers):
        metastore = connect_thrift(ThriftConfig(uri=uri, username="tester"))
        with closing(metastore):
            with suppress(ConnectorError):
                metastore.writes.drop_database(DATABASE, cascade=True)
            metastore.writes.create_database(Database(DATABASE))
            metastore.writes.create_table(Table(DATABASE, TABLE, STORAGE, (KEY,)))
            partitions = [Partition(DATABASE, TABLE, (str(n),), STORAGE) for n in range(3)]
            metastore.writes.add_partitions(DATABASE, TABLE, partitions)
            metastore.writes.set_partition_statistics(DATABASE, TABLE, {name: [STATISTICS] for name in NAMES})
            for operation in all_operations().values():
                with suppress(ConnectorError):
                    operation(metastore)
    return answers
