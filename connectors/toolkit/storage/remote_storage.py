"""From a scheme, an authority and a catalog's settings to one of pyarrow's file systems."""

from __future__ import annotations

import datetime as dt
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.fs as pafs

from connector_spi.errors import InvalidPropertyError, StorageError
from connectors.toolkit.storage.hdfs_storage import open_hdfs
from connectors.toolkit.storage.properties import typed_options

__all__ = [
    "StorageKind",
    "azure_arguments",
    "gcs_arguments",
    "is_signed",
    "open_storage",
    "s3_arguments",
    "setting_prefixes",
    "storage_kind",
    "storage_path",
]

Settings = Mapping[str, object]
Arguments = dict[str, object]


class StorageKind(Enum):
    """The stores that are known."""

    S3 = "s3"
    GCS = "gcs"
    AZURE = "azure"
    HDFS = "hdfs"


_S3 = ("s3", "s3a", "s3n")
_GCS = ("gs", "gcs")
_AZURE = ("abfs", "abfss", "wasb", "wasbs")
_HDFS = ("hdfs", "viewfs")
_KINDS = {
    **dict.fromkeys(_S3, StorageKind.S3),
    **dict.fromkeys(_GCS, StorageKind.GCS),
    **dict.fromkeys(_AZURE, StorageKind.AZURE),
    **dict.fromkeys(_HDFS, StorageKind.HDFS),
}
_SWITCHES = {
    **dict.fromkeys(_S3, "fs.native-s3.enabled"),
    **dict.fromkeys(_GCS, "fs.native-gcs.enabled"),
    **dict.fromkeys(_AZURE, "fs.native-azure.enabled"),
    **dict.fromkeys(_HDFS, "fs.hadoop.enabled"),
}
_PREFIXES = {
    **dict.fromkeys(_S3, ("s3.",)),
    **dict.fromkeys(_GCS, ("gcs.",)),
    **dict.fromkeys(_AZURE, ("azure.",)),
    **dict.fromkeys(_HDFS, ("hdfs.", "hive.config.resources")),
}
_TOKEN_HOURS = 1
_RETRY_SECONDS = 60
_GOOGLE_KEY = "GOOGLE_APPLICATION_CREDENTIALS"
_making_google = threading.Lock()


def open_storage(scheme: str, authority: str, options: tuple[tuple[str, str], ...]) -> pafs.FileSystem:
    """The file system for paths of a scheme; the same one for the same arguments in a process.

    Args:
        scheme: Lower case, not ``file``.
        authority: What stands between ``://`` and the next ``/``.
        options: From ``storage_options``.

    Raises:
        InvalidPropertyError: Settings do not fit together, or switch the scheme off.
        StorageError: The scheme is not known, or a library that it needs is not there.
        OSError: Storage cannot be reached.
    """
    return _opened(scheme, authority, options)


def storage_path(scheme: str, authority: str, path: str) -> str:
    """A path as pyarrow's file system of the scheme takes it: ``bucket/key``, or the path alone for HDFS."""
    if scheme in _HDFS:
        return path
    container = authority.rpartition("@")[0] if scheme in _AZURE else authority.rpartition("@")[2]
    return f"{container}{path}".rstrip("/")


def storage_kind(scheme: str) -> StorageKind | None:
    """The store of a scheme; none for local files and unknown schemes."""
    return _KINDS.get(scheme)


def is_signed(scheme: str, options: tuple[tuple[str, str], ...]) -> bool:
    """Whether addresses of a scheme's objects hold a secret: a shared access signature."""
    return scheme in _AZURE and any(name == "azure.sas-token" for name, _ in options)


def setting_prefixes(scheme: str) -> tuple[str, ...]:
    """How the names of the settings of a scheme's storage begin; none for local files and unknown schemes."""
    return _PREFIXES.get(scheme, ())


def s3_arguments(settings: Settings) -> Arguments:
    """Arguments of ``pyarrow.fs.S3FileSystem``, but for a region that is to be asked for."""
    endpoint, scheme = _address(settings.get("s3.endpoint"))
    if scheme is None and settings.get("s3.ssl.enabled") is False:
        scheme = "http"
    if not endpoint and settings.get("s3.path-style-access"):
        endpoint = f"s3.{settings['s3.region']}.amazonaws.com"
    retries = settings.get("s3.max-error-retries")
    return _given(
        endpoint_override=endpoint,
        scheme=scheme,
        # With an endpoint of its own pyarrow puts the bucket into the path, unless this is set.
        force_virtual_addressing=True if settings.get("s3.path-style-access") is False else None,
        region=settings.get("s3.region"),
        access_key=settings.get("s3.aws-access-key"),
        secret_key=settings.get("s3.aws-secret-key"),
        session_token=settings.get("s3.aws-session-token"),
        anonymous=settings.get("s3.anonymous"),
        role_arn=settings.get("s3.iam-role"),
        session_name=settings.get("s3.iam-role-session-name"),
        external_id=settings.get("s3.external-id"),
        connect_timeout=settings.get("s3.socket-connect-timeout"),
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=retries + 1) if isinstance(retries, int) else None,
        proxy_options=_proxy(settings),
        tls_ca_file_path=settings.get("s3.tls-ca-file"),
    )


def gcs_arguments(settings: Settings) -> Arguments:
    """Arguments of ``pyarrow.fs.GcsFileSystem``."""
    endpoint, scheme = _address(settings.get("gcs.endpoint"))
    token = settings.get("gcs.access-token")
    retries = settings.get("gcs.client.max-retry-time")
    return _given(
        endpoint_override=endpoint,
        scheme=scheme,
        project_id=settings.get("gcs.project-id"),
        access_token=token,
        # pyarrow wants to know when it ends; Google's tokens live for an hour.
        credential_token_expiration=dt.datetime.now(dt.UTC) + dt.timedelta(hours=_TOKEN_HOURS) if token else None,
        target_service_account=settings.get("gcs.service-account"),
        anonymous=settings.get("gcs.anonymous"),
        # Its own is a quarter of an hour, also where no server answers.
        retry_time_limit=dt.timedelta(seconds=retries if isinstance(retries, float) else _RETRY_SECONDS),
    )


def azure_arguments(authority: str, settings: Settings) -> Arguments:
    """Arguments of ``pyarrow.fs.AzureFileSystem`` for ``container@account.dfs.core.windows.net``.

    Raises:
        StorageError: The authority names no container and account.
    """
    container, _, host = authority.rpartition("@")
    account, _, domain = host.partition(".")
    if not container or not account:
        raise StorageError(
            f"cannot read a path of Azure below {authority!r}: expected container@account.dfs.core.windows.net"
        )
    endpoint, scheme = _address(settings.get("azure.endpoint"))
    blob = dfs = None
    if endpoint and (scheme or ":" in endpoint):
        blob = dfs = endpoint
    elif endpoint or domain:
        # dfs.core.windows.net and blob.core.windows.net are two doors of one account.
        suffix = endpoint or domain.partition(".")[2]
        blob, dfs = (f".{door}.{suffix}" for door in ("blob", "dfs"))
    return _given(
        account_name=account,
        account_key=settings.get("azure.access-key"),
        # Without the mark Arrow takes the token for a part of the path.
        sas_token=f"?{str(sas).removeprefix('?')}" if (sas := settings.get("azure.sas-token")) else None,
        tenant_id=settings.get("azure.oauth.tenant-id"),
        client_id=settings.get("azure.oauth.client-id"),
        client_secret=settings.get("azure.oauth.secret"),
        blob_storage_authority=blob,
        dfs_storage_authority=dfs,
        blob_storage_scheme=scheme,
        dfs_storage_scheme=scheme,
    )


@lru_cache(maxsize=64)
def _opened(scheme: str, authority: str, options: tuple[tuple[str, str], ...]) -> pafs.FileSystem:
    settings = typed_options(options)
    switch = _SWITCHES.get(scheme)
    if switch is not None and settings.get(switch) is False:
        raise InvalidPropertyError(f"paths of {scheme} are not read in this catalog: {switch}=false")
    if scheme in _S3:
        return _s3(authority, settings)
    if scheme in _GCS:
        with _google_key(settings):
            return _make("GcsFileSystem", scheme, gcs_arguments(settings))
    if scheme in _AZURE:
        return _make("AzureFileSystem", scheme, azure_arguments(authority, settings))
    if scheme in _HDFS:
        return open_hdfs(scheme, authority, settings)
    known = ", ".join(("file", *_SWITCHES))
    raise StorageError(f"storage of the scheme {scheme} is not known; expected one of {known}")


def _make(name: str, scheme: str, arguments: Arguments) -> pafs.FileSystem:
    found: Callable[..., pafs.FileSystem] | None = getattr(pafs, name, None)
    if found is None:
        raise StorageError(f"this pyarrow was built without {name}, which paths of {scheme} need")
    return found(**arguments)


def _s3(bucket: str, settings: Settings) -> pafs.FileSystem:
    arguments = s3_arguments(settings)
    if "region" not in arguments and "endpoint_override" not in arguments:
        arguments["region"] = pafs.resolve_s3_region(bucket)
    return _make("S3FileSystem", "s3", arguments)


@contextmanager
def _google_key(settings: Settings) -> Iterator[None]:
    """Shows a catalog's key to Google's client, which takes keys from a file that the environment names, and reads it
    when a file system is made: so each catalog has its own."""
    with _making_google, TemporaryDirectory() as folder:
        path = settings.get("gcs.json-key-file-path")
        if "gcs.json-key" in settings:
            path = Path(folder, "key.json")
            path.touch(0o600)
            path.write_text(str(settings["gcs.json-key"]))
        if path is None:
            yield
            return
        if not Path(str(path)).is_file():
            raise InvalidPropertyError(f"gcs.json-key-file-path: there is no file {path}")
        before = os.environ.get(_GOOGLE_KEY)
        os.environ[_GOOGLE_KEY] = str(path)
        try:
            yield
        finally:
            if before is None:
                del os.environ[_GOOGLE_KEY]
            else:
                os.environ[_GOOGLE_KEY] = before


def _given(**arguments: object) -> Arguments:
    return {name: value for name, value in arguments.items() if value is not None}


def _address(text: object) -> tuple[str | None, str | None]:
    """Host and port, and the scheme if there is one."""
    if text is None:
        return None, None
    scheme, separator, rest = str(text).rpartition("://")
    if separator and scheme not in ("http", "https"):
        raise InvalidPropertyError(f"the endpoint {text} begins with {scheme}; expected http or https")
    return rest.rstrip("/"), scheme or None


def _proxy(settings: Settings) -> dict[str, object] | None:
    if "s3.http-proxy" not in settings:
        return None
    host, _, port = str(settings["s3.http-proxy"]).rpartition(":")
    if not host or not port.isdigit():
        raise InvalidPropertyError("s3.http-proxy expects host:port")
    return _given(
        scheme="https" if settings.get("s3.http-proxy.secure") else "http",
        host=host,
        port=int(port),
        username=settings.get("s3.http-proxy.username"),
        password=settings.get("s3.http-proxy.password"),
    )
