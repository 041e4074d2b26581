"""Writes to transactional tables that fail or end before each of their steps: all is seen, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from connector_spi.errors import StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.write.test_bucketed_inserts import bucketed_table, read, rows_of
from tests.connectors.hive.write.test_loading import incoming, load, new_table
from tests.connectors.hive.write.watched_steps import Killed, run_until

pytestmark = pytest.mark.slow

NAME = SchemaTableName("s", "t")
_FULL = {"transactional": "true"}


def _insert(hive: HiveConnector, folder: Path) -> None:
    insert_rows(hive, NAME, [rows_of(10, 11, 12), rows_of(13, 14, 15)])


def _overwrite(hive: HiveConnector, folder: Path) -> None:
    overwrite_rows(hive, NAME, [rows_of(10, 11, 12)], Overwrite())


def _merge(hive: HiveConnector, folder: Path) -> None:
    with ReferenceQuery(hive) as query:
        found = query.table(NAME).project_names(["id", "v", "ds", "$row_id", "$partition"]).read().sort_by("id")
        merge = ReferenceMerge(query, NAME, MergeCommand.UPDATE)
        merge.finish([merge.write(found.slice(0, 2), rows_of(10, 11)), merge.write(found.slice(2, 1), rows_of(12))])


def _block(hive: HiveConnector, folder: Path) -> None:
    with ReferenceQuery(hive) as query:
        for numbers in ((10, 11), (12, 13)):
            insert = ReferenceInsert(query, NAME)
            insert.finish([insert.write(rows_of(*numbers))])


def _load(hive: HiveConnector, folder: Path) -> None:
    load(hive, incoming(folder, rows_of(10), rows_of(11), partitioned=False))


_BEFORE = [0, 1, 2]
_AFTER: dict[Callable[[HiveConnector, Path], None], list[int]] = {
    _insert: [0, 1, 2, 10, 11, 12, 13, 14, 15],
    _overwrite: [10, 11, 12],
    _merge: [10, 11, 12],
    _block: [0, 1, 2, 10, 11, 12, 13],
    _load: [0, 1, 2, 10, 11],
}


def _table(folder: Path, write: Callable[[HiveConnector, Path], None]) -> HiveConnector:
    hive = make_connector(folder)
    if write is _load:
        new_table(hive, folder, _FULL, partitioned=False)
    else:
        bucketed_table(hive, folder, _FULL, partitioned=True)
    insert_rows(hive, NAME, [rows_of(*_BEFORE)])
    return hive


def _ids(hive: HiveConnector) -> list[object]:
    return [row["id"] for row in read(hive)]


@pytest.mark.parametrize("write", list(_AFTER), ids=lambda write: write.__name__.strip("_"))
@pytest.mark.parametrize("error", [StorageError("broken"), Killed()], ids=["error", "kill"])
def test_a_failure_before_any_step_shows_all_or_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[HiveConnector, Path], None],
    error: BaseException,
) -> None:
    for step in count():
        folder = tmp_path / f"{step}"
        hive = _table(folder, write)
        ran = run_until(hive, monkeypatch, step, error, partial(write, hive, folder))
        found = _ids(hive)
        assert found in (_BEFORE, _AFTER[write]), ran
        # Who is told of no error has written; of errors after the commit, which delete what is left, one may be told.
        assert found == _AFTER[write] or not ran.done, ran
        if write is _load and found == _BEFORE:
            assert len(list((folder / "incoming").iterdir())) == 2, ran
        insert_rows(hive, NAME, [rows_of(90)])
        assert _ids(hive) == [*found, 90], ran
        hive.shutdown()
        if ran.is_last:
            break
    assert ran.done
