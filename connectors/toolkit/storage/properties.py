"""The catalog properties by which the connectors reach storage, with Trino's keys.

Each may also be written with ``lakeport.fs.`` before it. Keys of Trino's older file systems (``hive.s3.*``) still work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    boolean_property,
    data_size_property,
    duration_property,
    enum_property,
    integer_property,
    string_list_property,
    string_property,
)
from connectors.toolkit.caching.block_store import StoreDirectory

__all__ = ["STORAGE_PROPERTIES", "cache_directories", "storage_options", "typed_options"]

_FAMILY = "lakeport.fs."
_SIZE = data_size_property("fs.cache.max-sizes", "", 0, minimum=1)


def _known(prop: PropertyMetadata[object], *aliases: str) -> PropertyMetadata[object]:
    return replace(prop, aliases=(f"{_FAMILY}{prop.name}", *aliases))


def _secret(name: str, description: str, *aliases: str) -> PropertyMetadata[object]:
    return _known(string_property(name, description, sensitive=True), *aliases)


def _text(name: str, description: str, *aliases: str) -> PropertyMetadata[object]:
    return _known(string_property(name, description), *aliases)


def _switch(name: str, what: str, *aliases: str) -> PropertyMetadata[object]:
    return _known(boolean_property(name, f"Whether {what} may be read.", True), *aliases)


_ADDRESSING = "Whether the bucket is part of the path (true) or of the host's name (false); true with s3.endpoint."

STORAGE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    _switch("fs.native-s3.enabled", "paths of s3, s3a and s3n", "fs.s3.enabled"),
    _text("s3.endpoint", "Address of an S3 store other than Amazon's, such as http://minio:9000.", "hive.s3.endpoint"),
    _text("s3.region", "Region of the S3 store.", "hive.s3.region"),
    _secret("s3.aws-access-key", "Access key of the S3 store; with s3.aws-secret-key.", "hive.s3.aws-access-key"),
    _secret("s3.aws-secret-key", "Secret key of the S3 store; with s3.aws-access-key.", "hive.s3.aws-secret-key"),
    _secret("s3.aws-session-token", "Token of temporary keys of the S3 store; with the two keys."),
    _known(boolean_property("s3.anonymous", "Whether the S3 store is read without any keys.", False)),
    _known(
        replace(boolean_property("s3.path-style-access", _ADDRESSING, True), default=None), "hive.s3.path-style-access"
    ),
    _known(
        boolean_property("s3.ssl.enabled", "Whether an endpoint without a scheme is https.", True),
        "hive.s3.ssl.enabled",
    ),
    _text("s3.iam-role", "Role that is assumed to read the S3 store.", "hive.s3.iam-role"),
    _text("s3.iam-role-session-name", "Name of the session of the assumed role."),
    _text("s3.external-id", "External id for assuming the role.", "hive.s3.external-id"),
    _known(
        duration_property("s3.socket-connect-timeout", "Longest wait for a connection to the S3 store.", minimum=0.001),
        "hive.s3.connect-timeout",
    ),
    _known(
        integer_property("s3.max-error-retries", "How often a failed request to the S3 store is repeated.", minimum=0),
        "hive.s3.max-error-retries",
    ),
    _text("s3.http-proxy", "Host and port of a proxy before the S3 store."),
    _known(boolean_property("s3.http-proxy.secure", "Whether the proxy is spoken to by https.", False)),
    _text("s3.http-proxy.username", "User at the proxy."),
    _secret("s3.http-proxy.password", "Password at the proxy."),
    _text("s3.tls-ca-file", "PEM file of the authorities that the S3 store's certificate is checked with."),
    _switch("fs.native-gcs.enabled", "paths of gs", "fs.gcs.enabled"),
    _text("gcs.endpoint", "Address of a store other than Google's, such as http://localhost:4443."),
    _text("gcs.project-id", "Project of Google Cloud."),
    _secret("gcs.access-token", "OAuth token for Google Cloud Storage, taken as valid for an hour."),
    _text(
        "gcs.json-key-file-path",
        "File of a service account's key, also where tasks run.",
        "hive.gcs.json-key-file-path",
    ),
    _secret("gcs.json-key", "A service account's key itself, in JSON."),
    _text("gcs.service-account", "Service account of Google Cloud that is impersonated."),
    _known(boolean_property("gcs.anonymous", "Whether Google Cloud Storage is read without credentials.", False)),
    _known(
        duration_property(
            "gcs.client.max-retry-time",
            "How long a failed request to Google Cloud Storage is repeated; a minute if not set.",
            minimum=0.001,
        )
    ),
    _switch("fs.native-azure.enabled", "paths of abfs, abfss, wasb and wasbs", "fs.azure.enabled"),
    _known(
        enum_property(
            "azure.auth-type",
            "How Azure learns who asks; found by the other settings if not set.",
            ("ACCESS_KEY", "OAUTH", "SAS", "DEFAULT"),
        )
    ),
    _text(
        "azure.endpoint", "Domain of Azure's accounts, or host and port of an emulator; core.windows.net if not set."
    ),
    _secret(
        "azure.access-key", "Key of the storage account.", "hive.azure.abfs-access-key", "hive.azure.wasb-access-key"
    ),
    _secret("azure.sas-token", "Shared access signature for the storage account."),
    _text("azure.oauth.tenant-id", "Tenant of the application."),
    _text("azure.oauth.client-id", "Id of the application.", "hive.azure.abfs.oauth.client-id"),
    _secret("azure.oauth.secret", "Secret of the application.", "hive.azure.abfs.oauth.secret"),
    _switch("fs.hadoop.enabled", "paths of hdfs and viewfs"),
    _text("hdfs.user", "User at HDFS without Kerberos; the one who runs the process if not set."),
    _text(
        "hdfs.kerberos-principal", "Kerberos principal that reads HDFS, by hdfs-native.", "hive.hdfs.trino.principal"
    ),
    _text(
        "hdfs.kerberos-keytab",
        "File with the principal's keys, also where tasks run.",
        "hive.hdfs.trino.keytab",
    ),
    _text("hdfs.kerberos-ticket-cache", "File of Kerberos tickets for HDFS, as kinit writes it."),
    _known(
        string_list_property("hive.config.resources", "Hadoop's XML files, such as core-site.xml and hdfs-site.xml.")
    ),
    _known(
        boolean_property(
            "fs.cache.enabled",
            "Whether blocks of files on far storage are kept on a local disk, where tasks run.",
            False,
        )
    ),
    _known(string_list_property("fs.cache.directories", "Directories of local disks for blocks of files.")),
    _known(
        string_list_property(
            "fs.cache.max-sizes", "Most bytes in each of fs.cache.directories, such as 100GB, in order."
        )
    ),
)
"""Descriptors for a connector's ``config_properties``."""

_BY_NAME = {prop.name: prop for prop in STORAGE_PROPERTIES}


def storage_options(config: PropertyValues) -> tuple[tuple[str, str], ...]:
    """What is set of ``STORAGE_PROPERTIES``, as ``FileSystem`` takes it: texts that parse to the same values.

    Holds secrets: keep it out of ``repr``.

    Raises:
        InvalidPropertyError: Settings do not fit together.
    """
    values = ((prop, config.get(prop)) for prop in STORAGE_PROPERTIES)
    given = {prop.name: value for prop, value in values if value not in (None, "", (), prop.default)}
    _check(given)
    return tuple((name, _rendered(value)) for name, value in given.items())


def typed_options(options: tuple[tuple[str, str], ...]) -> dict[str, object]:
    """The values of what ``storage_options`` gave.

    Raises:
        InvalidPropertyError: Settings do not fit together, or are not known.
    """
    for name, _ in options:
        if name not in _BY_NAME:
            raise InvalidPropertyError(f"'{name}' is no setting of storage")
    given = {name: _BY_NAME[name].parse(text) for name, text in options}
    _check(given)
    return given


def cache_directories(given: Mapping[str, object]) -> tuple[StoreDirectory, ...]:
    """Where blocks of files are kept; nowhere unless that is enabled.

    Args:
        given: Values of ``STORAGE_PROPERTIES`` by name.

    Raises:
        InvalidPropertyError: Directories and their sizes do not fit together.
    """
    if not given.get("fs.cache.enabled"):
        return ()
    paths, sizes = (cast("tuple[str, ...]", given.get(f"fs.cache.{name}", ())) for name in ("directories", "max-sizes"))
    if not paths or len(paths) != len(sizes) or not all(os.path.isabs(path) for path in paths):
        raise InvalidPropertyError(
            "fs.cache.enabled=true needs fs.cache.directories, absolute paths of local directories, and "
            "fs.cache.max-sizes with a size such as 100GB for each"
        )
    try:
        known = [_SIZE.parse(size) for size in sizes]
    except ValueError as error:
        raise InvalidPropertyError(f"fs.cache.max-sizes: {error}") from error
    return tuple(StoreDirectory(path, size) for path, size in zip(paths, known, strict=True))


def _rendered(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value}s" if isinstance(value, float) else str(value)


def _check(given: Mapping[str, object]) -> None:
    keys = ("s3.aws-access-key", "s3.aws-secret-key")
    if len([key for key in keys if key in given]) == 1:
        raise InvalidPropertyError(f"{keys[0]} and {keys[1]} go together: give both or none")
    has_keys = keys[0] in given
    if "s3.aws-session-token" in given and not has_keys:
        raise InvalidPropertyError(f"s3.aws-session-token belongs to keys: give {keys[0]} and {keys[1]}, too")
    if sum((has_keys, "s3.anonymous" in given, "s3.iam-role" in given)) > 1:
        raise InvalidPropertyError("of s3.aws-access-key, s3.anonymous and s3.iam-role only one may be set")
    if given.get("s3.path-style-access") and not {"s3.endpoint", "s3.region"} & set(given):
        raise InvalidPropertyError("s3.path-style-access=true needs s3.endpoint or s3.region")
    if {"s3.http-proxy.username", "s3.http-proxy.password"} & set(given) and "s3.http-proxy" not in given:
        raise InvalidPropertyError("s3.http-proxy.username and s3.http-proxy.password need s3.http-proxy")
    if given.get("fs.cache.enabled"):
        cache_directories(given)
    ways = ("gcs.access-token", "gcs.anonymous", "gcs.json-key", "gcs.json-key-file-path")
    if sum(name in given for name in ways) > 1:
        raise InvalidPropertyError(f"of {', '.join(ways)} only one may be set")
    _check_azure(given)


def _check_azure(given: Mapping[str, object]) -> None:
    oauth = ("azure.oauth.tenant-id", "azure.oauth.client-id", "azure.oauth.secret")
    if "azure.oauth.secret" in given and any(name not in given for name in oauth):
        raise InvalidPropertyError(f"{', '.join(oauth)} go together: give all or none")
    ways = {"ACCESS_KEY": "azure.access-key", "SAS": "azure.sas-token", "OAUTH": "azure.oauth.client-id"}
    if sum(name in given for name in ways.values()) > 1:
        raise InvalidPropertyError(f"of {', '.join(ways.values())} only one may be set")
    needed = ways.get(str(given.get("azure.auth-type")))
    if needed is not None and needed not in given:
        raise InvalidPropertyError(f"azure.auth-type={given['azure.auth-type']} needs {needed}")
