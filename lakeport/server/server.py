"""A server: one Spark, JDBC and Spark Connect, the catalogs in each session of each client, and a stop in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from catalog.registry import CatalogRegistry
from connector_spi.optional.event_listener import EventListener
from connector_spi.security import Identity
from lakeport.server.addresses import LOOPBACK, address_to_listen_on, check_environment, is_loopback
from lakeport.server.authentication.access import Access, check_settings
from lakeport.server.authentication.kerberos import kerberos_settings
from lakeport.server.connect_server import ConnectServer, connect_settings
from lakeport.server.hive_answers import HiveAnswers
from lakeport.server.metrics import MetricsServer, QueryMetrics
from lakeport.server.queries.history import QueryHistory
from lakeport.server.queries.notifier import QueryNotifier
from lakeport.server.queries.operations import QueryOperations
from lakeport.server.queries.system_catalog import CATALOG, SystemConnector
from lakeport.server.restriction import RESTRICTED_SETTINGS, restrict
from lakeport.server.served_session import served_session
from lakeport.server.spark_support import needed_of_spark
from lakeport.server.thrift_server import ThriftServer
from lakeport.session import Session
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.options import SparkOptions
from lakeport.spark.catalog.install import jvm_of
from lakeport.spark.grant_statements import GrantParsers
from lakeport.spark.statements import observe_scans

__all__ = ["Server", "ServerOptions"]

_REFUSAL = "this server stops and takes no more statements; connect again when it has started anew"
_POLL_SECONDS = 0.1
_NO_CLIENT = "anonymous"
_SETTINGS = {"spark.sql.thriftServer.catalogMetadata.enabled": "true", "spark.ui.enabled": "false"}
"""Spark answers JDBC about catalogs and schemas, and has no web pages, which other machines could reach."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server listens and stops.

    Attributes:
        host: The address of the Thrift server. Spark Connect has no TLS: it listens there if that is loopback, else
            on loopback.
        thrift_port: The port of the Thrift server; 0 is any free one.
        connect_port: The port of Spark Connect; 0 is any free one.
        drain_seconds: How long a stop waits for statements that run.
        access: What clients have to show.
        listeners: Are notified of queries; shut down with the server.
        metrics_port: The port of health and metrics, on loopback; 0 is any free one, ``None`` is none.
        restricted: Statements reach the catalogs' tables only, and run no code of clients; without Spark Connect,
            which runs Python of its clients.
    """

    host: str = LOOPBACK
    thrift_port: int = 10000
    connect_port: int = 15002
    drain_seconds: float = 30.0
    access: Access = field(default_factory=Access)
    listeners: Sequence[EventListener] = ()
    metrics_port: int | None = None
    restricted: bool = False


class Server:
    """Spark's Thrift server and Spark Connect over a registry's catalogs.

    Args:
        catalogs: Shut down with the server.
        spark: How to start Spark.
        options: How to listen and stop.

    Attributes:
        addresses: What clients connect to, by ``JDBC`` and ``Spark Connect``, and ``Metrics``.

    Raises:
        InvalidArgumentError, NotSupportedError: The address is not one to listen on, or Spark is of another version.
        ExternalError: Spark or a server does not start.
    """

    def __init__(self, catalogs: CatalogRegistry, spark: SparkOptions, options: ServerOptions) -> None:
        self._options = options
        self._is_stopping = False
        self.addresses: dict[str, str] = {}
        with ExitStack() as stack:
            access = options.access
            host = address_to_listen_on(
                options.host, options.thrift_port, for_other_machines=access.is_for_other_machines
            )
            connect_host = address_to_listen_on(host if is_loopback(host) else LOOPBACK, options.connect_port)
            check_environment()
            check_settings(spark.settings)
            ours = {**connect_settings(connect_host, options.connect_port), **_SETTINGS}
            if options.restricted:
                ours |= RESTRICTED_SETTINGS
            if access.kerberos is not None:
                ours |= kerberos_settings(spark.settings)
            # What is asked for no client is not asked as the user of the process, who may see all.
            catalogs.security = replace(catalogs.security, own=Identity(_NO_CLIENT))
            session = Session(catalogs, options=replace(spark, settings={**spark.settings, **ours}))
            stack.callback(session.close)
            jvm = jvm_of(session.spark)
            self._served = served_session(jvm, session.spark, catalogs)
            with needed_of_spark(jvm, "parsers"):
                reword = HiveAnswers(jvm, catalogs).reworded
                self._served.extensions().injectParser(GrantParsers(jvm, catalogs, reword).java)
            self._queries = self._list_queries(jvm, catalogs, stack)
            thrift = ThriftServer(
                jvm, self._served, host=host, port=options.thrift_port, access=access, registry=catalogs
            )
            stack.callback(thrift.stop)
            self._queries.serve(thrift.session_manager)
            self._servers: tuple[ThriftServer | ConnectServer, ...] = (thrift,)
            addresses = {"JDBC": thrift.address}
            if options.restricted:
                restrict(self._served)
            else:
                connect = ConnectServer(jvm, self._served, connect_host, access, catalogs.security)
                stack.callback(connect.stop)
                self._servers = (thrift, connect)
                addresses["Spark Connect"] = connect.address
            self.addresses = {**addresses, **self.addresses}
            self._stack = stack.pop_all()

    def refuse_statements(self) -> None:
        """Refuses every further statement; those that run go on."""
        self._is_stopping = True
        self._served.refuseStatements(_REFUSAL)

    def stop(self, is_urgent: Callable[[], bool] = lambda: False) -> int:
        """Takes no more statements, waits for those that run, and ends everything.

        Args:
            is_urgent: Whether to wait no longer.

        Returns:
            How many statements were still open, and are cancelled.
        """
        with self._stack:
            self.refuse_statements()
            end = time.monotonic() + self._options.drain_seconds
            while (left := self._open_statements()) and time.monotonic() < end and not is_urgent():
                time.sleep(_POLL_SECONDS)
        return left

    def _list_queries(self, jvm: Jvm, catalogs: CatalogRegistry, stack: ExitStack) -> QueryOperations:
        options = self._options
        metrics = [] if options.metrics_port is None else [QueryMetrics()]
        notifier = QueryNotifier((*options.listeners, *metrics))
        stack.callback(notifier.shutdown)
        history = QueryHistory(notifier=notifier)
        operations = QueryOperations(jvm, history)
        observe_scans(jvm, notifier.note_read)
        if CATALOG not in catalogs.names():
            catalogs.register_connector(CATALOG, SystemConnector(history, operations, catalogs.security.access_control))
        if options.metrics_port is not None:
            web = MetricsServer(LOOPBACK, options.metrics_port, metrics[0], lambda: self._is_stopping)
            stack.callback(web.stop)
            self.addresses["Metrics"] = web.address
        return operations

    def _open_statements(self) -> int:
        return sum(server.open_statements() for server in self._servers)
