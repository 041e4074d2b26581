"""Base files of merge-on-read tables without their logs: as ``t_ro``, and by the session property."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.metastore.model import FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connectors.hudi.registration.registered_table import is_read_optimized
from tests.connectors.hudi.corpus import CASES, expected, opened
from tests.rows import assert_same_table

MOR = [case for case in CASES if case.endswith("_mor")]

real = pytest.mark.skipif(not CASES, reason="the corpus is not here")


@real
@pytest.mark.parametrize("case", MOR)
def test_base_files_are_what_hudi_returns(case: str, tmp_path: Path) -> None:
    catalog = opened(case, tmp_path).with_property("read_optimized", True)
    assert_same_table(catalog.read(), expected(case, "read_optimized"))


@real
def test_base_files_are_for_the_native_reader(tmp_path: Path) -> None:
    catalog = opened("v9_basic_mor", tmp_path).with_property("read_optimized", True)
    with catalog.metadata() as (transaction, metadata):
        [name] = metadata.list_tables(catalog.session, "s")
        table = metadata.get_table_handle(catalog.session, name)
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)
        splits = catalog.splits(transaction, table, tuple(handles.values()))
    assert splits
    assert all(split.native_file is not None for split in splits)


HUDI_INPUT = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
REALTIME_INPUT = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
ORC_INPUT = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"


@pytest.mark.parametrize(
    ("input_format", "flag", "is_ro"),
    [
        (HUDI_INPUT, None, True),
        ("com.uber.hoodie.hadoop.HoodieInputFormat", None, True),
        (REALTIME_INPUT, None, False),
        (ORC_INPUT, None, False),
        (HUDI_INPUT, "true", True),
        (HUDI_INPUT, "false", False),
        (REALTIME_INPUT, "false", False),
        (REALTIME_INPUT, "true", True),
        (ORC_INPUT, "TRUE", True),
    ],
)
@pytest.mark.parametrize("in_serde", [True, False])
def test_what_the_metastore_says(input_format: str, flag: str | None, is_ro: bool, in_serde: bool) -> None:
    parameters = Parameters.of({} if flag is None else {"hoodie.query.as.ro.table": flag})
    none = Parameters.of({})
    serde = SerDeInfo("serde", parameters if in_serde else none)
    storage = StorageDescriptor((FieldSchema("id", "int"),), "/t", input_format, serde=serde)
    table = Table("s", "t", storage, (), none if in_serde else parameters, "EXTERNAL_TABLE", "ann")
    assert is_read_optimized(table) is is_ro
