"""HDFS, by hdfs-native: files, identities and tables on a NameNode and a DataNode of Hadoop's."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import hdfs_native
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import FileMissingError, InvalidPropertyError, StorageError
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.hdfs.storage import open_hdfs
from lakeport import Session
from tests.connectors.toolkit.storage.test_remote_storage import file_system
from tests.hms import free_port
from tests.integration.storage.minidfs import Hdfs, running_hdfs
from tests.integration.storage.remote_tables import (
    HIVE_CASES,
    HUDI_CASES,
    check_duckdbs_reader,
    check_hive,
    check_hudi,
    local_tables,
    register_tables,
    write_catalogs,
)
from tests.written_tables import (
    check_acid_writes,
    check_buckets_and_batches,
    check_leftovers,
    check_plain_writes,
    make_schema,
)

OWNER = {"hdfs.user": "lake"}
FILES = "/files"
ROWS = f"{FILES}/p=a%2Fb/c d+é"


@pytest.fixture(scope="module")
def hdfs(hadoop_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with running_hdfs(hadoop_jars, tmp_path_factory.mktemp("hdfs") / "run") as running:
        client = running.client()
        client.mkdirs(ROWS.rpartition("/")[0], create_parent=True)
        for name, content in ((ROWS, b"rows"), (f"{FILES}/empty", b"")):
            with client.create(name) as file:
                file.write(content)
        close(client, FILES)
        yield running


def close(client: hdfs_native.Client, folder: str) -> None:
    """Lets none but lake read what is below a folder."""
    client.set_owner(folder, "lake")
    client.set_permission(folder, 0o700)


def site(path: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Properties of a catalog with settings of Hadoop."""
    entries = [f"<property><name>{name}</name><value>{text}</value></property>" for name, text in settings.items()]
    path.write_text(f"<configuration>{''.join(entries)}</configuration>")
    return {"hive.config.resources": str(path)}


def test_files(hdfs: Hdfs) -> None:
    files = file_system(OWNER)
    root, rows = f"{hdfs.url}{FILES}", f"{hdfs.url}{ROWS}"
    found = files.list(root, recursive=True)
    assert [info.path for info in found] == [f"{root}/empty", f"{root}/p=a%2Fb", rows]
    assert [(info.size, info.is_directory) for info in found] == [(0, False), (0, True), (4, False)]
    assert found[2].modified_millis > 1_700_000_000_000
    assert files.list(f"{root}/") == [found[0], found[1]]
    assert files.info(rows) == found[2]
    assert (files.read_text(rows), files.read_text(f"{root}/empty")) == ("rows", "")
    with files.open(rows) as file:
        assert (file.read_at(2, 1), file.read_at(9, 2), file.read_at(9, 4), file.size()) == (b"ow", b"ws", b"", 4)
    assert files.info(f"{root}/nothing") is None
    for action in (lambda: files.list(f"{root}/nothing"), lambda: files.open(f"{root}/nothing")):
        with pytest.raises(FileMissingError):
            action()
    with pytest.raises(FileMissingError, match="no folder"):
        files.list(rows)


def test_a_folder_is_deleted(hdfs: Hdfs) -> None:
    client = hdfs.client()
    client.mkdirs("/gone/below", create_parent=True)
    file_system({}).delete_folder(f"{hdfs.url}/gone")
    with pytest.raises(FileNotFoundError):
        client.get_file_info("/gone")


def test_files_are_written_moved_and_copied(hdfs: Hdfs, tmp_path: Path) -> None:
    files = file_system(site(tmp_path / "umask.xml", {"fs.permissions.umask-mode": "027"}))
    root = f"{hdfs.url}/written"
    for name in ("a/one", "b/two"):
        with files.create(f"{root}/{name}") as sink:
            for part in (b"ro", b"ws\xff"):
                sink.write(pa.py_buffer(part))
    client = hdfs.client()
    assert client.get_file_info("/written/a/one").permission == 0o640
    assert client.get_file_info("/written/a").permission == 0o750
    with pytest.raises(StorageError, match="expected a free path"):
        files.move(f"{root}/a/one", f"{root}/b/two")
    with pytest.raises(FileExistsError):
        # The NameNode itself refuses, where another writer was faster than our look.
        open_hdfs("hdfs", f"127.0.0.1:{hdfs.port}", {}).move("/written/a/one", "/written/b/two")
    files.move(f"{root}/a/one", f"{root}/c/d/three")
    files.copy(f"{root}/c/d/three", f"{root}/e/four")
    files.delete_file(f"{root}/b/two")
    found = [info.path.removeprefix(f"{root}/") for info in files.list(root, recursive=True) if not info.is_directory]
    assert found == ["c/d/three", "e/four"]
    assert files.read_bytes(f"{root}/e/four") == b"rows\xff"
    other = file_system({"hdfs.user": "other"})
    for action in (
        lambda: other.create(f"{root}/mine"),
        lambda: other.move(f"{root}/e/four", f"{root}/e/five"),
        lambda: other.delete_folder(root),
    ):
        with pytest.raises(StorageError, match="Permission denied: user=other"):
            action()


def test_users_at_one_time(hdfs: Hdfs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "somebody")
    given = {user: file_system({"hdfs.user": user}) for user in ("lake", "other")} | {None: file_system({})}
    # By a name under which nobody is connected yet.
    rows = f"hdfs://localhost:{hdfs.port}{ROWS}"
    outcomes: list[tuple[str | None, object]] = []

    def read(user: str | None, files: FileSystem) -> None:
        for _ in range(20):
            try:
                outcomes.append((user, files.read_text(rows)))
            except StorageError as error:
                outcomes.append((user, str(error).partition("Permission denied: ")[2].partition(",")[0]))

    threads = [threading.Thread(target=read, args=one) for one in given.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(outcomes) == {("lake", "rows"), ("other", "user=other"), (None, "user=somebody")}
    assert len(outcomes) == 60
    assert os.environ["HADOOP_USER_NAME"] == "somebody"
    assert file_system(OWNER).exists(hdfs.url.replace("hdfs://", "hdfs://lake@") + ROWS)


def test_only_what_is_asked_for_is_read(hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": range(500_000), "b": [f"{n * 7919}" for n in range(500_000)]})
    pq.write_table(table, tmp_path / "f.parquet", compression="none", use_dictionary=False)
    hdfs.upload(tmp_path, "/wide")
    asked: list[int] = []
    real = hdfs_native.FileReader.read_range

    def counted(self: hdfs_native.FileReader, offset: int, length: int) -> bytes:
        asked.append(length)
        data: bytes = real(self, offset, length)
        return data

    monkeypatch.setattr(hdfs_native.FileReader, "read_range", counted)
    size = (tmp_path / "f.parquet").stat().st_size
    with file_system({}).open(f"{hdfs.url}/wide/f.parquet") as file:
        read = pq.ParquetFile(file)
        assert len(asked) == 1
        assert asked[0] <= 65536 < size / 50
        assert read.read(["a"]).column("a").to_pylist() == table.column("a").to_pylist()
    assert len(asked) < 10
    assert sum(asked) < size * 0.6


def test_a_name_service_with_a_node_that_is_down(hdfs: Hdfs, tmp_path: Path) -> None:
    nodes = {
        "dfs.nameservices": "lake,alone",
        "dfs.ha.namenodes.lake": "n1,n2",
        "dfs.namenode.rpc-address.lake.n1": f"127.0.0.1:{free_port()}",
        "dfs.namenode.rpc-address.lake.n2": f"127.0.0.1:{hdfs.port}",
        "dfs.namenode.rpc-address.alone": f"127.0.0.1:{hdfs.port}",
        "fs.defaultFS": "hdfs://lake",
    }
    files = file_system({**OWNER, **site(tmp_path / "site.xml", nodes)})
    for place in ("hdfs://lake", "hdfs://alone", "hdfs://"):
        assert files.read_text(f"{place}{ROWS}") == "rows"


def test_a_mount_table(hdfs: Hdfs, tmp_path: Path) -> None:
    mounts = "fs.viewfs.mounttable.views"
    files = file_system({**OWNER, **site(tmp_path / "views.xml", {f"{mounts}.link./a/b": f"{hdfs.url}{FILES}"})})
    rows = ROWS.replace(FILES, "viewfs://views/a/b")
    assert files.read_text(rows) == "rows"
    assert [info.path for info in files.list("viewfs://views/a/b", recursive=True)][2] == rows
    assert files.info("viewfs://views/files") is None
    with pytest.raises(StorageError, match="mount point /a/b"):
        files.list("viewfs://views/a")
    other = site(tmp_path / "other.xml", {f"{mounts}.linkNfly../a": f"{hdfs.url}/a,{hdfs.url}/b"})
    with pytest.raises(InvalidPropertyError, match="linkNfly"):
        file_system(other).list("viewfs://views/a")


@dataclass(frozen=True)
class Lake:
    """Catalogs over tables that only lake may read: ``own`` and ``hudi`` are lake's, ``other`` another's, and
    ``plain`` has no settings, so that whoever runs the cluster reads it."""

    session: Session


@pytest.fixture(scope="module")
def lake(hdfs: Hdfs, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("tables")
    local_tables(folder)
    for kind in ("hive", "hudi"):
        hdfs.upload(folder / kind, f"/lake/{kind}")
    close(hdfs.client(), "/lake")
    catalogs = {
        "own": ("hive", OWNER),
        "plain": ("hive", {}),
        "other": ("hive", {"hdfs.user": "other"}),
        "hudi": ("hudi", OWNER),
    }
    with lakeport.connect(spark.newSession(), write_catalogs(folder, catalogs)) as session:
        register_tables(session, folder, f"{hdfs.url}/lake")
        yield Lake(session)


@pytest.mark.parametrize("case", HIVE_CASES)
def test_a_hive_table(lake: Lake, case: str) -> None:
    check_hive(lake.session, "own", case)


@pytest.mark.parametrize("case", ["ext_orc_none_part", "ext_parquet_snappy", "acid_part_special"])
def test_a_hive_table_by_sparks_own_client(lake: Lake, case: str) -> None:
    check_hive(lake.session, "plain", case)


def test_spark_reads_native_files_itself_where_it_knows_all(lake: Lake) -> None:
    for name, native in (("own", False), ("plain", True)):
        [[plan]] = lake.session.sql(f"EXPLAIN SELECT id, s FROM {name}.s.ext_parquet_snappy").collect()
        assert ("reader: Python tasks" not in plan) is native


@pytest.mark.parametrize("case", HUDI_CASES)
def test_a_hudi_table(lake: Lake, case: str) -> None:
    check_hudi(lake.session, case)


def test_files_that_duckdb_reads_itself(lake: Lake) -> None:
    check_duckdbs_reader(lake.session, "own")


def test_a_user_without_rights(lake: Lake) -> None:
    with pytest.raises(StorageError, match="Permission denied: user=other"):
        lake.session.arrow("other.s.ext_seq").read_all()
    with pytest.raises(Exception, match="Permission denied: user=other"):
        lake.session.sql("SELECT count(*) FROM other.s.ext_seq").collect()


def test_tables_are_written(lake: Lake, hdfs: Hdfs) -> None:
    make_schema(lake.session, "own", f"{hdfs.url}/lake")
    check_plain_writes(lake.session, "own")
    check_leftovers(lake.session, "own", file_system(OWNER), f"{hdfs.url}/lake")
    check_acid_writes(lake.session, "own")
    check_buckets_and_batches(lake.session, "own")
    files = file_system(OWNER).list(f"{hdfs.url}/lake/w", recursive=True)
    assert not [info.path for info in files if "/.lakeport" in info.path]
    client = hdfs.client()
    assert {client.get_file_info(info.path.removeprefix(hdfs.url)).owner for info in files} == {"lake"}
    # Spark's own reader of files, with Hadoop's client.
    [[count]] = lake.session.spark.sql(f"SELECT count(*) FROM parquet.`{hdfs.url}/lake/w/plain`").collect()
    assert count == 2
    with pytest.raises(Exception, match="Permission denied: user=other"):
        lake.session.sql("INSERT INTO other.w.plain VALUES (1, 'v', 'a/b')")


@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_a_quota_that_is_used_up(lake: Lake, hdfs: Hdfs, hadoop_jars: Path, tmp_path: Path, kind: str) -> None:
    schema = f"quota_{kind}"
    lake.session.sql(f"CREATE SCHEMA own.{schema} LOCATION '{hdfs.url}/lake/{schema}'").collect()
    name, folder = f"own.{schema}.t", f"/lake/{schema}/t"
    options = "" if kind == "plain" else ", transactional 'true'"
    lake.session.sql(f"CREATE TABLE {name} (id BIGINT) USING orc OPTIONS (compression 'zlib'{options})").collect()
    lake.session.sql(f"INSERT INTO {name} VALUES (1)").collect()
    hdfs.administer(hadoop_jars, tmp_path, "-setSpaceQuota", "2k", folder)
    for write in (
        lambda: lake.session.sql(f"INSERT INTO {name} VALUES (2)").collect(),
        lambda: lake.session.insert(name, pa.table({"id": pa.array([3], pa.int64())})),
    ):
        with pytest.raises(Exception, match=r"DiskSpace quota .* is exceeded"):
            write()
    assert lake.session.sql(f"SELECT id FROM {name}").collect() == [(1,)]
    hdfs.administer(hadoop_jars, tmp_path, "-clrSpaceQuota", folder)
    lake.session.sql(f"INSERT INTO {name} VALUES (4)").collect()
    assert sorted(lake.session.sql(f"SELECT id FROM {name}").collect()) == [(1,), (4,)]
    files = file_system(OWNER).list(f"{hdfs.url}{folder}", recursive=True)
    assert not [info.path for info in files if "/.lakeport" in info.path]
