"""Statistics of columns that are written are kept with their rows, where those of all rows are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.embedded.metastore import EmbeddedMetastore
from catalog.metastore.model import ColumnStatistics, Parameters
from connector_spi.names import SchemaTableName
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.write.publish import recorded_statistics
from tests.connectors.hive.reading import make_connector, make_session
from tests.connectors.hive.table_writer import create_table, write_file

NAME = SchemaTableName("s", "t")
ROWS = pa.table({"id": pa.array([1, 2, None], pa.int64()), "ds": ["a", "b", "b"]})
_KINDS = pytest.mark.parametrize("parameters", [{}, {"transactional": "true"}], ids=["plain", "transactional"])


def empty_table(hive: HiveConnector, folder: Path, parameters: dict[str, str], keys: tuple[str, ...] = ()) -> None:
    create_table(hive.metastore, folder, "s", "t", ROWS[:0], keys, file_format="orc", parameters=parameters)
    hive.metastore.writes.drop_table_statistics("s", "t", ROWS.column_names)
    for path in (folder / "s" / "t").rglob("*"):
        if path.is_file():
            path.unlink()


def of_table(hive: HiveConnector, column: str = "id") -> list[ColumnStatistics]:
    return hive.metastore.reads.get_table_statistics("s", "t", [column])


@_KINDS
def test_an_empty_table(hive: HiveConnector, tmp_path: Path, parameters: dict[str, str]) -> None:
    empty_table(hive, tmp_path, parameters)
    insert_rows(hive, NAME, [ROWS.slice(0, 1), ROWS.slice(1)])
    assert of_table(hive) == [ColumnStatistics("id", "bigint", 1, 2, 1, 2)]
    assert of_table(hive, "ds") == [ColumnStatistics("ds", "string", 0, 2, average_length=1.0, max_length=1)]


@_KINDS
def test_new_partitions(hive: HiveConnector, tmp_path: Path, parameters: dict[str, str]) -> None:
    empty_table(hive, tmp_path, parameters, ("ds",))
    insert_rows(hive, NAME, [ROWS])
    assert hive.metastore.reads.get_partition_statistics("s", "t", ["ds=a", "ds=b"], ["id"]) == {
        "ds=a": [ColumnStatistics("id", "bigint", 0, 1, 1, 1)],
        "ds=b": [ColumnStatistics("id", "bigint", 1, 1, 2, 2)],
    }


@_KINDS
def test_many_partitions_at_once(
    hive: HiveConnector, tmp_path: Path, parameters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would be a call of the metastore."""
    empty_table(hive, tmp_path, parameters, ("ds",))
    insert_rows(hive, NAME, [ROWS.slice(0, 1)])
    monkeypatch.setattr(recorded_statistics, "MOST_PARTITIONS", 1)
    insert_rows(hive, NAME, [ROWS])
    assert hive.metastore.reads.get_partition_statistics("s", "t", ["ds=a", "ds=b"], ["id"]) == {}
    insert_rows(hive, NAME, [pa.table({"id": [4], "ds": ["c"]})])
    assert hive.metastore.reads.get_partition_statistics("s", "t", ["ds=c"], ["id"]).keys() == {"ds=c"}


def test_nothing_is_said_where_it_is_not_wanted(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, **{"hive.collect-column-statistics-on-write": "false"})
    empty_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [ROWS])
    assert of_table(hive) == []


def test_rows_that_no_one_has_counted(hive: HiveConnector, tmp_path: Path) -> None:
    """Another program has added a file, and left the count of a table that it found empty."""
    empty_table(hive, tmp_path, {"numRows": "0"})
    write_file(tmp_path / "s" / "t" / "other.orc", ROWS, "orc")
    insert_rows(hive, NAME, [ROWS])
    assert of_table(hive) == []


def test_rows_whose_statistics_are_not_said_to_be_theirs(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive answers min and max by statistics that are said to be exact."""
    empty_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [ROWS])
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    kept = {key: value for key, value in entry.parameters.items() if key != "COLUMN_STATS_ACCURATE"}
    hive.metastore.writes.alter_table("s", "t", replace(entry, parameters=Parameters.of(kept)))
    insert_rows(hive, NAME, [ROWS])
    assert of_table(hive) == []


def test_two_writes_of_one_transaction(hive: HiveConnector, tmp_path: Path) -> None:
    empty_table(hive, tmp_path, {})
    with ReferenceQuery(hive) as query:
        for _ in range(2):
            insert = ReferenceInsert(query, NAME)
            insert.finish([insert.write(ROWS)])
    assert of_table(hive) == []


def test_another_writer_meanwhile(hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has seen no statistics that it could drop, since ours were not set yet."""
    empty_table(hive, tmp_path, {})
    set_statistics = EmbeddedMetastore.set_table_statistics

    def late(self: EmbeddedMetastore, database: str, table: str, statistics: Sequence[ColumnStatistics]) -> None:
        monkeypatch.undo()
        insert_rows(hive, NAME, [ROWS])
        set_statistics(self, database, table, statistics)

    monkeypatch.setattr(EmbeddedMetastore, "set_table_statistics", late)
    insert_rows(hive, NAME, [ROWS])
    assert of_table(hive) == []


def test_files_that_others_have_written(hive: HiveConnector, tmp_path: Path) -> None:
    empty_table(hive, tmp_path, {})
    insert_rows(hive, NAME, [ROWS])
    write_file(tmp_path / "loaded" / "a.orc", ROWS, "orc")
    [load] = [one for one in hive.procedures if one.name == "load_data"]
    given = {**{one.name: one.default for one in load.arguments}, "schema_name": "s", "table_name": "t"}
    load.function(make_session(hive), {**given, "path": str(tmp_path / "loaded")})
    assert of_table(hive) == []
