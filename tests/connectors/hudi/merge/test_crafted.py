"""States of a file slice that no writer leaves on demand; what Hudi's own reader answers stands in the case."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import FileMissingError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain, ValueSet
from connectors.hudi.handles import HudiSplit
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.log.writer import rollback_block
from tests.connectors.hudi.merge.writer import FILE_ID, Block, Delete, Partial, SliceWriter, Upsert

SCHEMA = pa.schema([("key", pa.string()), ("ts", pa.int64()), ("v", pa.string())])
EVENT_TIME = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
COMMIT_TIME = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
OVERWRITE = {
    "hoodie.table.precombine.field": "ts",
    "hoodie.compaction.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
    "hoodie.record.merge.strategy.id": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
}


def row(key: str, ts: int | None, v: str | None) -> dict[str, object]:
    return {"key": key, "ts": ts, "v": v}


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


def writer(tmp_path: Path, version: int = 9, properties: dict[str, str] | None = None) -> SliceWriter:
    return SliceWriter(tmp_path / "table", version, SCHEMA, properties if properties is not None else EVENT_TIME)


def read(catalog: HudiCatalog, table: SliceWriter) -> dict[str, str | None]:
    """The value of each key; each key comes once."""
    catalog.register(table.folder)
    met = catalog.read(columns=["key", "v"]).to_pylist()
    found = {str(item["key"]): item["v"] for item in met}
    assert len(found) == len(met)
    return found


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        pytest.param([Upsert([row("k", 100, "new")])], "new", id="tie"),
        pytest.param([Upsert([row("k", 99, "new")])], "old", id="lower"),
        pytest.param([Upsert([row("k", None, "new")])], "old", id="null"),
        pytest.param([Delete([("k", 99)])], "old", id="delete_lower"),
        pytest.param([Delete([("k", 100)])], None, id="delete_tie"),
        pytest.param([Delete([("k", None)])], None, id="delete_without_value"),
        pytest.param([Delete([("k", None)]), Upsert([row("k", 1, "new")])], "old", id="old_row_comes_back"),
        pytest.param([Delete([("k", 105)]), Upsert([row("k", 101, "new")])], None, id="stays_deleted"),
        pytest.param([Upsert([row("k", 105, "new")]), Delete([("k", 101)])], "new", id="late_delete"),
    ],
)
def test_event_time(catalog: HudiCatalog, tmp_path: Path, blocks: list[Block], expected: str | None) -> None:
    table = writer(tmp_path)
    table.base([row("k", 100, "old"), row("other", 1, "other")])
    table.log(blocks)
    assert read(catalog, table).get("k") == expected


@pytest.mark.parametrize(
    ("version", "properties"), [(9, COMMIT_TIME), (6, OVERWRITE)], ids=["mode", "payload_over_strategy"]
)
def test_commit_time(catalog: HudiCatalog, tmp_path: Path, version: int, properties: dict[str, str]) -> None:
    table = writer(tmp_path, version, properties)
    table.base([row("k", 100, "old")])
    table.log([Upsert([row("k", 1, "new")])])
    assert read(catalog, table) == {"k": "new"}


def test_without_ordering_field_the_last_row_counts(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path, 9, {"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"})
    table.base([row("k", 100, "old")])
    table.log([Upsert([row("k", 1, "new")])])
    assert read(catalog, table) == {"k": "new"}


def test_several_ordering_fields(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path, 9, {**EVENT_TIME, "hoodie.table.ordering.fields": "ts,v"})
    table.base([row("a", 1, "m"), row("b", 1, "m"), row("c", 1, "m")])
    table.log([Upsert([row("a", 1, "l"), row("b", 1, "n"), row("c", 0, "z")])])
    assert read(catalog, table) == {"a": "m", "b": "n", "c": "m"}


def test_a_partial_update_keeps_the_other_columns(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path)
    table.base([row("k", 100, "old"), row("n", 100, "old")])
    table.log([Partial([{"key": "k", "ts": 101}, {"key": "only in the log", "ts": 1}])])
    catalog.register(table.folder)
    met = catalog.read(columns=["key", "ts", "v"]).sort_by("key").to_pylist()
    assert met == [row("k", 101, "old"), row("n", 100, "old"), row("only in the log", 1, None)]


@pytest.mark.parametrize("version", [6, 9], ids=["layout1", "layout2"])
def test_a_rollback_takes_back_what_stands_before_it(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    table = writer(tmp_path, version, OVERWRITE if version < 8 else COMMIT_TIME)
    table.base([row("k", 1, "old")])
    undone = table.log([Upsert([row("k", 2, "undone")])])
    table.log([rollback_block("20240101999999999", undone), Upsert([row("n", 1, "new")])])
    assert read(catalog, table) == {"k": "old", "n": "new"}


def test_a_compacted_log_stands_where_its_newest_block_was(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path, 9, COMMIT_TIME)
    table.base([row("a", 1, "base"), row("b", 1, "base")])
    one = table.log([Upsert([row("a", 1, "one")])])
    two = table.log([Upsert([row("a", 1, "two")])])
    table.log([Upsert([row("b", 1, "three")])])
    merged = table.table.next_instant()
    rows = Upsert([row("a", 1, "merged"), row("b", 1, "merged")])
    block = table.block(rows, merged, COMPACTED_BLOCK_TIMES=f"{one},{two}")
    table.log([block], instant=merged)
    assert read(catalog, table) == {"a": "merged", "b": "three"}


def test_a_log_that_was_completed_after_a_compaction_was_requested_is_of_the_new_slice(
    catalog: HudiCatalog, tmp_path: Path
) -> None:
    table = writer(tmp_path, 9, COMMIT_TIME)
    table.base([row("k", 1, "old"), row("n", 1, "old")])
    late = table.table.next_instant()
    table.base([row("k", 1, "compacted"), row("n", 1, "compacted")], action="commit")
    table.log([Upsert([row("k", 1, "late")])], instant=late)
    assert read(catalog, table) == {"k": "late", "n": "compacted"}


@pytest.mark.parametrize("version", [6, 9], ids=["layout1", "layout2"])
def test_logs_alone(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    table = writer(tmp_path, version, OVERWRITE if version < 8 else EVENT_TIME)
    table.log([Upsert([row("a", 1, "one"), row("b", 1, "one")])])
    table.log([Upsert([row("a", 2, "two")]), Delete([("b", None), ("c", None)])])
    assert read(catalog, table) == {"a": "two"}


@pytest.mark.parametrize("version", [6, 9], ids=["layout1", "layout2"])
def test_what_is_not_complete_is_not_seen(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    table = writer(tmp_path, version, OVERWRITE if version < 8 else EVENT_TIME)
    table.base([row("k", 1, "old")])
    table.log([Upsert([row("k", 2, "new")])])
    table.log([Upsert([row("k", 3, "pending"), row("p", 3, "pending")])], complete=False)
    assert read(catalog, table) == {"k": "new"}


def test_a_block_of_an_unfinished_write_in_a_finished_log_is_not_seen(catalog: HudiCatalog, tmp_path: Path) -> None:
    """In layout 1 one file holds blocks of several writes."""
    table = writer(tmp_path, 6, OVERWRITE)
    table.base([row("k", 1, "old")])
    pending = table.table.next_instant()
    (table.table.timeline / f"{pending}.deltacommit.inflight").touch()
    table.log([table.block(Upsert([row("k", 3, "pending")]), pending), Upsert([row("n", 1, "new")])])
    assert read(catalog, table) == {"k": "old", "n": "new"}


@pytest.mark.parametrize("version", [6, 9], ids=["layout1", "layout2"])
def test_damaged_stretches_are_passed_over(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    table = writer(tmp_path, version, OVERWRITE if version < 8 else EVENT_TIME)
    table.base([row("k", 1, "old")])
    block = table.block(Upsert([row("k", 9, "torn")]), "20240101000000001")
    table.log([block[:40], Upsert([row("k", 2, "new")]), block[:-5]])
    assert read(catalog, table) == {"k": "new"}


def test_writes_of_the_archived_timeline_are_seen(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path, 9, COMMIT_TIME)
    table.base([row("k", 1, "old")])
    first = table.log([Upsert([row("k", 2, "new")])])
    table.log([Upsert([row("n", 2, "new")])])
    for path in table.table.timeline.glob("*"):
        if path.name.partition("_")[0].partition(".")[0] <= first:
            path.unlink()
    assert read(catalog, table) == {"k": "new", "n": "new"}


def test_an_archived_log_that_was_completed_after_a_compaction_was_requested_is_of_the_new_slice(
    catalog: HudiCatalog, tmp_path: Path
) -> None:
    """CompletionTimeQueryViewV2 looks into the archive; by its name the log would be of the older slice."""
    table = writer(tmp_path)
    first = table.base([row("a", 1, "old"), row("b", 1, "old")])
    overlapping = table.table.next_instant()
    before = table.log([Upsert([row("a", 2, "before")])])
    table.base([row("a", 2, "before"), row("b", 1, "old")], action="commit")
    table.log([Upsert([row("b", 2, "overlapping")])], instant=overlapping)
    expected = {"a": "before", "b": "overlapping"}
    assert read(catalog, table) == expected
    archive(table, (first, before, overlapping))
    assert catalog.read(columns=["key", "v"]).to_pylist() == [{"key": key, "v": v} for key, v in expected.items()]


def archive(table: SliceWriter, instants: Sequence[str]) -> None:
    """Moves writes to the archived timeline, as far as a reader of file slices looks into it."""
    history = table.table.timeline / "history"
    history.mkdir()
    rows = []
    for instant in sorted(instants):
        [completed] = table.table.timeline.glob(f"{instant}_*")
        times = {"instantTime": instant, "completionTime": completed.name[18:35]}
        rows.append({**times, "action": "deltacommit", "metadata": completed.read_bytes()})
        for path in table.table.timeline.glob(f"{instant}[_.]*"):
            path.unlink()
    name = f"{min(instants)}_{max(instants)}_0.parquet"
    pq.write_table(pa.Table.from_pylist(rows), history / name)
    (history / "manifest_1").write_text(json.dumps({"files": [{"fileName": name, "fileLen": 1}]}))
    (history / "_version_").write_text("1")


def test_logs_behind_a_pending_compaction_belong_to_the_slice_before_it(catalog: HudiCatalog, tmp_path: Path) -> None:
    """In layout 1 they are named after the compaction, whose base file is not there, or does not count yet."""
    table = writer(tmp_path, 6, OVERWRITE)
    table.base([row("a", 1, "base"), row("b", 1, "base"), row("c", 1, "base")])
    table.log([Upsert([row("a", 1, "before"), row("b", 1, "before")])])
    compaction = table.table.next_instant()
    (table.table.timeline / f"{compaction}.compaction.requested").touch()
    base = table.named_base
    table.named_base = compaction
    table.log([Upsert([row("b", 1, "behind")])])
    assert read(catalog, table) == {"a": "before", "b": "behind", "c": "base"}
    torn = table.folder / f"{FILE_ID}_0-9-9_{compaction}.parquet"
    torn.write_bytes((table.folder / f"{FILE_ID}_0-1-1_{base}.parquet").read_bytes())
    (table.table.timeline / f"{compaction}.compaction.inflight").touch()
    catalog.register(table.folder, "again")
    assert catalog.read("again").num_rows == 3


def test_every_base_row_of_a_key_is_merged(catalog: HudiCatalog, tmp_path: Path) -> None:
    """Bulk inserts may bring a key twice. Hudi 1.1.1 gave these rows for this story, by record positions."""
    table = writer(tmp_path)
    keys = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 9), ("d", 1)]
    table.base([row(key, ts, f"{key}{ts}") for key, ts in keys], group_rows=1)
    table.log([Upsert([row("a", 5, "a-new"), row("c", 5, "c-new")])])
    table.log([Delete([("b", 5)])])
    catalog.register(table.folder)
    for size in (1 << 10, 1 << 20):
        met = catalog.with_property("max_split_size", size).read(columns=["key", "v"]).to_pylist()
        assert sorted((item["key"], item["v"]) for item in met) == [
            ("a", "a-new"),
            ("a", "a-new"),
            ("c", "c-new"),
            ("c", "c9"),
            ("d", "d1"),
        ]


@pytest.mark.parametrize("name", ["key", "ts", "v", "_hoodie_record_key"])
def test_a_filter_skips_no_base_row_that_the_merge_needs(catalog: HudiCatalog, tmp_path: Path, name: str) -> None:
    """Each row is a row group of its own, whose statistics exclude all but one value."""
    table = writer(tmp_path)
    table.base([row(f"k{number}", number, f"v{number}") for number in range(8)], group_rows=1)
    table.log([Upsert([row("k1", 5, "v5"), row("k5", 1, "v1"), row("k7", 70, "v7"), row("n", 5, "v5")])])
    table.log([Delete([("k6", 0), ("k2", 9)])])
    catalog.register(table.folder)
    for size in (1 << 10, 1 << 20):
        seen = catalog.with_property("max_split_size", size)
        rows = seen.read(columns=["key", "ts", "v", "_hoodie_record_key"]).to_pylist()
        assert len(rows) == 8
        for value in {item[name] for item in rows}:
            kind = pa.int64() if name == "ts" else pa.string()
            domain = Domain(ValueSet.of(kind, [value]), False)
            wanted = TupleDomain.with_column_domains({ColumnHandle(name, kind): domain})
            met = seen.read(columns=list(rows[0]), constraint=wanted).to_pylist()
            assert [item for item in met if item[name] == value] == [item for item in rows if item[name] == value]


@pytest.mark.slow
def test_large_logs_go_through_files_that_are_removed(
    catalog: HudiCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logs are ten times the memory; the reader is also left in the middle."""
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    table = writer(tmp_path, 9, COMMIT_TIME)
    table.base([row(f"k{number}", 1, "base" * 9) for number in range(4000)])
    for write in range(5):
        table.log([Upsert([row(f"k{number}", 1, f"log{write}" * 9) for number in range(write, 6000, 2)])])
    table.log([Delete([(f"k{number}", None) for number in range(0, 6000, 3)])])
    catalog.register(table.folder)
    small = catalog.with_property("merge_memory", 100_000)
    assert sum(path.stat().st_size for path in table.folder.glob(".*.log.*")) > 1_000_000
    met, expected = small.read(columns=["key", "v"]).sort_by("key"), catalog.read(columns=["key", "v"]).sort_by("key")
    assert met.num_rows == 4000
    assert met == expected
    assert not list(spill.iterdir())
    with small.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(small.session, SchemaTableName("s", "t"))
        assert handle is not None
        asked = (metadata.get_column_handles(small.session, handle)["key"],)
        [split] = small.splits(transaction, handle, asked)
        provider = small.connector.page_source_provider
        source = provider.create_page_source(small.session, split, handle, asked, TupleDomain.all())
        next(source)
        assert list(spill.iterdir())
        source.close()
    assert not list(spill.iterdir())


@pytest.mark.parametrize("version", [6, 9], ids=["layout1", "layout2"])
def test_a_log_that_is_not_there_is_named(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    table = writer(tmp_path, version, OVERWRITE if version < 8 else EVENT_TIME)
    table.base([row("k", 1, "old")])
    table.log([Upsert([row("k", 2, "new")])])
    table.log([Upsert([row("n", 2, "new")])])
    catalog.register(table.folder)
    first = min(table.folder.glob(".*.log.*"))
    first.unlink()
    with pytest.raises(FileMissingError, match=first.name.replace(".", r"\.")):
        catalog.read()
    assert catalog.with_property("read_optimized", True).read().num_rows == 1


def test_logs_of_older_slices_may_be_cleaned(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path)
    table.base([row("k", 1, "old")])
    table.log([Upsert([row("k", 2, "new")])])
    table.base([row("k", 2, "new")], action="commit")
    table.log([Upsert([row("n", 2, "new")])])
    min(table.folder.glob(".*.log.*")).unlink()
    assert read(catalog, table) == {"k": "new", "n": "new"}


def test_a_compacted_slice_is_a_native_file(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = writer(tmp_path)
    table.log([Upsert([row("k", 1, "old")])])
    table.base([row("k", 1, "old")], action="commit")
    catalog.register(table.folder)
    [split] = splits(catalog, ["key"])
    assert split.native_file is not None
    table.log([Upsert([row("k", 2, "new")])])
    catalog.register(table.folder, "again")
    [split] = splits(catalog, ["key"], "again")
    assert split.native_file is None
    assert len(split.logs) == 1


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ({"hoodie.record.merge.mode": "CUSTOM"}, "CUSTOM"),
        (
            {"hoodie.record.merge.mode": "CUSTOM", "hoodie.table.legacy.payload.class": "com.example.Mine"},
            "com.example.Mine",
        ),
        ({**EVENT_TIME, "hoodie.table.partial.update.mode": "KEEP_VALUES"}, "KEEP_VALUES"),
    ],
)
def test_what_merges_by_unknown_code_is_refused_by_name(
    catalog: HudiCatalog, tmp_path: Path, properties: dict[str, str], named: str
) -> None:
    table = writer(tmp_path, 9, properties)
    table.base([row("k", 1, "old")])
    catalog.register(table.folder)
    assert catalog.read().num_rows == 1
    table.log([Upsert([row("k", 2, "new")])])
    catalog.register(table.folder, "again")
    with pytest.raises(NotSupportedError, match=named) as caught:
        catalog.read("again")
    assert caught.value.code.name == "HUDI_UNSUPPORTED_MERGE"


@pytest.mark.parametrize("strategy", ["1897ef5f-18bc-4557-939c-9d6a8afd1519", "00000000-0000-0000-0000-000000000000"])
def test_mergers_and_payloads_of_version_8_are_refused_by_name(
    catalog: HudiCatalog, tmp_path: Path, strategy: str
) -> None:
    table = writer(
        tmp_path,
        8,
        {
            "hoodie.record.merge.mode": "CUSTOM",
            "hoodie.record.merge.strategy.id": strategy,
            "hoodie.compaction.payload.class": "com.example.Mine",
        },
    )
    table.log([Upsert([row("k", 1, "old")])])
    catalog.register(table.folder)
    with pytest.raises(NotSupportedError, match=r"com\.example\.Mine" if strategy.startswith("0") else strategy):
        catalog.read()


def splits(catalog: HudiCatalog, columns: list[str], name: str = "t") -> list[HudiSplit]:
    with catalog.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", name))
        assert handle is not None
        handles = metadata.get_column_handles(catalog.session, handle)
        found = catalog.splits(transaction, handle, tuple(handles[column] for column in columns))
    return [split for split in found if isinstance(split, HudiSplit)]
