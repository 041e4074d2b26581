"""Merge-on-read tables whose base files DuckDB reads itself, without the rows that their logs replace."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import lakeport
from connector_spi.errors import CorruptFileError
from connectors.hudi.read.log_cache import APPLIED_CACHE, LOG_CACHE
from lakeport.duckdb.session import LocalSession
from tests.connectors.hudi.corpus import CASES, HUDI, expected
from tests.connectors.hudi.merge.writer import Block, Delete, Row, SliceWriter, Upsert
from tests.rows import assert_same_table

_SCHEMA = pa.schema([("key", pa.string()), ("ver", pa.int64()), ("value", pa.string())])
_PAYLOAD = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
_BY_VERSION = {
    6: {"hoodie.table.precombine.field": "ver", "hoodie.compaction.payload.class": _PAYLOAD},
    9: {"hoodie.table.ordering.fields": "ver", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"},
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSession]:
    monkeypatch.chdir(tmp_path)
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()
    with lakeport.connect(engine="duckdb") as made:
        yield made


def _row(key: int, ver: int, value: str) -> Row:
    return {"key": f"{key:03}", "ver": ver, "value": value}


def _written(session: LocalSession, folder: Path, version: int, *, positions: bool = False) -> SliceWriter:
    """Rows 0 to 29, of which every third is newer in the logs, every third older, and the last one deleted."""
    writer = SliceWriter(folder, version, _SCHEMA, _BY_VERSION[version], positions=positions)
    writer.base([_row(key, 1, "base") for key in range(30)])
    blocks: list[Block] = [Upsert([_row(key, 2, "new") for key in range(0, 30, 3)])]
    blocks += [Upsert([_row(key, 0, "old") for key in range(1, 30, 3)]), Delete([("029", 2)])]
    writer.log(blocks)
    session.sql(f"CALL hudi.system.register_table('s', '{folder.name}', '{folder}')")
    return writer


def _rows(session: LocalSession, query: str) -> list[tuple[object, ...]]:
    return sorted(session.sql(query).fetchall(), key=repr)


def _expected(last: int = 28) -> list[tuple[object, ...]]:
    return [(f"{key:03}", *((2, "new") if key % 3 == 0 else (1, "base"))) for key in range(last + 1)]


def _plan(session: LocalSession, query: str, words: str = "EXPLAIN") -> str:
    [(plan,)] = session.sql(f"{words} {query}").fetchall()
    return str(plan)


@pytest.mark.parametrize(("version", "positions"), [(6, False), (9, False), (9, True)])
def test_rows_of_base_and_logs(session: LocalSession, tmp_path: Path, version: int, positions: bool) -> None:
    _written(session, tmp_path / "t", version, positions=positions)
    query = "SELECT key, ver, value FROM hudi.s.t"
    assert "reader: native (DuckDB)" in _plan(session, query)
    assert "rows of 1 split are merged here" in _plan(session, query)
    assert _rows(session, query) == _expected()
    assert session.sql("SELECT count(*) FROM hudi.s.t").fetchall() == [(29,)]
    # The rows that the filter wants of the logs are not those that it wants of the base file, and the other way round.
    assert session.sql("SELECT count(*) FROM hudi.s.t WHERE value = 'new'").fetchall() == [(10,)]
    assert session.sql("SELECT count(*) FROM hudi.s.t WHERE value = 'base' AND key < '010'").fetchall() == [(6,)]


def test_a_table_that_is_named_twice(session: LocalSession, tmp_path: Path) -> None:
    _written(session, tmp_path / "t", 9)
    joined = "SELECT count(*) FROM hudi.s.t a JOIN hudi.s.t b ON a.key = b.key AND a.value = b.value"
    assert session.sql(joined).fetchall() == [(29,)]


def test_several_tables(session: LocalSession, tmp_path: Path) -> None:
    for name in ("t", "u"):
        _written(session, tmp_path / name, 9, positions=name == "u")
    query = "SELECT t.key, t.ver, u.value FROM hudi.s.t JOIN hudi.s.u ON t.key = u.key"
    assert _rows(session, query) == _expected()


def test_columns_of_the_write_and_of_the_file(session: LocalSession, tmp_path: Path) -> None:
    _written(session, tmp_path / "t", 9)
    query = "SELECT _hoodie_record_key, `$path`, value FROM hudi.s.t"
    assert "native" in _plan(session, query)
    found = _rows(session, query)
    assert [(key, value) for key, _, value in found] == [(key, value) for key, _, value in _expected()]
    assert len({path for _, path, _ in found}) == 1


def test_each_result_is_of_its_own_snapshot(session: LocalSession, tmp_path: Path) -> None:
    writer = _written(session, tmp_path / "t", 9)
    query = "SELECT key, ver, value FROM hudi.s.t"
    before = session.sql(query)
    assert sorted(before.fetchall()) == _expected()
    writer.log([Delete([("028", 2)])])
    assert _rows(session, query) == _expected(27)
    assert sorted(before.fetchall()) == _expected()


def test_logs_are_not_read_before_rows_are_asked_for(session: LocalSession, tmp_path: Path) -> None:
    _written(session, tmp_path / "t", 9)
    [log] = [path for path in (tmp_path / "t").iterdir() if ".log." in path.name]
    content = log.read_bytes()
    log.write_bytes(content[:40] + b"\xff" * 40 + content[80:])
    query = "SELECT key FROM hudi.s.t"
    assert "native" in _plan(session, query)
    with pytest.raises(CorruptFileError, match=log.name):
        session.sql(query).fetchall()


def test_with_no_memory_for_logs_rows_come_as_arrow(session: LocalSession, tmp_path: Path) -> None:
    _written(session, tmp_path / "t", 9)
    session.sql("SET spark.lakeport.hudi.merge_cache = 0B")
    query = "SELECT key, ver, value FROM hudi.s.t"
    assert "as Arrow" in _plan(session, query)
    assert _rows(session, query) == _expected()


def test_columns_with_the_names_of_duckdbs_own(session: LocalSession, tmp_path: Path) -> None:
    schema = pa.schema([("key", pa.string()), ("file_row_number", pa.int64())])
    writer = SliceWriter(tmp_path / "t", 9, schema, {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
    rows: Sequence[Row] = [{"key": f"{key}", "file_row_number": 9 - key} for key in range(10)]
    writer.base(rows)
    writer.log([Delete([("0", None)])])
    session.sql(f"CALL hudi.system.register_table('s', 't', '{tmp_path / 't'}')")
    assert session.sql("SELECT sum(file_row_number), count(*) FROM hudi.s.t").fetchall() == [(36, 9)]


@pytest.mark.corpus
@pytest.mark.parametrize("case", ["v9_basic_mor", "v6_basic_mor", "v9_recordpositions_mor"])
def test_tables_of_real_hudi(session: LocalSession, tmp_path: Path, case: str) -> None:
    """Each file is a part of its own where its path is asked for; DuckDB numbers the files of each part anew."""
    if case not in CASES:
        pytest.skip(f"no tables in {HUDI}")
    with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
        packed.extractall(tmp_path)
    session.sql(f"CALL hudi.system.register_table('s', 't', '{tmp_path / case}')")
    answer = expected(case, "snapshot")
    names = [name for name in answer.column_names if "native" in _plan(session, f"SELECT `{name}` FROM hudi.s.t")]
    assert len(names) > 5
    columns = ", ".join(f"`{name}`" for name in names)
    assert_same_table(session.sql(f"SELECT {columns} FROM hudi.s.t").arrow(), answer.select(names))
    with_path = f"SELECT {columns}, `$path` FROM hudi.s.t"
    assert _plan(session, with_path).count("READ_PARQUET") > 1
    assert_same_table(session.sql(with_path).arrow().select(names), answer.select(names))
