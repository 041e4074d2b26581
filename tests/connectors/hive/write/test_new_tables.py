"""Tables that are made with their rows: what the metastore knows of them, and what is left where that fails."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path

import pytest

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.model import Database, Table
from connector_spi.errors import MetastoreError, StorageError, UserError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import ColumnMetadata
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceTable, create_table_as, insert_rows
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.write.inserts import STAGING
from tests.connectors.hive.reading import make_connector, read_table
from tests.connectors.hive.test_leftovers import call
from tests.connectors.hive.write.test_bucketed_inserts import rows_of
from tests.connectors.hive.write.watched_steps import Killed, run_until

_NAME = SchemaTableName("s", "t")
_ROWS = rows_of(1, 2, 3)


@pytest.fixture
def hive(hive: HiveConnector) -> HiveConnector:
    hive.metastore.writes.create_database(Database("s"))
    return hive


def definition(*, full: bool = False, keys: bool = False, location: str | None = None) -> TableDefinition:
    return TableDefinition(
        _NAME,
        tuple(ColumnMetadata(field.name, field.type) for field in _ROWS.schema),
        ("ds",) if keys else (),
        provider="orc",
        location=location,
        properties=(("transactional", "true"),) if full else (),
    )


def entry(hive: HiveConnector) -> Table:
    found = hive.metastore.reads.get_table("s", "t")
    assert found is not None
    return found


def ids(hive: HiveConnector) -> list[object]:
    return sorted(read_table(hive, "s", "t")["id"].to_pylist())


@pytest.mark.parametrize("keys", [False, True], ids=["whole", "partitioned"])
@pytest.mark.parametrize("full", [False, True], ids=["plain", "full"])
def test_rows_are_counted_and_columns_have_statistics(hive: HiveConnector, full: bool, keys: bool) -> None:
    create_table_as(hive, definition(full=full, keys=keys), [_ROWS.slice(0, 1), _ROWS.slice(1)])
    if keys:
        parts = hive.metastore.reads.get_partitions_by_names("s", "t", ["ds=x", "ds=y"])
        # Partitions of a transaction that is rolled back stay, and so have no counts.
        assert [one.parameters.get("numRows") for one in parts] == ([None, None] if full else ["2", "1"])
        [found] = hive.metastore.reads.get_partition_statistics("s", "t", ["ds=x"], ["id"])["ds=x"]
        assert (found.low, found.high) == (1, 2)
    else:
        assert [entry(hive).parameters.get(name) for name in ("numRows", "numFiles")] == ["3", "2"]
        [found] = hive.metastore.reads.get_table_statistics("s", "t", ["id"])
        assert (found.low, found.high) == (1, 3)


@pytest.mark.parametrize("keys", [False, True], ids=["whole", "partitioned"])
@pytest.mark.parametrize("full", [False, True], ids=["plain", "full"])
@pytest.mark.parametrize("error", [StorageError("broken"), Killed()], ids=["error", "kill"])
def test_a_failure_before_any_step_leaves_no_table_or_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool, keys: bool, error: BaseException
) -> None:
    for step in count():
        hive = make_connector(tmp_path / f"{step}")
        hive.metastore.writes.create_database(Database("s"))
        table = definition(full=full, keys=keys)
        ran = run_until(hive, monkeypatch, step, error, partial(create_table_as, hive, table, [_ROWS]))
        if hive.metastore.reads.get_table("s", "t") is None:
            assert not ran.done, ran
            create_table_as(hive, table, [_ROWS])
        else:
            # As Hive leaves it, ran it is killed between the table and what makes its rows visible.
            assert ids(hive) == [1, 2, 3] or (isinstance(error, Killed) and (full or keys) and ids(hive) == []), ran
        found = ids(hive)
        if found or full:
            # Else files lie where new partitions would be: it is to be dropped.
            insert_rows(hive, _NAME, [rows_of(9)])
            assert ids(hive) == [*found, 9], ran
        hive.shutdown()
        if ran.is_last:
            break
    assert ran.done


def test_the_folder_of_one_that_was_killed_is_left_alone_until_it_is_deleted(hive: HiveConnector) -> None:
    ReferenceTable(ReferenceQuery(hive), definition()).write(_ROWS)
    create_table_as(hive, definition(), [_ROWS])
    location = str(entry(hive).storage.location)
    assert location.rpartition("/")[2].startswith("t_")
    assert ids(hive) == [1, 2, 3]
    [gone] = call(hive, retention_threshold="0s")
    assert gone.startswith(STAGING)
    hive.metastore.writes.drop_table("s", "t")
    assert call(hive, retention_threshold="0s") == []


def test_an_answer_that_is_lost_is_asked_for(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    made = wrapped.create_table

    def lost(table: Table) -> None:
        made(table)
        raise MetastoreError("no answer", metastore_codes.TIMED_OUT)

    with monkeypatch.context() as patch:
        patch.setattr(wrapped, "create_table", lost)
        create_table_as(hive, definition(), [_ROWS])
    assert ids(hive) == [1, 2, 3]


def test_where_it_is_not_known_all_stays(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    made = wrapped.create_table

    def lost(table: Table) -> None:
        made(table)
        patch.setattr(type(wrapped), "get_table", gone)
        raise MetastoreError("no answer", metastore_codes.TIMED_OUT)

    def gone(self: object, database: str, name: str) -> None:
        raise MetastoreError("no one there", metastore_codes.CONNECTION_FAILED)

    with monkeypatch.context() as patch:
        patch.setattr(wrapped, "create_table", lost)
        with pytest.raises(
            MetastoreError, match=r"did not say whether it has made table s\.t .*no one there"
        ) as raised:
            create_table_as(hive, definition(), [_ROWS])
    assert raised.value.code == error_codes.HIVE_COMMIT_UNKNOWN
    assert ids(hive) == [1, 2, 3]


def test_one_that_may_be_made_yet_keeps_its_files(hive: HiveConnector, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    made, late = wrapped.create_table, list[Table]()

    def slow(table: Table) -> None:
        late.append(table)
        raise MetastoreError("no answer", metastore_codes.TIMED_OUT)

    with monkeypatch.context() as patch:
        patch.setattr(wrapped, "create_table", slow)
        with pytest.raises(MetastoreError, match="did not say whether it has made table"):
            create_table_as(hive, definition(), [_ROWS])
    made(*late)
    assert ids(hive) == [1, 2, 3]


def test_a_directory_with_files_is_refused_and_one_without_is_taken(hive: HiveConnector, tmp_path: Path) -> None:
    create_table_as(hive, definition(), [_ROWS])
    folder = Path(str(entry(hive).storage.location).removeprefix("file:").replace("//", "/"))
    hive.metastore.writes.drop_table("s", "t")
    with pytest.raises(UserError, match="is not empty; say LOCATION"):
        create_table_as(hive, definition(), [_ROWS])
    for path in folder.iterdir():
        path.unlink()
    (folder / "ds=empty").mkdir()
    create_table_as(hive, definition(keys=True), [_ROWS])
    assert ids(hive) == [1, 2, 3]


def test_a_location_takes_the_rows_and_stays_after_an_error(hive: HiveConnector, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    with ReferenceQuery(hive) as query:
        making = ReferenceTable(query, definition(location=place.as_uri()))
        making.write(_ROWS)
        making.abort()
    assert list(place.iterdir()) == []
    create_table_as(hive, definition(location=place.as_uri()), [_ROWS])
    assert (entry(hive).table_type, ids(hive)) == ("EXTERNAL_TABLE", [1, 2, 3])
