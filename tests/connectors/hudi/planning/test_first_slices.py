"""Slices that are left out hold none of the first rows, against the rows that real Hudi returns."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.top_n import SortItem, SupportsTopN
from connector_spi.testing.reference_queries import first_keys
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import CASES, HUDI, expected, opened
from tests.connectors.hudi.writer import HudiWriter

INDEXED = [case for case in CASES if "_mdt_all_" in case]


def first_rows(catalog: HudiCatalog, count: int, item: SortItem) -> pa.Table | None:
    """The rows that come of ``ORDER BY ... LIMIT``; ``None`` where it is refused."""
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        assert isinstance(metadata, SupportsTopN)
        taken = metadata.apply_top_n(catalog.session, table, count, (item,))
        return None if taken is None else catalog.scan(transaction, metadata, taken.table)


@pytest.mark.skipif(not INDEXED, reason=f"no tables in {HUDI}")
@pytest.mark.parametrize("case", INDEXED)
def test_the_first_rows_are_those_of_hudi(case: str, tmp_path: Path) -> None:
    catalog, rows = opened(case, tmp_path), expected(case, "snapshot")
    for name, ascending, count in product(("id", "ts"), (True, False), (1, 5)):
        column = ColumnHandle(name, rows.schema.field(name).type)
        item = SortItem(column, ascending, nulls_first=ascending)
        found = first_rows(catalog, count, item)
        assert found is not None
        assert first_keys(found, count, (item,)) == first_keys(rows, count, (item,))


@pytest.mark.skipif(not INDEXED, reason=f"no tables in {HUDI}")
def test_files_behind_the_first_rows_are_not_read(tmp_path: Path) -> None:
    """Of copy-on-write tables; of slices with logs the statistics say nothing."""
    left_out = 0
    for number, case in enumerate(case for case in INDEXED if case.endswith("_cow")):
        (tmp_path / str(number)).mkdir()
        catalog, rows = opened(case, tmp_path / str(number)), expected(case, "snapshot")
        column = ColumnHandle("id", rows.schema.field("id").type)
        found = first_rows(catalog, 1, SortItem(column, ascending=False, nulls_first=False))
        assert found is not None
        left_out += rows.num_rows - found.num_rows
    assert left_out > 0


def test_nothing_is_left_out_where_the_index_is_not_to_be_used(tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 6).create()
    writer.insert(pa.table({"id": pa.array(range(9), pa.int64())}))
    catalog = make_catalog(tmp_path)
    catalog.register(writer.folder)
    item = SortItem(ColumnHandle("id", pa.int64()), ascending=True, nulls_first=True)
    found = first_rows(catalog, 2, item)
    assert found is not None
    assert found.num_rows == 9
    assert first_rows(catalog.with_property("column_stats_index_enabled", False), 2, item) is None
