"""Users of one catalog reach storage with credentials of their own, and share nothing that was read with them."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import StorageError
from connectors.hive.connector import HiveConnector
from connectors.toolkit.caching.cache_state import cache_states
from tests.connectors.hive.reading import make_connector, make_session, read_table
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.paths import CORPUS
from tests.s3_server import S3Server, s3_server

pytestmark = pytest.mark.slow
ROWS = pa.table({"id": pa.array(range(100), pa.int64()), "name": [f"n{n}" for n in range(100)]})
HUDI = CORPUS / "hudi" / "v9_basic_mor.zip"


@dataclass(frozen=True)
class Store:
    """A server on which the user ``one`` may read the bucket of the tables, and ``two`` may not."""

    server: S3Server
    folder: Path

    def credentials(self, user: str) -> tuple[tuple[str, str], ...]:
        """What the user gives along."""
        key, secret = self.server.keys[user]
        return ("s3.aws-access-key", key), ("s3.aws-secret-key", secret)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("users")
    local = make_connector(folder)
    for kind in ("parquet", "orc"):
        create_table(local.metastore, folder / "tables", "s", kind, ROWS, file_format=kind)
    if HUDI.exists():
        with zipfile.ZipFile(HUDI) as packed:
            packed.extractall(folder / "hudi")
    with s3_server() as server:
        server.upload(folder / "tables", "one/tables")
        if HUDI.exists():
            server.upload(folder / "hudi", "one/hudi")
        # Files that are younger are not kept.
        time.sleep(3)
        yield Store(server, folder)
    local.shutdown()


@pytest.fixture
def catalog(store: Store) -> Iterator[HiveConnector]:
    """It has no right of its own to read the tables, and keeps all that may be kept."""
    connector = make_connector(
        store.folder,
        **{_keyword(name): text for name, text in store.server.properties("two").items()},
        hive_file__status__cache__tables="*",
        fs_cache_enabled="true",
        fs_cache_directories=str(store.folder / "blocks"),
        fs_cache_max__sizes="10MB",
    )
    yield connector
    connector.shutdown()


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_what_one_user_has_read_is_not_shown_to_another(store: Store, catalog: HiveConnector, kind: str) -> None:
    table = catalog.metastore.reads.get_table("s", kind)
    assert table is not None
    place = str(table.storage.location).partition("/tables/")[2]
    moved = replace(table, name=f"{kind}_far", storage=replace(table.storage, location=f"s3://one/tables/{place}"))
    catalog.metastore.writes.create_table(moved)
    one, two = (catalog.with_credentials(store.credentials(user)) for user in ("one", "two"))
    for _ in range(2):
        assert read_table(one, "s", moved.name).sort_by("id") == ROWS
        kept = {state.name: state for state in cache_states()}
        assert kept["file-blocks"].entries
        for other in (two, catalog):
            with pytest.raises(StorageError, match="ACCESS_DENIED") as refused:
                read_table(other, "s", moved.name)
            assert not any(secret in str(refused.value) for pair in store.server.keys.values() for secret in pair)
    assert kept["file-blocks"].hits


def test_a_listing_is_flushed_for_all_users(store: Store, catalog: HiveConnector) -> None:
    one = catalog.with_credentials(store.credentials("one"))
    other = catalog.with_credentials((("s3.aws-access-key", "k"), ("s3.aws-secret-key", "s")))
    # Of local files it is known that all may list them.
    for connector in (one, other):
        assert read_table(connector, "s", "parquet").num_rows == ROWS.num_rows
    [flush] = [one for one in catalog.procedures if one.name == "flush_metadata_cache"]
    flushed = flush.function(make_session(catalog), {"schema_name": "s", "table_name": "parquet"})
    assert flushed["flushed"][0].as_py() >= 2


def test_a_hudi_table(store: Store, tmp_path: Path) -> None:
    if not HUDI.exists():
        pytest.skip("the corpus is not here")
    found = make_catalog(tmp_path, **{_keyword(name): text for name, text in store.server.properties("two").items()})
    [table] = [path.parent.name for path in (store.folder / "hudi").glob("*/.hoodie")]
    one, two = (
        HudiCatalog(found.connector.with_credentials(store.credentials(user)), found.session) for user in ("one", "two")
    )
    one.register(f"s3://one/hudi/{table}")
    expected = one.read().num_rows
    assert expected
    for _ in range(2):
        assert one.read().num_rows == expected
        for other in (two, found):
            with pytest.raises(StorageError, match="ACCESS_DENIED"):
                other.read()
    found.connector.shutdown()


def _keyword(name: str) -> str:
    return name.replace("-", "__").replace(".", "_")
