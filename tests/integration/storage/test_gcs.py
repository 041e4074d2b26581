"""Google Cloud Storage, by Arrow's client: objects and tables on an emulator; identities are in the toolkit's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import FileMissingError, StorageError
from connectors.toolkit.storage.filesystem import FileSystem
from lakeport import Session
from tests.connectors.toolkit.storage.test_remote_storage import file_system
from tests.hms import free_port
from tests.integration.storage.gcs_emulator import GcsEmulator, running_gcs
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

PLACE = "gs://lake"
ROWS = "t/p=a%2Fb/c d+é"


@pytest.fixture(scope="module")
def gcs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GcsEmulator]:
    with running_gcs(tmp_path_factory.mktemp("gcs")) as running:
        running.put(ROWS, b"rows")
        for name in ("t/marked", "alone"):
            running.make_folder(name)
        for name in ("t/empty", "t/marked/deep/f"):
            running.put(name)
        yield running


def settings(gcs: GcsEmulator) -> dict[str, str]:
    return {"gcs.endpoint": gcs.endpoint, "gcs.anonymous": "true", "gcs.client.max-retry-time": "5s"}


@pytest.fixture(scope="module")
def files(gcs: GcsEmulator) -> FileSystem:
    return file_system(settings(gcs))


def test_folders_with_an_object_and_without(files: FileSystem) -> None:
    told = {info.path: (info.is_directory, info.size) for info in files.list(f"{PLACE}/t")}
    here = {"empty": (False, 0), "marked": (True, 0), "p=a%2Fb": (True, 0)}
    assert told == {f"{PLACE}/t/{name}": kind for name, kind in here.items()}
    deep = {"marked/deep": (True, 0), "marked/deep/f": (False, 0), "p=a%2Fb/c d+é": (False, 4)}
    told = {info.path: (info.is_directory, info.size) for info in files.list(f"{PLACE}/t/", recursive=True)}
    assert told == {f"{PLACE}/t/{name}": kind for name, kind in {**here, **deep}.items()}
    assert [info.path for info in files.list(PLACE)] == [f"{PLACE}/alone", f"{PLACE}/t"]
    assert files.list(f"{PLACE}/alone") == files.list(f"{PLACE}/alone", recursive=True) == []
    assert [info.path for info in files.list(f"{PLACE}/t/p=a%2Fb")] == [f"{PLACE}/{ROWS}"]


def test_objects(files: FileSystem) -> None:
    assert files.read_text(f"{PLACE}/{ROWS}") == "rows"
    with files.open(f"{PLACE}/{ROWS}") as file:
        assert (file.size(), file.read_at(2, 1), file.read_at(9, 3)) == (4, b"ow", b"s")
    told = files.info(f"{PLACE}/{ROWS}")
    assert told is not None
    assert (told.size, told.is_directory) == (4, False)
    assert told.modified_millis > 1_700_000_000_000
    folder = files.info(f"{PLACE}/t/marked")
    assert folder is not None
    assert folder.is_directory
    assert files.info(f"{PLACE}/nothing") is None


@pytest.mark.parametrize("path", [f"{PLACE}/nothing", "gs://no-such-bucket/t"])
def test_what_is_missing(files: FileSystem, path: str) -> None:
    with pytest.raises(FileMissingError):
        files.list(path)
    with pytest.raises(FileMissingError):
        files.open(path)


def test_a_folder_that_is_a_file(files: FileSystem) -> None:
    with pytest.raises(FileMissingError):
        files.list(f"{PLACE}/{ROWS}")


def test_a_server_that_is_not_there() -> None:
    nowhere = {"gcs.endpoint": f"http://127.0.0.1:{free_port()}", "gcs.client.max-retry-time": "1s"}
    with pytest.raises(StorageError, match="Could not connect"):
        file_system({**nowhere, "gcs.anonymous": "true"}).info(f"{PLACE}/t")


@pytest.fixture(scope="module")
def lake(gcs: GcsEmulator, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("tables")
    local_tables(folder)
    for kind in ("hive", "hudi"):
        gcs.upload(folder / kind, kind)
    catalogs = {"own": ("hive", settings(gcs)), "hudi": ("hudi", settings(gcs))}
    with lakeport.connect(spark.newSession(), write_catalogs(folder, catalogs)) as session:
        register_tables(session, folder, PLACE)
        yield session


@pytest.mark.parametrize("case", HIVE_CASES)
def test_a_hive_table(lake: Session, case: str) -> None:
    check_hive(lake, "own", case)


@pytest.mark.parametrize("case", HUDI_CASES)
def test_a_hudi_table(lake: Session, case: str) -> None:
    check_hudi(lake, case)


def test_files_that_duckdb_reads_itself(lake: Session) -> None:
    check_duckdbs_reader(lake, "own")


def test_tables_are_written(lake: Session, files: FileSystem) -> None:
    make_schema(lake, "own", PLACE)
    check_plain_writes(lake, "own")
    check_leftovers(lake, "own", files, PLACE)
    check_acid_writes(lake, "own")
    check_buckets_and_batches(lake, "own")
