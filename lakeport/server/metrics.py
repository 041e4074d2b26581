"""Health and Prometheus metrics of a server over HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from connector_spi.errors import ExternalError, NotSupportedError
from connector_spi.optional.event_listener import EventListener, QueryCompletedEvent, QueryCreatedEvent
from lakeport.error_codes import LIBRARY_NOT_INSTALLED, SERVER_DOES_NOT_START

try:
    import prometheus_client
except ModuleNotFoundError:
    prometheus_client = None  # type: ignore[assignment]

__all__ = ["MetricsServer", "QueryMetrics"]

_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)


class QueryMetrics(EventListener):
    """Counts queries for Prometheus.

    Raises:
        NotSupportedError: prometheus-client is not installed.
    """

    def __init__(self) -> None:
        if prometheus_client is None:
            raise NotSupportedError(
                "metrics need prometheus-client: pip install 'lakeport[server]'", LIBRARY_NOT_INSTALLED
            )
        self.registry = prometheus_client.CollectorRegistry()
        self._created = self._counter("queries_created", "Queries that came", "source")
        self._completed = self._counter("queries_completed", "Queries that ended", "source", "state", "error_code")
        self._scans = self._counter("scans", "Scans that were planned", "catalog")
        self._planning = self._counter("planning_seconds", "What catalogs took to plan splits", "catalog")
        self._bytes = self._counter("planned_bytes", "Stored size of the splits that were planned", "catalog")
        self._running = prometheus_client.Gauge(
            "lakeport_queries_running", "Queries that run", ("source",), registry=self.registry
        )
        self._seconds = prometheus_client.Histogram(
            "lakeport_query_seconds",
            "From the start of a query to its end",
            ("source",),
            registry=self.registry,
            buckets=_BUCKETS,
        )

    def query_created(self, event: QueryCreatedEvent) -> None:
        """Counts it."""
        self._created.labels(event.source).inc()
        self._running.labels(event.source).inc()

    def query_completed(self, event: QueryCompletedEvent) -> None:
        """Counts it, and what it read."""
        source = event.query.source
        self._running.labels(source).dec()
        self._completed.labels(source, "FAILED" if event.failed else "FINISHED", event.error_code or "").inc()
        self._seconds.labels(source).observe(max(0.0, (event.end - event.query.created).total_seconds()))
        for table in event.tables:
            self._scans.labels(table.name.catalog).inc()
            self._planning.labels(table.name.catalog).inc(table.planning_seconds)
            self._bytes.labels(table.name.catalog).inc(table.size_bytes)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return bytes(prometheus_client.generate_latest(self.registry))

    def _counter(self, name: str, about: str, *labels: str) -> prometheus_client.Counter:
        return prometheus_client.Counter("lakeport_" + name, about, labels, registry=self.registry)


class MetricsServer:
    """Answers ``/health`` and ``/metrics``; in threads of its own.

    Args:
        host: The address to listen on.
        port: The port; 0 is any free one.
        metrics: What ``/metrics`` shows.
        is_stopping: Whether the server takes no more statements.

    Raises:
        ExternalError: It does not start, for instance since the port is taken.
    """

    def __init__(self, host: str, port: int, metrics: QueryMetrics, is_stopping: Callable[[], bool]) -> None:
        class Handler(_Handler):
            answers = staticmethod(lambda path: _answer(path, metrics, is_stopping))

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as error:
            raise ExternalError(
                f"the server of metrics does not start on {host}:{port}: {error.strerror}", SERVER_DOES_NOT_START
            ) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="lakeport-metrics", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """What is asked."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def stop(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    answers: Callable[[str], tuple[int, str, bytes]]

    def do_GET(self) -> None:
        """Answers."""
        status, kind, body = self.answers(self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        """Says nothing of Python's version."""
        return "lakeport"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        """Keeps requests out of the server's output."""


def _answer(path: str, metrics: QueryMetrics, is_stopping: Callable[[], bool]) -> tuple[int, str, bytes]:
    if path == "/metrics":
        return 200, prometheus_client.CONTENT_TYPE_LATEST, metrics.text()
    if path == "/health":
        status, word = (503, "stopping") if is_stopping() else (200, "ok")
        return status, "application/json", json.dumps({"status": word}).encode()
    return 404, "text/plain", b"expected /health or /metrics\n"
