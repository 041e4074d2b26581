"""Parquet files on an S3 server, which DuckDB reads itself through the connectors that open them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import lakeport
from connector_spi.errors import ConnectorError, FileMissingError, InternalError, StorageError
from connectors.toolkit.storage.opened_file import StorageFile
from lakeport.duckdb.session import LocalSession
from tests.connectors.hudi.merge.writer import Delete, SliceWriter, Upsert
from tests.rows import assert_same_table
from tests.s3_server import S3Server, s3_server

_FILES = 4
_ROWS = 3_000
_HUDI = {"hoodie.table.ordering.fields": "ver", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
_SCHEMA = pa.schema([("key", pa.string()), ("ver", pa.int64()), ("value", pa.string())])


@dataclass(frozen=True)
class Lake:
    """A session, the server that has its files, and a folder that is the bucket ``one`` before it is uploaded."""

    session: LocalSession
    server: S3Server
    folder: Path

    def rows(self, query: str) -> pa.Table:
        """Of a query that DuckDB's own reader answers."""
        assert "reader: native (DuckDB)" in plan(self.session, query)
        return self.session.sql(query).arrow()

    def agrees(self, query: str) -> None:
        """The rows are those that come as Arrow."""
        found = self.rows(query)
        for catalog in ("hive", "hudi"):
            self.session.sql(f"SET spark.lakeport.{catalog}.native_reader = false")
        assert "reader: native" not in plan(self.session, query)
        expected = self.session.sql(query).arrow()
        for catalog in ("hive", "hudi"):
            self.session.sql(f"RESET spark.lakeport.{catalog}.native_reader")
        assert expected.num_rows
        assert_same_table(found, expected)

    def bucket(self) -> pafs.FileSystem:
        """The server as its owner sees it."""
        key, secret = self.server.keys["admin"]
        place = self.server.endpoint.removeprefix("http://")
        return pafs.S3FileSystem(
            access_key=key, secret_key=secret, endpoint_override=place, scheme="http", region="us-east-1"
        )

    def table(self, name: str) -> str:
        """Uploads what is in a folder, as a table of its name."""
        self.server.upload(self.folder / name, f"one/{name}")
        self.session.sql(f"CALL hive.system.register_table('s', '{name}', 's3://one/{name}')")
        return f"hive.s.{name}"


def plan(session: LocalSession, query: str) -> str:
    [(text,)] = session.sql(f"EXPLAIN {query}").fetchall()
    return str(text)


def _write(folder: Path, files: int = _FILES) -> None:
    for number in range(files):
        ids = range(number * _ROWS, (number + 1) * _ROWS)
        names = [f"n{one % 977}" if one % 5 else None for one in ids]
        rows = pa.table({"id": pa.array(ids, pa.int64()), "name": names})
        place = folder / f"p={number % 2} é"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, place / f"part-{number}[1].parquet", row_group_size=_ROWS // 3)


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as made:
        yield made


@pytest.fixture
def lake(server: S3Server, tmp_path: Path) -> Iterator[Lake]:
    catalogs = tmp_path / "catalogs"
    catalogs.mkdir()
    for name, connector, user in (("hive", "hive", "one"), ("hudi", "hudi", "one"), ("other", "hive", "two")):
        given = server.properties(user) | {
            "connector.name": connector,
            "hive.metastore": "embedded",
            "hive.metastore.embedded.path": str(tmp_path / "s3.db"),
        }
        (catalogs / f"{name}.properties").write_text("".join(f"{key}={text}\n" for key, text in given.items()))
    (tmp_path / "lake").mkdir()
    with lakeport.connect(catalogs=catalogs, engine="duckdb") as session:
        yield Lake(session, server, tmp_path / "lake")


def test_a_partitioned_table(lake: Lake) -> None:
    _write(lake.folder / "plain")
    name = lake.table("plain")
    lake.agrees(f"SELECT * FROM {name} ORDER BY id")
    lake.agrees(
        f"SELECT p, count(*), sum(id), max(name), min(`$path`) FROM {name} WHERE id > 100 GROUP BY p ORDER BY p"
    )
    lake.agrees(f"SELECT count(*) FROM {name} a JOIN {name} b ON a.id = b.id + 1")
    lake.agrees(f"SELECT id FROM {name} WHERE p = '1 é' AND name IS NULL ORDER BY id LIMIT 3")
    assert lake.rows(f"SELECT count(*) AS n FROM {name}").to_pydict() == {"n": [_FILES * _ROWS]}
    [(counted,)] = lake.session.sql(f"EXPLAIN ANALYZE SELECT sum(id) FROM {name} WHERE id < 10").fetchall()
    assert "row groups skipped: 11" in str(counted)


def test_a_merge_on_read_table(lake: Lake) -> None:
    writer = SliceWriter(lake.folder / "merged", 9, _SCHEMA, _HUDI, positions=True)
    writer.base([{"key": f"{key:03}", "ver": 1, "value": "base"} for key in range(30)])
    new = [{"key": f"{key:03}", "ver": 2, "value": "new"} for key in range(0, 30, 3)]
    writer.log([Upsert(new), Delete([("029", 2)])])
    lake.server.upload(lake.folder / "merged", "one/merged")
    lake.session.sql("CALL hudi.system.register_table('s', 'merged', 's3://one/merged')")
    assert "rows of 1 split are merged here" in plan(lake.session, "SELECT key FROM hudi.s.merged")
    lake.agrees("SELECT key, ver, value, `$path` FROM hudi.s.merged ORDER BY key")
    found = lake.rows("SELECT value, count(*) AS n FROM hudi.s.merged GROUP BY value ORDER BY value")
    assert found.to_pydict() == {"value": ["base", "new"], "n": [19, 10]}


def test_queries_of_several_threads(lake: Lake) -> None:
    _write(lake.folder / "threads")
    name = lake.table("threads")
    query = f"SELECT count(*), sum(id), count(DISTINCT name) FROM {name}"
    expected = lake.session.sql(query).fetchall()
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda _: lake.session.sql(query).fetchall(), range(12)))
    assert found == [expected] * 12


def test_a_file_that_is_gone_or_replaced(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    # What was opened for the plan is taken for what was listed for a moment.
    monkeypatch.setattr("lakeport.duckdb.tables.opened_files._FRESH_SECONDS", 0.0)
    _write(lake.folder / "changing")
    name = lake.table("changing")
    query = f"SELECT * FROM {name}"
    planned = lake.session.sql(query)
    [gone] = [one.path for one in lake.bucket().get_file_info(pafs.FileSelector("one/changing", recursive=True))
              if "part-2" in one.path]  # fmt: skip
    content = lake.bucket().open_input_file(gone).read()
    lake.bucket().delete_file(gone)
    with pytest.raises(FileMissingError, match=r"s3://one/changing/p=0 é/part-2\[1\]\.parquet is not there"):
        planned.arrow()
    with lake.bucket().open_output_stream(gone) as sink:
        sink.write(content[:-9])
    with pytest.raises(StorageError, match=r"part-2\[1\]\.parquet has [\d,]+ bytes, and had [\d,]+ when it was listed"):
        planned.arrow()


def test_a_defect_of_a_connector_is_worded(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(lake.folder / "defect")
    name = lake.table("defect")
    planned = lake.session.sql(f"SELECT sum(id) FROM {name}")

    def fail(file: StorageFile, offset: int, length: int) -> bytes:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(StorageFile, "read_at", fail)
    with pytest.raises(InternalError, match=r"failed to read the files of table s\.defect.*division by zero"):
        planned.arrow()


def test_a_damaged_file_is_named_by_the_connector(lake: Lake) -> None:
    _write(lake.folder / "damaged")
    name = lake.table("damaged")
    with lake.bucket().open_output_stream("one/damaged/p=1 é/part-3[1].parquet") as sink:
        sink.write(b"PAR1" + bytes(500) + b"PAR1")
    with pytest.raises(ConnectorError, match=r"s3://one/damaged/p=1 é/part-3\[1\]\.parquet"):
        lake.session.sql(f"SELECT * FROM {name}").arrow()


def test_who_may_not_read_the_bucket(lake: Lake) -> None:
    _write(lake.folder / "closed")
    lake.table("closed")
    with pytest.raises(StorageError, match="ACCESS_DENIED"):
        lake.session.sql("SELECT * FROM other.s.closed").fetchall()


def test_few_files_for_a_limit(lake: Lake) -> None:
    """All footers are read before DuckDB's first row; some rows of many files come sooner as Arrow."""
    _write(lake.folder / "many", 17)
    name = lake.table("many")
    assert "reader: native (DuckDB)" in plan(lake.session, f"SELECT count(name) FROM {name}")
    assert "reader: native (DuckDB)" not in plan(lake.session, f"SELECT * FROM {name} LIMIT 5")
    assert lake.session.sql(f"SELECT * FROM {name} LIMIT 5").arrow().num_rows == 5


@pytest.mark.parametrize("dialect", ["spark", "trino", "duckdb"])
def test_no_statement_names_the_files(lake: Lake, dialect: str) -> None:
    _write(lake.folder / "named")
    name = lake.table("named")
    planned = lake.session.sql(f"SELECT count(*), max(id) FROM {name}", dialect=dialect)
    assert lake.session.sql(f"SELECT max(id) FROM {name}").fetchall() == [(_FILES * _ROWS - 1,)]
    engine = vars(lake.session)["_engine"]
    root = f"{vars(vars(vars(engine)['_tables'])['_known'].far_files)['_system'].protocol}://0/0.parquet"
    for read in (f"'{root}'", f"read_parquet('{root}')", f'"{root}"', f"parquet.`{root}`"):
        with pytest.raises(ConnectorError):
            lake.session.sql(f"SELECT * FROM {read}", dialect=dialect).fetchall()
    assert planned.fetchall() == [(_FILES * _ROWS, _FILES * _ROWS - 1)]


def test_files_are_closed_after_the_query(lake: Lake) -> None:
    _write(lake.folder / "closing")
    name = lake.table("closing")
    lake.session.sql(f"SELECT sum(id) FROM {name}").fetchall()
    reader = lake.session.sql(f"SELECT id FROM {name}").to_reader()
    next(reader)
    known = vars(vars(vars(vars(lake.session)["_engine"])["_tables"])["_known"].far_files)["_system"]
    reader.close()
    del reader
    gc.collect()
    assert not dict(vars(known)["_known"])
