"""Footers of Parquet files, which are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeport.duckdb.tables.file_columns import FileColumns, Footers, KnownFile


def _write(path: Path, table: pa.Table) -> KnownFile:
    pq.write_table(table, path)
    return KnownFile(str(path), path.stat().st_size, path.stat().st_mtime_ns // 1_000_000, str(path))


def test_columns_of_many_files(tmp_path: Path) -> None:
    rows = [pa.table({"a": [1]}), pa.table({"b": ["x"], "a": pa.array([1], pa.int32())})]
    files = [_write(tmp_path / f"{number}.parquet", rows[number % 2]) for number in range(600)]
    old = pa.table({"a": [1]}).replace_schema_metadata({"org.apache.spark.version": "2.4.8"})
    files.append(_write(tmp_path / "old.parquet", old))
    with duckdb.connect() as connection:
        found = Footers().columns(connection, files)
    assert {(frozenset(one.fields), one.may_have_old_dates) for one in found} == {
        (frozenset({("schema", None), ("a", "BIGINT")}), False),
        (frozenset({("schema", None), ("a", "INTEGER"), ("b", "VARCHAR")}), False),
        (frozenset({("schema", None), ("a", "BIGINT")}), True),
    }


def test_footers_are_read_once(tmp_path: Path) -> None:
    file = _write(tmp_path / "t.parquet", pa.table({"a": [1]}))
    footers = Footers()
    with duckdb.connect() as connection:
        first = footers.columns(connection, [file])
        Path(file.path).unlink()
        assert footers.columns(connection, [file]) == first
        with pytest.raises(duckdb.Error):
            footers.columns(connection, [replace(file, size=file.size + 1)])


def test_a_file_that_was_written_again(tmp_path: Path) -> None:
    footers = Footers()
    with duckdb.connect() as connection:
        footers.columns(connection, [_write(tmp_path / "t.parquet", pa.table({"a": [1]}))])
        [found] = footers.columns(connection, [_write(tmp_path / "t.parquet", pa.table({"a": ["x"], "b": [1]}))])
    assert isinstance(found, FileColumns)
    assert ("a", "VARCHAR") in found.fields
