"""The file at a table's ``avro.schema.url``: on storage, or on a web server that the catalog names. Executor side."""

from __future__ import annotations

import time
from collections.abc import Collection
from http.client import HTTPException, HTTPResponse
from typing import NoReturn
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from connector_spi.errors import NotSupportedError, StorageError
from connector_spi.properties import string_list_property
from connectors.hive import error_codes
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HOSTS", "read_schema_text"]

HOSTS = string_list_property(
    "hive.avro.schema-hosts",
    "Web servers, as host or host:port, that schemas at avro.schema.url may be fetched from; none if not set.",
    lower=True,
)
"""The catalog's property: web servers that schemas are fetched from. Whoever may write a table's properties could else
have tasks ask any server that they reach."""
_WAIT, _LONGEST = 10.0, 30.0
_MOST_BYTES = 1 << 22
_CHUNK = 1 << 16


def read_schema_text(url: str, files: FileSystem, hosts: Collection[str], where: str) -> str:
    """Reads a schema.

    Args:
        url: Where it is: a path of any storage, or an ``http`` or ``https`` address.
        files: Storage.
        hosts: Web servers that may be asked, as ``host`` or ``host:port``, in lower case.
        where: Names the file of rows for messages.

    Raises:
        NotSupportedError: The web server is not among ``hosts``, or what is there is no text.
        StorageError: It cannot be read, or is longer than 4 MB.
    """
    parts = urlsplit(url)
    found = _fetch(parts, hosts, where) if parts.scheme.lower() in ("http", "https") else files.read_bytes(url)
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotSupportedError(
            f"the Avro schema of {where} at {_shown(parts)} is no text of UTF-8: {error.reason}; correct "
            "avro.schema.url",
            error_codes.HIVE_BAD_TABLE,
        ) from error


def _fetch(parts: SplitResult, hosts: Collection[str], where: str) -> bytes:
    host = parts.netloc.rpartition("@")[2].lower()
    if "@" in parts.netloc:
        raise NotSupportedError(
            f"the address of the Avro schema of {where} at {_shown(parts)} names a user, which is never sent; take the "
            "user out of the table's property avro.schema.url",
            error_codes.HIVE_BAD_TABLE,
        )
    if not {host, host.rpartition(":")[0] or host} & set(hosts):
        raise NotSupportedError(
            f"the Avro schema of {where} is at {_shown(parts)}, a web server that the catalog does not name; add "
            f"{host} to its property {HOSTS.name}, or put the schema into the table's property avro.schema.literal"
        )
    try:
        with build_opener(_NoRedirects()).open(Request(parts.geturl()), timeout=_WAIT) as answer:
            return _read(answer, parts, where)
    except HTTPError as error:
        error.close()
        _fail(parts, where, f"the server answered {error.code}", error)
    except (OSError, HTTPException, ValueError) as error:
        _fail(parts, where, str(getattr(error, "reason", error)), error)


def _read(answer: HTTPResponse, parts: SplitResult, where: str) -> bytes:
    held, end = bytearray(), time.monotonic() + _LONGEST
    while chunk := answer.read1(_CHUNK):
        held += chunk
        if len(held) > _MOST_BYTES:
            _fail(parts, where, f"it is longer than {_MOST_BYTES} bytes", None)
        if time.monotonic() > end:
            _fail(parts, where, f"it did not come within {_LONGEST:.0f} seconds", None)
    return bytes(held)


def _fail(parts: SplitResult, where: str, reason: str, cause: Exception | None) -> NoReturn:
    raise StorageError(f"the Avro schema of {where} at {_shown(parts)} cannot be read: {reason}") from cause


def _shown(parts: SplitResult) -> str:
    """An address without what may be secret: user and password, and what is behind the path."""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class _NoRedirects(HTTPRedirectHandler):
    """A server that is named may else send us to one that is not."""

    def redirect_request(self, *_: object) -> None:
        return None
