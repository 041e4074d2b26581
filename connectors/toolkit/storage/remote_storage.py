"""From a scheme, an authority and a catalog's settings to one of pyarrow's file systems."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.fs as pafs

from connector_spi.errors import InvalidPropertyError, StorageError
from connectors.toolkit.storage.client_arguments import (
    Arguments,
    Settings,
    azure_arguments,
    gcs_arguments,
    s3_arguments,
)
from connectors.toolkit.storage.hdfs.storage import open_hdfs
from connectors.toolkit.storage.properties import typed_options

__all__ = [
    "StorageKind",
    "is_signed",
    "open_storage",
    "setting_prefixes",
    "storage_kind",
    "storage_path",
]


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
    # For folders above the one that is made there may be no right to write.
    return _make("S3FileSystem", "s3", {**arguments, "check_directory_existence_before_creation": True})


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
