"""From settings to pyarrow's file systems, and S3 against a server that checks signatures and rights."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from connector_spi.errors import FileMissingError, InvalidPropertyError, StorageError
from connector_spi.properties import parse_properties
from connectors.toolkit.orc.reader import orc_errors
from connectors.toolkit.parquet.reader import parquet_errors
from connectors.toolkit.storage.client_arguments import azure_arguments, gcs_arguments, s3_arguments
from connectors.toolkit.storage.filesystem import FileSystem, block_store
from connectors.toolkit.storage.properties import STORAGE_PROPERTIES, storage_options
from connectors.toolkit.storage.remote_storage import storage_path
from tests.gcs_server import gcs_server
from tests.s3_server import S3Server, s3_server

# Hive escapes what a folder's name cannot hold; the escape is part of the key.
FOLDER = "ds=2024-01-01/p=a%2Fb c+d"


def file_system(properties: dict[str, str]) -> FileSystem:
    """A catalog's storage, as it arrives in a task."""
    typed = parse_properties(STORAGE_PROPERTIES, properties, lambda name: name)
    made: FileSystem = pickle.loads(pickle.dumps(FileSystem(storage_options(typed))))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("objects")
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER / "000000_0").write_text("rows")
    return root


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[S3Server]:
    with s3_server() as server:
        for bucket in ("one", "two"):
            server.upload(folder, f"{bucket}/t")
        yield server


@pytest.mark.slow
def test_blocks_are_kept_for_who_may_still_read_the_object(server: S3Server, tmp_path: Path) -> None:
    """An object that was replaced is another one, and one that is gone is gone, whatever is kept of it."""
    cache = {
        "fs.cache.enabled": "true",
        "fs.cache.directories": str(tmp_path / "cache"),
        "fs.cache.max-sizes": "10MB",
    }
    files = file_system({**server.properties("one"), **cache})
    path = f"s3://one/t/{FOLDER}/000000_0"
    kept_in = block_store(files.options)
    assert kept_in is not None
    deadline = time.monotonic() + 10
    while not kept_in.state.entries and time.monotonic() < deadline:
        # Not before the object is some seconds old: see settled.py.
        assert files.read_text(path) == "rows"
        time.sleep(0.3)
    before = kept_in.state
    assert files.read_text(path) == "rows"
    assert kept_in.state.hits == before.hits + 1
    other = file_system({**server.properties("two"), **cache})
    with pytest.raises(StorageError):
        other.read_text(path)
    with pytest.raises(FileMissingError):
        files.read_text(f"{path}_1")
    local = tmp_path / "local"
    local.write_text("near")
    assert files.read_text(str(local)) == "near"
    assert kept_in.state.entries == 1
    assert files.forget_blocks() == 1


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_s3(server: S3Server, scheme: str) -> None:
    files = file_system(server.properties("one"))
    root = f"{scheme}://one/t"
    found = files.list(root, recursive=True)
    paths = [f"{root}/ds=2024-01-01", f"{root}/{FOLDER}", f"{root}/{FOLDER}/000000_0"]
    assert [info.path for info in found] == paths
    assert [info.is_directory for info in found] == [True, True, False]
    assert found[2].size == 4
    assert found[2].modified_millis > 0
    assert files.read_text(found[2].path) == "rows"
    assert [info.path for info in files.list(root)] == paths[:1]
    assert files.info(f"{root}/nothing") is None
    with pytest.raises(FileMissingError):
        files.list(f"{root}/nothing")
    with pytest.raises(FileMissingError):
        files.open(f"{root}/nothing")


def test_two_identities_in_one_process(server: S3Server) -> None:
    one, two = (file_system(server.properties(user)) for user in ("one", "two"))
    assert one.read_text(f"s3://one/t/{FOLDER}/000000_0") == two.read_text(f"s3://two/t/{FOLDER}/000000_0") == "rows"
    for files, bucket in ((one, "two"), (two, "one")):
        with pytest.raises(StorageError, match="ACCESS_DENIED") as refused:
            files.list(f"s3://{bucket}/t")
        assert not any(secret in str(refused.value) for pair in server.keys.values() for secret in pair)


def test_a_wrong_secret(server: S3Server) -> None:
    wrong = server.properties("one") | {"s3.aws-secret-key": "no such secret"}
    with pytest.raises(StorageError, match="SIGNATURE") as refused:
        file_system(wrong).list("s3://one/t")
    assert "no such secret" not in str(refused.value)


def test_temporary_keys(server: S3Server) -> None:
    key, secret, token = server.session
    given = {**server.place(), "s3.aws-access-key": key, "s3.aws-secret-key": secret}
    files = file_system({**given, "s3.aws-session-token": token})
    assert files.read_text(f"s3://one/t/{FOLDER}/000000_0") == "rows"
    with pytest.raises(StorageError, match="InvalidToken"):
        file_system({**given, "s3.aws-session-token": "another"}).list("s3://one/t")


@pytest.mark.slow
def test_no_identity(folder: Path) -> None:
    with s3_server(checks=False) as server:
        server.upload(folder, "one/private")
        server.upload(folder, "one/public", public=True)
        files = file_system({**server.place(), "s3.anonymous": "true"})
        assert files.read_text(f"s3://one/public/{FOLDER}/000000_0") == "rows"
        with pytest.raises(StorageError, match="ACCESS_DENIED"):
            files.read_text(f"s3://one/private/{FOLDER}/000000_0")


def test_a_server_that_is_not_there(server: S3Server) -> None:
    nowhere = {**server.properties("one"), "s3.endpoint": "http://127.0.0.1:1", "s3.max-error-retries": "0"}
    with pytest.raises(StorageError, match="NETWORK_CONNECTION"):
        file_system(nowhere).list("s3://one/t")


@pytest.mark.slow
def test_a_server_that_goes_away_while_files_are_read(tmp_path: Path) -> None:
    """The files are not damaged."""
    table = pa.table({"a": list(range(100))})
    pq.write_table(table, tmp_path / "a.parquet")
    orc.write_table(table, tmp_path / "a.orc")
    with s3_server() as server:
        server.upload(tmp_path, "one/t")
        files = file_system({**server.properties("one"), "s3.max-error-retries": "0"})
        parquet = pq.ParquetFile(files.open("s3://one/t/a.parquet"))
        stripes = orc.ORCFile(files.open("s3://one/t/a.orc"))
    with (
        pytest.raises(StorageError, match=r"s3://one/t/a\.parquet: .*NETWORK_CONNECTION"),
        parquet_errors("s3://one/t/a.parquet"),
    ):
        parquet.read_row_group(0)
    with pytest.raises(StorageError, match=r"s3://one/t/a\.orc: .*NETWORK_CONNECTION"), orc_errors("s3://one/t/a.orc"):
        stripes.read_stripe(0)


def test_switched_off() -> None:
    files = file_system({"fs.native-s3.enabled": "false"})
    with pytest.raises(InvalidPropertyError, match=r"fs\.native-s3\.enabled=false"):
        files.list("s3a://one/t")


def test_unknown_storage() -> None:
    with pytest.raises(StorageError, match="scheme ftp is not known"):
        FileSystem().list("ftp://host/folder")


def test_s3_addresses() -> None:
    assert s3_arguments({"s3.endpoint": "http://store:9000/"}) == {"endpoint_override": "store:9000", "scheme": "http"}
    assert s3_arguments({"s3.endpoint": "store", "s3.ssl.enabled": False}) == {
        "endpoint_override": "store",
        "scheme": "http",
    }
    by_host = s3_arguments({"s3.endpoint": "https://store", "s3.path-style-access": False})
    assert by_host == {"endpoint_override": "store", "scheme": "https", "force_virtual_addressing": True}
    by_path = s3_arguments({"s3.region": "eu-west-1", "s3.path-style-access": True})
    assert by_path == {"endpoint_override": "s3.eu-west-1.amazonaws.com", "region": "eu-west-1"}
    with pytest.raises(InvalidPropertyError, match="http or https"):
        s3_arguments({"s3.endpoint": "ftp://store"})


def test_s3_settings() -> None:
    made = s3_arguments(
        {
            "s3.iam-role": "arn:aws:iam::1:role/r",
            "s3.external-id": "e",
            "s3.http-proxy": "proxy:3128",
            "s3.http-proxy.username": "u",
            "s3.http-proxy.password": "p",
            "s3.tls-ca-file": "/ca.pem",
        }
    )
    assert made == {
        "role_arn": "arn:aws:iam::1:role/r",
        "external_id": "e",
        "proxy_options": {"scheme": "http", "host": "proxy", "port": 3128, "username": "u", "password": "p"},
        "tls_ca_file_path": "/ca.pem",
    }
    with pytest.raises(InvalidPropertyError, match="host:port"):
        s3_arguments({"s3.http-proxy": "proxy"})


def test_gcs_settings() -> None:
    made = gcs_arguments({"gcs.endpoint": "http://localhost:4443", "gcs.anonymous": True})
    assert made.pop("retry_time_limit") == timedelta(minutes=1)
    assert made == {"endpoint_override": "localhost:4443", "scheme": "http", "anonymous": True}
    assert isinstance(pafs.GcsFileSystem(**made), pafs.GcsFileSystem)
    patient = gcs_arguments({"gcs.client.max-retry-time": 300.0})
    assert patient["retry_time_limit"] == timedelta(minutes=5)
    with_token = gcs_arguments({"gcs.access-token": "t"})
    assert with_token["access_token"] == "t"
    assert "credential_token_expiration" in with_token
    assert storage_path("gs", "bucket", "/a/b/") == "bucket/a/b"


def test_gcs_keys_of_two_catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/of/somebody/else")
    objects = {"one/t/x=a b/f": b"rows of one", "two/t/f": b"rows of two."}
    with gcs_server(objects) as server:
        (tmp_path / "two.json").write_text(server.key("two"))
        given = {"gcs.endpoint": server.endpoint}
        one = file_system({**given, "gcs.json-key": server.key("one")})
        two = file_system({**given, "gcs.json-key-file-path": str(tmp_path / "two.json")})
        # pyarrow holds Python's lock while it opens an object, so that a server in this process could not answer.
        for files, path, size in (
            (one, "gs://one/t/x=a b/f", 11),
            (two, "gs://two/t/f", 12),
            (one, "gs://one/t/f", None),
        ):
            found = files.info(path)
            assert (None if found is None else found.size) == size
        with pytest.raises(StorageError, match="no right"):
            two.info("gs://one/t/x=a b/f")
    with pytest.raises(InvalidPropertyError, match="no file"):
        file_system({"gcs.json-key-file-path": "/no/such/file"}).list("gs://one/t")
    assert os.environ["GOOGLE_APPLICATION_CREDENTIALS"] == "/of/somebody/else"


def test_tokens_of_azure() -> None:
    for token in ("sv=1&sig=s", "?sv=1&sig=s"):
        made = azure_arguments("lake@account.dfs.core.windows.net", {"azure.sas-token": token})
        assert made["sas_token"] == "?sv=1&sig=s"


def test_azure_settings() -> None:
    authority = "lake@account.dfs.core.windows.net"
    made = azure_arguments(authority, {"azure.access-key": "a2V5"})
    doors = {"blob_storage_authority": ".blob.core.windows.net", "dfs_storage_authority": ".dfs.core.windows.net"}
    assert made == {"account_name": "account", "account_key": "a2V5", **doors}
    assert isinstance(pafs.AzureFileSystem(**made), pafs.AzureFileSystem)
    assert azure_arguments("lake@account.blob.core.windows.net", {}) == {"account_name": "account", **doors}
    emulator = azure_arguments(authority, {"azure.endpoint": "http://127.0.0.1:10000"})
    assert emulator["blob_storage_authority"] == emulator["dfs_storage_authority"] == "127.0.0.1:10000"
    assert emulator["blob_storage_scheme"] == "http"
    for scheme in ("abfs", "abfss", "wasb", "wasbs"):
        assert storage_path(scheme, authority, "/a/b") == "lake/a/b"
    with pytest.raises(StorageError, match="container@account"):
        FileSystem().list("abfss://account.dfs.core.windows.net/a")
