"""What holds for a table that the suite made and for one that was there: both kinds of suites check it by these."""

from __future__ import annotations

import pickle
import threading

import pyarrow as pa

from connector_spi.connector import Connector
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.serializable import Serializable, from_json, to_json
from connector_spi.testing.base import assert_same_rows
from connector_spi.testing.reading import ReferenceQuery, read_table, rows_that_fit

__all__ = ["assert_filtered", "assert_pruned", "assert_read_at_once", "assert_travels"]

_THREADS = 6


def assert_travels(sent: Serializable) -> None:
    """Asserts that a value is the same one after pickle and after JSON."""
    assert pickle.loads(pickle.dumps(sent)) == sent
    back = from_json(to_json(sent), Serializable)
    assert back == sent
    assert type(back) is type(sent)
    assert hash(back) == hash(sent)


def assert_filtered(connector: Connector, name: SchemaTableName, data: pa.Table, predicate: TupleDomain[str]) -> None:
    """Asserts that a read with a filter gives the rows of ``data``, which are all of the table, that fit it."""
    met = read_table(connector, name, data.column_names, predicate)
    assert_same_rows(met, rows_that_fit(data, predicate))


def assert_pruned(connector: Connector, name: SchemaTableName, data: pa.Table, predicate: TupleDomain[str]) -> None:
    """Asserts that a read with a dynamic filter loses no row that fits it."""
    with ReferenceQuery(connector) as query:
        scan = query.table(name).project_names(data.column_names)
        raw = scan.read_raw(scan.by_handle(predicate))
    assert_same_rows(rows_that_fit(raw, predicate), rows_that_fit(data, predicate))


def assert_read_at_once(connector: Connector, name: SchemaTableName, data: pa.Table) -> None:
    """Asserts that threads that read at once each get all rows."""
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(3):
                assert_same_rows(read_table(connector, name), data)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
