"""Base files of real Hudi, without the rows that are removed and with those that are added: Hudi's own answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.native_files import MergedFile
from connectors.hudi.handles import HudiSplit
from connectors.hudi.read.log_cache import APPLIED_CACHE, LOG_CACHE
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import CASES, HUDI, expected, opened, refused
from tests.connectors.hudi.merge.writer import Block, Delete, Row, SliceWriter, Upsert
from tests.rows import assert_same_table

# Hudi itself is wrong of these: see test_merge_on_read.py.
_OTHERS = {
    "v6_ordering_default_mor",
    "v6_payload_nondefaults_mor",
    "v6_payload_mysql_mor",
    "v6_payload_default_marker_mor",
}
MOR = [case for case in CASES if case.endswith("_mor") and case not in _OTHERS and not refused(case, "snapshot")]
_SCHEMA = pa.schema([("key", pa.string()), ("ver", pa.int64()), ("value", pa.string())])


@pytest.mark.skipif(not MOR, reason=f"no tables in {HUDI}")
@pytest.mark.parametrize("case", MOR)
def test_rows_are_those_of_hudi(case: str, tmp_path: Path) -> None:
    catalog = opened(case, tmp_path)
    rows = expected(case, "snapshot")
    columns = [name for name in rows.column_names if _files(catalog, [name]) is not None]
    for one in (catalog, catalog.with_property("merge_memory", 1 << 10), catalog.with_property("merge_cache", 1 << 30)):
        found = _files(one, columns) if columns else None
        if found is not None:
            assert_same_table(_rows(found, rows.select(columns).schema), rows.select(columns))


@pytest.mark.skipif(not MOR, reason=f"no tables in {HUDI}")
@pytest.mark.parametrize("case", ["v9_basic_mor", "v6_basic_mor", "v9_recordpositions_mor", "v8_eventtime_mor"])
def test_most_columns_of_such_tables_are_read_so(case: str, tmp_path: Path) -> None:
    catalog = opened(case, tmp_path)
    names = expected(case, "snapshot").column_names
    assert sum(_files(catalog, [name]) is not None for name in names) > len(names) / 2


@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("positions", [False, True])
def test_ranges_of_a_base_file(version: int, positions: bool, tmp_path: Path) -> None:
    """Each split has the rows of its range, and one of them those that are in the logs alone."""
    blocks: list[Block] = [Upsert([_row(key, 1, "late") for key in range(0, 60, 3)])]
    blocks += [Upsert([_row(key, 0, "older") for key in range(1, 60, 3)]), Delete([("00059", 2), ("00007", 0)])]
    if not positions:
        blocks.append(Upsert([_row(key, 1, "new") for key in range(100, 103)]))
    catalog = _written(tmp_path, version, blocks, positions=positions)
    whole = _read(catalog)
    sizes = {split.start for split in _splits(_cut(catalog))}
    assert len(sizes) > 1
    assert_same_table(whole, _model(positions=positions))
    assert_same_table(_read(_cut(catalog)), whole)
    # What was found out before is used again, also of more columns.
    assert_same_table(_read(_cut(catalog), ["value"]), whole.select(["value"]))


def test_logs_that_are_more_than_may_be_kept_are_read_otherwise(tmp_path: Path) -> None:
    catalog = _written(tmp_path, 9, [Upsert([_row(1, 1, "late")])], positions=False)
    assert _files(catalog, ["value"]) is not None
    assert _files(catalog.with_property("merge_cache", 10), ["value"]) is None


def test_keys_that_come_in_another_order_are_not_mixed_up(tmp_path: Path) -> None:
    catalog = _written(tmp_path, 9, [Upsert([_row(1, 1, "a"), _row(2, 1, "b")])], positions=False)
    before = _read(catalog)
    for kept in APPLIED_CACHE._kept.values():
        object.__setattr__(kept, "keys", pa.array(["other"] * len(kept.keys)))
    LOG_CACHE.clear()
    assert_same_table(_read(catalog), before)


def _row(key: int, ver: int, value: str) -> Row:
    return {"key": f"{key:05}", "ver": ver, "value": value}


def _model(*, positions: bool) -> pa.Table:
    """What a reader must see: the greater ordering value wins, the later of equal ones."""
    rows = {key: _row(key, 1, "base") for key in range(60)}
    rows |= {key: _row(key, 1, "late") for key in range(0, 60, 3)}
    del rows[59]
    rows |= {} if positions else {key: _row(key, 1, "new") for key in range(100, 103)}
    return pa.Table.from_pylist([dict(row) for row in rows.values()], schema=_SCHEMA)


def _written(folder: Path, version: int, blocks: Sequence[Block], *, positions: bool) -> HudiCatalog:
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()
    ordering = {"hoodie.table.precombine.field": "ver"}
    payload = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
    modes = {"hoodie.compaction.payload.class": payload}
    if version == 9:
        ordering = {"hoodie.table.ordering.fields": "ver"}
        modes = {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
    writer = SliceWriter(folder / "t", version, _SCHEMA, {**ordering, **modes}, positions=positions)
    writer.base([_row(key, 1, "base") for key in range(60)], group_rows=10)
    for block in blocks:
        writer.log([block])
    catalog = make_catalog(folder)
    catalog.register(folder / "t")
    return catalog


def _cut(catalog: HudiCatalog) -> HudiCatalog:
    return catalog.with_property("max_split_size", 700)


def _read(catalog: HudiCatalog, columns: Sequence[str] = tuple(_SCHEMA.names)) -> pa.Table:
    found = _files(catalog, columns)
    assert found is not None
    return _rows(found, pa.schema([_SCHEMA.field(name) for name in columns]))


def _rows(files: Sequence[MergedFile], schema: pa.Schema) -> pa.Table:
    """What an engine makes of it: each base file once, whatever its ranges."""
    parts: list[pa.Table] = []
    removed: dict[str, list[pa.Array]] = {}
    constants: dict[str, dict[str, object]] = {}
    for file in files:
        merged = None if file.merge is None else file.merge()
        if file.file is not None:
            constants[file.file.path] = dict(file.file.constants)
            removed.setdefault(file.file.path, []).extend([] if merged is None else [merged.removed])
        if merged is not None:
            assert len(np.unique(merged.removed.to_numpy())) == len(merged.removed)
            parts.append(merged.added.cast(schema))
    for path, positions in removed.items():
        rows = pq.ParquetFile(path.removeprefix("file://")).read()
        keep = np.ones(rows.num_rows, dtype=bool)
        for one in positions:
            keep[one.to_numpy()] = False
        columns = [
            pa.repeat(pa.scalar(constants[path][field.name], field.type), rows.num_rows)
            if field.name in constants[path]
            else rows.column(field.name).cast(field.type)
            for field in schema
        ]
        parts.append(pa.table(columns, schema=schema).filter(pa.array(keep)))
    return pa.concat_tables([schema.empty_table(), *parts])


def _files(catalog: HudiCatalog, columns: Sequence[str]) -> Sequence[MergedFile] | None:
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)
        asked = tuple(handles[name] for name in columns)
        splits = catalog.splits(transaction, table, asked)
        return catalog.connector.page_source_provider.merged_files(catalog.session, splits, table, asked)


def _splits(catalog: HudiCatalog) -> list[HudiSplit]:
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        asked: tuple[ColumnHandle, ...] = tuple(metadata.get_column_handles(catalog.session, table).values())
        return [split for split in catalog.splits(transaction, table, asked) if isinstance(split, HudiSplit)]
