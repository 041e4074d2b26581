"""Cutting splits of file slices."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from connectors.hudi.handles import LOG_ONLY, HudiSplit, LogFile, SourceFile
from tests.connectors.hudi.catalog_helper import make_catalog
from tests.connectors.hudi.merge.writer import SliceWriter, Upsert

_HUDI = HudiSplit(
    "f", 100, 1000, file_size=2000, modified_millis=0, format="parquet", partition="", file_id="", base_instant=""
)


def test_base_files_are_cut() -> None:
    assert [(one.start, one.length) for one in _HUDI.cut(400)] == [(100, 400), (500, 400), (900, 200)]


def test_slices_with_logs_and_without_a_base_stay() -> None:
    for split in (
        replace(_HUDI, logs=(LogFile("l", 10),)),
        replace(_HUDI, source=SourceFile("s", 10)),
        replace(_HUDI, format=LOG_ONLY),
    ):
        assert split.cut(400) == [split]


@pytest.mark.parametrize(
    ("log_megabytes", "lengths"),
    [(0, [64, 64, 64, 58]), (7, [64, 64, 64, 58]), (9, [64, 64, 64, 58]), (40, [80, 80, 80, 10]), (200, [250])],
)
def test_slices_with_large_logs_are_cut_less(tmp_path: Path, log_megabytes: int, lengths: list[int]) -> None:
    table = SliceWriter(tmp_path / "t", 9, pa.schema([("key", pa.string()), ("v", pa.int64())]), {})
    table.base([{"key": "a", "v": 1}])
    if log_megabytes:
        table.log([Upsert([{"key": "a", "v": 2}])])
    # Splits are planned by the sizes of files alone.
    for path in table.folder.iterdir():
        if path.suffix == ".parquet" or ".log." in path.name:
            os.truncate(path, (250 if path.suffix == ".parquet" else log_megabytes) << 20)
    catalog = make_catalog(tmp_path)
    catalog.register(table.folder)
    with catalog.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        splits = catalog.splits(transaction, handle, ())
    catalog.connector.shutdown()
    assert [split.length >> 20 for split in splits if isinstance(split, HudiSplit)] == lengths
