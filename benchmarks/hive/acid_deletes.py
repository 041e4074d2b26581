"""Many deletes over one bucket that is read in twenty splits: time with and without, and how often files are opened."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data.acid_reading import planned_scan
from benchmarks.data.acid_tables import create_acid_table, write_deletes
from benchmarks.data.tables import numbers
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.storage_opens import counted_opens
from benchmarks.harness.timing import alternate
from connectors.hive.acid.read.delete_cache import DELETE_CACHE
from tests.connectors.hive.acid.writer import base_name, bucket_file, bucket_property, delete_delta_name
from tests.connectors.hive.acid.writer import write_arrow_inserts as write_inserts

_GROUP = "acid_deletes"
_COLUMNS = ("quantity", "price", "weight")
_SPLITS = 20
_DELETE_FILES = 4


def measure(size: Size, folder: Path) -> list[Figure]:
    """All in one process: the same base alone, with deletes to be loaded, and with deletes that are loaded."""
    rows, deleted = size.of(4_000_000, 40_000), size.of(1_000_000, 1000)
    data = numbers(rows)
    stripe_bytes = size.of(2 << 20, 1 << 16)
    for name in ("kept", "deleted"):
        path = folder / name / base_name(1) / bucket_file(0)
        write_inserts(path, data, 1, bucket_property(0), stripe_bytes=stripe_bytes)
    chosen = np.sort(np.random.default_rng(0).choice(rows, deleted, replace=False))
    for number in range(_DELETE_FILES):
        write_id = 2 + number
        name = delete_delta_name(write_id, write_id, 0)
        write_deletes(folder / "deleted", name, 0, {1: chosen[number::_DELETE_FILES]}, write_id)
    split_bytes = -(-path.stat().st_size // _SPLITS)
    with open_lake(folder) as lake:
        for name in ("kept", "deleted"):
            create_acid_table(lake, name, folder / name)
        most = _most_opens(lake, split_bytes, rows - deleted)
        contenders = {
            "without": partial(_read, lake, "kept", split_bytes),
            "with": partial(_read_cold, lake, split_bytes),
            "with, loaded before": partial(_read, lake, "deleted", split_bytes),
        }
        timings = alternate(contenders, size.of(7, 1), size.of(2, 1))
    figures = [Figure(_GROUP, "opens of a delete file in a process", most, "opens", 1)]
    base = timings.median("without")
    for name in ("with", "with, loaded before"):
        figures.append(
            Figure(
                _GROUP,
                f"{deleted:,} of {rows:,} rows, {_SPLITS} splits, deletes {name}: of without",
                timings.ratio(name, "without"),
                "x",
                note=f"medians {timings.median(name):.2f} s, without {base:.2f} s",
            )
        )
    return figures


def _most_opens(lake: Lake, split_bytes: int, expected: int) -> int:
    DELETE_CACHE.clear()
    with counted_opens() as opens, planned_scan(lake.hive, "deleted", _COLUMNS, max_split_size=split_bytes) as scan:
        assert len(scan.splits) == _SPLITS, len(scan.splits)
        rows = scan.rows()
    assert rows == expected, rows
    found = [count for path, count in opens.items() if "/delete_delta_" in path]
    assert len(found) == _DELETE_FILES, opens
    return max(found)


def _read(lake: Lake, table: str, split_bytes: int) -> None:
    with planned_scan(lake.hive, table, _COLUMNS, max_split_size=split_bytes) as scan:
        scan.rows()


def _read_cold(lake: Lake, split_bytes: int) -> None:
    DELETE_CACHE.clear()
    _read(lake, "deleted", split_bytes)


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
