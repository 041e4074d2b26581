"""As much of Google Cloud Storage as asking for an object takes."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

__all__ = ["GcsServer", "gcs_server"]


@dataclass(frozen=True, slots=True)
class GcsServer:
    """A server that runs: ``http://127.0.0.1:port``."""

    endpoint: str

    def key(self, owner: str) -> str:
        """The key of a service account, which may read the bucket of its owner's name."""
        private = rsa.generate_private_key(65537, 2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        account = {"client_email": f"{owner}@test", "private_key": private.decode(), "private_key_id": "1"}
        return json.dumps({"type": "service_account", "token_uri": f"{self.endpoint}/token", **account})


@contextmanager
def gcs_server(objects: dict[str, bytes]) -> Iterator[GcsServer]:
    """Serves objects by ``bucket/key``."""

    class Handler(_Handler):
        content = objects

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield GcsServer(f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    content: ClassVar[dict[str, bytes]]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        bucket, _, key = url.path.partition("/b/")[2].partition("/o/")
        data = self.content.get(f"{bucket}/{unquote(key)}")
        if self._asked_by() != bucket:
            self._answer({"error": {"code": 403, "message": "no right to read the bucket"}}, 403)
        elif data is None:
            self._answer({"error": {"code": 404, "message": "no such object"}}, 404)
        else:
            told = {"kind": "storage#object", "name": unquote(key), "bucket": bucket, "size": str(len(data))}
            self._answer({**told, "generation": "1", "updated": "2024-01-01T00:00:00Z"})

    def _asked_by(self) -> str:
        # Google's client signs a token itself; whether the signature is right is not looked at.
        claims = f"{self.headers.get('Authorization', '')}..".split(".")[1]
        told = json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)) or b"{}")
        return str(told.get("iss", "")).partition("@")[0]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""

    def _answer(self, told: dict[str, object], code: int = 200) -> None:
        text = json.dumps(told).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
