"""Random histories of one file group, merged and compared with a model that is a dict.

The model takes one record after the other, as Hudi's file group reader does: first all of the logs, key by key; then
each base row against what the logs say of its key.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.hudi.read import key_stretches
from connectors.hudi.read.log_cache import LOG_CACHE
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.merge.writer import Block, Delete, Partial, Row, SliceWriter, Upsert
from tests.sampling import examples

SCHEMA = pa.schema([("key", pa.string()), ("ts", pa.int64()), ("a", pa.int32()), ("b", pa.string())])
KEYS = [f"k{number}" for number in range(12)]
ORDERED = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
BY_COMMIT = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
IGNORE_DEFAULTS = {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}


@dataclass
class Record:
    """What is known of a key: its row, or that it is deleted."""

    row: dict[str, object] | None
    ordering: int | None

    @property
    def final_delete(self) -> bool:
        """A delete without an ordering value."""
        return self.row is None and self.ordering is None


@dataclass
class Model:
    """Merges record by record."""

    event_time: bool
    ignore_nulls: bool

    def run(self, base: Sequence[Row], blocks: Sequence[Block]) -> list[dict[str, object]]:
        """The rows of a slice."""
        logs: dict[str, Record] = {}
        for block in blocks:
            if isinstance(block, Delete):
                for key, ordering in block.keys:
                    self.delete(logs, key, ordering)
            else:
                for row in block.rows:
                    self.upsert(logs, row)
        rows = [self.final(row, logs.pop(str(row["key"]), None)) for row in base]
        rows += [record.row for record in logs.values()]
        return [{**dict.fromkeys(SCHEMA.names), **row} for row in rows if row is not None]

    def delete(self, logs: dict[str, Record], key: str, ordering: int | None) -> None:
        old = logs.get(key)
        if self.event_time and old is not None:
            if old.final_delete:
                return
            if ordering is not None and self.of(old) > ordering:
                return
        logs[key] = Record(None, ordering if self.event_time else None)

    def upsert(self, logs: dict[str, Record], row: Row) -> None:
        key = str(row["key"])
        old = logs.get(key)
        new = Record(dict(row), self.number(row))
        newer = old is None or old.final_delete or not self.event_time or self.of(new) >= self.of(old)
        if old is None or old.row is None:
            if newer:
                logs[key] = new
            return
        winner, loser = (new, old) if newer else (old, new)
        logs[key] = Record(self.fill(winner.row or {}, loser.row or {}), winner.ordering)

    def final(self, base: Row, log: Record | None) -> dict[str, object] | None:
        if log is None:
            return dict(base)
        old = Record(dict(base), self.number(base))
        base_wins = self.event_time and not log.final_delete and self.of(old) > self.of(log)
        if log.row is None:
            return dict(base) if base_wins else None
        return self.fill(dict(base), log.row) if base_wins else self.fill(log.row, dict(base))

    def fill(self, winner: dict[str, object], loser: dict[str, object]) -> dict[str, object]:
        """Columns that the winner does not have are the loser's."""
        known = {name: value for name, value in winner.items() if value is not None or not self.ignore_nulls}
        return {**loser, **known}

    def number(self, row: Row) -> int | None:
        value = row.get("ts")
        return value if isinstance(value, int) else None

    def of(self, record: Record) -> float:
        return float("-inf") if record.ordering is None else record.ordering


def rows(columns: st.SearchStrategy[tuple[str, ...]]) -> st.SearchStrategy[dict[str, object]]:
    values: dict[str, st.SearchStrategy[object]] = {
        "a": st.one_of(st.none(), st.integers(0, 99)),
        "b": st.one_of(st.none(), st.text(max_size=3)),
    }
    fixed = {"key": st.sampled_from(KEYS), "ts": st.integers(0, 5)}
    return columns.flatmap(lambda names: st.fixed_dictionaries({**fixed, **{name: values[name] for name in names}}))


FULL_ROWS = rows(st.just(("a", "b")))
DELETES = st.lists(st.tuples(st.sampled_from(KEYS), st.one_of(st.none(), st.integers(0, 5))), min_size=1, max_size=5)
UPSERTS = st.lists(FULL_ROWS, min_size=1, max_size=6).map(Upsert)
PARTIALS = st.sampled_from([("a",), ("b",)]).flatmap(
    lambda names: st.lists(rows(st.just(names)), min_size=1, max_size=6).map(Partial)
)
BASES = st.lists(FULL_ROWS, max_size=11, unique_by=lambda row: row["key"])
WHOLE = st.one_of(UPSERTS, DELETES.map(Delete))
WITH_PARTIALS = st.one_of(UPSERTS, PARTIALS, DELETES.map(Delete))


@pytest.fixture(scope="module", autouse=True)
def all_stretches() -> Iterator[None]:
    """Row groups that no key of the logs is in are told apart however few their rows are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_stretches, "LEAST_ROWS", 1)
        yield


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HudiCatalog]:
    made = make_catalog(tmp_path_factory.mktemp("catalog"))
    yield made
    made.connector.shutdown()


NUMBERS = count()


def check(
    catalog: HudiCatalog,
    properties: dict[str, str],
    version: int,
    base: Sequence[Row] | None,
    logs: Sequence[Sequence[Block]],
    model: Model,
    positions: bool = False,
) -> None:
    """Writes a history and reads it in every way: whole, in several splits, with little memory, logs kept or not."""
    folder = Path(tempfile.mkdtemp())
    name = f"t{next(NUMBERS)}"
    try:
        writer = SliceWriter(folder / "table", version, SCHEMA, properties, positions)
        if base is not None:
            writer.base(base, group_rows=3)
        for blocks in logs:
            writer.log(blocks)
        catalog.register(writer.folder, name)
        expected = model.run(base or [], [block for blocks in logs for block in blocks])
        expected.sort(key=lambda row: str(row["key"]))
        for size, memory in [(1 << 20, 1 << 29), (1 << 10, 1 << 29), (1 << 20, 1 << 10), (1 << 10, 1 << 10)]:
            seen = catalog.with_property("max_split_size", size).with_property("merge_memory", memory)
            met = seen.with_property("merge_cache", 0).read(name, columns=SCHEMA.names).to_pylist()
            met.sort(key=lambda row: str(row["key"]))
            assert met == expected
        check_kept(catalog, name, expected)
        check_filtered(catalog, name, expected)
    finally:
        shutil.rmtree(folder)


def check_kept(catalog: HudiCatalog, name: str, expected: Sequence[dict[str, object]]) -> None:
    """Reads other columns than are kept of the logs, then some of those that are, whole and in several splits."""
    LOG_CACHE.clear()
    parts = catalog.with_property("max_split_size", 1 << 10)
    for seen, columns in [
        (catalog, ["b"]),
        (catalog, []),
        (catalog, ["key", "a"]),
        (parts, ["b"]),
        (parts, ["a", "key"]),
    ]:
        met = [tuple(row[column] for column in columns) for row in seen.read(name, columns=columns).to_pylist()]
        assert sorted(met, key=repr) == sorted((tuple(row[column] for column in columns) for row in expected), key=repr)


def check_filtered(catalog: HudiCatalog, name: str, expected: Sequence[dict[str, object]]) -> None:
    """Reads with a filter: every row that fits it as it was merged comes, and no row that was not merged."""
    parts = catalog.with_property("max_split_size", 1 << 10)
    filters: list[tuple[HudiCatalog, str, pa.DataType, int | str]] = [
        (catalog, "a", pa.int32(), 50),
        (parts, "a", pa.int32(), 20),
        (parts, "ts", pa.int64(), 2),
        (catalog, "key", pa.string(), "k3"),
    ]
    for seen, column, kind, bound in filters:
        domain = Domain(ValueSet.of_ranges(kind, [Range.less_or_equal(kind, bound)]), null_allowed=False)
        constraint = TupleDomain.with_column_domains({ColumnHandle(column, kind): domain})
        met = sorted(seen.read(name, columns=SCHEMA.names, constraint=constraint).to_pylist(), key=_key)
        fitting = [row for row in expected if row[column] is not None and row[column] <= bound]  # type: ignore[operator]
        assert [row for row in met if row in fitting] == fitting
        assert [row for row in expected if row in met] == met


def _key(row: dict[str, object]) -> str:
    return str(row["key"])


SETTINGS = settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@pytest.mark.parametrize("version", [6, 9], ids=["layout1", "layout2"])
@pytest.mark.parametrize("event_time", [False, True], ids=["commit_time", "event_time"])
@SETTINGS
@given(base=st.one_of(st.none(), BASES), logs=st.lists(st.lists(WHOLE, min_size=1, max_size=3), min_size=1, max_size=4))
def test_whole_rows(
    catalog: HudiCatalog, version: int, event_time: bool, base: list[Row] | None, logs: Sequence[Sequence[Block]]
) -> None:
    properties = ORDERED if event_time else BY_COMMIT
    if version < 8:
        payload = "DefaultHoodieRecordPayload" if event_time else "OverwriteWithLatestAvroPayload"
        properties = {
            "hoodie.table.precombine.field": "ts",
            "hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{payload}",
        }
    check(catalog, properties, version, base, logs, Model(event_time, False))


@pytest.mark.slow
@pytest.mark.parametrize("event_time", [False, True], ids=["commit_time", "event_time"])
@SETTINGS
@given(base=st.one_of(st.none(), BASES), logs=st.lists(st.lists(WITH_PARTIALS, min_size=1, max_size=3), max_size=4))
def test_blocks_of_updated_columns(
    catalog: HudiCatalog, event_time: bool, base: list[Row] | None, logs: Sequence[Sequence[Block]]
) -> None:
    if base is None and not logs:
        return
    check(catalog, ORDERED if event_time else BY_COMMIT, 9, base, logs, Model(event_time, False))


@pytest.mark.slow
@pytest.mark.parametrize("event_time", [False, True], ids=["commit_time", "event_time"])
@SETTINGS
@given(base=BASES, logs=st.lists(st.lists(WHOLE, min_size=1, max_size=3), max_size=4))
def test_rows_whose_nulls_do_not_count(
    catalog: HudiCatalog, event_time: bool, base: list[Row], logs: Sequence[Sequence[Block]]
) -> None:
    properties = {**(ORDERED if event_time else BY_COMMIT), **IGNORE_DEFAULTS}
    check(catalog, properties, 9, base, logs, Model(event_time, True))


@pytest.mark.slow
@pytest.mark.parametrize("event_time", [False, True], ids=["commit_time", "event_time"])
@SETTINGS
@given(
    base=st.lists(FULL_ROWS, min_size=4, max_size=11, unique_by=lambda row: row["key"]),
    logs=st.lists(st.lists(WITH_PARTIALS, min_size=1, max_size=3), max_size=4),
    all_of_base=st.booleans(),
)
def test_blocks_that_tell_positions(
    catalog: HudiCatalog, event_time: bool, base: list[Row], logs: Sequence[Sequence[Block]], all_of_base: bool
) -> None:
    """Merged by position where all blocks record them, by key else."""
    if all_of_base:
        logs = [[updates(block, base) for block in blocks] for blocks in logs]
    check(catalog, ORDERED if event_time else BY_COMMIT, 9, base, logs, Model(event_time, False), positions=True)


def updates(block: Block, base: Sequence[Row]) -> Block:
    """The first of a block's rows of each key that the base file has."""
    known = {row["key"] for row in base}
    if isinstance(block, Delete):
        return Delete([(key, value) for key, value in dict(reversed(block.keys)).items() if key in known])
    rows = {row["key"]: row for row in reversed(block.rows)}
    return replace(block, rows=[row for key, row in rows.items() if key in known])
