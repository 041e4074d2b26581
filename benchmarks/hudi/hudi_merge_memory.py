"""A file slice of Hudi whose logs are ten times the memory that a merge may take, against the same merge in memory.

All columns are read. The base rows alone, read as copy-on-write before, are what a process holds to begin with.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.compute as pc

import lakeport
from benchmarks.data.hudi_tables import MergedShape, write_merged
from benchmarks.data.tables import numbers
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import open_lake
from benchmarks.harness.timing import seconds

__all__ = ["measure"]

_GROUP = "hudi_merge_memory"
_COLUMNS = tuple(numbers(0).column_names)
_TIMES = 10


@dataclass(frozen=True, slots=True)
class _Read:
    """The result of a separate process.

    Attributes:
        sums: Of the columns.
        seconds: Of the read.
        megabytes: By which the process grew above what it held before.
    """

    sums: tuple[float, ...]
    seconds: float
    megabytes: float


def measure(size: Size, folder: Path) -> list[Figure]:
    """Each read is in a new process, so that the most memory it held is its own."""
    # Rows are updated nearly twice, by ten writes: some 690 MB of logs.
    shape = MergedShape(size.of(1_500_000, 20_000), 1, updates=10, updated=1.75)
    write_merged(folder / "merged", folder / "written", shape)
    with open_lake(folder) as lake:
        for name in ("merged", "written"):
            lake.register("hudi", name, folder / name)
    log_bytes = sum(path.stat().st_size for path in (folder / "merged").glob(".*.log.*"))
    limits = {"in memory": 4 << 30, "within a tenth of the logs": log_bytes // _TIMES}
    reads: dict[str, list[_Read]] = {name: [] for name in limits}
    for _ in range(size.of(3, 1)):
        for name, limit in limits.items():
            reads[name].append(_in_process(folder, limit))
    whole, small = reads.values()
    assert all(abs(a / b - 1) < 1e-9 for a, b in zip(whole[0].sums, small[0].sums, strict=True)), reads
    note = f"the limit is {limits['within a tenth of the logs'] / 1e6:.0f} MB"
    what = f"logs of {log_bytes / 1e6:.0f} MB, one slice of {shape.rows:,} rows"
    figures = [
        Figure(_GROUP, f"{what}, merged {name}: memory", median(one.megabytes for one in found), "MB", note=note)
        for name, found in reads.items()
    ]
    ratio = median(one.seconds / other.seconds for one, other in zip(small, whole, strict=True))
    note = f"medians {median(one.seconds for one in small):.2f} s, {median(one.seconds for one in whole):.2f} s"
    return [*figures, Figure(_GROUP, f"{what}, through disk: of in memory, seconds", ratio, "x", note=note)]


def _in_process(folder: Path, limit: int) -> _Read:
    catalogs = folder / f"catalogs-{limit}"
    catalogs.mkdir(exist_ok=True)
    properties = {
        "connector.name": "hudi",
        "hive.metastore": "embedded",
        "hive.metastore.embedded.path": str(folder / "metastore.db"),
        "hudi.merge-memory": f"{limit}B",
        "hudi.max-split-size": "64GB",
    }
    (catalogs / "hudi.properties").write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_read, (catalogs,))


def _read(catalogs: Path) -> _Read:
    with lakeport.connect(catalogs=catalogs) as session:
        _sums(session, "written")
        before = _peak_megabytes()
        found: list[tuple[float, ...]] = []
        spent = seconds(lambda: found.append(_sums(session, "merged")))
        return _Read(found[0], spent, _peak_megabytes() - before)


def _sums(session: lakeport.Session, table: str) -> tuple[float, ...]:
    sums = [0.0] * len(_COLUMNS)
    with session.arrow(f"hudi.bench.{table}", columns=list(_COLUMNS)) as reader:
        for batch in reader:
            sums = [total + _sum(column) for total, column in zip(sums, batch, strict=True)]
    return tuple(sums)


def _sum(column: pa.Array) -> float:
    """Of numbers; of texts, that of their lengths."""
    values = pc.binary_length(column) if pa.types.is_string(column.type) else column
    return float(pc.sum(values).as_py() or 0)


def _peak_megabytes() -> float:
    # ru_maxrss would tell of the parent's memory too, which the process held until it began as one of its own.
    status = Path("/proc/self/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return float(line.split()[1]) / 1024


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
