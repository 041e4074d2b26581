"""From paths of hdfs and viewfs to one of pyarrow's file systems: by hdfs-native if it is there, else by libhdfs."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs

from connector_spi.errors import InvalidPropertyError, StorageError
from connectors.toolkit.storage.hdfs.client import HdfsCluster, hdfs_file_system

__all__ = ["hdfs_arguments", "hdfs_place", "open_hdfs"]

_PORT = 8020
_PRINCIPAL, _KEYTAB, _TICKETS = "hdfs.kerberos-principal", "hdfs.kerberos-keytab", "hdfs.kerberos-ticket-cache"
_AUTHENTICATION, _SIMPLE = "hadoop.security.authentication", "simple"
_MOUNTS = "fs.viewfs.mounttable"
_DEFAULT_PLACE = "fs.defaultFS"
_PLAIN_LINK, _FALLBACK = "link.", "linkFallback"
_ATTEMPTS = "dfs.client.failover.max.attempts"
# Its own is 15 attempts and three minutes, also where one NameNode refuses every connection.
_ATTEMPTS_AT_ONE_NODE = 3
_NO_MOUNT = "/.not-in-the-mount-table"


def open_hdfs(scheme: str, authority: str, settings: Mapping[str, object]) -> pafs.FileSystem:
    """The file system of a cluster, or of a mount table.

    Raises:
        InvalidPropertyError: A file of Hadoop's settings cannot be read, or settings cannot be honoured.
        StorageError: The cluster's address is not known, or there is no client.
        OSError: The cluster cannot be reached.
    """
    if find_spec("hdfs_native") is not None:
        return hdfs_file_system(hdfs_place(scheme, authority, settings))
    found = getattr(pafs, "HadoopFileSystem", None)
    try:
        if found is not None:
            made: pafs.FileSystem = found(**hdfs_arguments(scheme, authority, settings))
            return made
    except (OSError, pa.ArrowException) as error:
        if "libhdfs" not in str(error) and "libjvm" not in str(error):
            raise
        raise StorageError(_NO_CLIENT) from error
    raise StorageError(_NO_CLIENT)


def hdfs_arguments(scheme: str, authority: str, settings: Mapping[str, object]) -> dict[str, object]:
    """Arguments of ``pyarrow.fs.HadoopFileSystem``.

    ``hdfs://name/`` without a port is a NameNode, or a name service where Hadoop's files have one.

    Raises:
        InvalidPropertyError: A file of Hadoop's settings cannot be read, or settings cannot be honoured.
    """
    for name in (_PRINCIPAL, _KEYTAB):
        if name in settings:
            raise InvalidPropertyError(f"{name} needs hdfs-native: pip install 'lakeport[hdfs]'")
    user, host, port = _parts(scheme, authority)
    own = _resources(settings)
    names = {**_environment(), **own}.get("dfs.nameservices", "").split(",")
    logical = host in (name.strip() for name in names) or scheme == "viewfs"
    given = {
        "host": (f"{scheme}://{host}" if scheme == "viewfs" else host) or "default",
        "port": port or (0 if logical or not host else _PORT),
        "user": user or settings.get("hdfs.user"),
        "kerb_ticket": settings.get("hdfs.kerberos-ticket-cache"),
        "extra_conf": own or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def hdfs_place(scheme: str, authority: str, settings: Mapping[str, object]) -> HdfsCluster:
    """What hdfs-native has to know.

    Raises:
        InvalidPropertyError: A file of Hadoop's settings cannot be read, or settings cannot be honoured.
        StorageError: The cluster's address is not known.
    """
    user, host, port = _parts(scheme, authority)
    hadoop = {**_environment(), **_resources(settings)}
    if not host:
        host, port = _default_place(scheme, hadoop)
    user = user or _text(settings.get("hdfs.user"))
    identity = _kerberos_identity(settings, hadoop)
    if user is not None and hadoop.get(_AUTHENTICATION, _SIMPLE) != _SIMPLE:
        raise InvalidPropertyError(
            f"a cluster with Kerberos is read by a principal, not by {user}: leave out hdfs.user, or set "
            "hdfs.kerberos-principal instead"
        )
    mounts: tuple[str, ...] = ()
    if scheme == "viewfs":
        mounts = _mount(host, hadoop)
        address = host
    else:
        address = _address(host, port, hadoop)
        if ":" in address:
            hadoop.setdefault(_ATTEMPTS, str(_ATTEMPTS_AT_ONE_NODE))
    return HdfsCluster(f"{scheme}://{address}", tuple(sorted(hadoop.items())), user, mounts, *identity)


_NO_CLIENT = (
    "HDFS is read by hdfs-native (pip install 'lakeport[hdfs]') or by Hadoop's own libhdfs, and neither is there; for "
    "libhdfs install a Hadoop client and set HADOOP_HOME (or ARROW_LIBHDFS_DIR), JAVA_HOME and CLASSPATH "
    "(`hadoop classpath --glob`)"
)


def _kerberos_identity(settings: Mapping[str, object], hadoop: dict[str, str]) -> tuple[str | None, ...]:
    """Principal, keytab and ticket cache; where one is given, Kerberos is switched on.

    Raises:
        InvalidPropertyError: They do not fit together, or Hadoop's settings say that there is no Kerberos.
    """
    principal, keytab, tickets = (_text(settings.get(name)) for name in (_PRINCIPAL, _KEYTAB, _TICKETS))
    if principal is None and keytab is None and tickets is None:
        return (None, None, None)
    if principal is None:
        raise InvalidPropertyError(f"{_KEYTAB if keytab else _TICKETS} needs {_PRINCIPAL}, such as etl@EXAMPLE.COM")
    if keytab is not None and tickets is not None:
        raise InvalidPropertyError(f"of {_KEYTAB} and {_TICKETS} only one may be set")
    for name, file in ((_KEYTAB, keytab), (_TICKETS, tickets)):
        if file is not None and not Path(file.removeprefix("FILE:")).is_file():
            raise InvalidPropertyError(f"{name}: there is no file {file}")
    if hadoop.setdefault(_AUTHENTICATION, "kerberos") == _SIMPLE:
        raise InvalidPropertyError(f"{_PRINCIPAL} is set, but {_AUTHENTICATION} is {_SIMPLE} in Hadoop's settings")
    return principal, keytab, tickets


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _parts(scheme: str, authority: str) -> tuple[str | None, str, int | None]:
    user, _, address = authority.rpartition("@")
    host, _, port = address.partition(":")
    if port and not port.isdigit():
        raise StorageError(f"cannot read {scheme}://{authority}/: {port!r} is no port")
    return user or None, host, int(port) if port else None


def _default_place(scheme: str, hadoop: Mapping[str, str]) -> tuple[str, int | None]:
    default = hadoop.get(_DEFAULT_PLACE, "")
    if not default.startswith(f"{scheme}://"):
        raise StorageError(
            f"{scheme}:/// names no cluster, and {_DEFAULT_PLACE} is {default or 'not set'}: write {scheme}://name/, "
            "or give core-site.xml in hive.config.resources"
        )
    _, host, port = _parts(scheme, default.partition("://")[2].partition("/")[0])
    return host, port


def _address(host: str, port: int | None, hadoop: Mapping[str, str]) -> str:
    """A name service that is asked by its name, or host and port of one NameNode."""
    if port is not None:
        return f"{host}:{port}"
    if f"dfs.ha.namenodes.{host}" in hadoop:
        return host
    # A name service of one NameNode, as federations have them.
    return hadoop.get(f"dfs.namenode.rpc-address.{host}") or f"{host}:{_PORT}"


def _mount(cluster: str, hadoop: dict[str, str]) -> tuple[str, ...]:
    """The mount points of a cluster, whose targets are made such as hdfs-native takes them.

    Raises:
        InvalidPropertyError: It has links of other kinds, which hdfs-native would pass over.
    """
    prefix = f"{_MOUNTS}.{cluster}."
    found = {name.removeprefix(prefix): value for name, value in hadoop.items() if name.startswith(prefix)}
    links = {name: value for name, value in found.items() if name.startswith("link")}
    unknown = [name for name in links if name != _FALLBACK and not name.startswith(_PLAIN_LINK)]
    if unknown:
        raise InvalidPropertyError(f"{prefix}{min(unknown)}: of mount tables link and linkFallback are known")
    if not links:
        raise InvalidPropertyError(f"there is no {prefix}{_PLAIN_LINK}*: give Hadoop's files in hive.config.resources")
    targets = {name: _mount_target(f"{prefix}{name}", value, hadoop) for name, value in links.items()}
    if _FALLBACK not in targets:
        # It needs one: a folder that is nowhere.
        first = min(targets.values())
        targets[_FALLBACK] = "/".join(first.split("/")[:3]) + _NO_MOUNT
    hadoop.update({f"{prefix}{name}": value for name, value in targets.items()})
    return tuple(sorted(name.removeprefix(_PLAIN_LINK).rstrip("/") for name in targets if name != _FALLBACK))


def _mount_target(name: str, value: str, hadoop: Mapping[str, str]) -> str:
    scheme, separator, rest = value.partition("://")
    authority, _, path = rest.partition("/")
    if scheme != "hdfs" or not separator or not authority:
        raise InvalidPropertyError(f"{name} is {value}; expected hdfs://name/path")
    _, host, port = _parts(scheme, authority)
    return f"hdfs://{_address(host, port, hadoop)}/{path}"


def _environment() -> dict[str, str]:
    """The settings that Hadoop's own variables point to, as all clients of Hadoop take them."""
    folder = os.environ.get("HADOOP_CONF_DIR")
    if not folder and os.environ.get("HADOOP_HOME"):
        folder = str(Path(os.environ["HADOOP_HOME"], "etc", "hadoop"))
    files = [Path(folder, name) for name in ("core-site.xml", "hdfs-site.xml")] if folder else []
    found: dict[str, str] = {}
    for file in files:
        if file.is_file():
            found.update(_settings_of(str(file), "HADOOP_CONF_DIR"))
    return found


def _resources(settings: Mapping[str, object]) -> dict[str, str]:
    resources = settings.get("hive.config.resources")
    found: dict[str, str] = {}
    for file in resources if isinstance(resources, tuple) else ():
        found.update(_settings_of(str(file), "hive.config.resources"))
    return found


def _settings_of(file: str, named_by: str) -> dict[str, str]:
    try:
        root = ElementTree.fromstring(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise InvalidPropertyError(
            f"{named_by}: cannot read {file} as Hadoop's XML ({type(error).__name__})"
        ) from error
    pairs = ((entry.findtext("name"), entry.findtext("value")) for entry in root.iter("property"))
    return {name.strip(): value.strip() for name, value in pairs if name and value is not None}
