"""Rows of transactional tables that are changed under real metastores of Hive 3.1 and 4.0: no update is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ttypes

from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive import error_codes
from tests.integration.test_transactional_inserts import Warehouse, warehouse

__all__ = ["warehouse"]

_ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "ds": ["a", "b", "a"]})
_KEYS = pytest.mark.parametrize("keys", [(), ("ds",)], ids=["flat", "partitioned"])


def _row_ids(query: ReferenceQuery, name: SchemaTableName) -> pa.Table:
    return query.table(name).project_names(["id", "ds", "$row_id", "$partition"]).read().sort_by("id")


def _one(number: int, key: str = "a") -> pa.Table:
    return pa.table({"id": pa.array([number], pa.int64()), "ds": [key]})


def _replace_first(query: ReferenceQuery, name: SchemaTableName, new: Callable[[int], int]) -> None:
    """Replaces the number of the row with the lowest one."""
    first = _row_ids(query, name).slice(0, 1)
    merge = ReferenceMerge(query, name, MergeCommand.UPDATE)
    merge.finish([merge.write(first, _one(new(first.column("id")[0].as_py())))])


@_KEYS
def test_rows_are_changed(warehouse: Warehouse, keys: tuple[str, ...]) -> None:
    name = warehouse.create(f"changed_{len(keys)}", keys)
    insert_rows(warehouse.hive, name, [_ROWS])
    with ReferenceQuery(warehouse.hive) as query:
        found = _row_ids(query, name)
        merge = ReferenceMerge(query, name)
        merge.finish([merge.write(found.slice(0, 2), _one(10, "c"))])
        request = ttypes.ShowLocksRequest(dbname=name.schema, tablename=name.table)
        locks = warehouse.other.show_locks(request).locks
        held = {lock.type for lock in locks if lock.type != ttypes.LockType.SHARED_READ}
        assert held == {ttypes.LockType.SHARED_WRITE}
        assert warehouse.rows(name) == _ROWS.to_pylist()
    assert warehouse.rows(name) == [{"id": 3, "ds": "a"}, {"id": 10, "ds": "c"}]
    assert warehouse.other.show_locks(ttypes.ShowLocksRequest(dbname=name.schema, tablename=name.table)).locks == []


@_KEYS
def test_the_second_of_two_writers_fails(warehouse: Warehouse, keys: tuple[str, ...]) -> None:
    """Both have read the same row. Hive 3 has the second wait for the lock, Hive 4 refuses its commit."""
    name = warehouse.create(f"raced_{len(keys)}", keys)
    insert_rows(warehouse.hive, name, [_ROWS])
    first, second = ReferenceQuery(warehouse.hive), ReferenceQuery(warehouse.hive)
    for query in (first, second):
        _row_ids(query, name)
    _replace_first(first, name, lambda number: number - 10)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with second:
                _replace_first(second, name, lambda number: number - 20)
                prepared.set()
                committed.wait()
        except BaseException as error:
            errors.append(error)

    prepared, committed = threading.Event(), threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    # Of Hive 3 it is never prepared: it waits until the first one has ended.
    prepared.wait(2)
    first.transaction.commit()
    committed.set()
    thread.join()
    [error] = errors
    assert isinstance(error, MetastoreError)
    assert error.code == error_codes.HIVE_WRITE_CONFLICT, error.message
    assert [row["id"] for row in warehouse.rows(name)] == [-9, 2, 3]


@_KEYS
def test_no_update_is_lost_among_many(warehouse: Warehouse, keys: tuple[str, ...]) -> None:
    """Each writer adds one to a number several times, and tries again where it was told to."""
    name = warehouse.create(f"counted_{len(keys)}", keys)
    insert_rows(warehouse.hive, name, [_one(0)])
    failures: list[BaseException] = []
    conflicts: list[MetastoreError] = []

    def count() -> None:
        done = 0
        while done < 4:
            try:
                with ReferenceQuery(warehouse.hive) as query:
                    _replace_first(query, name, lambda number: number + 1)
                done += 1
            except MetastoreError as error:
                if error.code != error_codes.HIVE_WRITE_CONFLICT:
                    failures.append(error)
                    return
                conflicts.append(error)
            except BaseException as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(failure) for failure in failures] == []
    assert warehouse.rows(name) == [{"id": 12, "ds": "a"}]
