"""Old and far times of ORC, Parquet and Avro, of writers in many zones, as Hive 4.0.1 or Spark shows them.

``time_answers`` has files, what Hive and Spark showed of them in New York, and what made both (TimeFiles.java,
spark_times.py).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connector_spi.predicate import Domain, TupleDomain
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import Scan, make_session, scan_table

_FOLDER = Path(__file__).parent / "time_answers"
_FILES = sorted(path for path in _FOLDER.iterdir() if path.suffix in (".orc", ".parquet", ".avro"))
_HIVE = "org.apache.hadoop.hive.ql.io."
_CLASSES = {
    ".orc": (f"{_HIVE}orc.OrcInputFormat", f"{_HIVE}orc.OrcSerde"),
    ".avro": (f"{_HIVE}avro.AvroContainerInputFormat", "org.apache.hadoop.hive.serde2.avro.AvroSerDe"),
    ".parquet": (f"{_HIVE}parquet.MapredParquetInputFormat", f"{_HIVE}parquet.serde.ParquetHiveSerDe"),
}
_COLUMNS = {
    ".orc": (("a", "timestamp"), ("l", "array<timestamp>")),
    ".parquet": (
        ("id", "int"),
        ("a", "timestamp"),
        ("b", "timestamp"),
        ("j", "array<string>"),
        ("s", "struct<x:string>"),
    ),
    ".avro": (("a", "timestamp"), ("d", "date")),
    "spark": (("id", "int"), ("a", "timestamp"), ("n", "timestamp"), ("d", "date")),
}


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_times_are_those_of_hive_and_spark(hive: HiveConnector, tmp_path: Path, file: Path) -> None:
    expected = [json.loads(line) for line in _answers(file).read_text().splitlines()]
    _register(hive, tmp_path, file)
    rows = _read(hive).rows
    assert len(expected) >= 14
    found = [{name: _shown(rows.column(name)[at]) for name in rows.column_names} for at in range(len(rows))]
    assert found == expected


@pytest.mark.parametrize("file", [file for file in _FILES if file.suffix == ".orc"], ids=lambda file: file.name)
def test_no_time_that_a_filter_wants_is_skipped(hive: HiveConnector, tmp_path: Path, file: Path) -> None:
    _register(hive, tmp_path, file)
    times = _read(hive).rows.column("a")
    for wanted in (min(times.to_pylist()), max(times.to_pylist())):
        rows = _read(hive, TupleDomain({"a": Domain.single_value(times.type, wanted)})).rows
        assert wanted in rows.column("a").to_pylist()


def _answers(file: Path) -> Path:
    return file.with_name(f"{file.name}.json") if file.suffix == ".avro" else file.with_suffix(".json")


def _read(hive: HiveConnector, constraint: TupleDomain[str] | None = None) -> Scan:
    return scan_table(hive, "s", "t", constraint=constraint, session=make_session(hive, "America/New_York"))


def _register(hive: HiveConnector, folder: Path, file: Path) -> None:
    location = folder / "t"
    location.mkdir()
    shutil.copy(file, location)
    input_format, serde = _CLASSES[file.suffix]
    fields = tuple(
        FieldSchema(name, hive_type)
        for name, hive_type in _COLUMNS["spark" if file.stem.startswith("spark") else file.suffix]
    )
    storage = StorageDescriptor(fields, f"file://{location}", input_format, None, serde=SerDeInfo(serde))
    hive.metastore.writes.create_database(Database("s"))
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "EXTERNAL_TABLE"))


def _shown(value: pa.Scalar) -> object:
    """A value as Hive's JSON has it."""
    if not value.is_valid:
        return None
    if pa.types.is_list(value.type):
        return [_shown(one) for one in cast(Sequence[pa.Scalar], value.values)]
    if pa.types.is_timestamp(value.type):
        return str(value.cast(pa.string())).rstrip("0").rstrip(".")
    return str(value) if pa.types.is_date(value.type) else value.as_py()
