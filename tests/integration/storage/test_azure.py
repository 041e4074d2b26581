"""Azure, by Arrow's client: blobs, identities and tables on Azurite, whose namespace is flat."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import FileMissingError, StorageError
from connectors.toolkit.storage.filesystem import FileInfo
from lakeport import Session
from tests.connectors.toolkit.storage.test_remote_storage import file_system
from tests.integration.conftest import skip_or_fail
from tests.integration.storage.azurite import ACCOUNT, KEY, Azurite, install_azurite, running_azurite, why_no_azurite
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

ABFS = f"abfs://lake@{ACCOUNT}.dfs.core.windows.net"
WASB = f"wasb://lake@{ACCOUNT}.blob.core.windows.net"
ROWS = "t/p=a%2Fb/c d+é"


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    reason = why_no_azurite()
    if reason is not None:
        pytest.skip(reason)
    try:
        install_azurite()
    except RuntimeError as error:
        skip_or_fail(str(error))
    with running_azurite(tmp_path_factory.mktemp("azurite")) as running:
        running.make_container("lake")
        running.put(f"lake/{ROWS}", b"rows")
        running.put("lake/t/empty")
        yield running


def with_key(azurite: Azurite, key: str = KEY) -> dict[str, str]:
    return {"azure.endpoint": azurite.endpoint, "azure.access-key": key}


def with_token(azurite: Azurite, token: str) -> dict[str, str]:
    return {"azure.endpoint": azurite.endpoint, "azure.sas-token": token}


@pytest.mark.parametrize("place", [ABFS, ABFS.replace("abfs:", "abfss:"), WASB, WASB.replace("wasb:", "wasbs:")])
def test_blobs(azurite: Azurite, place: str) -> None:
    files = file_system(with_key(azurite))
    found = files.list(f"{place}/t", recursive=True)
    assert [info.path for info in found] == [f"{place}/t/empty", f"{place}/t/p=a%2Fb", f"{place}/{ROWS}"]
    assert [(info.size, info.is_directory) for info in found] == [(0, False), (0, True), (4, False)]
    assert found[2].modified_millis > 1_700_000_000_000
    assert files.list(f"{place}/t/") == found[:2]
    assert files.info(found[2].path) == found[2]
    assert (files.read_text(found[2].path), files.read_text(found[0].path)) == ("rows", "")
    assert files.info(f"{place}/nothing") is None
    for path in (f"{place}/nothing", place.replace("lake@", "no-such-container@") + "/t"):
        with pytest.raises(FileMissingError):
            files.list(path)
        with pytest.raises(FileMissingError):
            files.open(path)


def test_markers_are_folders(azurite: Azurite) -> None:
    # As Hadoop's drivers write them where the namespace is flat, and as others do.
    for name in ("m", "m/p=1", "m/p=1.5", "m/p=3"):
        azurite.put(f"lake/{name}", hdi_isfolder="true")
    azurite.put("lake/m/p=2/")
    for name in ("m/p=1/f", "m/p=1.5/f", "m/p=2/f", "m/f"):
        azurite.put(f"lake/{name}", b"rows")
    files = file_system(with_token(azurite, azurite.sas("rwdl")))

    def kinds(found: list[FileInfo]) -> dict[str, bool]:
        told = {info.path.removeprefix(f"{ABFS}/m/"): info.is_directory for info in found}
        assert len(told) == len(found)
        return told

    folders = {"p=1": True, "p=1.5": True, "p=2": True, "p=3": True}
    assert kinds(files.list(f"{ABFS}/m")) == {"f": False, **folders}
    below = {"p=1/f": False, "p=1.5/f": False, "p=2/f": False}
    assert kinds(files.list(f"{ABFS}/m", recursive=True)) == {"f": False, **folders, **below}
    assert files.list(f"{ABFS}/m/p=3") == []
    for name in ("m", *(f"m/{folder}" for folder in folders)):
        info = files.info(f"{ABFS}/{name}")
        assert info is not None
        assert info.is_directory
    # Azurite answers 500 to deletions by token.
    file_system(with_key(azurite)).delete_folder(f"{ABFS}/m/p=1")
    assert "p=1/f" not in kinds(files.list(f"{ABFS}/m", recursive=True))


def test_tokens(azurite: Azurite) -> None:
    for mark in ("", "?"):
        files = file_system(with_token(azurite, f"{mark}{azurite.sas('rl')}"))
        assert files.list(f"{ABFS}/t")[0].path == f"{ABFS}/t/empty"
        with files.open(f"{ABFS}/{ROWS}") as file:
            assert (file.size(), file.read_at(2, 1), file.read_at(9, 3)) == (4, b"ow", b"s")
    only_reads = azurite.sas("r")
    files = file_system(with_token(azurite, only_reads))
    assert files.read_text(f"{ABFS}/{ROWS}") == "rows"
    ended = azurite.sas("rl", "2020-01-01T00:00:00Z")
    for token, code in ((only_reads, "AuthorizationPermissionMismatch"), (ended, "AuthorizationFailure")):
        with pytest.raises(StorageError, match=code) as refused:
            file_system(with_token(azurite, token)).list(f"{ABFS}/t")
        signature = token.rpartition("sig=")[2]
        shown = f"{refused.value}{refused.value.__cause__}"
        assert "sig=..." in shown
        assert signature not in shown


def test_a_wrong_key(azurite: Azurite) -> None:
    wrong = "bm8gc3VjaCBrZXk="
    with pytest.raises(StorageError, match="AuthorizationFailure") as refused:
        file_system(with_key(azurite, wrong)).list(f"{ABFS}/t")
    assert wrong not in str(refused.value)


@pytest.fixture(scope="module")
def lake(azurite: Azurite, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("tables")
    local_tables(folder)
    for kind in ("hive", "hudi"):
        azurite.upload(folder / kind, f"lake/{kind}")
    token, wrong = with_token(azurite, azurite.sas("rl")), with_key(azurite, "bm8gc3VjaCBrZXk=")
    catalogs = {"own": ("hive", with_key(azurite)), "other": ("hive", wrong), "hudi": ("hudi", token)}
    with lakeport.connect(spark.newSession(), write_catalogs(folder, catalogs)) as session:
        register_tables(session, folder, ABFS)
        yield session


@pytest.mark.parametrize("case", HIVE_CASES)
def test_a_hive_table(lake: Session, case: str) -> None:
    check_hive(lake, "own", case)


@pytest.mark.parametrize("case", HUDI_CASES)
def test_a_hudi_table(lake: Session, case: str) -> None:
    check_hudi(lake, case)


def test_files_that_duckdb_reads_itself(lake: Session) -> None:
    check_duckdbs_reader(lake, "own")


def test_a_catalog_without_rights(lake: Session) -> None:
    with pytest.raises(StorageError, match="AuthorizationFailure"):
        lake.arrow("other.s.ext_seq").read_all()


def test_tables_are_written(lake: Session, azurite: Azurite) -> None:
    make_schema(lake, "own", ABFS)
    check_plain_writes(lake, "own")
    check_leftovers(lake, "own", file_system(with_key(azurite)), ABFS)
    check_acid_writes(lake, "own")
    check_buckets_and_batches(lake, "own")
