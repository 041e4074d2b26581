from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint

import pytest

from catalog.metastore.client import MetastoreClient
from catalog.metastore.embedded.factory import EmbeddedMetastoreFactory
from catalog.metastore.factory import MetastoreClients, MetastoreFactory
from catalog.metastore.kinds import METASTORE_ENTRY_POINTS, find_metastores
from catalog.metastore.model import Database, Partition, Table
from connector_spi.connector import SPI_VERSION
from connector_spi.errors import InvalidPropertyError, NotSupportedError
from connector_spi.properties import PropertyMetadata, PropertyValues, parse_properties, string_property

HERE = "tests.catalog.metastore.test_kinds"
PLACE = string_property("small.place", "Where it is.")


class SmallMetastore(MetastoreClient):
    """No more than what has to be there."""

    def get_databases(self) -> list[str]:
        return ["default"]

    def get_database(self, name: str) -> Database | None:
        return None

    def get_table_names(self, database: str) -> list[str]:
        return []

    def get_table(self, database: str, name: str) -> Table | None:
        return None

    def get_partition_names(self, database: str, table: str) -> list[str]:
        return ["p=1", "p=2"]

    def get_partitions_by_names(self, database: str, table: str, names: object) -> list[Partition]:
        return []


class SmallFactory(MetastoreFactory):
    name = "small"
    spi_version = SPI_VERSION

    @property
    def properties(self) -> Sequence[PropertyMetadata[object]]:
        return (PLACE,)

    def create(self, config: PropertyValues) -> MetastoreClients:
        return MetastoreClients(SmallMetastore(), f"small at {config.get(PLACE)}")


class TakenFactory(SmallFactory):
    name = "thrift"


class ClashingFactory(SmallFactory):
    name = "clashing"

    @property
    def properties(self) -> Sequence[PropertyMetadata[object]]:
        return (string_property("hive.metastore.uri", "Taken."),)


class OldFactory(SmallFactory):
    spi_version = 1


class SilentFactory(MetastoreFactory):
    name = "silent"

    def create(self, config: PropertyValues) -> MetastoreClients:
        raise AssertionError(config)


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, METASTORE_ENTRY_POINTS)


def test_a_metastore_that_only_reads_needs_no_more_than_reads() -> None:
    kinds = find_metastores([point("small", f"{HERE}:SmallFactory")] * 2)
    assert (list(kinds.factories), kinds.failures) == (["thrift", "embedded", "small"], ())
    given = {"hive.metastore": "SMALL", "small.place": "here"}
    metastore = kinds.open(parse_properties(kinds.properties, given, str))
    assert metastore.description == "small at here"
    assert metastore.as_user("ann") is metastore
    assert metastore.reads.get_table_statistics("d", "t", ["a"]) == []
    assert metastore.reads.get_partition_statistics("d", "t", ["p=1"], ["a"]) == {}
    with pytest.raises(NotSupportedError, match=r"cannot create a schema: the metastore \(small at here\) can only be"):
        metastore.writes.create_database(Database("d"))
    with pytest.raises(NotSupportedError, match=r"small at here\) has no transactions") as met:
        metastore.transactions.get_valid_transactions()
    assert met.value.code.name == "METASTORE_NO_WRITE_IDS"
    metastore.close()


def test_a_plugin_that_fails_is_named_and_hinders_no_other() -> None:
    kinds = find_metastores(
        [
            point("gone", "no_such_package.plugin:Factory"),
            point("strange", "pathlib:Path"),
            point("taken", f"{HERE}:TakenFactory"),
            point("clashing", f"{HERE}:ClashingFactory"),
            point("small", f"{HERE}:SmallFactory"),
            point("old", f"{HERE}:OldFactory"),
            point("silent", f"{HERE}:SilentFactory"),
        ]
    )
    assert list(kinds.factories) == ["thrift", "embedded", "small"]
    words = (
        "its property 'hive.metastore.uri' is one of the metastore 'thrift'",
        "no_such_package",
        f"it was written for version 1 of the SPI, this is version {SPI_VERSION}; install a release",
        "SilentFactory does not say for which version of the SPI it was written",
        "PosixPath",
        "already",
    )
    for failure, word in zip(kinds.failures, words, strict=True):
        assert word in failure
    with pytest.raises(
        InvalidPropertyError, match=r"one of thrift, embedded, small, .*'gone' of no_such_package.*'smal'"
    ):
        parse_properties(kinds.properties, {"hive.metastore": "smal"}, str)
    assert parse_properties(kinds.properties, {"hive.metastore": "embedded"}, str).get(kinds.kind) == "embedded"


def test_the_properties_of_the_embedded_kind() -> None:
    names = ["hive.metastore.embedded.path", "hive.metastore.embedded.users-in-admin-role"]
    assert [one.name for one in EmbeddedMetastoreFactory().properties] == names
