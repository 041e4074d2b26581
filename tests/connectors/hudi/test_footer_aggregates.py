"""Least and greatest values of a partition field: by footers where all rows of a file have the same text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.aggregation import AggregateFunction, AggregateKind, Aggregation
from connector_spi.predicate import TupleDomain
from connector_spi.scan_counters import ScanCounts, counting
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata import HudiMetadata
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.writer import HudiWriter

PART = ColumnHandle("part", pa.string())
BY_FOOTERS = "ranges of files summed up by their footers"
# A text that some writers cut in statistics.
LONG = "b" * 5000


def rows(parts: list[str | None]) -> pa.Table:
    return pa.table({"id": pa.array(range(len(parts)), pa.int64()), "part": pa.array(parts, pa.string())})


def aggregated(catalog: HudiCatalog) -> tuple[list[object], int] | None:
    """Rows, values, the least and the greatest of ``part``, and how many files were not read; ``None`` if refused."""
    functions = (
        AggregateFunction(AggregateKind.COUNT_ROWS, None, pa.int64()),
        AggregateFunction(AggregateKind.COUNT, PART, pa.int64()),
        AggregateFunction(AggregateKind.MIN, PART, PART.type),
        AggregateFunction(AggregateKind.MAX, PART, PART.type),
    )
    counts, session = ScanCounts(), catalog.session
    with catalog.metadata() as (transaction, metadata), counting(counts):
        assert isinstance(metadata, HudiMetadata)
        table = metadata.get_table_handle(session, SchemaTableName("s", "t"))
        assert isinstance(table, HudiTableHandle)
        taken = metadata.apply_aggregation(session, table, Aggregation((), functions))
        if taken is None:
            return None
        connector, nothing = catalog.connector, TupleDomain[ColumnHandle].all()
        source = connector.split_manager.get_splits(transaction, session, taken.table, taken.columns, nothing)
        groups = [
            batch
            for splits in source
            for split in splits
            for batch in connector.page_source_provider.create_page_source(
                session, split, taken.table, taken.columns, nothing
            )
        ]
    count, known, low, high = pa.Table.from_batches(groups).columns
    found = [pc.sum(count), pc.sum(known), pc.min(low), pc.max(high)]
    return [one.as_py() for one in found], counts.as_mapping().get(BY_FOOTERS, 0)


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


@pytest.mark.parametrize(
    ("parts", "expected", "by_footers"),
    [
        ({"a": ["a"] * 7, "c": ["c"] * 20}, [27, 27, "a", "c"], 2),
        ({"a": ["a"] * 7, "none": [None] * 3}, [10, 7, "a", "a"], 2),
        ({"a": ["a", None, "a"]}, [3, 2, "a", "a"], 1),
        # Of a key generator whose paths are coarser than the field, such as one of times.
        ({"2024": ["2024-01-02", "2024-03-04"], "2025": ["2025-01-01"]}, [3, 3, "2024-01-02", "2025-01-01"], 1),
        # Row groups of five rows: each has one text, the file has two.
        ({"x": ["m"] * 5 + ["k"] * 5}, [10, 10, "k", "m"], 1),
        ({"a": ["a"], "b": [LONG, LONG + "b"]}, [3, 3, "a", LONG + "b"], 1),
        ({"none": [None, None]}, [2, 0, None, None], 1),
    ],
)
def test_bounds_of_a_partition_field(
    catalog: HudiCatalog, tmp_path: Path, parts: dict[str, list[str | None]], expected: list[object], by_footers: int
) -> None:
    writer = HudiWriter(tmp_path / "table", 9, ("part",)).create()
    writer.commit({(f"part={name}", f"g{name}"): rows(texts) for name, texts in parts.items()})
    catalog.register(writer.folder)
    assert aggregated(catalog) == (expected, by_footers)


def test_bounds_of_other_texts_are_not_taken(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 9, ()).create()
    writer.commit({("", "g"): rows(["a"])})
    catalog.register(writer.folder)
    assert aggregated(catalog) is None
