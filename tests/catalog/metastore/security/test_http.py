"""Thrift over HTTP against a small server of requests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.http import HttpChannel, request_headers
from catalog.metastore.security.settings import HttpAuthentication, SecuritySettings

SETTINGS = SecuritySettings()


class Handler(BaseHTTPRequestHandler):
    """Answers a request by its body turned around; a path of digits by that status."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # the base class calls it so
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(dict(self.headers))  # type: ignore[attr-defined]
        status = int(self.path[1:]) if self.path[1:].isdigit() else 200
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if self.path == "/once":
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[::-1])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class calls it so
        pass


class Server(HTTPServer):
    """Keeps the headers of all requests, and counts connections."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, str]] = []
        self.connections = 0

    def get_request(self) -> tuple[socket.socket, object]:
        self.connections += 1
        return super().get_request()


@contextmanager
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def channel(running: Server, path: str = "/metastore", settings: SecuritySettings = SETTINGS) -> HttpChannel:
    return HttpChannel(
        "127.0.0.1",
        running.server_port,
        path,
        lambda: socket.create_connection(("127.0.0.1", running.server_port), 10),
        lambda: request_headers(settings, "emma"),
    )


def ask(ours: HttpChannel, text: bytes) -> bytes:
    ours.write(text[:2])
    ours.write(text[2:])
    ours.flush()
    answer = b""
    while more := ours.read(3):
        answer += more
    return answer


@pytest.mark.parametrize(("path", "connections"), [("/metastore", 1), ("/once", 3)])
def test_requests(path: str, connections: int) -> None:
    with server() as running, closing(channel(running, path)) as ours:
        for text in (b"hello", b"x" * 100_000, b"again"):
            assert ask(ours, text) == text[::-1]
        ours.close()
    assert running.connections == connections
    assert {one["x-actor-username"] for one in running.seen} == {"emma"}


def test_an_answer_that_was_not_read_is_not_taken_for_the_next() -> None:
    with server() as running, closing(channel(running)) as ours:
        ours.write(b"first")
        ours.flush()
        assert ours.read(1) == b"t"
        assert ask(ours, b"second") == b"dnoces"
        ours.close()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AuthenticationError),
        (403, AuthenticationError),
        (404, SecureChannelError),
        (302, SecureChannelError),
        (500, SecureChannelError),
        (204, SecureChannelError),
    ],
)
def test_other_answers(status: int, kind: type[OSError]) -> None:
    with server() as running, closing(channel(running, f"/{status}")) as ours, pytest.raises(kind, match=str(status)):
        ask(ours, b"text")


def test_what_is_no_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            handle, _ = listener.accept()
            with handle:
                handle.recv(100)
                handle.sendall(b"\0\0\0\5hello\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        address = listener.getsockname()
        ours = HttpChannel("h", 1, "/", lambda: socket.create_connection(address, 10), dict)
        with closing(ours), pytest.raises(SecureChannelError, match="HTTP"):
            ask(ours, b"text")
        thread.join()


def test_headers_that_say_who_we_are(tmp_path: Path) -> None:
    basic = SecuritySettings(
        http_authentication=HttpAuthentication.BASIC, http_username="Aladdin", http_password="open sesame"
    )
    # The example of RFC 7617.
    assert request_headers(basic, "")["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    file = tmp_path / "token"
    bearer = SecuritySettings(http_authentication=HttpAuthentication.BEARER, bearer_token_file=str(file))
    for token in ("one", "two"):
        file.write_text(f"{token}\n")
        assert request_headers(bearer, "")["Authorization"] == f"Bearer {token}"
    more = replace(basic, http_headers=(("X-Actor-Username", "other"), ("x-more", "a:b,c")))
    headers = request_headers(more, "emma")
    assert {name.lower(): text for name, text in headers.items()}["x-actor-username"] == "other"
    assert len({name.lower() for name in headers}) == len(headers)
    assert headers["x-more"] == "a:b,c"


@pytest.mark.parametrize("content", ["", "planted\r\nX-Other: 1", "pl\u00e4nted"])
def test_tokens_that_are_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    bearer = SecuritySettings(http_authentication=HttpAuthentication.BEARER, bearer_token_file=str(file))
    with pytest.raises(AuthenticationError) as caught:
        request_headers(bearer, "")
    assert "nted" not in str(caught.value)
    file.unlink()
    with pytest.raises(AuthenticationError, match="token"):
        request_headers(bearer, "")
