"""Schemas of Avro tables that lie on a web server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from connector_spi.errors import NotSupportedError, StorageError
from connectors.hive.config import CONFIG_PROPERTIES
from connectors.hive.formats.avro.schema_url import HOSTS, read_schema_text
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.formats.avro.tables import field, make_table, record, rows_of
from tests.connectors.hive.reading import make_connector

_SCHEMA = json.dumps(record(field("a", "int"), field("b", "string", default="none")))
_ANSWERS = {"/schema": (200, _SCHEMA.encode()), "/bytes": (200, b"\xff"), "/long": (200, b" " * (5 << 20))}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = _ANSWERS.get(self.path.partition("?")[0], (404, b""))
        if self.path.startswith("/moved"):
            status = 302
        self.send_response(status)
        self.send_header("Location", "/schema")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a web server."""
    with HTTPServer(("127.0.0.1", 0), _Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"127.0.0.1:{made.server_port}"
        made.shutdown()
        thread.join()


@pytest.mark.parametrize("with_port", [True, False])
def test_a_table_is_read_by_the_schema_of_a_server_that_is_named(
    tmp_path: Path, server: str, *, with_port: bool
) -> None:
    hive = make_connector(tmp_path, **{HOSTS.name: f"other, {server if with_port else '127.0.0.1'}"})
    told = {"avro.schema.url": f"http://{server}/schema?token=secret"}
    make_table(hive, tmp_path, {"a": "int", "b": "string"}, [(record(field("a", "int")), [{"a": 5}])], told)
    assert rows_of(hive) == [{"a": 5, "b": "none"}]
    hive.shutdown()


def test_without_leave_no_server_is_asked(server: str) -> None:
    for hosts, url in [
        ((), f"http://{server}/schema?token=secret"),
        (("127.0.0.1:1",), f"http://{server}/schema"),
        ((server,), f"http://user:secret@{server}/schema"),
        (("127.0.0.1",), f"HTTPS://127.0.0.1.example:{server.rpartition(':')[2]}/schema"),
    ]:
        with pytest.raises(
            NotSupportedError, match=r"add 127.* to its property hive\.avro\.schema-hosts|names a user"
        ) as failure:
            read_schema_text(url, FileSystem(), hosts, "the file")
        assert "secret" not in str(failure.value)
    assert HOSTS in CONFIG_PROPERTIES


@pytest.mark.parametrize(("path", "why"), [("/none", "answered 404"), ("/moved", "answered 302"), ("/long", "longer")])
def test_what_a_server_does_not_give_is_an_error(server: str, path: str, why: str) -> None:
    with pytest.raises(StorageError, match=why) as failure:
        read_schema_text(f"http://{server}{path}?token=secret", FileSystem(), (server,), "the file")
    assert "secret" not in str(failure.value)


def test_a_server_that_is_not_there_and_a_file_that_is_no_text(tmp_path: Path, server: str) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        read_schema_text("http://127.0.0.1:1/schema", FileSystem(), ("127.0.0.1",), "the file")
    with pytest.raises(NotSupportedError, match="no text of UTF-8"):
        read_schema_text(f"http://{server}/bytes", FileSystem(), (server,), "the file")
    (tmp_path / "schema").write_bytes(b"\xfe\xff")
    with pytest.raises(NotSupportedError, match="no text of UTF-8"):
        read_schema_text(f"file://{tmp_path}/schema", FileSystem(), (), "the file")
