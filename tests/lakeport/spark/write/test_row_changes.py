"""DELETE, UPDATE and MERGE of Spark on transactional tables, against a dictionary that does the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark import StatusTracker
from pyspark.sql import SparkSession

from catalog.metastore.transactions import LockType
from connector_spi.errors import ConnectorError, MetastoreError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from lakeport import Session
from lakeport.spark.bridge import writers
from lakeport.spark.write import row_level
from lakeport.spark.write.merge import MergeTarget, SparkMerge
from tests.lakeport.spark.embedded_hive import embedded_hive

_Rows = dict[int, tuple[str | None, int | None]]
_numbers = count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changes")


@pytest.fixture(scope="module")
def session(spark: SparkSession, folder: Path) -> Iterator[Session]:
    with embedded_hive(spark, folder) as opened:
        yield opened


def new_table(session: Session, folder: Path, keys: str = "", kind: str = "default") -> str:
    """A table with no rows; ``keys`` is its clause ``PARTITIONED BY``."""
    number = next(_numbers)
    location = folder / f"t{number}"
    location.mkdir()
    name = f"hive.s.t{number}"
    session.sql(
        f"CREATE TABLE {name} (id BIGINT, v STRING, p INT) USING orc {keys} LOCATION '{location}' "
        f"TBLPROPERTIES ('transactional' = 'true', 'transactional_properties' = '{kind}')"
    )
    return name


@contextmanager
def few_rows(most: int) -> Iterator[None]:
    """Tasks of more rows than these write them in Python of their own; else the driver does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writers, "FEW_ROWS", most)
        yield


def rows(session: Session, table: str) -> _Rows:
    met = session.sql(f"SELECT id, v, p FROM {table}").collect()
    found = {row.id: (row.v, row.p) for row in met}
    assert len(met) == len(found), "a row is there twice"
    return found


def filled(session: Session, table: str) -> _Rows:
    """Twelve rows in three files, with NULLs in both columns; they are returned, too."""
    expected: _Rows = {n: (None if n % 4 == 0 else f"v{n}", None if n % 3 == 2 else n % 3) for n in range(12)}
    with few_rows(0):
        session.sql(
            f"INSERT INTO {table} SELECT id, IF(id % 4 = 0, NULL, concat('v', id)), "
            "IF(id % 3 = 2, NULL, CAST(id % 3 AS INT)) FROM range(0, 12, 1, 3)"
        )
    return expected


@pytest.mark.parametrize("keys", ["", "PARTITIONED BY (p)"], ids=["flat", "partitioned"])
def test_each_clause_does_what_sql_says(session: Session, folder: Path, keys: str) -> None:
    table = new_table(session, folder, keys)
    model = filled(session, table)
    with few_rows(100 if keys else 0):
        _check_each_clause(session, table, model)


def _check_each_clause(session: Session, table: str, model: _Rows) -> None:
    session.sql(f"DELETE FROM {table} WHERE v IS NULL OR p = 1 AND id > 6")
    model = {n: (v, p) for n, (v, p) in model.items() if not (v is None or (p == 1 and n > 6))}
    assert rows(session, table) == model

    session.sql(f"UPDATE {table} SET v = concat(coalesce(v, ''), '!'), p = 7 WHERE p IS NULL")
    model = {n: (f"{v}!", 7) if p is None else (v, p) for n, (v, p) in model.items()}
    assert rows(session, table) == model

    session.sql(
        f"MERGE INTO {table} t USING (SELECT id + 2 AS id, IF(id = 4, NULL, 's') AS s FROM range(20)) q ON t.id = q.id "
        "WHEN MATCHED AND t.id = 3 THEN DELETE "
        "WHEN MATCHED AND t.id = 9 THEN UPDATE SET p = NULL "
        "WHEN MATCHED THEN UPDATE SET v = q.s "
        "WHEN NOT MATCHED AND q.id < 20 THEN INSERT (id, p, v) VALUES (q.id, 50, q.s) "
        "WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN UPDATE SET v = 'alone' "
        "WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    source = {n + 2: None if n == 4 else "s" for n in range(20)}
    merged: _Rows = {n: (s, 50) for n, s in source.items() if n not in model and n < 20}
    for n, (v, p) in model.items():
        if n == 9:
            merged[n] = (v, None)
        elif n in source and n != 3:
            merged[n] = (source[n], p)
        elif n == 1:
            merged[n] = ("alone", p)
    assert rows(session, table) == merged

    session.sql(f"DELETE FROM {table}")
    assert rows(session, table) == {}
    session.sql(f"INSERT INTO {table} VALUES (1, 'again', 1)")
    assert rows(session, table) == {1: ("again", 1)}


@pytest.mark.slow
def test_partitions_of_null_are_merged_into(session: Session, folder: Path) -> None:
    """Spark would filter the partitions at run time by an IN, which is never true of NULL."""
    table = new_table(session, folder, "PARTITIONED BY (p)")
    model = filled(session, table)
    session.sql(
        f"MERGE INTO {table} t USING (SELECT explode(array(0L, 1L, 2L)) AS id) q ON t.id = q.id "
        "WHEN MATCHED AND t.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'new' "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)"
    )
    del model[0]
    assert rows(session, table) == model | {1: ("new", 1), 2: ("new", None)}
    session.sql(f"DELETE FROM {table} WHERE id IN (SELECT explode(array(2L, 3L)))")
    session.sql(f"UPDATE {table} SET v = 'again' WHERE id IN (SELECT explode(array(5L, 6L)))")
    del model[2], model[3]
    assert rows(session, table) == model | {1: ("new", 1), 5: ("again", None), 6: ("again", 0)}


_KEYS = st.integers(0, 15)
_STATEMENTS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sets(st.integers(0, 7), min_size=1, max_size=4)),
        st.tuples(st.just("delete"), st.sets(_KEYS, max_size=5)),
        st.tuples(st.just("update"), st.sets(_KEYS, max_size=5)),
        st.tuples(st.just("merge"), st.sets(_KEYS, min_size=1, max_size=5)),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(keys=st.sampled_from(["", "PARTITIONED BY (p)"]), few=st.sampled_from([100, 3, 0]), statements=_STATEMENTS)
def test_statements_one_after_another(
    session: Session, folder: Path, keys: str, few: int, statements: list[tuple[str, set[int]]]
) -> None:
    table = new_table(session, folder, keys)
    model = filled(session, table)
    with few_rows(few):
        _check_statements(session, table, model, statements)


def _check_statements(session: Session, table: str, model: _Rows, statements: list[tuple[str, set[int]]]) -> None:
    for number, (kind, ids) in enumerate(statements):
        told = ", ".join(map(str, sorted(ids))) or "NULL"
        value, key = f"n{number}", number % 3
        source = "SELECT explode(array(" + ", ".join(f"{n}L" for n in sorted(ids)) + ")) AS id"
        if kind == "insert":
            new = {100 * (number + 1) + n for n in ids}
            session.sql(f"INSERT INTO {table} VALUES " + ", ".join(f"({n}, '{value}', {key})" for n in sorted(new)))
            model |= dict.fromkeys(new, (value, key))
        elif kind == "delete":
            session.sql(f"DELETE FROM {table} WHERE id IN ({told})")
            model = {n: row for n, row in model.items() if n not in ids}
        elif kind == "update":
            session.sql(f"UPDATE {table} SET v = '{value}', p = {key} WHERE id IN ({told})")
            model |= dict.fromkeys(ids & model.keys(), (value, key))
        else:
            session.sql(
                f"MERGE INTO {table} t USING ({source}) q ON t.id = q.id WHEN MATCHED AND t.v IS NULL THEN DELETE "
                f"WHEN MATCHED THEN UPDATE SET v = '{value}' WHEN NOT MATCHED THEN INSERT (id, v) VALUES (q.id, NULL)"
            )
            before = dict(model)
            for n in ids:
                if n not in before:
                    model[n] = (None, None)
                elif before[n][0] is None:
                    del model[n]
                else:
                    model[n] = (value, before[n][1])
        assert rows(session, table) == model, f"after {statements[: number + 1]}"


@pytest.mark.slow
def test_columns_of_every_kind_are_kept(session: Session, folder: Path) -> None:
    """What an UPDATE does not name goes from the old row to the new one."""
    location = folder / "kinds"
    location.mkdir()
    columns = (
        "id INT, s STRUCT<a: INT, b: ARRAY<STRING>>, m MAP<STRING, BIGINT>, d DECIMAL(20, 3), b BINARY, "
        "t TIMESTAMP_NTZ, f DOUBLE, c CHAR(5), o BOOLEAN, day DATE"
    )
    session.sql(
        f"CREATE TABLE hive.s.kinds ({columns}) USING orc LOCATION '{location}' "
        "TBLPROPERTIES ('transactional' = 'true')"
    )
    session.sql(
        "INSERT INTO hive.s.kinds SELECT CAST(id AS INT), "
        "IF(id = 1, NULL, named_struct('a', 1, 'b', array('x', NULL))), map('k', id), "
        "CAST(id / 8 AS DECIMAL(20, 3)), X'00FF', TIMESTAMP_NTZ '2024-01-02 03:04:05.678901', -0.0D, 'ab', id = 1, "
        "DATE '2024-02-29' FROM range(3)"
    )
    rest = "SELECT id % 10 AS n, s, to_json(m) AS m, d, b, t, f, c, o, day FROM hive.s.kinds"
    before = sorted(session.sql(rest).collect())
    with few_rows(0):
        session.sql("UPDATE hive.s.kinds SET id = id + 10")
    assert sorted(row.id for row in session.sql("SELECT id FROM hive.s.kinds").collect()) == [10, 11, 12]
    assert sorted(session.sql(rest).collect()) == before


class TestNothingChanges:
    """A statement that fails leaves the table as it was, with no transaction open."""

    @pytest.mark.slow
    def test_an_error_of_the_query(self, session: Session, folder: Path) -> None:
        table = new_table(session, folder)
        model = filled(session, table)
        with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
            session.sql(f"UPDATE {table} SET p = CAST(1 / (id - 7) AS INT)")
        self._unchanged(session, table, model)

    def test_an_error_of_the_sink(self, session: Session, folder: Path) -> None:
        """It comes out of Python, in the second thread of a task."""
        table = new_table(session, folder, "PARTITIONED BY (v)")
        session.sql(f"INSERT INTO {table} (id, v, p) SELECT id, 'a', 1 FROM range(0, 3000, 1, 2)")
        with pytest.raises(ConnectorError, match="is an empty text"):
            session.sql(f"UPDATE {table} SET v = ''")
        assert len(rows(session, table)) == 3000
        _no_write_locks(session, table)

    @pytest.mark.slow
    def test_a_row_that_is_matched_twice(self, session: Session, folder: Path) -> None:
        table = new_table(session, folder)
        model = filled(session, table)
        twice = f"MERGE INTO {table} t USING (SELECT 1 AS id FROM range(2)) q ON t.id = q.id WHEN MATCHED THEN"
        with pytest.raises(Exception, match="MERGE_CARDINALITY_VIOLATION"):
            session.sql(f"{twice} UPDATE SET v = 'x'")
        self._unchanged(session, table, model)

    @pytest.mark.slow
    def test_a_row_that_is_deleted_twice_is_deleted(self, session: Session, folder: Path) -> None:
        """Spark asks for no single match where nothing but a DELETE follows."""
        table = new_table(session, folder)
        model = filled(session, table)
        source = "(SELECT 1 AS id FROM range(0, 2, 1, 2))"
        session.sql(f"MERGE INTO {table} t USING {source} q ON t.id = q.id WHEN MATCHED THEN DELETE")
        del model[1]
        self._unchanged(session, table, model)

    @pytest.mark.slow
    def test_a_cancelled_query(self, session: Session, folder: Path, spark: SparkSession) -> None:
        """Tasks are killed while they wait for rows, and end."""
        table = new_table(session, folder)
        model = filled(session, table)
        context = spark.sparkContext
        errors: list[BaseException] = []

        def run() -> None:
            context.setJobGroup("endless", "an endless update", True)
            try:
                session.sql(
                    f"MERGE INTO {table} t USING (SELECT id + 100 AS id FROM range(0, 100000000000, 1, 2)) q "
                    "ON t.id = q.id AND q.id < 0 WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)"
                )
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        tracker = context.statusTracker()
        while thread.is_alive() and not _runs_tasks(tracker, "endless"):
            thread.join(0.05)
        context.cancelJobGroup("endless")
        thread.join(60)
        assert not thread.is_alive()
        assert errors
        self._unchanged(session, table, model)

    @pytest.mark.slow
    def test_an_explained_statement(self, session: Session, folder: Path) -> None:
        table = new_table(session, folder)
        model = filled(session, table)
        text = session.sql(f"EXPLAIN DELETE FROM {table} WHERE id = 1").collect()[0][0]
        assert "WriteDelta" in text
        self._unchanged(session, table, model)

    def _unchanged(self, session: Session, table: str, model: _Rows) -> None:
        assert rows(session, table) == model
        _no_write_locks(session, table)


@pytest.mark.slow
def test_no_update_is_lost(session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another statement commits when this one has read its snapshot, and has not begun to write."""
    table = new_table(session, folder)
    session.sql(f"INSERT INTO {table} VALUES (1, 'a', 10)")
    _before_the_write(monkeypatch, lambda: session.sql(f"UPDATE {table} SET p = p + 1"))
    with pytest.raises(MetastoreError, match="run the statement again") as raised:
        session.sql(f"UPDATE {table} SET p = p + 100")
    assert raised.value.code == error_codes.HIVE_WRITE_CONFLICT
    assert rows(session, table) == {1: ("a", 11)}
    session.sql(f"UPDATE {table} SET p = p + 100")
    assert rows(session, table) == {1: ("a", 111)}


def _before_the_write(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> None:
    """Runs something once, in a thread of its own, when a statement begins to write."""

    def first(target: MergeTarget) -> SparkMerge:
        monkeypatch.undo()
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return SparkMerge(target)

    monkeypatch.setattr(row_level, "SparkMerge", first)


def test_tables_without_row_ids_are_refused(session: Session, folder: Path) -> None:
    table = new_table(session, folder, kind="insert_only")
    for statement in (f"DELETE FROM {table} WHERE id = 1", f"UPDATE {table} SET p = 1"):
        with pytest.raises(NotSupportedError, match="insert_only"):
            session.sql(statement)


def _runs_tasks(tracker: StatusTracker, group: str) -> bool:
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    infos = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return any(info is not None and info.numActiveTasks > 0 for info in infos)


def _no_write_locks(session: Session, table: str) -> None:
    metastore = cast(HiveConnector, session.catalogs.get("hive")).metastore
    held = metastore.transactions.show_locks("s", table.rpartition(".")[2])
    assert [lock for lock in held if lock.type is not LockType.SHARED_READ] == []
