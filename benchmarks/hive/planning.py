"""Planning a table of many partitions with a filter that keeps ten: metastore calls, time, and how it grows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.data.tables import copy_file, write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.timing import seconds
from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, SerDeInfo, StorageDescriptor, Table
from lakeport.arrow.reading import open_scan
from lakeport.arrow.scan_request import ScanRequest
from lakeport.transactions.statement import Statement

_GROUP = "planning"
_KEPT = 10
_MOST_CALLS = 3
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet."


def measure(size: Size, folder: Path) -> list[Figure]:
    """The two sizes of table take turns, through the SPI alone and through ``EXPLAIN``."""
    counts = (size.of(1000, 20), size.of(10_000, 200))
    figures: list[Figure] = []
    with open_lake(folder) as lake:
        lake.hive.metastore.writes.create_database(Database("bench"))
        for count in counts:
            _create_table(lake, folder, count)
        ways = {"SPI": partial(_plan, lake), "Spark EXPLAIN": partial(_explain, lake)}
        for way, run in ways.items():
            figures += _compare(lake, way, run, counts, size)
    return figures


def _compare(lake: Lake, way: str, run: Callable[[int], object], counts: tuple[int, int], size: Size) -> list[Figure]:
    taken: dict[int, list[float]] = {count: [] for count in counts}
    calls: dict[int, list[int]] = {count: [] for count in counts}
    warm_up = size.of(3, 1)
    for number in range(warm_up + size.of(15, 2)):
        for count in counts if number % 2 == 0 else reversed(counts):
            before = lake.hive.metastore.calls.total().count
            spent = seconds(partial(run, count))
            if number >= warm_up:
                taken[count].append(spent)
                calls[count].append(lake.hive.metastore.calls.total().count - before)
    few, many = counts
    growth = median(taken[many]) / median(taken[few])
    figures = [
        Figure(_GROUP, f"{way}, {_KEPT} of {count:,} partitions", median(taken[count]) * 1000, "ms") for count in counts
    ]
    figures.append(
        Figure(_GROUP, f"{way}, metastore calls, {many:,} partitions", max(calls[many]), "calls", _MOST_CALLS)
    )
    figures.append(Figure(_GROUP, f"{way}, growth from {few:,} to {many:,}", growth, "x", many / few))
    return figures


def _create_table(lake: Lake, folder: Path, count: int) -> None:
    """Only the partitions that are kept have folders: the others are never looked into."""
    root = folder / f"t{count}"
    source = write_parquet(folder / f"source{count}", 100, 1) / "part-00000.parquet"
    copy_file(source, (root / f"ds={number}" / "part-0.parquet" for number in range(_KEPT)))
    columns = (FieldSchema("id", "bigint"), FieldSchema("quantity", "bigint"))
    storage = StorageDescriptor(
        columns,
        root.as_uri(),
        _PARQUET + "MapredParquetInputFormat",
        _PARQUET + "MapredParquetOutputFormat",
        serde=SerDeInfo(_PARQUET + "serde.ParquetHiveSerDe", Parameters.of({})),
    )
    external = Parameters.of({"EXTERNAL": "TRUE"})
    keys = (FieldSchema("ds", "int"),)
    writes = lake.hive.metastore.writes
    writes.create_table(
        Table(
            "bench", f"t{count}", storage=storage, partition_keys=keys, parameters=external, table_type="EXTERNAL_TABLE"
        )
    )
    partitions = [
        Partition(
            "bench",
            f"t{count}",
            (str(number),),
            StorageDescriptor(
                columns,
                f"{root.as_uri()}/ds={number}",
                storage.input_format,
                storage.output_format,
                serde=storage.serde,
            ),
        )
        for number in range(count)
    ]
    writes.add_partitions("bench", f"t{count}", partitions)


def _plan(lake: Lake, count: int) -> None:
    statement = Statement(lake.session.catalogs, "bench", "UTC", lambda catalog: {})
    scan = open_scan(statement, ScanRequest(f"hive.bench.t{count}", ("quantity",), ([("ds", "<", _KEPT)],)))
    # Splits are planned before the first batch.
    assert next(scan.batches).num_rows
    scan.batches.close()  # type: ignore[attr-defined]


def _explain(lake: Lake, count: int) -> None:
    plan = str(lake.collect(f"EXPLAIN SELECT sum(quantity) FROM hive.bench.t{count} WHERE ds < {_KEPT}", True))
    assert f"partitions: {_KEPT} of {count:,}" in plan, plan


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
