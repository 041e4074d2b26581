"""When the transactions of statements begin and end, and what their locks are."""

from __future__ import annotations

import io
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeport
from catalog.metastore.embedded.metastore import open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.transactions import LockComponent, LockType, ValidWriteIds
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import SPI_VERSION, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.errors import FileMissingError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.properties import PropertyValues
from connector_spi.session import ConnectorSession
from connectors.hive.connector import HiveConnector
from connectors.memory.connector import MemoryConnector, MemoryFactory
from lakeport import Session
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.runner import Runner, _Statement
from lakeport.transactions.cleanup import CLEANUP
from tests.hive_corpus import canonical_rows, expected_answer, register_cases, require_corpus
from tests.lakeport.memory_session import put
from tests.paths import PROJECT

TABLES = ("acid_flat", "acid_major")
MARKERS = threading.Lock()
BOTH = "SELECT count(*) AS n FROM hive.shop.acid_flat CROSS JOIN hive.shop.acid_major"


@dataclass(frozen=True)
class Shop:
    """A session over transactional tables of real Hive.

    Attributes:
        session: Its catalog ``hive`` has the schema ``shop``.
        client: The metastore that it reads in.
    """

    session: Session
    client: EmbeddedTransactions

    def begun(self) -> int:
        """How many transactions were ever opened."""
        return self.client.get_valid_transactions().high_watermark

    def locked(self) -> list[str]:
        """The tables with locks."""
        return [name for name in TABLES if self.client.show_locks("shop", name)]

    def until_free(self) -> None:
        """Waits until no lock is left: Spark says some time later that a query has ended."""
        deadline = time.monotonic() + 60
        while self.locked():
            assert time.monotonic() < deadline, "locks stay"
            time.sleep(0.02)
            CLEANUP.wait()


def catalogs(folder: Path) -> Path:
    (folder / "etc").mkdir()
    (folder / "etc" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'metastore.db'}\n"
    )
    return folder / "etc"


@pytest.fixture
def shop(spark: SparkSession, tmp_path: Path) -> Iterator[Shop]:
    require_corpus()
    with lakeport.connect(spark.newSession(), catalogs(tmp_path)) as session:
        hive = session.catalogs.get("hive")
        assert isinstance(hive, HiveConnector)
        client = hive.metastore.transactions
        assert isinstance(client, EmbeddedTransactions)
        register_cases(hive.metastore.writes, "shop", TABLES, client)
        yield Shop(session, client)


def test_tables_of_a_statement_share_a_transaction_that_ends_with_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakeport.transactions.lease._UNREAD_SECONDS", 0.1)
    before = shop.begun()
    [row] = shop.session.sql(BOTH).collect()
    assert row.n == len(list(expected_answer("acid_flat").rows.elements())) * sum(
        expected_answer("acid_major").rows.values()
    )
    assert shop.begun() == before + 1
    shop.until_free()
    assert shop.client.get_valid_transactions().aborted == ()


def test_a_frame_that_is_kept_keeps_its_locks(shop: Shop) -> None:
    frame = shop.session.sql(BOTH)
    frame.collect()
    frame.collect()
    CLEANUP.wait()
    assert shop.locked() == list(TABLES)
    del frame
    other = shop.session.table("hive.shop.acid_flat")
    other.count()
    assert shop.locked()
    del other


@pytest.mark.parametrize(
    "text",
    [
        BOTH,
        "WITH q AS (SELECT * FROM hive.shop.acid_flat) SELECT count(*) FROM q CROSS JOIN hive.shop.acid_major "
        "WHERE EXISTS (SELECT 1 FROM q)",
        "SELECT count(*) FROM seen CROSS JOIN hive.shop.acid_major",
    ],
)
def test_tables_of_one_analysis_of_plain_spark_share_a_transaction(shop: Shop, text: str) -> None:
    spark = shop.session.spark
    spark.sql("CREATE OR REPLACE TEMP VIEW seen AS SELECT * FROM hive.shop.acid_flat")
    before = shop.begun()
    frame = spark.sql(text)
    assert shop.begun() == before + 1
    spark.sql(BOTH)
    assert shop.begun() == before + 2
    frame.collect()


def test_plain_spark_releases_locks_with_the_query(shop: Shop) -> None:
    frame = shop.session.spark.sql(BOTH)
    assert shop.locked() == list(TABLES)
    first = frame.collect()
    shop.until_free()
    before = shop.begun()
    assert frame.select("n").collect() == first
    assert shop.begun() == before + 1
    shop.until_free()


def test_a_failed_query_aborts(shop: Shop) -> None:
    frame = shop.session.sql("SELECT raise_error('no') FROM hive.shop.acid_flat")
    with pytest.raises(PySparkException):
        frame.collect()
    shop.until_free()
    assert len(shop.client.get_valid_transactions().aborted) == 1


def test_a_statement_that_is_not_understood_aborts(shop: Shop) -> None:
    with pytest.raises(Exception, match="nothing_like_it"):
        shop.session.sql("SELECT nothing_like_it FROM hive.shop.acid_flat")
    assert shop.locked() == []
    assert len(shop.client.get_valid_transactions().aborted) == 1


@pytest.mark.slow
def test_a_frame_sees_what_it_saw_also_after_its_locks_were_released(shop: Shop) -> None:
    """The last two of the table's write ids are not yet committed when the frame is made."""
    hive = shop.session.catalogs.get("hive")
    assert isinstance(hive, HiveConnector)
    register_cases(hive.metastore.writes, "young", ["acid_flat"])
    shop.client.record_write_ids(ValidWriteIds("young.acid_flat", 3))
    writers = [shop.client.open_transaction("bob", "writer") for _ in range(2)]
    for writer in writers:
        shop.client.allocate_write_ids([writer], "young", "acid_flat")
    frame = shop.session.sql("SELECT * FROM hive.young.acid_flat")
    before = sorted(map(repr, frame.collect()))
    for writer in writers:
        shop.client.commit(writer)
    newer = shop.session.table("hive.young.acid_flat")
    assert canonical_rows(newer.toArrow()) == expected_answer("acid_flat").rows
    assert before != sorted(map(repr, newer.collect()))
    with shop.session.transaction():
        pass
    assert sorted(map(repr, frame.collect())) == before
    assert sorted(map(repr, frame.filter("true").select("*").collect())) == before


def test_statements_of_a_block_share_a_transaction(shop: Shop) -> None:
    before = shop.begun()
    with shop.session.transaction():
        shop.session.sql("SELECT * FROM hive.shop.acid_flat").collect()
        CLEANUP.wait()
        assert shop.locked() == ["acid_flat"]
        shop.session.arrow("hive.shop.acid_major").read_all()
        with shop.session.transaction():
            kept = shop.session.spark.sql(BOTH)
            rows = kept.collect()
        assert shop.locked() == list(TABLES)
        assert shop.begun() == before + 1
    assert shop.locked() == []
    assert kept.filter("n > 0").collect() == rows
    shop.session.arrow("hive.shop.acid_flat").read_all()
    assert shop.begun() == before + 3


def test_a_block_that_is_left_by_an_error_aborts(shop: Shop) -> None:
    def fail() -> None:
        with shop.session.transaction():
            shop.session.arrow("hive.shop.acid_flat").read_all()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert shop.locked() == []
    assert len(shop.client.get_valid_transactions().aborted) == 1


def test_arrow_ends_with_the_last_batch_or_with_the_reader(shop: Shop) -> None:
    reader = shop.session.arrow("hive.shop.acid_flat")
    assert shop.locked() == ["acid_flat"]
    reader.read_all()
    assert shop.locked() == []
    reader = shop.session.arrow("hive.shop.acid_flat")
    assert shop.locked() == ["acid_flat"]
    del reader
    shop.until_free()


def test_the_shell_releases_locks_with_the_last_row(shop: Shop) -> None:
    out = io.BytesIO()
    assert Runner(shop.session, out).run(BOTH, FORMATS["csv"]) == 1
    assert shop.locked() == []


def test_cancelling_ends_the_wait_for_a_lock(shop: Shop) -> None:
    writer = shop.client.open_transaction("bob", "drop")
    shop.client.lock(writer, [LockComponent("shop", "acid_flat", type=LockType.EXCLUSIVE)], "bob", "drop")
    work = _Statement(shop.session, BOTH, FORMATS["csv"], io.BytesIO(), is_counted=False)
    thread = threading.Thread(target=work)
    thread.start()
    deadline = time.monotonic() + 60
    while len(shop.client.show_locks("shop", "acid_flat")) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    work.cancel()
    thread.join(60)
    assert "cancelled" in str(work.error)
    assert [lock.user for lock in shop.client.show_locks("shop", "acid_flat")] == ["bob"]


def test_describing_a_table_leaves_no_lock_behind(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakeport.transactions.lease._UNREAD_SECONDS", 0.0)
    shop.session.sql("DESCRIBE TABLE hive.shop.acid_flat").collect()
    shop.until_free()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", "session.close()", "raise SystemExit(3)", "raise RuntimeError"])
def test_locks_end_with_the_process(tmp_path: Path, ending: str) -> None:
    require_corpus()
    program = f"""
        import lakeport
        from tests.hive_corpus import register_cases
        session = lakeport.connect(catalogs={str(catalogs(tmp_path))!r})
        metastore = session.catalogs.get("hive").metastore
        register_cases(metastore.writes, "shop", ["acid_flat"], metastore.transactions)
        reader = session.arrow("hive.shop.acid_flat")
        assert metastore.transactions.show_locks("shop", "acid_flat")
        {ending}
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == {"raise SystemExit(3)": 3, "raise RuntimeError": 1}.get(ending, 0), done.stderr
    store = open_store(tmp_path / "metastore.db")
    client = EmbeddedTransactions(store)
    assert client.show_locks("shop", "acid_flat") == []
    assert client.get_valid_transactions().open == ()
    store.close()


@dataclass(frozen=True)
class CleanedProvider(PageSourceProvider):
    """Files are gone for as many reads as a folder has files."""

    delegate: PageSourceProvider
    folder: str

    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        with MARKERS:  # splits are opened in several threads
            for marker in Path(self.folder).iterdir():
                marker.unlink()
                raise FileMissingError("delta_1_1/bucket_00000 was cleaned away")
        return self.delegate.create_page_source(session, split, table, columns, dynamic_filter)


class CleanedConnector(MemoryConnector):
    """Of tables whose files go away between listing and reading."""

    folder = ""

    @property
    def page_source_provider(self) -> PageSourceProvider:
        return CleanedProvider(super().page_source_provider, self.folder)


class CleanedFactory(MemoryFactory):
    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> CleanedConnector:
        return CleanedConnector(properties)


class CleanedPlugin(Plugin):
    spi_version = SPI_VERSION

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (CleanedFactory(),)


@pytest.fixture
def cleaned(spark: SparkSession, tmp_path: Path) -> Iterator[tuple[Session, Callable[[int], None]]]:
    """A session, and what makes the next so many reads fail."""
    registry = CatalogRegistry(PluginSet.of(CleanedPlugin()), "test")
    registry.register("mem", "memory", {})
    markers = tmp_path / "markers"
    markers.mkdir()

    def clean(reads: int) -> None:
        for number in range(reads):
            (markers / str(number)).touch()

    with Session(registry, spark.newSession()) as session:
        connector = registry.get("mem")
        assert isinstance(connector, CleanedConnector)
        connector.folder = str(markers)
        put(connector, "t", pa.table({"a": [1, 2, 3]}), chunk_rows=1)
        yield session, clean


@pytest.mark.parametrize("threads", [1, 3])
def test_a_read_begins_once_more_where_files_were_cleaned_away(
    cleaned: tuple[Session, Callable[[int], None]], threads: int
) -> None:
    session, clean = cleaned
    clean(1)
    assert session.arrow("mem.s.t", threads=threads).read_all()["a"].to_pylist() == [1, 2, 3]
    clean(1 + threads)  # each thread may meet one before the first attempt ends
    with pytest.raises(FileMissingError):
        session.arrow("mem.s.t", threads=threads).read_all()


def test_rows_that_were_given_are_not_given_again(cleaned: tuple[Session, Callable[[int], None]]) -> None:
    session, clean = cleaned
    reader = session.arrow("mem.s.t", threads=1)
    assert reader.read_next_batch().num_rows == 1
    clean(1)
    with pytest.raises(FileMissingError):
        reader.read_all()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_block_keeps_its_snapshot_rather_than_read_again(
    cleaned: tuple[Session, Callable[[int], None]], threads: int
) -> None:
    session, clean = cleaned
    clean(1)
    with pytest.raises(FileMissingError), session.transaction():
        session.arrow("mem.s.t", threads=threads).read_all()


@pytest.mark.slow
def test_the_shell_runs_a_statement_once_more_where_files_were_cleaned_away(
    spark: SparkSession, cleaned: tuple[Session, Callable[[int], None]]
) -> None:
    session, clean = cleaned
    clean(1)
    out = io.BytesIO()
    assert Runner(session, out).run("SELECT a FROM mem.s.t", FORMATS["csv"]) == 3
    assert sorted(out.getvalue().split()) == [b"1", b"2", b"3", b"a"]
    clean(50)
    out = io.BytesIO()
    with pytest.raises(Exception, match="cleaned away"):
        Runner(session, out).run("SELECT a FROM mem.s.t", FORMATS["csv"])
    assert out.getvalue() == b""
