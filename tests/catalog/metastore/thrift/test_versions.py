"""Metastores of other releases, catalogs in a metastore, tables that it keeps from us: small servers that say so."""

from __future__ import annotations

from contextlib import closing

import pytest

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.factory import Metastore
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.wrappers.availability import Availability
from connector_spi.errors import MetastoreError, NotSupportedError
from tests.catalog.metastore.operations import DATABASE, TABLE, all_operations
from tests.catalog.metastore.thrift.loopback import serving, speak_thrift
from tests.catalog.metastore.thrift.test_failures import SmallMetastore


def connected(uri: str, catalog: str = "") -> Metastore:
    return connect_thrift(
        ThriftConfig(uri=uri, read_timeout=20, max_retries=0, availability=Availability(catalog=catalog))
    )


def newer_table(request: ttypes.GetTableRequest) -> ttypes.Table:
    return ttypes.Table(request.tblName, request.dbName, sd=ttypes.StorageDescriptor(), parameters={})


class Old(SmallMetastore):
    """Has what Hive 1.2 and 2.1 have."""

    def create_table(self, tbl: ttypes.Table) -> None:
        self._called("create_table")


class New(SmallMetastore):
    """Has what Hive 4.0.1 and later have."""

    def get_partitions_by_names_req(self, req: ttypes.GetPartitionsByNamesRequest) -> ttypes.GetPartitionsByNamesResult:
        self._called("get_partitions_by_names_req")
        found = self.get_partitions_by_names(req.db_name, req.tbl_name, req.names)
        return ttypes.GetPartitionsByNamesResult(found)


@pytest.mark.parametrize(
    ("server", "lacking", "operation", "made"),
    [
        (Old, ["get_table_req"], "reads.get_table", "get_table"),
        (Old, ["create_table_req"], "writes.create_table", "create_table"),
        (New, ["get_table"], "reads.get_table", "get_table_req"),
        (New, ["get_partitions_by_names"], "reads.get_partitions_by_names", "get_partitions_by_names_req"),
    ],
)
def test_what_a_release_lacks_another_call_does(
    server: type[SmallMetastore], lacking: list[str], operation: str, made: str
) -> None:
    small = server()
    with (
        serving(speak_thrift(small, lacking=lacking[0], newer=server is New)) as uri,
        closing(connected(uri)) as metastore,
    ):
        for _ in range(3):
            all_operations()[operation](metastore)
        assert small.calls.count(made) == 3
        # What a connection was found to lack is not asked for again.
        asked = metastore.calls.by_method()
        assert sum(asked[name].count for name in lacking if name in asked) <= 1


def test_a_metastore_with_none_of_the_calls_is_told_by_name() -> None:
    class Neither(SmallMetastore):
        pass

    handle = speak_thrift(Neither(), lacking="get_all_databases")
    with (
        serving(handle) as uri,
        closing(connected(uri)) as metastore,
        pytest.raises(MetastoreError, match="has no call get_all_databases: its release of Hive") as raised,
    ):
        metastore.reads.get_databases()
    assert raised.value.code == error_codes.NO_SUCH_CALL


@pytest.mark.parametrize(("access", "words"), [(1, "none"), (4, "write only")])
def test_a_table_that_is_kept_from_us_says_what_it_asks_for(access: int, words: str) -> None:
    class Strict(SmallMetastore):
        def get_table_req(self, req: ttypes.GetTableRequest) -> ttypes.GetTableResult:
            assert "HIVEFULLACIDREAD" in req.processorCapabilities
            table = newer_table(req)
            table.accessType = access
            table.requiredReadCapabilities = ["HIVESECRETREAD"]
            return ttypes.GetTableResult(table)

    with (
        serving(speak_thrift(Strict(), newer=True)) as uri,
        closing(connected(uri)) as metastore,
        pytest.raises(NotSupportedError, match=rf"{words}\): a reader needs the abilities HIVESECRETREAD") as raised,
    ):
        metastore.reads.get_table(DATABASE, TABLE)
    assert raised.value.code == error_codes.NOT_READABLE


@pytest.mark.parametrize(
    ("kind", "words"), [(2, "read only"), (8, "read and write"), (16, "of the unknown kind 16"), (None, None)]
)
def test_what_the_metastore_lets_us_do_with_a_table_is_told_in_words(kind: int | None, words: str | None) -> None:
    class Telling(SmallMetastore):
        def get_table_req(self, req: ttypes.GetTableRequest) -> ttypes.GetTableResult:
            table = newer_table(req)
            table.accessType = kind
            table.requiredReadCapabilities = ["HIVEBUCKET2", "EXTREAD"] if kind == 2 else None
            table.requiredWriteCapabilities = ["HIVEFULLACIDWRITE"] if kind == 2 else []
            return ttypes.GetTableResult(table)

    with serving(speak_thrift(Telling(), newer=True)) as uri, closing(connected(uri)) as metastore:
        found = metastore.reads.get_table(DATABASE, TABLE)
    assert found is not None
    told = found.access.properties()
    assert told.get("metastore.access-type") == words
    if kind == 2:
        assert told["metastore.required-read-capabilities"] == "EXTREAD, HIVEBUCKET2"
        assert told["metastore.required-write-capabilities"] == "HIVEFULLACIDWRITE"
    else:
        assert len(told) == (words is not None)


def test_every_request_names_the_catalog() -> None:
    class Catalogs(SmallMetastore):
        def __init__(self) -> None:
            super().__init__()
            self.names: list[str | None] = []

        def get_databases(self, pattern: str) -> list[str]:
            self.names.append(pattern)
            return ["there"]

        def get_table_req(self, req: ttypes.GetTableRequest) -> ttypes.GetTableResult:
            self.names.append(req.catName)
            return super().get_table_req(req)

        def get_partition_names(self, db_name: str, tbl_name: str, max_parts: int) -> list[str]:
            self.names.append(db_name)
            return super().get_partition_names(db_name, tbl_name, max_parts)

        def add_partitions_req(self, request: ttypes.AddPartitionsRequest) -> ttypes.AddPartitionsResult:
            self.names += [request.catName, *(one.catName for one in request.parts)]
            return ttypes.AddPartitionsResult()

        def open_txns(self, rqst: ttypes.OpenTxnRequest) -> ttypes.OpenTxnsResponse:
            return ttypes.OpenTxnsResponse([7])

    small = Catalogs()
    with serving(speak_thrift(small)) as uri, closing(connected(uri, "spark")) as metastore:
        assert metastore.reads.get_databases() == ["there"]
        table = metastore.reads.get_table(DATABASE, TABLE)
        assert table is not None
        metastore.reads.get_partition_names(DATABASE, TABLE)
        all_operations()["writes.add_partitions"](metastore)
        assert metastore.transactions.open_transaction("ann", "q") == 7
    assert small.names == ["@spark#", "spark", f"@spark#{DATABASE}", "spark", "spark"]


def test_many_tables_are_asked_for_at_once() -> None:
    class Bulk(SmallMetastore):
        def get_table_objects_by_name(self, dbname: str, tbl_names: list[str]) -> list[ttypes.Table]:
            self._called("get_table_objects_by_name")
            if "secret" in tbl_names:
                raise ttypes.MetaException("your client does not support it")
            return [self.get_table(dbname, name) for name in tbl_names]

        def get_table_req(self, req: ttypes.GetTableRequest) -> ttypes.GetTableResult:
            table = newer_table(req)
            if req.tblName == "secret":
                table.accessType, table.requiredReadCapabilities = 1, ["HIVESECRETREAD"]
            return ttypes.GetTableResult(table)

    small = Bulk()
    lacking = "get_table_objects_by_name_req"
    with (
        serving(speak_thrift(small, lacking=lacking, newer=True)) as uri,
        closing(connected(uri)) as metastore,
    ):
        names = [f"t{n}" for n in range(601)]
        assert [table.name for table in metastore.reads.get_tables(DATABASE, names)] == names
        assert small.calls.count("get_table_objects_by_name") == 3
        # What is kept from us hides no other.
        assert [table.name for table in metastore.reads.get_tables(DATABASE, ["a", "secret", "b"])] == ["a", "b"]
