"""Releases callback connections that py4j keeps forever.

When a Java thread calls a proxy, py4j opens a connection for that thread, served by a Python thread, and keeps it in a
list forever. Spark starts a thread for each adaptive stage, so a long session would add a socket and a thread with
every query.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from lakeport.spark.bridge.jvm import Jvm

__all__ = ["forget_connections"]

_EVERY = 16
"""Scans between two releases: each release costs a few round trips."""

_CLIENT = "py4j.CallbackClient"
_lock = threading.Lock()
_counts: WeakKeyDictionary[Jvm, int] = WeakKeyDictionary()


def forget_connections(jvm: Jvm) -> None:
    """Empties py4j's list of callback connections once every few scans.

    A live thread has a weak reference to its connection, and opens another one when that is collected. The connections
    of ended threads are closed when Java collects garbage.
    """
    with _lock:
        count = _counts[jvm] = _counts.get(jvm, 0) + 1
        if count % _EVERY:
            return
    try:
        client = jvm.gateway.java_gateway_server.getCallbackClient()
        lock = _field(jvm, "lock").get(client)
        lock.lock()
        try:
            _field(jvm, "connections").get(client).clear()
        finally:
            lock.unlock()
    except Py4JError:
        # Another version of py4j keeps its connections elsewhere: then they stay open.
        return


def _field(jvm: Jvm, name: str) -> JavaObject:
    key = ("field", _CLIENT, name)
    if key not in jvm.shared:
        field = jvm.cls("java.lang.Class").forName(_CLIENT).getDeclaredField(name)
        field.setAccessible(True)
        jvm.shared[key] = field
    return jvm.shared[key]
