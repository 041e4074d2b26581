"""``session.scan``: what it is read into, one snapshot, and the locks of its reads."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from connectors.memory.connector import MemoryConnector
from lakeport.session import Session
from lakeport.transactions.cleanup import CLEANUP
from tests.lakeport.memory_session import memory_session, put
from tests.lakeport.sample_session import sample_session

ROWS: list[dict[str, object]] = [
    {"id": 1, "region": "eu", "amount": 1.5},
    {"id": 2, "region": None, "amount": None},
    {"id": 3, "region": "us", "amount": float("inf")},
    {"id": 4, "region": "eu", "amount": -0.0},
]


@pytest.fixture
def opened() -> Iterator[tuple[Session, MemoryConnector]]:
    with memory_session() as (session, connector):
        put(connector, "trips", pa.Table.from_pylist(ROWS), chunk_rows=1)
        yield session, connector


def test_every_library_gives_the_same_rows(opened: tuple[Session, MemoryConnector]) -> None:
    scan = opened[0].scan("MEM.s.trips")
    assert scan.columns == ["id", "region", "amount"]
    assert scan.to_arrow().to_pylist() == ROWS
    assert pa.table(scan).to_pylist() == ROWS
    assert pl.DataFrame(scan).to_dicts() == ROWS
    assert scan.to_polars().collect().to_dicts() == ROWS
    columns = [tuple(row.values()) for row in ROWS]
    assert scan.to_duckdb().fetchall() == columns
    frame = scan.to_pandas("pyarrow")
    assert [tuple(row) for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False)] == columns
    assert isinstance(frame.dtypes["id"], pd.ArrowDtype)
    assert scan.to_pandas()["amount"].isna().tolist() == [False, True, False, False]


def test_select_where_and_limit_add_up(opened: tuple[Session, MemoryConnector]) -> None:
    scan = opened[0].scan("mem.s.trips", where=[("id", ">", 1)])
    assert scan.select("region").where(("amount", "is not null")).to_arrow().to_pylist() == [
        {"region": "us"},
        {"region": "eu"},
    ]
    assert scan.limit(2).limit(9).to_arrow().column("id").to_pylist() == [2, 3]
    assert scan.to_arrow().num_rows == 3
    with pytest.raises(InvalidArgumentError, match="put the filter first"):
        scan.limit(2).where(("id", "=", 3))
    with pytest.raises(InvalidArgumentError, match="the limit is -1"):
        scan.limit(2).limit(-1)
    with pytest.raises(InvalidArgumentError, match="the limit is '3'; expected 0 or more rows"):
        opened[0].scan("mem.s.trips", limit="3")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="threads is True"):
        opened[0].scan("mem.s.trips", threads=True)
    with pytest.raises(InvalidArgumentError, match=r"\['id'\] is no column; expected names"):
        scan.select(["id"])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="option 'x' is 1; expected a text, such as '1'"):
        opened[0].scan("mem.s.trips", options={"x": 1})  # type: ignore[dict-item]
    with pytest.raises(InvalidArgumentError, match="the table is None; expected its name"):
        opened[0].scan(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="threads is 0"):
        opened[0].scan("mem.s.trips", threads=0)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'thread'; did you mean .*threads"):
        opened[0].scan("mem.s.trips", thread=2)  # type: ignore[call-arg]


def test_a_filter_is_kept_as_it_was_given(opened: tuple[Session, MemoryConnector]) -> None:
    wanted = [1, 3]
    where: list[tuple[str, str, object]] = [("id", "in", wanted)]
    listed = opened[0].scan("mem.s.trips", ["id"], where)
    once = opened[0].scan("mem.s.trips", ["id"]).where(("id", "in", iter([1, 3])))
    wanted.clear()
    where.clear()
    for scan in (listed, once, listed, once):
        assert scan.to_arrow()["id"].to_pylist() == [1, 3]


def test_a_backend_that_pandas_has_and_a_scan_has_not(opened: tuple[Session, MemoryConnector]) -> None:
    with pytest.raises(InvalidArgumentError, match="dtype_backend is 'numpy_nullable'; expected 'numpy' or 'pyarrow'"):
        opened[0].scan("mem.s.trips").to_pandas("numpy_nullable")  # type: ignore[arg-type]


def test_names_are_checked_at_once(opened: tuple[Session, MemoryConnector]) -> None:
    with pytest.raises(TableNotFoundError, match="did you mean trips"):
        opened[0].scan("mem.s.trip")
    with pytest.raises(ColumnNotFoundError, match="did you mean region"):
        opened[0].scan("mem.s.trips").select("regoin")


def test_all_reads_see_one_snapshot(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    scan = session.scan("mem.s.trips")
    frame, relation = scan.to_polars(), scan.to_duckdb()
    connector.insert(SchemaTableName("s", "trips"), pa.Table.from_pylist(ROWS))
    assert scan.to_arrow().num_rows == 4
    assert frame.select(pl.len()).collect().item() == 4
    assert relation.count("*").fetchall() == [(4,)]
    assert session.scan("mem.s.trips").to_arrow().num_rows == 8


def test_its_transaction_ends_with_it(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    before = connector.transactions.begun
    scan = session.scan("mem.s.trips")
    for _ in range(3):
        scan.select("id").to_arrow()
    assert connector.transactions.begun - before == 1
    assert connector.transactions.open == 1
    reader = scan.to_reader()
    del scan
    assert len(reader.read_all()) == 4
    del reader
    gc.collect()
    session.close()
    assert connector.transactions.open == 0


def test_a_block_gives_it_its_snapshot(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    with session.transaction():
        assert session.arrow("mem.s.trips").read_all().num_rows == 4
        connector.insert(SchemaTableName("s", "trips"), pa.Table.from_pylist(ROWS))
        assert session.scan("mem.s.trips").to_arrow().num_rows == 4


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_give_the_same_rows(opened: tuple[Session, MemoryConnector], threads: int, ordered: bool) -> None:
    found = opened[0].arrow("mem.s.trips", threads=threads, ordered=ordered).read_all().to_pylist()
    assert (found if ordered else sorted(found, key=lambda row: row["id"])) == ROWS


def test_html_shows_the_first_rows(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    put(connector, "many", pa.table({"<b>": ["<script>"] * 50}))
    shown = session.scan("mem.s.many")._repr_html_()
    assert shown.count("<tr>") == 21
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "there are more" in shown


def test_locks_are_held_while_it_is_read(tmp_path: Path) -> None:
    with sample_session(tmp_path) as session:
        hive = session.catalogs.get("hive")
        assert isinstance(hive, HiveConnector)
        transactions = hive.metastore.transactions

        def locks() -> int:
            CLEANUP.wait()
            return len(transactions.show_locks("sales", "notes"))

        scan = session.scan("hive.sales.notes", columns=["id"])
        first = scan.to_reader()
        second = scan.to_reader()
        rows = first.read_next_batch().num_rows
        assert locks() > 0
        rows += sum(batch.num_rows for batch in first)
        assert (rows, second.read_all().num_rows) == (13, 13)
        assert locks() == 0
        assert scan.to_polars().collect().height == 13
        assert locks() == 0
        abandoned = scan.to_reader()
        abandoned.read_next_batch()
        del abandoned
        gc.collect()
        assert locks() == 0


def test_sql_and_expressions_filter(opened: tuple[Session, MemoryConnector]) -> None:
    session = opened[0]
    scan = session.scan("mem.s.trips", ["id"], "region = 'eu'")
    assert scan.to_arrow()["id"].to_pylist() == [1, 4]
    assert scan.where("amount > 1", pc.field("id") < 3, ("region", "is not null")).to_arrow()["id"].to_pylist() == [1]
    assert session.arrow("mem.s.trips", ["id"], pc.field("region") == "us").read_all()["id"].to_pylist() == [3]
    # An expression of which nothing is known may use any column.
    assert scan.where(pc.equal(pc.utf8_length(pc.field("region")), 2)).to_arrow()["id"].to_pylist() == [1, 4]
    with pytest.raises(ColumnNotFoundError, match="did you mean region"):
        scan.where(pc.field("regoin") == "eu")
    with pytest.raises(ColumnNotFoundError, match="did you mean region"):
        session.scan("mem.s.trips", where="regoin = 'eu'")
    with pytest.raises(InvalidArgumentError, match="put the filter first"):
        scan.limit(1).where("id = 1")


def test_count_and_head(opened: tuple[Session, MemoryConnector]) -> None:
    session = opened[0]
    scan = session.scan("mem.s.trips")
    assert (scan.count(), scan.where("region = 'eu'").count(), scan.limit(3).count()) == (4, 2, 3)
    assert scan.select("amount").where(pc.field("id") > 5).count() == 0
    assert scan.head(2).to_pylist() == ROWS[:2]
    assert scan.head(0).num_rows == 0
    assert scan.head().num_rows == 4
    assert session.scan("mem.s.`trips$snapshots`").count() == 1
    with pytest.raises(InvalidArgumentError, match="columns names no column"):
        session.scan("mem.s.trips", columns=[])
    with pytest.raises(InvalidArgumentError, match="columns names no column"):
        scan.select()
