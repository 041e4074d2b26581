"""Files that others wrote, of every format, and what Hive 4.0.1 shows of them.

``hive_file_answers.json`` tells for each file the columns that Hive was asked for, how many rows it gave, and every
``step``-th of them, in a JVM of UTC and, where that is not the same, of New York.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_session, scan_table
from tests.paths import TABLES


@dataclass(frozen=True, slots=True)
class _Case:
    file: str
    input_format: str
    serde: str
    columns: Sequence[tuple[str, str]]
    count: int
    step: int
    rows: Sequence[Mapping[str, object]]
    rows_new_york: Sequence[Mapping[str, object]] = ()


_CASES = [_Case(**told) for told in json.loads((Path(__file__).parent / "hive_file_answers.json").read_text())]
_PARQUET = _CASES[0]
_ORC = next(case for case in _CASES if case.file == "part.orc")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.file}-{case.columns[0][1]}")
def test_rows_are_those_of_hive(hive: HiveConnector, tmp_path: Path, case: _Case, zone: str) -> None:
    _register(hive, tmp_path, case)
    found = scan_table(hive, "s", "t", session=make_session(hive, zone)).rows
    assert found.num_rows == case.count
    expected = case.rows_new_york if zone != "UTC" and case.rows_new_york else case.rows
    some = found.take(list(range(0, case.count, case.step)))
    shown = [_shown(column.combine_chunks()) for column in some.columns]
    assert list(zip(*shown, strict=True)) == [
        tuple(_cut(row[name], hive_type) for name, hive_type in case.columns) for row in expected
    ]


def test_instants_that_hive_itself_cannot_read(hive: HiveConnector, tmp_path: Path) -> None:
    times = ("event_time", "timestamp with local time zone")
    columns = [("id", "int"), ("user", "string"), ("action", "string"), times]
    name = "timestamp_with_local_timezone.orc"
    _register(hive, tmp_path, _Case(name, _ORC.input_format, _ORC.serde, columns, 1, 1, ()))
    rows = scan_table(hive, "s", "t", ["id", "event_time"]).rows.to_pylist()
    assert rows == [{"id": 1, "event_time": datetime(2020, 1, 1, 8, tzinfo=UTC)}]


def _register(hive: HiveConnector, folder: Path, case: _Case) -> None:
    source = TABLES / "hive" / "files" / case.file
    if not source.is_file():
        pytest.skip(f"no file {source}; set CONNECTOR_TEST_TABLES")
    location = folder / "t"
    location.mkdir()
    shutil.copy(source, location)
    fields = tuple(FieldSchema(name, hive_type) for name, hive_type in case.columns)
    serde = SerDeInfo(case.serde, Parameters.of({"serialization.format": "1"}))
    storage = StorageDescriptor(fields, f"file://{location}", case.input_format, None, serde=serde)
    hive.metastore.writes.create_database(Database("s"))
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "EXTERNAL_TABLE"))


def _shown(array: pa.Array) -> list[object]:
    """Values as Hive's JSON has them."""
    if pa.types.is_timestamp(array.type):
        return [None if text is None else text.rstrip("0").rstrip(".") for text in array.cast(pa.string()).to_pylist()]
    if pa.types.is_date(array.type):
        return list(array.cast(pa.string()).to_pylist())
    return [_plain(value, array.type) for value in array.to_pylist()]


def _plain(value: object, arrow: pa.DataType) -> object:
    if value is None:
        return None
    if pa.types.is_map(arrow):
        return {key: _plain(item, arrow.item_type) for key, item in cast(Sequence[tuple[str, object]], value)}
    if pa.types.is_struct(arrow):
        return {field.name: _plain(cast(Mapping[str, object], value)[field.name], field.type) for field in arrow}
    if pa.types.is_list(arrow):
        return [_plain(item, arrow.value_type) for item in cast(Sequence[object], value)]
    if pa.types.is_float32(arrow):
        return float(str(np.float32(cast(float, value))))
    return float(str(value)) if pa.types.is_decimal(arrow) else value


def _cut(value: object, hive_type: str) -> object:
    # Hive has nanoseconds.
    return str(value)[:26] if hive_type == "timestamp" and value is not None else value
