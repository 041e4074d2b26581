"""An HTTP server on loopback that hands requests on to another one, late as over a network, and counts them.

``python -m benchmarks.harness.counting_proxy HOST:PORT SECONDS`` serves until its standard input ends, and writes its
port.
``GET /--counts`` gives the number of requests and of bytes since the last time, as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["COUNTS"]

COUNTS = "/--counts"
"""The path of the counts."""
_OWN = ("connection", "transfer-encoding", "content-length")


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: str, delay: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.delay = delay
        self.lock = threading.Lock()
        self.counts = {"requests": 0, "bytes": 0}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy

    def do_GET(self) -> None:
        """Hands a request on."""
        proxy = self.server
        if self.path == COUNTS:
            with proxy.lock:
                found, proxy.counts = proxy.counts, {"requests": 0, "bytes": 0}
            self._answer(200, [], json.dumps(found).encode())
            return
        time.sleep(proxy.delay)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = HTTPConnection(proxy.upstream)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        response = connection.getresponse()
        content = response.read()
        with proxy.lock:
            proxy.counts["requests"] += 1
            proxy.counts["bytes"] += len(content)
        length = response.getheader("Content-Length") if self.command == "HEAD" else None
        kept = [(name, value) for name, value in response.getheaders() if name.lower() not in _OWN]
        self._answer(response.status, kept, content, length)
        connection.close()

    do_HEAD = do_PUT = do_GET  # noqa: N815 - as the library names them

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library names it
        """Nothing is logged."""

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes, length: str | None = None) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _main() -> None:
    proxy = _Proxy(sys.argv[1], float(sys.argv[2]))
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    print(proxy.server_address[1], flush=True)
    sys.stdin.read()
    proxy.shutdown()


if __name__ == "__main__":
    _main()
