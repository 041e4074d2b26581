"""From a catalog's settings to the arguments of pyarrow's clients of object stores."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import pyarrow.fs as pafs

from connector_spi.errors import InvalidPropertyError, StorageError

__all__ = ["Arguments", "Settings", "azure_arguments", "gcs_arguments", "s3_arguments"]

Settings = Mapping[str, object]
Arguments = dict[str, object]

_TOKEN_HOURS = 1
_RETRY_SECONDS = 60


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
