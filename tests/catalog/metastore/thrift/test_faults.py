"""Every call over a bad network ends in a result or a ``MetastoreError``, in time, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from catalog.metastore import error_codes
from catalog.metastore.calls.retry import RetryPolicy
from catalog.metastore.factory import Metastore
from catalog.metastore.thrift.connections.endpoints import ThriftEndpoint
from catalog.metastore.thrift.connections.pool import ConnectionPool
from catalog.metastore.thrift.connections.retry_state import RetryState
from catalog.metastore.thrift.errors import Timeouts
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.wrappers.availability import Availability
from connector_spi.errors import ConnectorError, MetastoreError
from tests.catalog.metastore.operations import DATABASE, TABLE, all_operations
from tests.catalog.metastore.thrift.fault_proxy import Fault, fault_proxy, replaying, wait_until
from tests.catalog.metastore.thrift.loopback import never_answer, serving, speak_thrift
from tests.catalog.metastore.thrift.test_failures import SmallMetastore
from tests.hms import free_port

# Calls wait until their limits, and are tried again.
WAITS = [
    Fault("trickles", trickle=0.05),
    Fault("silent", silent=True),
    Fault("silent later", silent=True, unharmed=60),
]
FAULTS = [
    Fault("delays", delay=30),
    Fault("cut at once", cut_after=1),
    Fault("cut in set_ugi", cut_after=20),
    Fault("cut in the answer", cut_after=80, unharmed=60),
    Fault("garbage", garbage=b"HTTP/1.1 503 Service Unavailable\r\n\r\n"),
    Fault("garbage in the answer", garbage=bytes(range(256)), unharmed=60),
    *(pytest.param(fault, marks=pytest.mark.slow) for fault in WAITS),
    Fault("reset", reset=True),
]
HANGS = 60
"""Seconds after which a call counts as one that never ends; the limits in use are far below."""


def impatient(uri: str, **more: object) -> Metastore:
    limits: dict[str, object] = {"max_wait": 1.0, "min_backoff": 0.01, "max_backoff": 0.02, **more}
    availability = Availability(**limits)  # type: ignore[arg-type]  # fields by name
    return connect_thrift(ThriftConfig(uri=uri, connect_timeout=0.5, read_timeout=0.4, availability=availability))


def sockets() -> set[str]:
    links = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(link))
        except OSError:
            continue
    return {link for link in links if link.startswith("socket:")}


def watchdogs() -> int:
    return sum(thread.name.startswith("lakeport-metastore") for thread in threading.enumerate())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts sockets in /proc")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_call_ends_and_leaves_nothing_behind(fault: Fault) -> None:
    before, threads = sockets(), watchdogs()
    with serving(speak_thrift(SmallMetastore())) as backend:
        port = int(backend.rpartition(":")[2])
        with fault_proxy(port, fault) as proxy:
            metastore = impatient(proxy.uri, max_connections=16)
            operations = all_operations()
            with ThreadPoolExecutor(16) as pool:
                asked = {name: pool.submit(call, metastore) for name, call in operations.items()}
                for name, answer in asked.items():
                    # ConnectorError: one that the server itself gave, where the fault spared the call.
                    error = answer.exception(HANGS)
                    assert error is None or isinstance(error, ConnectorError), (name, error)
                    assert not isinstance(error, MetastoreError) or proxy.uri in error.message, (name, error)
            proxy.fault = Fault()
            assert metastore.reads.get_databases() == ["only"]
            metastore.close()
    wait_until(lambda: sockets() <= before)
    assert watchdogs() <= threads


def test_many_failures_use_up_no_connection() -> None:
    with (
        serving(speak_thrift(SmallMetastore())) as backend,
        fault_proxy(int(backend.rpartition(":")[2]), Fault(cut_after=1)) as proxy,
        closing(impatient(proxy.uri, max_connections=2)) as metastore,
    ):
        for _ in range(6):
            with pytest.raises(MetastoreError):
                metastore.reads.get_databases()
        proxy.fault = Fault()
        assert metastore.reads.get_databases() == ["only"]


@pytest.mark.slow
def test_one_byte_at_a_time_is_not_waited_for_forever() -> None:
    with (
        serving(speak_thrift(SmallMetastore())) as backend,
        fault_proxy(int(backend.rpartition(":")[2]), Fault(trickle=0.1, unharmed=60)) as proxy,
        closing(impatient(proxy.uri)) as metastore,
        pytest.raises(MetastoreError, match="no whole answer within") as raised,
    ):
        metastore.reads.get_partition_names(DATABASE, TABLE)
    assert raised.value.code == error_codes.TIMED_OUT


def test_a_silent_address_is_left_for_one_that_answers() -> None:
    with (
        serving(never_answer) as silent,
        serving(speak_thrift(SmallMetastore("other"))) as other,
        closing(impatient(f"{silent},{other}", max_wait=20.0)) as metastore,
    ):
        assert metastore.reads.get_databases() == ["other"]


@pytest.mark.slow
def test_the_error_names_every_address_and_what_it_said() -> None:
    refusing = f"thrift://127.0.0.1:{free_port()}"
    with (
        serving(never_answer) as silent,
        serving(speak_thrift(SmallMetastore(), calls=1)) as dying,
        closing(impatient(f"{refusing},{silent},{dying}", max_wait=20.0)) as metastore,
        pytest.raises(MetastoreError) as raised,
    ):
        metastore.reads.get_databases()
    said = raised.value.message
    assert f"{refusing}: Connection refused" in said
    assert f"{silent}: no answer within 0.4 s" in said
    assert f"{dying}: it closed the connection" in said


def test_a_write_whose_answer_is_lost_is_not_repeated() -> None:
    class Dying(SmallMetastore):
        def open_txns(self, rqst: object) -> None:
            self._called("open_txns")
            raise OSError("dies")

        def create_database(self, database: object) -> None:
            self._called("create_database")

    small = Dying()
    with (
        serving(speak_thrift(small)) as backend,
        fault_proxy(int(backend.rpartition(":")[2]), Fault(cut_after=61, unharmed=60)) as proxy,
        closing(impatient(proxy.uri)) as metastore,
        pytest.raises(MetastoreError, match="whether it was done is not known"),
    ):
        metastore.transactions.open_transaction("ann", "q1")
    assert small.calls == ["open_txns"]


def test_a_write_is_sent_once_a_server_is_back() -> None:
    port = free_port()
    opened: list[socket.socket] = []

    class Reserved(SmallMetastore):
        def create_database(self, database: object) -> None:
            self._called("create_database")

    small = Reserved()
    with serving(speak_thrift(small)) as backend:

        def start() -> None:
            time.sleep(0.3)
            listener = socket.create_server(("127.0.0.1", port))
            opened.append(listener)
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", int(backend.rpartition(":")[2]))) as behind:
                relay = threading.Thread(target=_relay, args=(client, behind))
                relay.start()
                _relay(behind, client)
                relay.join()

        thread = threading.Thread(target=start)
        thread.start()
        with closing(
            impatient(f"thrift://127.0.0.1:{port}", max_wait=30.0, min_backoff=0.5, max_backoff=1.0)
        ) as metastore:
            operation = all_operations()["writes.create_database"]
            operation(metastore)
        thread.join()
        opened[0].close()
    assert small.calls == ["create_database"]


def _relay(source: socket.socket, sink: socket.socket) -> None:
    while data := source.recv(4096):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def test_after_a_restart_old_connections_are_not_trusted() -> None:
    with (
        serving(speak_thrift(SmallMetastore())) as backend,
        fault_proxy(int(backend.rpartition(":")[2]), Fault(silent=True, unharmed=200)) as proxy,
        closing(connect_thrift(ThriftConfig(uri=proxy.uri, max_retries=0, read_timeout=5))) as metastore,
    ):
        metastore.reads.get_databases()
        proxy.fault = Fault()
        [idle] = metastore.reads._connections._pool._idle  # type: ignore[attr-defined]  # no other way to look
        # The server's machine is gone without a word; its successor resets what it does not know.
        idle.canceller.cut("restart")
        idle.canceller.why_cut = None
        assert metastore.reads.get_databases() == ["only"]


def test_threads_wait_for_a_free_connection_and_not_for_ever() -> None:
    pool = ConnectionPool((ThriftEndpoint("localhost", 1),), 1)
    assert pool.take(RetryState("first", Timeouts(1, 1, HANGS), RetryPolicy())) is None
    with pytest.raises(MetastoreError, match=r"second: all 1 connections .*max-connections") as raised:
        pool.take(RetryState("second", Timeouts(1, 1, 0.05), RetryPolicy()))
    assert raised.value.code == error_codes.TIMED_OUT
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(pool.take, RetryState("third", Timeouts(1, 1, HANGS), RetryPolicy()))
        pool.give_up()
        assert waiting.result(HANGS) is None


@pytest.mark.parametrize("waits_for", ["an answer", "a connection", "the next try"])
def test_closing_ends_calls_that_wait(waits_for: str) -> None:
    with serving(never_answer) as silent, ThreadPoolExecutor(2) as pool:
        uri = f"thrift://127.0.0.1:{free_port()}" if waits_for == "the next try" else silent
        availability = Availability(max_connections=1, max_wait=HANGS, min_backoff=HANGS, max_backoff=HANGS)
        config = ThriftConfig(uri=uri, connect_timeout=HANGS, read_timeout=HANGS, availability=availability)
        metastore = connect_thrift(config)
        asked = [pool.submit(metastore.reads.get_databases) for _ in range(2 if waits_for == "a connection" else 1)]
        time.sleep(0.2)
        metastore.close()
        for one in asked:
            error = one.exception(HANGS)
            assert isinstance(error, MetastoreError)
            assert error.code == error_codes.CLOSED
        with pytest.raises(MetastoreError, match="was closed"):
            metastore.reads.get_databases()


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """Shells start what runs in the background with interrupts ignored, and Python leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_ends_a_call_that_waits() -> None:
    with serving(never_answer) as uri:
        metastore = connect_thrift(ThriftConfig(uri=uri, read_timeout=HANGS))
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with closing(metastore), pytest.raises(KeyboardInterrupt):
            metastore.reads.get_databases()
        timer.join()


@pytest.mark.slow
def test_answers_that_were_recorded_are_read_again(recorded_answers: dict[str, bytes]) -> None:
    with replaying(recorded_answers.__getitem__) as uri, closing(impatient(uri, max_wait=20.0)) as metastore:
        assert "default" in metastore.reads.get_databases()
        table = metastore.reads.get_table(DATABASE, TABLE)
        assert table is not None


def test_an_answer_that_is_too_long_is_not_read(recorded_answers: dict[str, bytes]) -> None:
    more = b"\x0b\x00\x63" + (1 << 20).to_bytes(4, "big") + bytes(1 << 21)

    def inflated(name: str) -> bytes:
        return recorded_answers[name] if name == "set_ugi" else recorded_answers[name][:-1] + more

    with (
        replaying(inflated) as uri,
        closing(impatient(uri, max_message_size=1 << 16)) as metastore,
        pytest.raises(MetastoreError, match=r"more than 65536 bytes .*max-message-size"),
    ):
        metastore.reads.get_databases()
