"""Maps of Parquet whose keys may be NULL by their type: parquet-mr wrote them, and Hive 4.0.1 told what it reads.

The files and answers in ``parquet_maps`` are of ``MapFiles.java``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from connectors.toolkit.parquet.reader import parquet_page_source, read_parquet_schema
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file

_FOLDER = Path(__file__).parent / "parquet_maps"
_TYPES = {
    "id": "int",
    "a": "map<string,int>",
    "b": "struct<x:bigint,inner:map<int,array<string>>>",
    "c": "array<map<string,map<string,int>>>",
    "t": "string",
}
_COLUMNS = tuple(ColumnHandle(name, parse_hive_type(text)) for name, text in _TYPES.items())


def answers(name: str) -> list[dict[str, object]]:
    # Hive writes keys of maps that are numbers without quotes.
    lines = (_FOLDER / f"{name}.json").read_text().splitlines()
    return [json.loads(re.sub(r"([{,])(-?[0-9]+):", r'\1"\2":', line)) for line in lines]


def shown(value: object, arrow: pa.DataType) -> object:
    """A value with maps as JSON has them."""
    if value is None:
        return None
    if pa.types.is_map(arrow):
        pairs = cast(Sequence[tuple[object, object]], value)
        return {str(key): shown(item, arrow.item_type) for key, item in pairs}
    if pa.types.is_list(arrow):
        return [shown(item, arrow.value_type) for item in cast(Sequence[object], value)]
    if pa.types.is_struct(arrow):
        fields = cast("dict[str, object]", value)
        return {one.name: shown(fields[one.name], one.type) for one in arrow}
    return value


def read(
    name: str, columns: Sequence[ColumnHandle], predicate: TupleDomain[ColumnHandle] | None = None, batch_rows: int = 64
) -> list[dict[str, object]]:
    path = _FOLDER / f"{name}.parquet"
    asked = whole_file(path, tuple(columns), predicate, batch_rows=batch_rows, skips_rows=predicate is not None)
    with parquet_page_source(FileSystem(), asked) as source:
        batches = list(source)
    for batch in batches:
        batch.validate(full=True)
    rows: list[dict[str, object]] = pa.Table.from_batches(batches).to_pylist()
    return [{column.name: shown(row[column.name], column.type) for column in columns} for row in rows]


def test_arrow_alone_refuses_the_files() -> None:
    for path in _FOLDER.glob("*.parquet"):
        with pytest.raises(pa.ArrowInvalid, match="Map keys"):
            pq.ParquetFile(path)


@pytest.mark.parametrize("batch_rows", [7, 1000])
def test_rows_are_those_of_hive(batch_rows: int) -> None:
    assert read("optional", _COLUMNS, batch_rows=batch_rows) == answers("optional")
    assert read("old", _COLUMNS[:2], batch_rows=batch_rows) == answers("old")


def test_types_are_maps() -> None:
    schema = read_parquet_schema(FileSystem(), str(_FOLDER / "optional.parquet"))
    assert schema.names == list(_TYPES)
    assert [field.type.id for field in schema] == [column.type.id for column in _COLUMNS]


@pytest.mark.parametrize("name", _TYPES)
def test_a_column_alone(name: str) -> None:
    columns = [column for column in _COLUMNS if column.name == name]
    assert read("optional", columns) == [{name: row[name]} for row in answers("optional")]


def test_fields_inside_alone() -> None:
    inner = ColumnHandle("b", parse_hive_type("struct<inner:map<int,array<string>>>"))
    expected = [row["b"] and {"inner": cast("dict[str, object]", row["b"])["inner"]} for row in answers("optional")]
    assert [row["b"] for row in read("optional", [inner])] == expected


def test_rows_that_a_filter_leaves() -> None:
    predicate = TupleDomain.with_column_domains({_COLUMNS[0]: Domain.multiple_values(pa.int32(), [3, 77, 249])})
    kept = [row for row in read("optional", _COLUMNS, predicate) if row["id"] in (3, 77, 249)]
    assert kept == [row for row in answers("optional") if row["id"] in (3, 77, 249)]


def test_a_key_that_is_null_is_refused_by_name() -> None:
    with pytest.raises(NotSupportedError, match="key that is NULL"):
        read("null_key", _COLUMNS[:2])
    assert len(read("null_key", _COLUMNS[:1])) == 9
