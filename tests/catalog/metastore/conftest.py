"""Metastores under test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.metastore.factory import Metastore, MetastoreConfig, connect
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


@pytest.fixture(params=["thrift", "embedded"])
def metastore(request: pytest.FixtureRequest) -> Metastore:
    """The same tests for every kind."""
    found = request.getfixturevalue(f"{request.param}_metastore")
    assert isinstance(found, Metastore)
    return found
