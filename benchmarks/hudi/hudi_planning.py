"""Planning a Hudi table of many partitions with a filter that keeps twenty, by its metadata table and by folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.storage_opens import counted_opens
from benchmarks.harness.timing import alternate
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.metadata_table.writer import MetadataWriter
from tests.connectors.hudi.writer import HudiWriter

_GROUP = "hudi_planning"
_KEPT = 20
_ROWS = 50


def measure(size: Size, folder: Path) -> list[Figure]:
    """The tables take turns, with the metadata table and without."""
    counts = (size.of(1000, 40), size.of(2000, 80))
    catalog = make_catalog(folder)
    for count in counts:
        catalog.register(_write(folder / f"t{count}", count), f"t{count}")
    off = catalog.with_property("metadata_enabled", False)
    contenders = {
        f"{_KEPT} of {count:,} partitions, {way}": partial(_plan, chosen, f"t{count}", _KEPT)
        for count in counts
        for way, chosen in (("metadata table", catalog), ("folders", off))
    }
    contenders |= {
        f"all of {count:,} partitions, {way}": partial(_plan, chosen, f"t{count}", count)
        for count in counts
        for way, chosen in (("metadata table", catalog), ("folders", off))
    }
    timings = alternate(contenders, rounds=size.of(9, 1), warm_up=size.of(2, 0))
    figures = []
    for name, plan in contenders.items():
        figures.append(Figure(_GROUP, name, timings.median(name) * 1000, "ms"))
        with counted_opens() as opens, _counted_lists() as lists:
            plan()
        # A listing of the table's own folder is not one of data: it tells the names of all partitions.
        figures.append(Figure(_GROUP, f"{name}: folders listed", lists.total(), "calls"))
        figures.append(Figure(_GROUP, f"{name}: files opened", opens.total(), "calls"))
    return figures


def _plan(catalog: HudiCatalog, name: str, wanted: int) -> None:
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", name))
        assert table is not None
        part = ColumnHandle("part", pa.int32())
        values = ValueSet.of_ranges(part.type, [Range.less_than(part.type, wanted)])
        constraint = TupleDomain.with_column_domains({part: Domain(values, null_allowed=False)})
        # What the metastore says of partitions costs the same in both ways.
        session = catalog.with_property("ignore_absent_partitions", True).session
        source = catalog.connector.split_manager.get_splits(transaction, session, table, (part,), constraint)
        splits = [split for batch in source for split in batch]
        assert len(splits) == wanted, len(splits)


def _write(folder: Path, count: int) -> Path:
    """Each partition has one small file; the metadata table was compacted, and has a write after that."""
    writer = HudiWriter(folder, version=9, partition_fields=["part"]).create()
    writer.insert(_rows(0, count - 1))
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(_rows(count - 1, count)))
    return folder


def _rows(first: int, last: int) -> pa.Table:
    parts = pa.array([part for part in range(first, last) for _ in range(_ROWS)], pa.int32())
    return pa.table({"id": pa.array(range(len(parts)), pa.int64()), "part": parts})


@contextmanager
def _counted_lists() -> Iterator[Counter[str]]:
    """How often each folder is listed while the block runs."""
    lists: Counter[str] = Counter()
    original = FileSystem.list

    def counting(files: FileSystem, uri: str, recursive: bool = False) -> list[FileInfo]:
        lists[uri] += 1
        return original(files, uri, recursive)

    FileSystem.list = counting  # type: ignore[method-assign,assignment]
    try:
        yield lists
    finally:
        FileSystem.list = original  # type: ignore[method-assign]


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
