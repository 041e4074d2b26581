"""Writes to transactional tables that fail or end before each of their steps: all is seen, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from connector_spi.errors import ConnectorError, StorageError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.write.test_bucketed_inserts import bucketed_table, read, rows_of
from tests.connectors.hive.write.test_loading import incoming, load, new_table
from tests.connectors.hive.write.watched_steps import watch_steps

pytestmark = pytest.mark.slow

NAME = SchemaTableName("s", "t")
_FULL = {"transactional": "true"}


class Killed(BaseException):
    """The process ends here: nothing after it is done."""


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
        met: list[str] = []

        def before(name: str, at: int = step, met: list[str] = met) -> None:
            met.append(name)
            if len(met) == at + 1 or (len(met) > at + 1 and isinstance(error, Killed)):
                raise error

        done = False
        with monkeypatch.context() as patch:
            watch_steps(hive, patch, before)
            with suppress(ConnectorError, Killed):
                write(hive, folder)
                done = True
        found = _ids(hive)
        where = f"before {met[step] if step < len(met) else 'the end'}, step {step} of {met}"
        assert found in (_BEFORE, _AFTER[write]), where
        # Who is told of no error has written; of errors after the commit, which delete what is left, one may be told.
        assert found == _AFTER[write] or not done, where
        if write is _load and found == _BEFORE:
            assert len(list((folder / "incoming").iterdir())) == 2, where
        insert_rows(hive, NAME, [rows_of(90)])
        assert _ids(hive) == [*found, 90], where
        hive.shutdown()
        if step >= len(met):
            break
    assert done
