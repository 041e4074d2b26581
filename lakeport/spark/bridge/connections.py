"""Letting go of the connections that py4j leaves behind.

When Java calls a proxy from a thread of its own, py4j opens a connection for that thread, served by a Python thread,
and keeps it in a list for ever. Spark starts a thread for each stage that it runs adaptively, so that a long session
would gather a socket and a thread with every query.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from lakeport.spark.bridge.jvm import Jvm

__all__ = ["forget_connections"]

_EVERY = 16
"""Scans between two times: each costs a few round trips."""

_CLIENT = "py4j.CallbackClient"
_lock = threading.Lock()
_counts: WeakKeyDictionary[Jvm, int] = WeakKeyDictionary()


def forget_connections(jvm: Jvm) -> None:
    """Now and then empties py4j's list of callback connections.

    A thread that lives has its connection from a weak reference of its own, and opens another when that is gone; the
    connections of threads that ended are closed when Java collects its garbage.
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
        # Another py4j keeps its connections elsewhere: then they stay, as they would without us.
        return


def _field(jvm: Jvm, name: str) -> JavaObject:
    key = ("field", _CLIENT, name)
    if key not in jvm.shared:
        field = jvm.cls("java.lang.Class").forName(_CLIENT).getDeclaredField(name)
        field.setAccessible(True)
        jvm.shared[key] = field
    return jvm.shared[key]
