"""Tables that real Hudi wrote, against the answers of real Hudi.

Where answers disagree, or are plainly a bug of the judge:

| case | choice | reason |
|---|---|---|
| ``*_typedparts_cow`` | the timestamp of the file, where Hudi returns NULL | its path holds the instant as a number, which Hudi tries to read as text and gives up on; the file holds the value written |
"""  # noqa: E501

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.hudi.handles import HudiSplit
from connectors.toolkit.parquet.reader import read_parquet_schema
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import find_bootstrapped
from tests.paths import CORPUS, TABLES
from tests.rows import assert_same_table

COW = sorted(path.stem for path in (CORPUS / "hudi").glob("*_cow.zip"))
SHARED = sorted(path.stem for path in (TABLES / "hudi").glob("cow_*.zip"))
VERSION_6 = [case for case in COW if case.startswith("v6_")]

pytestmark = pytest.mark.skipif(not COW or not SHARED, reason=f"no tables in {CORPUS} and {TABLES}")


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpacks a table; gives its folder."""
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    [table] = [path for path in folder.iterdir() if path.is_dir() and (path / ".hoodie").is_dir()]
    find_bootstrapped(table)
    return table


def opened(archive: Path, folder: Path) -> HudiCatalog:
    """A catalog in which the table of an archive is ``s.t``."""
    table = unpacked(archive, folder / "table")
    catalog = make_catalog(folder)
    catalog.register(table)
    return catalog


@pytest.mark.parametrize("case", COW)
def test_snapshot_is_what_hudi_returns(case: str, tmp_path: Path) -> None:
    catalog = opened(CORPUS / "hudi" / f"{case}.zip", tmp_path)
    expected = pq.read_table(CORPUS / "hudi" / f"{case}.expected_snapshot.parquet")
    if case.endswith("_typedparts_cow"):
        assert expected.column("tm").null_count == 2
        instants = {1: datetime(2024, 1, 1, 12, 30, tzinfo=UTC), 2: datetime(1960, 1, 1, tzinfo=UTC)}
        written = pa.array([instants[key] for key in expected.column("id").to_pylist()], pa.timestamp("us", "UTC"))
        expected = expected.set_column(expected.column_names.index("tm"), "tm", written)
    assert_same_table(catalog.read(), expected)


@pytest.mark.parametrize("case", SHARED)
def test_snapshot_is_what_another_reader_returns(case: str, tmp_path: Path) -> None:
    catalog = opened(TABLES / "hudi" / f"{case}.zip", tmp_path)
    expected = TABLES / "hudi" / "expected" / f"{case}.snapshot.parquet"
    met = catalog.read()
    if expected.exists():
        assert_same_table(met, pq.read_table(expected))
    else:
        assert met.num_rows == 0
        assert met.column_names[5:] == ["id", "name", "isActive"]


@pytest.mark.parametrize("case", VERSION_6)
def test_version_5_reads_like_version_6(case: str, tmp_path: Path) -> None:
    table = unpacked(CORPUS / "hudi" / f"{case}.zip", tmp_path / "table")
    properties = table / ".hoodie" / "hoodie.properties"
    text = properties.read_text()
    assert "hoodie.table.version=6" in text
    catalog = make_catalog(tmp_path)
    catalog.register(table, "six")
    as_six = catalog.read("six")
    properties.write_text(text.replace("hoodie.table.version=6", "hoodie.table.version=5"))
    catalog.register(table, "five")
    assert_same_table(catalog.read("five"), as_six)


@pytest.mark.parametrize("case", COW)
def test_native_files_hold_the_columns_with_the_tables_types(case: str, tmp_path: Path) -> None:
    """A split is called native without opening its file; here the footer is the judge."""
    catalog = opened(CORPUS / "hudi" / f"{case}.zip", tmp_path)
    with catalog.metadata() as (transaction, metadata):
        [name] = metadata.list_tables(catalog.session, "s")
        table = metadata.get_table_handle(catalog.session, name)
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)
        for column in handles.values():
            for split in catalog.splits(transaction, table, (column,)):
                assert isinstance(split, HudiSplit)
                native = split.native_file
                if native is None:
                    continue
                footer = read_parquet_schema(catalog.connector.page_source_provider.files, native.path)
                if column.name in dict(native.constants):
                    assert column.name not in footer.names
                else:
                    assert _as_read(footer.field(column.name).type) == column.type


def test_most_tables_are_native_throughout(tmp_path: Path) -> None:
    """Spark's own reader takes a scan only where every split is native."""
    catalog = opened(CORPUS / "hudi" / "v9_basic_cow.zip", tmp_path)
    with catalog.metadata() as (transaction, metadata):
        [name] = metadata.list_tables(catalog.session, "s")
        table = metadata.get_table_handle(catalog.session, name)
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)
        splits = catalog.splits(transaction, table, tuple(handles.values()))
    assert splits
    assert all(split.native_file is not None for split in splits)


def _as_read(arrow: pa.DataType) -> pa.DataType:
    """The type in which Spark's reader gives a type of Parquet.

    Parquet says of list and map children that they cannot be null, where Avro's unions say that they can. Hudi's row
    writer annotates small whole numbers and milliseconds, which readers widen.
    """
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, _as_read(field.type)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(_as_read(arrow.value_type))
    if pa.types.is_map(arrow):
        return pa.map_(_as_read(arrow.key_type), _as_read(arrow.item_type))
    if arrow in (pa.int8(), pa.int16()):
        return pa.int32()
    return pa.timestamp("us", "UTC") if arrow == pa.timestamp("ms", "UTC") else arrow
