"""Notifies leases which of Spark's queries read in them, and inserts when their query fails."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.lease import ReadLease, notify_query_ended

__all__ = ["RunningQuery", "query_reads", "query_writes", "stop_listening"]

_EXECUTION = "spark.sql.execution.id"
_lock = threading.Lock()
_writes: dict[int, list[weakref.WeakMethod[Callable[[], None]]]] = {}
"""What a query that fails has to give up, by the number of the query."""


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A query of Spark SQL that a thread runs.

    Attributes:
        number: Its number.
        session: The id of its session.
    """

    number: int
    session: str


class QueryListenerProxy(Proxy):
    """Is notified of every query that has ended, some time after its rows were there.

    In a thread of Spark's own, which serves all of its listeners: it must not wait for a metastore.
    """

    class Java:
        implements: ClassVar[list[str]] = ["org.apache.spark.sql.util.QueryExecutionListener"]

    def onSuccess(self, name: str, query: JavaObject, nanoseconds: int) -> None:
        """A query is done."""
        number = int(query.id())
        _writes.pop(number, None)
        notify_query_ended(number, failed=False)

    def onFailure(self, name: str, query: JavaObject, error: JavaObject) -> None:
        """A query failed, or was cancelled."""
        number = int(query.id())
        for method in _writes.pop(number, ()):
            give_up = method()
            if give_up is not None:
                CLEANUP.later(give_up)
        notify_query_ended(number, failed=True)


def query_reads(jvm: Jvm, lease: ReadLease) -> None:
    """To be called before splits are planned, in the thread that plans them; costs nothing where there are no locks.

    What plans outside of a query of Spark SQL, such as ``df.rdd``, never says when it has ended.
    """
    if not lease.takes_locks:
        return
    query = _query_of_thread(jvm)
    if query is None:
        lease.acquire_unseen()
        return
    _listen(jvm, query.sparkSession())
    lease.acquire(int(query.id()))


def query_writes(jvm: Jvm, give_up: Callable[[], None], running: RunningQuery | None = None) -> None:
    """To be called in the thread that runs the query, when an insert of it has begun.

    Spark does not abort a write whose query fails before the first task that writes, as in a shuffle before it.

    Args:
        jvm: The JVM.
        give_up: A method that is called if the query fails, unless its object is gone; may be called once more.
        running: The query, where that is known.
    """
    number = None
    if running is not None and _key(running.session) in jvm.shared:
        number = running.number
    else:
        query = _query_of_thread(jvm)
        if query is not None:
            _listen(jvm, query.sparkSession())
            number = int(query.id())
    if number is not None:
        _writes.setdefault(number, []).append(weakref.WeakMethod(give_up))


def stop_listening(jvm: Jvm, spark: SparkSession) -> None:
    """Takes the listener out of a Spark session again, if it has one."""
    try:
        found = jvm.shared.pop(_key(str(spark._jsparkSession.sessionUUID())), None)
        if found is not None:
            manager, listener = found
            manager.unregister(listener)
    except Py4JError:
        # Spark may be gone already, and the listener with it.
        return


def _query_of_thread(jvm: Jvm) -> JavaObject | None:
    execution = jvm.context.getLocalProperty(_EXECUTION)
    if execution is None:
        return None
    return jvm.scala_object("org.apache.spark.sql.execution.SQLExecution").getQueryExecution(int(execution))


def _listen(jvm: Jvm, session: JavaObject) -> None:
    key = _key(str(session.sessionUUID()))
    with _lock:
        if key in jvm.shared:
            return
        manager = session.listenerManager()
        listener = QueryListenerProxy(jvm)
        manager.register(listener)
        jvm.shared[key] = (manager, listener)


def _key(session: str) -> object:
    return ("query listener", session)
