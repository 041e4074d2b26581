"""Notifies streams when Spark has finished a batch, so that they release the locks on its files.

Spark calls ``commit`` on the stream anyway, but only with the next trigger, which may be hours away.
"""

from __future__ import annotations

import threading
from typing import ClassVar
from weakref import WeakKeyDictionary, WeakSet

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lakeport.planning.streams import TableStream
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy

__all__ = ["observe_session", "reads_batch"]

_LISTENER = "org.apache.spark.sql.streaming.PythonStreamingQueryListener"
# StreamExecution.QUERY_ID_KEY and MicroBatchExecution.BATCH_ID_KEY: of the thread that runs a query.
_QUERY_ID = "sql.streaming.queryId"
_BATCH_ID = "streaming.sql.batchId"
_lock = threading.Lock()
_sessions: WeakSet[SparkSession] = WeakSet()
_listening: set[str] = set()
_batches: WeakKeyDictionary[TableStream, tuple[str, int, str]] = WeakKeyDictionary()


class StreamListenerProxy(Proxy):
    """Receives the events of all queries of a session, in a thread of Spark's."""

    class Java:
        implements: ClassVar[list[str]] = [_LISTENER]

    def onQueryStarted(self, event: JavaObject) -> None:
        """Does nothing: a query begins, and nothing is read yet."""

    def onQueryProgress(self, event: JavaObject) -> None:
        """A batch is finished."""
        progress = event.progress()
        _ended(str(progress.id().toString()), int(progress.batchId()))

    def onQueryIdle(self, event: JavaObject) -> None:
        """Does nothing: a trigger found no new rows."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """Does nothing: a query has ended, and its streams were stopped."""


def observe_session(spark: SparkSession) -> None:
    """Observes a session once a Lakeport stream runs: a query sends its events to the session that started it."""
    _sessions.add(spark)


def reads_batch(jvm: Jvm, stream: TableStream, end: str) -> None:
    """Call in the thread that runs a query, when it plans the batch that ends at ``end``."""
    query, batch = (jvm.context.getLocalProperty(key) for key in (_QUERY_ID, _BATCH_ID))
    if query is None or batch is None:
        return
    _batches[stream] = (query, int(batch), end)
    for spark in list(_sessions):
        _listen(jvm, spark)


def _listen(jvm: Jvm, spark: SparkSession) -> None:
    try:
        key = str(spark._jsparkSession.sessionUUID())
        with _lock:
            if key in _listening:
                return
            _listening.add(key)
        made = jvm.cls(_LISTENER + "Wrapper")(StreamListenerProxy(jvm))
        spark._jsparkSession.streams().addListener(made)
    except Py4JError:
        # The session belongs to a Spark that was stopped.
        return


def _ended(query: str, batch: int) -> None:
    for stream, (reader, read, end) in list(_batches.items()):
        # An event may come while the next batch is being read.
        if reader == query and read <= batch:
            _batches.pop(stream, None)
            # Spark's thread, which serves all of its listeners, must not wait for a metastore.
            stream.end_batch_soon(end)
