"""Cutting splits of file slices."""

from __future__ import annotations

from dataclasses import replace

from connectors.hudi.handles import LOG_ONLY, HudiSplit, LogFile, SourceFile

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
