"""Planning a Hudi table of many partitions again, on storage whose every call takes 20 ms: cold, and from what is kept.

Each contender is a process's first query or its next one. "after a write" is the first query that finds a new instant.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa

from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.timing import seconds
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.hudi.snapshots.table_memory import PLANNING_CACHE
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.metadata_table.writer import MetadataWriter
from tests.connectors.hudi.writer import HudiWriter

__all__ = ["slow_storage"]

_GROUP = "planning_cache"
_LATENCY = 0.02
_KEPT = 20


def measure(size: Size, folder: Path) -> list[Figure]:
    """The ways take turns, each cold and then again."""
    partitions, slices = size.of(2000, 20), size.of(10, 2)
    catalog = make_catalog(folder)
    writer, metadata = _write(folder / "t", partitions, slices)
    catalog.register(folder / "t", "t")
    ways = {
        f"{count:,} of {partitions:,} partitions, {way}": partial(_plan, chosen, count, count * slices)
        for count in (min(_KEPT, partitions), partitions)
        for way, chosen in (("metadata table", catalog), ("folders", catalog.with_property("metadata_enabled", False)))
    }
    figures = []
    with slow_storage(_LATENCY) as calls:
        for name, plan in ways.items():
            cold, again = _measured(plan, calls, size.of(5, 1))
            for when, cost in (("cold", cold), ("again", again)):
                figures += [
                    Figure(_GROUP, f"{name}: {when}", cost.wall * 1000, "ms"),
                    Figure(_GROUP, f"{name}: {when}, CPU", cost.cpu * 1000, "ms"),
                    Figure(_GROUP, f"{name}: {when}, calls of storage", cost.calls, "calls"),
                ]
        new = writer.commit({("part=0", "added"): _rows(0, 1)})
        metadata.note(new)
        name = f"{_KEPT} of {partitions:,} partitions, metadata table: after a write"
        figures.append(Figure(_GROUP, name, seconds(partial(_plan, catalog, _KEPT, _KEPT * slices + 1)) * 1000, "ms"))
    return figures


@contextmanager
def slow_storage(latency: float) -> Iterator[list[str]]:
    """Each listing, each look at a path and each opening of a file takes some seconds more; gives the paths asked."""
    calls: list[str] = []
    originals: Mapping[str, object] = {name: getattr(FileSystem, name) for name in ("list", "info", "open")}

    def slow(name: str, files: FileSystem, uri: str, *arguments: object) -> list[FileInfo] | FileInfo | pa.NativeFile:
        calls.append(uri)
        time.sleep(latency)
        return originals[name](files, uri, *arguments)  # type: ignore[operator]

    for name in originals:
        setattr(FileSystem, name, lambda files, uri, *rest, name=name: slow(name, files, uri, *rest))
    try:
        yield calls
    finally:
        for name, original in originals.items():
            setattr(FileSystem, name, original)


@dataclass(frozen=True, slots=True)
class _Cost:
    """Seconds, seconds of this process's CPU, and calls of storage."""

    wall: float
    cpu: float
    calls: int


def _measured(plan: partial[None], calls: list[str], rounds: int) -> tuple[_Cost, _Cost]:
    """Medians of a cold plan and of the next one."""
    cold, again = [], []
    for _ in range(rounds):
        PLANNING_CACHE.drop()
        cold.append(_cost(plan, calls))
        again.append(_cost(plan, calls))
    return _middle(cold), _middle(again)


def _cost(plan: partial[None], calls: list[str]) -> _Cost:
    before, cpu = len(calls), time.process_time()
    wall = seconds(plan)
    return _Cost(wall, time.process_time() - cpu, len(calls) - before)


def _middle(costs: Sequence[_Cost]) -> _Cost:
    return _Cost(median(one.wall for one in costs), median(one.cpu for one in costs), costs[-1].calls)


def _plan(catalog: HudiCatalog, wanted: int, slices: int) -> None:
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        part = ColumnHandle("part", pa.int32())
        values = ValueSet.of_ranges(part.type, [Range.less_than(part.type, wanted)])
        constraint = TupleDomain.with_column_domains({part: Domain(values, null_allowed=False)})
        # What the metastore says of partitions costs the same in both ways.
        session = catalog.with_property("ignore_absent_partitions", True).session
        source = catalog.connector.split_manager.get_splits(transaction, session, table, (part,), constraint)
        found = sum(len(batch) for batch in source)
        assert found == slices, found


def _write(folder: Path, partitions: int, slices: int) -> tuple[HudiWriter, MetadataWriter]:
    """Each partition has some files of one row. The metadata table was compacted, and has a write after that."""
    writer = HudiWriter(folder, version=9, partition_fields=["part"]).create()
    groups = {
        (f"part={part}", f"p{part}g{group}"): _rows(part, group)
        for part in range(partitions)
        for group in range(slices)
    }
    last = next(reversed(groups))
    rows = groups.pop(last)
    writer.commit(groups)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.commit({last: rows}))
    return writer, metadata


def _rows(part: int, group: int) -> pa.Table:
    return pa.table({"id": pa.array([group], pa.int64()), "part": pa.array([part], pa.int32())})


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
