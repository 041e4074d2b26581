"""Spark's events of queries, and how to end a query."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from lakeport.server.queries.history import QueryHistory
from lakeport.server.queries.query import ServedQuery
from lakeport.spark.bridge.compiled.java_classes import new_instance
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy

__all__ = ["QueryOperations"]

_CLASS = "OperationEvents"
_QUEUE = "lakeport"
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectService"
_EVENTS_MILLIS = 1000
_GRACE_SECONDS = 5.0
_POLL_SECONDS = 0.1


class _EventsProxy(Proxy):
    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.Consumer"]

    def __init__(self, jvm: Jvm, history: QueryHistory) -> None:
        super().__init__(jvm)
        self._history = history

    def accept(self, text: str) -> None:
        """A query began, went on or ended."""
        self._history.follow(json.loads(text))


class QueryOperations:
    """Follows the queries of a Spark's clients.

    Args:
        jvm: The JVM.
        history: Is given what happens.
    """

    def __init__(self, jvm: Jvm, history: QueryHistory) -> None:
        self._jvm = jvm
        self._history = history
        self._context = jvm.context._jsc.sc()
        self._sessions: JavaObject | None = None
        listener = new_instance(jvm, _CLASS, _EventsProxy(jvm, history))
        # A queue of its own: what Python does must not hold up Spark's listeners.
        self._context.listenerBus().addToQueue(listener, _QUEUE)

    def serve(self, session_manager: JavaObject) -> None:
        """Knows the sessions of the Thrift server from now on."""
        self._sessions = session_manager

    def settle(self) -> None:
        """Waits for events that are under way, but not long."""
        try:
            self._context.listenerBus().waitUntilEmpty(_EVENTS_MILLIS)
        except Py4JError:
            return

    def kill(self, query: ServedQuery, reason: str) -> None:
        """Ends a query; its client gets the reason with the error of the job.

        A query that has no job, or goes on between jobs, is cancelled some seconds later, with Spark's own message.
        """
        self._history.kill(query.query_id, reason)
        if not self._ends(query, lambda: self._cancel_jobs(query, reason)):
            self._cancel(query)
            self._ends(query, lambda: None)

    def _ends(self, query: ServedQuery, urge: Callable[[], None]) -> bool:
        """Whether a query ends soon, when it is urged again and again."""
        end = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < end:
            urge()
            self.settle()
            known = self._history.get(query.query_id)
            if known is None or known.state.is_done:
                return True
            time.sleep(_POLL_SECONDS)
        return False

    def _cancel_jobs(self, query: ServedQuery, reason: str) -> None:
        """Jobs by their tag are cancelled if they run: the next of the query may come any time."""
        if query.source == "jdbc":
            self._context.cancelJobGroupAndFutureJobs(query.job_tag, reason)
        else:
            self._context.cancelJobsWithTag(query.job_tag, reason)

    def _cancel(self, query: ServedQuery) -> None:
        if query.source == "spark-connect":
            holders = self._jvm.scala_object(_CONNECT).executionManager().listExecuteHolders()
            for index in range(holders.length()):
                if str(holders.apply(index).operationId()) == query.query_id:
                    holders.apply(index).interrupt()
            return
        for operation in self._jdbc_operations():
            if self._jvm.class_name(operation) == "SparkExecuteStatementOperation" and (
                str(operation.statementId()) == query.query_id
            ):
                operation.cancel()

    def _jdbc_operations(self) -> list[JavaObject]:
        if self._sessions is None:
            return []
        return list(self._sessions.getOperationManager().handleToOperation().values())
