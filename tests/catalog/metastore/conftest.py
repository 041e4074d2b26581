"""Metastores under test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from catalog.metastore.factory import Metastore, MetastoreConfig, connect
from catalog.metastore.model import Database, Partition, Table
from connector_spi.errors import ConnectorError
from tests.catalog.metastore.objects import STORAGE
from tests.catalog.metastore.operations import DATABASE, KEY, NAMES, STATISTICS, TABLE, all_operations
from tests.catalog.metastore.thrift.fault_proxy import recording
from tests.hms import HiveMetastoreServer


@pytest.fixture
def thrift_metastore(hive_metastore_server: HiveMetastoreServer) -> Iterator[Metastore]:
    metastore = connect(MetastoreConfig(uri=hive_metastore_server.uri, username="tester"))
    yield metastore
    metastore.close()


@pytest.fixture
def embedded_metastore(tmp_path: Path) -> Iterator[Metastore]:
    metastore = connect(MetastoreConfig(kind="embedded", embedded_path=str(tmp_path / "store" / "metastore.db")))
    yield metastore
    metastore.close()


@pytest.fixture
def makes_managed_tables(request: pytest.FixtureRequest, metastore: Metastore) -> bool:
    """Whether ``metastore`` keeps a managed table that is not transactional; Hive 4 makes an external one of it."""
    if request.node.callspec.params["metastore"] == "embedded":
        return True
    server: HiveMetastoreServer = request.getfixturevalue("hive_metastore_server")
    return not server.release.startswith("4.")


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
        metastore = connect(MetastoreConfig(uri=uri, username="tester"))
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
