"""Splits of a converted table with many original files in one bucket: footers opened, and how time grows."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from pyarrow import orc

from benchmarks.data.acid_reading import planned_scan
from benchmarks.data.acid_tables import create_acid_table, write_deletes
from benchmarks.data.tables import copy_file, numbers
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.storage_opens import counted_opens
from benchmarks.harness.timing import alternate
from tests.connectors.hive.acid.writer import FIRST_WRITE_ID_OF_CONVERTED, delete_delta_name

_GROUP = "acid_originals"
_ROWS = 100


def measure(size: Size, folder: Path) -> list[Figure]:
    """The sizes of table take turns; the first row of the last file is deleted, so that all rows need keys."""
    counts = (size.of(10, 2), size.of(100, 4), size.of(1000, 8))
    orc.write_table(numbers(_ROWS), str(folder / "source.orc"), compression="zlib")
    figures = []
    with open_lake(folder) as lake:
        for count in counts:
            _create_table(lake, folder, count)
            figures.append(_opens(lake, count))
        contenders = {str(count): partial(_plan, lake, count) for count in counts}
        timings = alternate(contenders, size.of(9, 1), size.of(3, 1))
    for count in counts:
        figures.append(Figure(_GROUP, f"{count:,} files: splits planned", timings.median(str(count)) * 1000, "ms"))
    for few, many in pairwise(counts):
        growth = timings.ratio(str(many), str(few))
        figures.append(Figure(_GROUP, f"growth from {few:,} to {many:,} files", growth, "x", many / few))
    return figures


def _create_table(lake: Lake, folder: Path, count: int) -> None:
    root = folder / f"originals{count}"
    names = ("000000_0" if number == 0 else f"000000_0_copy_{number}" for number in range(count))
    copy_file(folder / "source.orc", (root / name for name in names))
    write_id = FIRST_WRITE_ID_OF_CONVERTED
    last = np.array([(count - 1) * _ROWS])
    write_deletes(root, delete_delta_name(write_id, write_id, 0), 0, {0: last}, write_id)
    create_acid_table(lake, root.name, root)


def _opens(lake: Lake, count: int) -> Figure:
    """Opens while splits are planned; then the rows are counted, since figures of wrong answers are worth nothing."""
    with counted_opens() as opens, planned_scan(lake.hive, f"originals{count}", ["id"]) as scan:
        planned = sum(opens.values())
        rows = scan.rows()
    assert rows == count * _ROWS - 1, rows
    return Figure(_GROUP, f"{count:,} files: files opened while planning", planned, "opens", count)


def _plan(lake: Lake, count: int) -> None:
    with planned_scan(lake.hive, f"originals{count}", ["id"]):
        pass


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
