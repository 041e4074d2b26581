"""What a catalog file says of storage, and what becomes of it."""

from __future__ import annotations

import pytest

from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import parse_properties
from connectors.toolkit.caching.block_store import StoreDirectory
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.properties import (
    STORAGE_PROPERTIES,
    cache_directories,
    storage_options,
    typed_options,
)


def options(**given: str) -> tuple[tuple[str, str], ...]:
    """What travels of properties; ``__`` in a keyword stands for ``-`` and ``_`` for ``.``."""
    named = {name.replace("__", "-").replace("_", "."): text for name, text in given.items()}
    return storage_options(parse_properties(STORAGE_PROPERTIES, named, lambda name: name))


@pytest.mark.parametrize("name", ["s3.endpoint", "hive.s3.endpoint", "lakeport.fs.s3.endpoint"])
def test_a_property_has_trinos_names_and_our_own(name: str) -> None:
    typed = parse_properties(STORAGE_PROPERTIES, {name: "http://store:9000"}, lambda one: one)
    assert storage_options(typed) == (("s3.endpoint", "http://store:9000"),)


def test_nothing_travels_that_is_not_set() -> None:
    assert options() == ()
    assert options(fs_native__s3_enabled="true", s3_anonymous="false") == ()


def test_what_travels_parses_to_the_same() -> None:
    given = options(
        fs_native__s3_enabled="false",
        s3_path__style__access="false",
        s3_socket__connect__timeout="1500ms",
        s3_max__error__retries="0",
        hive_config_resources="/etc/core-site.xml, /etc/hdfs-site.xml",
    )
    assert typed_options(given) == {
        "fs.native-s3.enabled": False,
        "s3.path-style-access": False,
        "s3.socket-connect-timeout": 1.5,
        "s3.max-error-retries": 0,
        "hive.config.resources": ("/etc/core-site.xml", "/etc/hdfs-site.xml"),
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"s3_aws__access__key": "a"}, "go together"),
        ({"s3_aws__session__token": "t"}, "belongs to keys"),
        ({"s3_aws__access__key": "a", "s3_aws__secret__key": "b", "s3_anonymous": "true"}, "only one"),
        ({"s3_path__style__access": "true"}, "needs s3.endpoint"),
        ({"s3_http__proxy_username": "a"}, "need s3.http-proxy"),
        ({"gcs_anonymous": "true", "gcs_access__token": "t"}, "only one"),
        ({"gcs_json__key": "{}", "gcs_json__key__file__path": "/k"}, "only one"),
        ({"azure_auth__type": "ACCESS_KEY"}, "needs azure.access-key"),
        ({"azure_oauth_secret": "x"}, "go together"),
        ({"azure_access__key": "x", "azure_sas__token": "y"}, "only one"),
    ],
)
def test_settings_that_do_not_fit_are_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidPropertyError, match=words):
        options(**given)


def test_secrets_are_not_shown() -> None:
    files = FileSystem(options(s3_aws__access__key="KEY1", s3_aws__secret__key="SECRET1"))
    assert "KEY1" not in repr(files)
    assert "SECRET1" not in str(files)
    hidden = {prop.name for prop in STORAGE_PROPERTIES if prop.sensitive}
    assert {"s3.aws-secret-key", "s3.aws-session-token", "azure.access-key", "gcs.access-token"} <= hidden


def test_settings_are_of_their_own_storage() -> None:
    files = FileSystem(options(s3_region="eu-west-1"))
    assert files.has_settings("s3a://b/k")
    assert not any(files.has_settings(path) for path in ("/a", "file:/a", "hdfs://n/a", "gs://b/k", "abfs://c@a/k"))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"fs_cache_directories": "/a"},
        {"fs_cache_directories": "/a,/b", "fs_cache_max__sizes": "1GB"},
        {"fs_cache_directories": "a", "fs_cache_max__sizes": "1GB"},
        {"fs_cache_directories": "/a", "fs_cache_max__sizes": "much"},
        {"fs_cache_directories": "/a", "fs_cache_max__sizes": "0B"},
    ],
)
def test_a_cache_needs_a_size_for_each_directory(given: dict[str, str]) -> None:
    with pytest.raises(InvalidPropertyError, match=r"fs\.cache\.max-sizes"):
        options(fs_cache_enabled="true", **given)
    assert cache_directories(typed_options(options(**given))) == ()


def test_a_cache_has_trinos_names() -> None:
    given = options(fs_cache_enabled="true", fs_cache_directories="/a, /b", fs_cache_max__sizes="1GB, 5MB")
    assert cache_directories(typed_options(given)) == (StoreDirectory("/a", 1 << 30), StoreDirectory("/b", 5 << 20))
