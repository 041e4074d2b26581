"""From settings to a client of HDFS; what a cluster answers is in tests/integration/storage."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from connector_spi.errors import InvalidPropertyError, StorageError
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.hdfs.storage import hdfs_arguments, hdfs_place
from connectors.toolkit.storage.remote_storage import storage_path


@pytest.fixture(autouse=True)
def no_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine's."""
    for name in ("HADOOP_HOME", "HADOOP_CONF_DIR", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(name, raising=False)


def site(path: Path, settings: Mapping[str, str]) -> dict[str, object]:
    """Typed properties that name a file of Hadoop's settings."""
    entries = [f"<property><name>{name}</name><value>{text}</value></property>" for name, text in settings.items()]
    path.write_text(f"<configuration>{''.join(entries)}</configuration>")
    return {"hive.config.resources": (str(path),)}


def test_arguments_of_libhdfs(tmp_path: Path) -> None:
    nameservices = {"dfs.nameservices": "lake, other"}
    settings = {**site(tmp_path / "hdfs-site.xml", nameservices), "hdfs.user": "etl"}
    assert hdfs_arguments("hdfs", "lake", settings) == {
        "host": "lake",
        "port": 0,
        "user": "etl",
        "extra_conf": nameservices,
    }
    assert hdfs_arguments("hdfs", "other", settings)["port"] == 0
    assert hdfs_arguments("hdfs", "node", {}) == {"host": "node", "port": 8020}
    assert hdfs_arguments("hdfs", "me@node:9000", {"hdfs.user": "etl"}) == {"host": "node", "port": 9000, "user": "me"}
    assert hdfs_arguments("hdfs", "", {}) == {"host": "default", "port": 0}
    assert storage_path("hdfs", "node:9000", "/a/b") == "/a/b"
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(InvalidPropertyError, match=r"hdfs-site\.xml"):
        hdfs_arguments("hdfs", "lake", settings)


def test_addresses_for_hdfs_native(tmp_path: Path) -> None:
    assert hdfs_place("hdfs", "node", {}).url == "hdfs://node:8020"
    assert hdfs_place("hdfs", "me@node:9000", {"hdfs.user": "etl"}).user == "me"
    settings = site(
        tmp_path / "site.xml",
        {
            "fs.defaultFS": "hdfs://lake",
            "dfs.ha.namenodes.lake": "n1,n2",
            "dfs.namenode.rpc-address.alone": "node:9000",
        },
    )
    urls = [hdfs_place("hdfs", name, settings).url for name in ("", "lake", "alone", "node")]
    assert urls == ["hdfs://lake", "hdfs://lake", "hdfs://node:9000", "hdfs://node:8020"]
    with pytest.raises(StorageError, match=r"fs\.defaultFS is not set"):
        hdfs_place("hdfs", "", {})
    with pytest.raises(StorageError, match="no port"):
        hdfs_place("hdfs", "node:x", {})


def test_settings_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Those of a catalog win over them.
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    site(tmp_path / "core-site.xml", {"fs.defaultFS": "hdfs://environment", "dfs.nameservices": "lake"})
    assert hdfs_place("hdfs", "", {}).url == "hdfs://environment:8020"
    own = site(tmp_path / "own.xml", {"fs.defaultFS": "hdfs://own:1"})
    assert hdfs_place("hdfs", "", own).url == "hdfs://own:1"
    assert hdfs_arguments("hdfs", "lake", own) == {
        "host": "lake",
        "port": 0,
        "extra_conf": {"fs.defaultFS": "hdfs://own:1"},
    }


def test_mount_tables(tmp_path: Path) -> None:
    table = "fs.viewfs.mounttable.views"
    settings = site(
        tmp_path / "site.xml",
        {f"{table}.link./a": "hdfs://one/x", f"{table}.link./b/c": "hdfs://lake/y", "dfs.ha.namenodes.lake": "n1"},
    )
    place = hdfs_place("viewfs", "views", settings)
    assert (place.url, place.mounts) == ("viewfs://views", ("/a", "/b/c"))
    made = dict(place.settings)
    assert (made[f"{table}.link./a"], made[f"{table}.link./b/c"]) == ("hdfs://one:8020/x", "hdfs://lake/y")
    with pytest.raises(InvalidPropertyError, match=r"no fs\.viewfs\.mounttable\.others\.link"):
        hdfs_place("viewfs", "others", settings)
    for name, value in ((f"{table}.linkMergeSlash", "hdfs://one/"), (f"{table}.link./a", "s3a://one/x")):
        with pytest.raises(InvalidPropertyError, match=r"linkMergeSlash|s3a:"):
            hdfs_place("viewfs", "views", site(tmp_path / "other.xml", {name: value}))


def test_kerberos(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.touch()
    given = {"hdfs.kerberos-principal": "etl@R", "hdfs.kerberos-keytab": str(keys)}
    place = hdfs_place("hdfs", "node", given)
    assert (place.principal, place.keytab, place.tickets) == ("etl@R", str(keys), None)
    assert dict(place.settings)["hadoop.security.authentication"] == "kerberos"
    tickets = {"hdfs.kerberos-principal": "etl@R", "hdfs.kerberos-ticket-cache": str(keys)}
    assert hdfs_place("hdfs", "node", tickets).tickets == str(keys)


def test_settings_that_cannot_be_honoured(tmp_path: Path) -> None:
    secure = site(tmp_path / "secure.xml", {"hadoop.security.authentication": "kerberos"})
    simple = site(tmp_path / "simple.xml", {"hadoop.security.authentication": "simple"})
    principal = {"hdfs.kerberos-principal": "etl@R"}
    refused: list[tuple[Mapping[str, object], str]] = [
        ({"hdfs.kerberos-ticket-cache": "/tickets"}, r"ticket-cache needs hdfs\.kerberos-principal"),
        ({"hdfs.kerberos-keytab": "/keys"}, r"keytab needs hdfs\.kerberos-principal"),
        ({**principal, "hdfs.kerberos-keytab": "/no/keys"}, "there is no file /no/keys"),
        ({**principal, "hdfs.kerberos-keytab": "/k", "hdfs.kerberos-ticket-cache": "/t"}, "only one may be set"),
        ({**principal, **simple}, r"hadoop\.security\.authentication is simple"),
        ({**principal, "hdfs.user": "etl"}, r"not by etl: leave out hdfs\.user"),
        ({**secure, "hdfs.user": "etl"}, r"not by etl: leave out hdfs\.user"),
    ]
    for settings, message in refused:
        with pytest.raises(InvalidPropertyError, match=message):
            hdfs_place("hdfs", "node", settings)
    with pytest.raises(InvalidPropertyError, match="needs hdfs-native"):
        hdfs_arguments("hdfs", "node", principal)


def test_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(StorageError, match=r"lakeport\[hdfs\].*HADOOP_HOME"):
        FileSystem().list("hdfs://127.0.0.1:1/a")
