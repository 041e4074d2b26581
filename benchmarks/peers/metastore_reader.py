"""Reads from a metastore in a separate process, to measure its memory: the naive way, and Lakeport's.

``python -m benchmarks.peers.metastore_reader naive|keep|all|list URI DATABASE TABLE VALUE`` prints one line of JSON:
seconds, megabytes above what the process held before, and calls.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from pymetastore.hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from benchmarks.harness.machine import resident_megabytes
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.session import Session
from lakeport.version import VERSION

__all__ = ["Reading", "read_in_process"]

_BUFFER = 1 << 16
_NEVER = 3_600_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What a way of reading took.

    Attributes:
        seconds: From the first call to the last row.
        megabytes: Peak memory above that of the process before.
        calls: Calls to the metastore.
    """

    seconds: float
    megabytes: float
    calls: int


def read_in_process(way: str, uri: str, table: tuple[str, str], value: str) -> Reading:
    """Reads in a new process.

    Args:
        way: ``naive``: all partitions in one call, chosen here. ``keep``: Lakeport, those of ``value``. ``all``:
            Lakeport, every partition. ``list``: Lakeport, the values of every partition and nothing of it.
        uri: The metastore.
        table: Database and table, whose first key is ``ds``.
        value: What ``ds`` has to be.
    """
    command = [sys.executable, "-m", "benchmarks.peers.metastore_reader", way, uri, *table, value]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Reading(**json.loads(done.stdout.splitlines()[-1]))


def _naive(uri: str, database: str, table: str, value: str) -> int:
    address = urlsplit(uri)
    socket = TSocket(address.hostname, address.port)
    socket.setTimeout(_NEVER)
    transport = TBufferedTransport(socket, _BUFFER)
    transport.open()
    client = ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(transport))
    kept = [one for one in client.get_partitions(database, table, -1) if one.values[0] == value]
    assert kept, f"no partition of {value}"
    transport.close()
    return 1


def _lakeport(session: Session, way: str, schema: str, table: str, value: str) -> int:
    if way == "list":
        session.arrow(f"{schema}.`{table}$partitions`").read_all()
    else:
        where = [("ds", "=", value)] if way == "keep" else None
        session.arrow(f"{schema}.{table}", ["ds"], where).read_all()
    rows = session.arrow("hive.system.metastore_calls").read_all()
    return int(sum(rows["calls"].to_pylist()))


def _main(way: str, uri: str, database: str, table: str, value: str) -> Reading:
    registry = CatalogRegistry(discover_plugins(), VERSION)
    registry.register("hive", "hive", {"hive.metastore.uri": uri, "hive.metastore.thrift.client.read-timeout": "1h"})
    with Session(registry) as session:
        # Loading modules is not what is measured.
        session.catalogs.get("hive")
        before = resident_megabytes(os.getpid())
        started = time.perf_counter()
        if way == "naive":
            calls = _naive(uri, database, table, value)
        else:
            calls = _lakeport(session, way, f"hive.{database}", table, value)
        seconds = time.perf_counter() - started
    # Kilobytes, as Linux tells them.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Reading(seconds, max(0.0, peak - before), calls)


if __name__ == "__main__":
    way, uri, database, table, value = sys.argv[1:]
    print(json.dumps(asdict(_main(way, uri, database, table, value))))
