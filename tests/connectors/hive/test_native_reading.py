"""Which of many files are looked at before the engine's reader may have them."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connectors.hive import native_reading
from connectors.hive.connector import HiveConnector
from connectors.hive.schema import footer_facts
from connectors.toolkit.orc.reader import read_orc_schema
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, read_table, scan_table
from tests.connectors.hive.table_writer import storage, write_file

_COLUMNS = {"a": "bigint", "b": "bigint"}


def _write(folder: Path, *orders: str) -> None:
    """A file of two rows for each order of columns; ``a`` is always the number of the file, ``b`` is 100 more."""
    for number, order in enumerate(orders):
        values = {"a": [number, number], "b": [number + 100] * 2}
        write_file(folder / f"{number:06}_0", pa.table({name: values[name] for name in order}), "orc")


def _create(hive: HiveConnector, folder: Path, columns: dict[str, str] | None = None) -> None:
    hive.metastore.writes.create_database(Database("s"))
    fields = [FieldSchema(name, hive_type) for name, hive_type in (columns or _COLUMNS).items()]
    told = Table("s", "t", storage(fields, folder, "orc"), (), Parameters(), "EXTERNAL_TABLE")
    hive.metastore.writes.create_table(told)


def _plain(hive: HiveConnector, *columns: str) -> list[bool]:
    splits = scan_table(hive, "s", "t", list(columns)).splits
    return [split.native_file is not None for split in splits]


def test_every_file_is_looked_at_where_columns_are_found_by_place(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_reading, "_FEW_FILES", 2)
    monkeypatch.setattr(native_reading, "_LARGE_BYTES", 0)
    _write(tmp_path / "t", "ab", "ab", "ab", "ab", "ba")
    _create(hive, tmp_path / "t")
    assert not all(_plain(hive, "a"))
    rows = read_table(hive, "s", "t", ["a"]).to_pylist()
    assert sorted(row["a"] for row in rows) == [0, 0, 1, 1, 2, 2, 3, 3, 104, 104]
    (tmp_path / "t" / "000004_0").unlink()
    assert all(_plain(hive, "a"))


def test_small_files_after_the_first_and_those_after_very_many_are_left_to_tasks(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "t", *["ab"] * 4)
    _create(hive, tmp_path / "t")
    assert all(_plain(hive, "a", "b"))
    monkeypatch.setattr(native_reading, "_FEW_FILES", 2)
    assert not all(_plain(hive, "a", "b"))
    monkeypatch.setattr(native_reading, "_LARGE_BYTES", 0)
    assert all(_plain(hive, "a", "b"))
    monkeypatch.setattr(native_reading, "_MANY_FILES", 3)
    assert not all(_plain(hive, "a", "b"))


def test_files_far_away_are_looked_at_side_by_side(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "t", *["ab"] * 50)
    _create(hive, tmp_path / "t")
    near = scan_table(hive, "s", "t", ["b"]).splits
    threads = set()

    def read_schema(files: FileSystem, path: str) -> pa.Schema:
        threads.add(threading.get_ident())
        return read_orc_schema(files, path)

    monkeypatch.setattr(footer_facts, "read_orc_schema", read_schema)
    monkeypatch.setattr(FileSystem, "is_local", lambda files, uri: False)
    far = scan_table(hive, "s", "t", ["b"]).splits
    assert far == near
    assert all(split.native_file is not None for split in far)
    assert threading.get_ident() not in threads


def test_by_name_the_first_files_tell_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_reading, "_FEW_FILES", 2)
    hive = make_connector(tmp_path, hive_orc_use__column__names="true")
    _write(tmp_path / "t", "ab", "ba", "ab", "ba")
    _create(hive, tmp_path / "t")
    assert all(_plain(hive, "a", "b"))
    hive.shutdown()


@pytest.mark.parametrize(
    ("columns", "asked", "plain"),
    [
        ({"a": "bigint", "renamed": "bigint"}, "renamed", False),
        ({"a": "bigint", "renamed": "bigint"}, "a", True),
        # By name the file has it, by place it does not.
        ({"a": "bigint", "c": "bigint", "b": "bigint"}, "b", False),
        ({"a": "bigint", "c": "bigint", "d": "bigint"}, "d", True),
        ({"A": "bigint", "B": "bigint"}, "b", True),
    ],
)
def test_names_at_the_places_are_to_be_the_tables(
    hive: HiveConnector, tmp_path: Path, columns: dict[str, str], asked: str, plain: bool
) -> None:
    _write(tmp_path / "t", "ab")
    _create(hive, tmp_path / "t", columns)
    assert _plain(hive, asked) == [plain]


def test_names_that_spark_takes_for_none_are_left_to_tasks(hive: HiveConnector, tmp_path: Path) -> None:
    """Spark goes by place where all names in an ORC file begin with ``_col``; to Hive these are names."""
    write_file(tmp_path / "t" / "f", pa.table({"_color": [1], "_cold": [2]}), "orc")
    _create(hive, tmp_path / "t", {"_color": "bigint", "_cold": "bigint"})
    assert _plain(hive, "_color") == [False]
