"""Statistics of columns, against the rows that real Hudi returns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.metadata import SupportsColumnStatistics
from connector_spi.names import SchemaTableName
from connector_spi.statistics import ColumnStatistics
from connectors.hudi.handles import HudiSplit
from tests.connectors.hudi.catalog_helper import HudiCatalog
from tests.connectors.hudi.corpus import CASES, HUDI, expected, opened

INDEXED = [case for case in CASES if "_mdt_all_" in case]

pytestmark = pytest.mark.skipif(not INDEXED, reason=f"no tables in {HUDI}")


def exact(catalog: HudiCatalog) -> dict[str, ColumnStatistics]:
    with catalog.metadata() as (_, metadata):
        assert isinstance(metadata, SupportsColumnStatistics)
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        found = metadata.get_column_statistics(catalog.session, handle)
        assert found.row_count is not None
        return dict(found.columns)


def has_logs(catalog: HudiCatalog) -> bool:
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        return any(split.logs for split in catalog.splits(transaction, table, ()) if isinstance(split, HudiSplit))


def counted(column: pa.ChunkedArray) -> ColumnStatistics:
    present = [value for value in column.to_pylist() if value is not None]
    return ColumnStatistics(column.null_count / len(column), low=min(present), high=max(present))


@pytest.mark.parametrize("case", INDEXED)
def test_what_is_told_is_exact(case: str, tmp_path: Path) -> None:
    """Of base files alone; what logs make of their rows, the index does not show."""
    catalog, rows = opened(case, tmp_path), expected(case, "snapshot")
    found = exact(catalog)
    assert {name: counted(rows.column(name)) for name in found} == found
    if has_logs(catalog):
        assert not found
    elif case.endswith("_cow"):
        assert {"_hoodie_record_key", "id", "ts", "part"} <= set(found)


def test_nothing_is_told_where_the_index_is_not_to_be_used(tmp_path: Path) -> None:
    catalog = opened(INDEXED[-2], tmp_path)
    assert exact(catalog)
    assert exact(catalog.with_property("column_stats_index_enabled", False)) == {}
    assert exact(catalog.with_property("metadata_enabled", False)) == {}
