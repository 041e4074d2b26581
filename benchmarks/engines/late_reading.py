"""Filters whose columns are decoded first, against decoding all columns at once: CPU of the process, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.read.late_materialization import domain_mask
from connectors.toolkit.storage.filesystem import FileSystem

_GROUP = "late_reading"
_KEYS = 1_000_000_000


_READERS: dict[str, Callable[[FileSystem, FileRead], PageSource]] = {
    "parquet": parquet_page_source,
    "orc": orc_page_source,
}


def measure(size: Size, folder: Path) -> list[Figure]:
    """Keys in no order, so that statistics skip nothing; the caller filters the rows once more, as Spark does."""
    rows = size.of(4_000_000, 4000)
    data = _table(rows)
    pq.write_table(data, folder / "parquet", row_group_size=rows // 16)
    orc.write_table(data, str(folder / "orc"), stripe_size=size.of(16 << 20, 1 << 14), compression="zstd")
    figures = []
    for kind, reader in _READERS.items():
        for name, part in (("no row", 0.0), ("one key", -1.0), ("0.1 %", 0.001), ("10 %", 0.1), ("60 %", 0.6)):
            domain = _domain(data, part)
            runs = [
                partial(_read, reader, _file_read(folder / kind, data.schema, domain, late)) for late in (False, True)
            ]
            figures.append(_compare(kind, name, runs[0], runs[1], size.of(5, 1)))
    return figures


def _compare(kind: str, name: str, whole: partial[int], late: partial[int], rounds: int) -> Figure:
    assert whole() == late()
    ratios, spent = [], []
    for _ in range(rounds):
        base = _cpu(whole)
        taken = _cpu(late)
        ratios.append(taken / base)
        spent.append(base)
    note = f"all at once {median(spent):.2f} s of CPU"
    return Figure(_GROUP, f"{kind}, {name} passes: of all at once", median(ratios), "x", note=note)


def _cpu(run: partial[int]) -> float:
    started = time.process_time()
    run()
    return max(time.process_time() - started, 1e-6)


def _read(reader: Callable[[FileSystem, FileRead], PageSource], read: FileRead) -> int:
    [domain] = dict(read.predicate.domains or {}).values()
    with reader(FileSystem(), read) as pages:
        return sum(batch.filter(domain_mask(batch.column(0), domain)).num_rows for batch in pages)


def _file_read(path: Path, schema: pa.Schema, domain: Domain, late: bool) -> FileRead:
    columns = tuple(ColumnHandle(field.name, field.type) for field in schema)
    predicate = TupleDomain.with_column_domains({columns[0]: domain})
    return FileRead(FileRange(str(path), 0, path.stat().st_size), columns, predicate=predicate, skips_rows=late)


def _domain(data: pa.Table, part: float) -> Domain:
    if part < 0:
        return Domain.single_value(pa.int64(), data["key"][data.num_rows // 2].as_py())
    if part == 0:
        return Domain.single_value(pa.int64(), _KEYS // 2)
    below = Range.less_than(pa.int64(), int(_KEYS * part))
    return Domain.create(ValueSet.of_ranges(pa.int64(), [below]), False)


def _table(rows: int) -> pa.Table:
    random = np.random.default_rng(0)
    keys = random.integers(0, _KEYS // 2, rows) * 2 + 1
    columns = {"key": pa.array(keys)}
    for number in range(4):
        columns[f"n{number}"] = pa.array(random.integers(0, 1 << 40, rows))
        columns[f"s{number}"] = pa.array(random.integers(0, 1 << 40, rows)).cast(pa.string())
    return pa.table(columns)


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
