"""Metastores that are down, slow, broken or of another kind; several addresses; what a plan costs on the wire."""

from __future__ import annotations

import gc
import socket
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ttypes

from catalog.metastore import error_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import ErrorCode, MetastoreError
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from tests.catalog.metastore.thrift.loopback import never_answer, serving, speak_thrift
from tests.hms import free_port


class SmallMetastore:
    """Serves one table of 10,000 partitions."""

    def __init__(self, name: str = "only") -> None:
        self.name = name
        self.calls: list[str] = []
        self.lock = threading.Lock()
        self.storage = ttypes.StorageDescriptor(cols=[ttypes.FieldSchema(f"c{n}", "int") for n in range(30)])

    def set_ugi(self, user_name: str, group_names: list[str]) -> list[str]:
        return group_names

    def get_all_databases(self) -> list[str]:
        self._called("get_all_databases")
        return [self.name]

    def get_table(self, dbname: str, tbl_name: str) -> ttypes.Table:
        self._called("get_table")
        keys = [ttypes.FieldSchema("ds", "string"), ttypes.FieldSchema("n", "int")]
        return ttypes.Table(tbl_name, dbname, sd=self.storage, partitionKeys=keys, parameters={})

    def get_table_req(self, req: ttypes.GetTableRequest) -> ttypes.GetTableResult:
        self._called("get_table_req")
        return ttypes.GetTableResult(self.get_table(req.dbName, req.tblName))

    def get_partition_names(self, db_name: str, tbl_name: str, max_parts: int) -> list[str]:
        self._called("get_partition_names")
        assert max_parts == -1
        return [f"ds=2024-{n % 7}/n={n}" for n in range(10_000)]

    def get_partition_names_ps(self, db_name: str, tbl_name: str, part_vals: list[str], max_parts: int) -> list[str]:
        self._called("get_partition_names_ps")
        return [f"ds={part_vals[0]}/n={n}" for n in range(10_000) if f"2024-{n % 7}" == part_vals[0]]

    def get_partitions_by_names(self, db_name: str, tbl_name: str, names: list[str]) -> list[ttypes.Partition]:
        self._called("get_partitions_by_names")
        values = [[part.partition("=")[2] for part in name.split("/")] for name in names]
        return [ttypes.Partition(one, db_name, tbl_name, 1, 2, self.storage, {}) for one in values]

    def _called(self, name: str) -> None:
        with self.lock:
            self.calls.append(name)


def _connect(uri: str, retries: int = 0, read_timeout: float = 0.3) -> Metastore:
    return connect_thrift(ThriftConfig(uri=uri, connect_timeout=2, read_timeout=read_timeout, max_retries=retries))


def _fails(metastore: Metastore, code: ErrorCode, *words: str) -> None:
    with closing(metastore), pytest.raises(MetastoreError) as raised:
        metastore.reads.get_databases()
    assert raised.value.code == code
    for word in words:
        assert word in raised.value.message


def test_down() -> None:
    uri = f"thrift://127.0.0.1:{free_port()}"
    _fails(_connect(uri), error_codes.CONNECTION_FAILED, uri, "refused", "hive.metastore.uri")


def test_every_address_down_says_what_each_said() -> None:
    first, second = (f"thrift://127.0.0.1:{free_port()}" for _ in range(2))
    _fails(_connect(f"{first},{second}"), error_codes.CONNECTION_FAILED, f"{first}: ", f"{second}: ")


def test_unknown_host() -> None:
    _fails(_connect("thrift://no-such-host.invalid:9083"), error_codes.CONNECTION_FAILED, "no-such-host.invalid")


def test_slow() -> None:
    with serving(never_answer) as uri:
        _fails(_connect(uri), error_codes.TIMED_OUT, uri, "no answer within 0.3 s")


def test_slow_after_a_good_beginning() -> None:
    awaited = threading.Event()

    class Slow(SmallMetastore):
        def get_all_databases(self) -> list[str]:
            awaited.wait(20)
            return []

    with serving(speak_thrift(Slow())) as uri:
        _fails(_connect(uri), error_codes.TIMED_OUT, uri, "get_all_databases", "no answer within 0.3 s")
        awaited.set()


def test_dies_in_the_middle_of_an_answer() -> None:
    with serving(speak_thrift(SmallMetastore(), calls=1)) as uri:
        _fails(_connect(uri), error_codes.CONNECTION_FAILED, uri, "closed the connection")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\xff" * 64,
        b"\x80\x01\x00\x02\x7f\xff\xff\xff",
        b"\x15\x03\x03\x00\x02\x02\x46",
    ],
    ids=["http", "ones", "great length", "tls alert"],
)
def test_another_kind_of_server(answer: bytes) -> None:
    def reply(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_RDWR)

    with serving(reply) as uri:
        _fails(_connect(uri), error_codes.CONNECTION_FAILED, uri)


def test_the_next_address_answers_and_is_remembered() -> None:
    down = f"thrift://127.0.0.1:{free_port()}"
    with serving(speak_thrift(SmallMetastore("up"))) as up:
        metastore = _connect(f"{down},{up}", read_timeout=5)
        assert metastore.reads.get_databases() == ["up"]
        assert metastore.reads.get_databases() == ["up"]
        metastore.close()


def test_when_one_dies_a_read_goes_on_at_the_next() -> None:
    dying, other = speak_thrift(SmallMetastore("first"), calls=2), speak_thrift(SmallMetastore("second"))
    with (
        serving(dying) as first,
        serving(other) as second,
        closing(_connect(f"{first},{second}", retries=1, read_timeout=5)) as metastore,
    ):
        assert metastore.reads.get_databases() == ["first"]
        assert metastore.reads.get_databases() == ["second"]


class _Refusing(SmallMetastore):
    """Answers each question for its databases with an error."""

    def __init__(self, says: str) -> None:
        super().__init__()
        self._says = says

    def get_all_databases(self) -> list[str]:
        super().get_all_databases()
        raise ttypes.MetaException(self._says)


@pytest.mark.parametrize(
    ("said", "tries"),
    [
        ("Exception rolling back to savepoint s1", 3),
        ("javax.jdo.JDODataStoreException: x", 3),
        ("JDOException: x Root cause: java.lang.StackOverflowError", 1),
        ("no such setting", 1),
    ],
)
def test_a_read_that_the_metastores_database_ended_is_repeated(said: str, tries: int) -> None:
    failing = _Refusing(said)
    with serving(speak_thrift(failing)) as uri:
        _fails(_connect(uri, retries=2, read_timeout=5), error_codes.REFUSED_REQUEST, said)
    assert failing.calls == ["get_all_databases"] * tries


def test_an_error_that_was_answered_does_not_wait_for_the_garbage_collector() -> None:
    """Its frames hold the connection's answer, and with it the socket."""
    gc.disable()
    try:
        refusing = speak_thrift(_Refusing("no such setting"))
        with serving(refusing) as uri, closing(_connect(uri, read_timeout=5)) as metastore:
            with pytest.raises(MetastoreError) as raised:
                metastore.reads.get_databases()
            error = weakref.ref(raised.value)
            del raised
            assert error() is None
    finally:
        gc.enable()


def test_a_connection_that_died_while_idle_is_not_used() -> None:
    connections: list[socket.socket] = []
    answer = speak_thrift(SmallMetastore())

    def handle(connection: socket.socket) -> None:
        connections.append(connection)
        answer(connection)

    with serving(handle) as uri:
        metastore = _connect(uri, read_timeout=5)
        metastore.reads.get_databases()
        connections[0].shutdown(socket.SHUT_RDWR)
        time.sleep(0.05)
        assert metastore.reads.get_databases() == ["only"]
        assert len(connections) == 2
        metastore.close()


def test_ten_threads_share_a_pool() -> None:
    opened = []
    answer = speak_thrift(SmallMetastore())

    def handle(connection: socket.socket) -> None:
        opened.append(connection)
        answer(connection)

    with serving(handle) as uri:
        metastore = _connect(uri, read_timeout=20)

        def ask(thread: int) -> bool:
            names = [f"ds=2024-{n % 7}/n={n}" for n in range(thread * 50, thread * 50 + 50)]
            found = metastore.reads.get_partitions_by_names("d", "t", names)
            return [f"ds={one.values[0]}/n={one.values[1]}" for one in found] == names

        with ThreadPoolExecutor(10) as pool:
            assert all(pool.map(ask, list(range(10)) * 5))
        assert len(opened) <= 10
        metastore.close()


@pytest.mark.parametrize("missing", ["get_table", "get_table_req"])
def test_old_and_new_metastores_lack_a_call(missing: str) -> None:
    small = SmallMetastore()
    with serving(speak_thrift(small, lacking=missing)) as uri:
        metastore = _connect(uri, read_timeout=5)
        for _ in range(2):
            found = metastore.reads.get_table("d", "t")
            assert found is not None
            assert found.name == "t"
        # What a metastore lacks is asked for once.
        assert metastore.calls.total().count == (3 if missing == "get_table_req" else 2)
        metastore.close()


class _Narrow(SmallMetastore):
    """Its database takes few conditions at a time."""

    def get_partitions_by_names(self, database: str, table: str, names: list[str]) -> list[ttypes.Partition]:
        if len(names) > 100:
            self.calls.append("refused")
            raise ttypes.MetaException(f"query: SELECT {' OR '.join(names)} Root cause: java.lang.StackOverflowError")
        found: list[ttypes.Partition] = super().get_partitions_by_names(database, table, names)
        return found


def test_too_many_names_are_asked_for_in_parts() -> None:
    narrow = _Narrow()
    with serving(speak_thrift(narrow)) as uri:
        metastore = _connect(uri, read_timeout=5)
        names = [f"ds=2024-{n % 7}/n={n}" for n in range(400)]
        found = metastore.reads.get_partitions_by_names("d", "t", names)
        assert [f"ds={one.values[0]}/n={one.values[1]}" for one in found] == names
        metastore.close()
    assert narrow.calls == ["refused", *["get_partitions_by_names"] * 4]


def test_a_statement_of_the_metastores_database_is_not_told_whole() -> None:
    said = f"SELECT {'A OR ' * 10_000} Root cause: no memory"
    with (
        serving(speak_thrift(_Refusing(said))) as uri,
        closing(_connect(uri, read_timeout=5)) as metastore,
        pytest.raises(MetastoreError) as caught,
    ):
        metastore.reads.get_databases()
    message = caught.value.message
    assert "SELECT A OR" in message
    assert message.endswith("Root cause: no memory")
    assert len(message) < 1500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domains", "kept", "names_call"),
    [
        (
            {"n": Domain.create(ValueSet.of_ranges(pa.int32(), [Range.less_than(pa.int32(), 4000)]), False)},
            4000,
            "get_partition_names",
        ),
        ({"ds": Domain.single_value(pa.string(), "2024-3")}, 1429, "get_partition_names_ps"),
    ],
)
def test_planning_ten_thousand_partitions_takes_three_calls(
    domains: dict[str, Domain], kept: int, names_call: str
) -> None:
    small = SmallMetastore()
    with serving(speak_thrift(small)) as uri:
        metastore = _connect(uri, read_timeout=60)
        table = metastore.reads.get_table("d", "t")
        assert table is not None
        small.calls.clear()
        predicate = TupleDomain.with_column_domains(domains)
        names = metastore.reads.get_partition_names_by_filter("d", "t", predicate, table.partition_keys)
        partitions = metastore.reads.get_partitions_by_names("d", "t", names)
        assert len(partitions) == kept
        assert small.calls == [names_call, "get_partitions_by_names"]
        assert {name: one.count for name, one in metastore.calls.by_method().items()} == {
            "get_table_req": 1,
            names_call: 1,
            "get_partitions_by_names": 1,
        }
        metastore.close()
