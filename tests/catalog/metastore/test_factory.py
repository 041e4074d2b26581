"""Properties of a catalog to a metastore."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from catalog.metastore.factory import Metastore
from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.model import Database
from catalog.metastore.thrift.connections.endpoints import ThriftEndpoint, parse_uris
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import parse_properties
from tests.catalog.metastore.thrift.loopback import never_answer, serving


def made(properties: dict[str, str]) -> Metastore:
    return metastore_kinds().open(parse_properties(metastore_kinds().properties, properties, str))


def test_embedded(tmp_path: Path) -> None:
    path = tmp_path / "warehouse" / "metastore.db"
    metastore = made({"hive.metastore": "embedded", "hive.metastore.embedded.path": str(path)})
    with closing(metastore):
        found = metastore.reads.get_database("default")
        assert not path.parent.exists()
        metastore.writes.create_database(Database("sales"))
        assert metastore.reads.get_database("default") == found
    assert path.exists()
    assert found is not None
    assert found.location == path.parent.as_uri()


def test_thrift_timeouts_have_units() -> None:
    with serving(never_answer) as uri:
        properties = {
            "hive.metastore.uri": uri,
            "hive.metastore.thrift.client.read-timeout": "150ms",
            "hive.metastore.thrift.client.connect-timeout": "2.5s",
            "hive.metastore.thrift.client.max-retries": "0",
        }
        with closing(made(properties)) as metastore, pytest.raises(OSError, match=r"within 0\.15 s"):
            metastore.reads.get_databases()


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({}, "hive.metastore.uri"),
        ({"hive.metastore": "glue"}, "one of thrift, embedded"),
        ({"hive.metastore": "embedded"}, "hive.metastore.embedded.path"),
        ({"hive.metastore.uri": "ftp://h:1"}, "thrift://host:port"),
        ({"hive.metastore.uri": "thrift://h:99999"}, "thrift://host:port"),
        ({"hive.metastore.uri": " , "}, "empty"),
        ({"hive.metastore.uri": "h", "hive.metastore.thrift.client.read-timeout": "10"}, "duration such as 30s"),
        ({"hive.metastore.uri": "h", "hive.metastore.thrift.client.read-timeout": "0s"}, "met '0s'"),
        ({"hive.metastore.uri": "h", "hive.metastore.thrift.client.max-retries": "-1"}, "from 0, met '-1'"),
    ],
)
def test_what_is_wrong_is_said(properties: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidPropertyError, match=words):
        made(properties)


def test_addresses() -> None:
    assert parse_uris("thrift://a:1, b ,thrift://[::1]:2/") == (
        ThriftEndpoint("a", 1),
        ThriftEndpoint("b", 9083),
        ThriftEndpoint("::1", 2),
    )
    assert str(ThriftEndpoint("::1", 2)) == "thrift://[::1]:2"


def test_making_a_client_connects_to_nothing() -> None:
    connect_thrift(ThriftConfig(uri="thrift://no-such-host.invalid:1")).close()
