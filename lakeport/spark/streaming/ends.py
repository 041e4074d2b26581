"""Tells streams that a batch is over as soon as Spark says so: until then its files are kept by locks.

A stream hears of it from Spark anyway, but only with the next trigger, which may be hours away.
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

__all__ = ["know_session", "reads_batch"]

_LISTENER = "org.apache.spark.sql.streaming.PythonStreamingQueryListener"
# StreamExecution.QUERY_ID_KEY and MicroBatchExecution.BATCH_ID_KEY: of the thread that runs a query.
_QUERY_ID = "sql.streaming.queryId"
_BATCH_ID = "streaming.sql.batchId"
_lock = threading.Lock()
_sessions: WeakSet[SparkSession] = WeakSet()
_listening: set[str] = set()
_batches: WeakKeyDictionary[TableStream, tuple[str, int, str]] = WeakKeyDictionary()


class StreamListenerProxy(Proxy):
    """Hears of every batch of a session's queries, in a thread of Spark's own."""

    class Java:
        implements: ClassVar[list[str]] = [_LISTENER]

    def onQueryStarted(self, event: JavaObject) -> None:
        """A query begins: nothing is read yet."""

    def onQueryProgress(self, event: JavaObject) -> None:
        """A batch is done."""
        progress = event.progress()
        _ended(str(progress.id().toString()), int(progress.batchId()))

    def onQueryIdle(self, event: JavaObject) -> None:
        """A trigger found nothing new."""

    def onQueryTerminated(self, event: JavaObject) -> None:
        """A query has ended; its streams were stopped."""


def know_session(spark: SparkSession) -> None:
    """Has a session listened to as soon as a stream of ours runs: queries tell the session that started them."""
    _sessions.add(spark)


def reads_batch(jvm: Jvm, stream: TableStream, end: str) -> None:
    """To be called in the thread that runs a query, when it plans to read the batch that ends at ``end``."""
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
        # A session of a Spark that is gone.
        return


def _ended(query: str, batch: int) -> None:
    for stream, (reader, read, end) in list(_batches.items()):
        # An event may come when the next batch is read already.
        if reader == query and read <= batch:
            _batches.pop(stream, None)
            # Spark's thread, which serves all of its listeners, must not wait for a metastore.
            stream.end_batch_soon(end)
