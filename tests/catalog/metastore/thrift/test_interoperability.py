"""A real Hive metastore between our client and one that others wrote (hmsclient, and pymetastore's bindings)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from hmsclient import hmsclient
from hmsclient.genthrift.hive_metastore import ThriftHiveMetastore, ttypes

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, SortColumn
from catalog.metastore.partitions.names import make_partition_name, parse_partition_name
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_database, new_table
from connector_spi.errors import NotSupportedError
from connector_spi.predicate import Domain, TupleDomain
from tests.hms import HiveMetastoreServer

ODD_VALUES = ["a b", "a/b", "a=b", "100%", "x:y", "q?", "star*", 'quo"te', "it's", "{c}", "[d]", "tab\there", "ümläut",
              "back\\slash", "caret^", "#1", "%20", "plus+", "semi;", "a&b", "日本", "~!@$|<>,.()-_"]  # fmt: skip


@pytest.fixture
def other_client(hive_metastore_server: HiveMetastoreServer) -> Iterator[hmsclient.HMSClient]:
    with hmsclient.HMSClient(host="127.0.0.1", port=hive_metastore_server.port) as client:
        yield client


@pytest.mark.slow
def test_we_read_what_another_client_wrote(thrift_metastore: Metastore, other_client: hmsclient.HMSClient) -> None:
    database = new_database(thrift_metastore)
    columns = [ttypes.FieldSchema("id", "int", "key"), ttypes.FieldSchema("s", "struct<a:int>", None)]
    serde = ttypes.SerDeInfo("n", "lib.Serde", {"field.delim": "\u0001"})
    storage = ttypes.StorageDescriptor(
        cols=columns, inputFormat="in", outputFormat="out", compressed=True, numBuckets=3, serdeInfo=serde,
        bucketCols=["id"], sortCols=[ttypes.Order("id", 0)], parameters={"p": "q"}, storedAsSubDirectories=False,
    )  # fmt: skip
    keys = [ttypes.FieldSchema("ds", "string", "day")]
    other_client.create_table(
        ttypes.Table("t", database, "bob", 12, 13, 0, storage, keys, {"x": "y"}, None, None, "MANAGED_TABLE")
    )
    for value in ODD_VALUES:
        # Their wrapper's own add_partition takes other arguments than the call.
        ThriftHiveMetastore.Client.add_partition(
            other_client, ttypes.Partition([value], database, "t", 1, 2, storage, {"numRows": "5"})
        )

    table = thrift_metastore.reads.get_table(database, "t")
    assert table is not None
    assert (table.owner, table.last_access_time) == ("bob", 13)
    assert [(c.name, c.type, c.comment) for c in table.storage.columns] == [
        ("id", "int", "key"), ("s", "struct<a:int>", None),
    ]  # fmt: skip
    assert [(k.name, k.type, k.comment) for k in table.partition_keys] == [("ds", "string", "day")]
    assert table.storage.compressed
    assert table.storage.bucket_count == 3
    assert table.storage.sort_columns == (SortColumn("id", ascending=False),)
    assert table.storage.serde.parameters["field.delim"] == "\u0001"
    assert table.parameters["x"] == "y"
    # The names are Hive's own.
    names = thrift_metastore.reads.get_partition_names(database, "t")
    assert names == sorted(make_partition_name(["ds"], [value]) for value in ODD_VALUES)
    assert {parse_partition_name(name)[0][1] for name in names} == set(ODD_VALUES)
    partitions = thrift_metastore.reads.get_partitions_by_names(database, "t", names)
    assert [one.values for one in partitions] == [(parse_partition_name(name)[0][1],) for name in names]
    assert all(one.parameters["numRows"] == "5" for one in partitions)


@pytest.mark.parametrize("value", ODD_VALUES)
def test_equality_asked_of_the_metastore_finds_the_partition(thrift_metastore: Metastore, value: str) -> None:
    table = new_table(thrift_metastore, ("ds", "string"), ("r", "string"))
    add_partitions(thrift_metastore, table, *[(one, "x") for one in {value, "plain", "100", "ab"}])
    predicate = TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), value)})
    found = thrift_metastore.reads.get_partition_names_by_filter(table.database, "t", predicate, table.partition_keys)
    assert found == [make_partition_name(["ds", "r"], [value, "x"])]


def test_another_client_reads_what_we_wrote(thrift_metastore: Metastore, other_client: hmsclient.HMSClient) -> None:
    table = new_table(thrift_metastore, ("ds", "string"))
    add_partitions(thrift_metastore, table, ("a/b",))
    found = other_client.get_table(table.database, "t")
    assert found.owner == "tester"
    assert [(c.name, c.type, c.comment) for c in found.sd.cols] == [
        (c.name, c.type, c.comment) for c in STORAGE.columns
    ]
    assert found.sd.serdeInfo.serializationLib == STORAGE.serde.serialization_lib
    assert [(o.col, o.order) for o in found.sd.sortCols] == [("id", 1), ("name", 0)]
    assert found.sd.numBuckets == 4
    (partition,) = other_client.get_partitions(table.database, "t", -1)
    assert partition.values == ["a/b"]
    assert partition.sd.location == f"{table.storage.location}/ds=a%2Fb"


def made_elsewhere(other_client: hmsclient.HMSClient, database: str, skewed: ttypes.SkewedInfo) -> None:
    columns = [ttypes.FieldSchema("id", "int", None)]
    storage = ttypes.StorageDescriptor(
        cols=columns, inputFormat="in", outputFormat="out", numBuckets=-1, serdeInfo=ttypes.SerDeInfo("n", "lib", {}),
        bucketCols=[], sortCols=[], parameters={}, skewedInfo=skewed,
    )  # fmt: skip
    other_client.create_table(
        ttypes.Table("t", database, "bob", 12, 13, 77, storage, [], {"EXTERNAL": "TRUE"}, None, None, "EXTERNAL_TABLE")
    )


def test_a_change_keeps_what_we_have_no_word_for(
    thrift_metastore: Metastore, other_client: hmsclient.HMSClient
) -> None:
    database = new_database(thrift_metastore)
    made_elsewhere(other_client, database, ttypes.SkewedInfo([], [], {}))
    found = thrift_metastore.reads.get_table(database, "t")
    assert found is not None
    parameters = found.parameters.with_entries({"team": "web"})
    thrift_metastore.writes.alter_table(database, "t", replace(found, parameters=parameters))
    changed = other_client.get_table_req(ttypes.GetTableRequest(database, "t")).table
    assert (changed.parameters["team"], changed.owner, changed.retention) == ("web", "bob", 77)

    owned = other_client.get_database(database)
    owned.ownerName, owned.ownerType = "admins", ttypes.PrincipalType.ROLE
    other_client.alter_database(database, owned)
    of_ours = thrift_metastore.reads.get_database(database)
    assert of_ours is not None
    thrift_metastore.writes.alter_database(replace(of_ours, parameters=Parameters.of(team="web")))
    told = other_client.get_database(database)
    assert (told.parameters["team"], told.ownerName, told.ownerType) == ("web", "admins", ttypes.PrincipalType.ROLE)


def test_a_skewed_table_is_not_changed(thrift_metastore: Metastore, other_client: hmsclient.HMSClient) -> None:
    database = new_database(thrift_metastore)
    made_elsewhere(other_client, database, ttypes.SkewedInfo(["id"], [["1"]], {}))
    found = thrift_metastore.reads.get_table(database, "t")
    assert found is not None
    with pytest.raises(NotSupportedError, match=r"t is SKEWED BY \(id\).* change it in Hive"):
        thrift_metastore.writes.alter_table(database, "t", replace(found, parameters=Parameters.of(team="web")))
    kept = other_client.get_table_req(ttypes.GetTableRequest(database, "t")).table
    assert kept.sd.skewedInfo.skewedColValues == [["1"]]


def test_a_partition_has_a_format_of_its_own(thrift_metastore: Metastore) -> None:
    table = new_table(thrift_metastore, ("p", "int"))
    own = replace(STORAGE, columns=STORAGE.columns[:1], input_format="other")
    add_partitions(thrift_metastore, table, ("0",))
    from_table = thrift_metastore.reads.get_partitions_by_names(table.database, "t", ["p=0"])[0]
    thrift_metastore.writes.add_partitions(table.database, "t", [replace(from_table, values=("1",), storage=own)])
    found = thrift_metastore.reads.get_partitions_by_names(table.database, "t", ["p=1", "p=0"])
    assert [one.storage.input_format for one in found] == ["other", STORAGE.input_format]
    assert [len(one.storage.columns) for one in found] == [1, 3]
