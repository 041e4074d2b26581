"""Random histories of a transactional table, read by the connector, against the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import ConnectorError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.predicate import Constraint, Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.acid.delete_set import MAX_DELETE_MEMORY
from connectors.hive.config import MAX_SPLIT_SIZE
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from tests.connectors.hive.acid.conftest import TABLE
from tests.connectors.hive.acid.history import FIELDS, History
from tests.connectors.hive.acid.model import Snapshot
from tests.connectors.hive.acid.snapshots import acid_snapshot
from tests.connectors.hive.acid.steps import KNOWN_TRAPS, Step, insert_only_step_lists, original_counts, step_lists
from tests.connectors.hive.acid.writer import AcidLocation, InsertOnlyFolder, OrcLayout, Row, RowKey, bucket_property
from tests.connectors.hive.reading import make_session
from tests.sampling import examples

_GONE = (error_codes.HIVE_ACID_HISTORY, error_codes.HIVE_FILE_CLEANED)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table in a transaction that stays open; its folder and its snapshot are told for each scan."""

    connector: HiveConnector
    transaction: ConnectorTransaction
    session: ConnectorSession
    handle: HiveTableHandle


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the folder of a history.

    Attributes:
        table: The table that lies there.
        folder: Where.
        properties: Of the session.
    """

    table: _Table
    folder: Path
    properties: Mapping[str, int] = field(default_factory=dict)

    def rows(self, snapshot: Snapshot, filters: Mapping[str, Domain] | None = None) -> dict[RowKey, Row]:
        """Rows by ``$row_id``, filtered again as an engine does."""
        found: dict[RowKey, Row] = {}
        for row in self.read(snapshot, ("k", "v", "$row_id"), filters).to_pylist():
            key = RowKey(*row["$row_id"].values())
            assert key not in found, f"{key} was read twice"
            if all(_fits(domain, row[name]) for name, domain in (filters or {}).items()):
                found[key] = (row["k"], row["v"])
        return found

    def read(
        self, snapshot: Snapshot, columns: tuple[str, ...], filters: Mapping[str, Domain] | None = None
    ) -> pa.Table:
        """What the page sources give."""
        connector, session = self.table.connector, self.table.session
        session = replace(session, properties=tuple({**dict(session.properties), **self.properties}.items()))
        metadata = connector.get_metadata(self.table.transaction)
        table: TableHandle = replace(self.table.handle, location=str(self.folder), snapshot=acid_snapshot(snapshot))
        known = metadata.get_column_handles(session, table)
        if filters:
            wanted = TupleDomain.with_column_domains({known[name]: one for name, one in filters.items()})
            taken = metadata.apply_filter(session, table, Constraint(wanted))
            table = table if taken is None else taken.table
        asked = tuple(known[name] for name in columns)
        every: TupleDomain[ColumnHandle] = TupleDomain.all()
        with connector.split_manager.get_splits(self.table.transaction, session, table, asked, every) as source:
            splits = [split for batch in source for split in batch]
        batches: list[pa.RecordBatch] = []
        for split in splits:
            with connector.page_source_provider.create_page_source(session, split, table, asked, every) as pages:
                batches += pages
        return pa.Table.from_batches(batches, pa.schema([(column.name, column.type) for column in asked]))


def _domains(arrow: pa.DataType, values: st.SearchStrategy[Value]) -> st.SearchStrategy[Domain]:
    def ranged(low: Value, high: Value, kind: int) -> ValueSet:
        if kind == 0:
            return ValueSet.of_ranges(arrow, [Range.greater_or_equal(arrow, low)])
        if kind == 1:
            return ValueSet.of_ranges(arrow, [Range.less_than(arrow, high)])
        return ValueSet.of_ranges(arrow, [Range.greater_or_equal(arrow, low)]).intersect(
            ValueSet.of_ranges(arrow, [Range.less_or_equal(arrow, high)])
        )

    points = st.lists(values, min_size=1, max_size=4).map(lambda found: ValueSet.of(arrow, found))
    sets = st.one_of(points, st.builds(ranged, values, values, st.integers(0, 2)))
    plain = st.builds(Domain.create, sets, st.booleans())
    return st.one_of(plain, st.just(Domain.only_null(arrow)), st.just(Domain.not_null(arrow)))


def _filters() -> st.SearchStrategy[dict[str, Domain]]:
    numbers = _domains(pa.int32(), st.integers(-1, 40))
    texts = _domains(pa.string(), st.sampled_from(["", "v0", "v1", "v3", "v4", "w"]))
    both = st.tuples(numbers, texts)
    return st.one_of(
        numbers.map(lambda one: {"k": one}),
        texts.map(lambda one: {"v": one}),
        both.map(lambda pair: {"k": pair[0], "v": pair[1]}),
    )


def _properties() -> st.SearchStrategy[dict[str, int]]:
    sizes = {
        MAX_SPLIT_SIZE.name_in_session: st.sampled_from([100, 300, 1000]),
        MAX_DELETE_MEMORY.name_in_session: st.sampled_from([1, 60]),
    }
    return st.fixed_dictionaries({}, optional=sizes)


@pytest.fixture(scope="module")
def table(acid_connector: HiveConnector) -> Iterator[_Table]:
    connector = acid_connector
    session = make_session(connector)
    transaction = connector.begin_transaction(session)
    handle = connector.get_metadata(transaction).get_table_handle(session, TABLE)
    assert isinstance(handle, HiveTableHandle)
    yield _Table(connector, transaction, session, handle)
    transaction.commit()


@pytest.mark.parametrize("originals", [[], [2, 3, 1]], ids=["born", "converted"])
@pytest.mark.parametrize("name", KNOWN_TRAPS)
def test_known_traps(table: _Table, name: str, originals: list[int]) -> None:
    _check_history(table, originals, KNOWN_TRAPS[name])


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(originals=original_counts(), steps=step_lists())
def test_every_snapshot_and_version(table: _Table, originals: list[int], steps: list[Step]) -> None:
    _check_history(table, originals, steps)


@settings(max_examples=examples(50))
@given(originals=original_counts(), steps=step_lists(), properties=_properties())
def test_columns_and_splits_change_no_row(
    table: _Table, originals: list[int], steps: list[Step], properties: dict[str, int]
) -> None:
    """Without keys that are shown, other columns are read, and rows are counted by footers where that is allowed."""
    with TemporaryDirectory() as home:
        history = _started(home, originals, steps)
        reader = _Reader(table, history.folder.path, properties)
        now = history.snapshot()
        visible = history.model.visible(now)
        assert reader.rows(now) == visible
        assert Counter(_tuples(reader.read(now, ("k", "v")))) == Counter(visible.values())
        assert Counter(_tuples(reader.read(now, ("v",)))) == Counter((text,) for _, text in visible.values())
        assert reader.read(now, ()).num_rows == len(visible)
        buckets = Counter((key.bucket >> 16 & 0xFFF,) for key in visible)
        assert Counter(_tuples(reader.read(now, ("$bucket",)))) == buckets


@settings(max_examples=examples(50))
@given(originals=original_counts(), steps=insert_only_step_lists())
def test_insert_only_tables(table: _Table, originals: list[int], steps: list[Step]) -> None:
    with TemporaryDirectory() as home:
        history = History(InsertOnlyFolder(Path(home, "t"), FIELDS))
        history.start(originals)
        reader = _Reader(replace(table, handle=replace(table.handle, insert_only=True)), history.folder.path)
        for step in steps:
            history.apply(step)
            rows = _tuples(reader.read(history.snapshot(), ("k", "v")))
            assert Counter(rows) == Counter(history.model.visible(history.snapshot()).values())
        for snapshot in [*history.snapshots.values(), *map(history.snapshot().as_of, history.versions())]:
            try:
                rows = _tuples(reader.read(snapshot, ("k", "v")))
            except ConnectorError as error:
                # Rows that were compacted no longer tell their write ids.
                refused = (*_GONE, error_codes.HIVE_ACID_LAYOUT)
                if error.code not in refused or not history.is_compacted_above(snapshot.last_complete):
                    raise
            else:
                expected = Counter(history.model.visible(snapshot).values())
                assert Counter(rows) == expected, f"{snapshot} of {history.on_disk()}"


@settings(max_examples=examples(50))
@given(
    originals=original_counts(),
    steps=step_lists(),
    filters=st.lists(_filters(), min_size=1, max_size=4),
    properties=_properties(),
)
def test_filters_lose_no_row(
    table: _Table,
    originals: list[int],
    steps: list[Step],
    filters: list[dict[str, Domain]],
    properties: dict[str, int],
) -> None:
    with TemporaryDirectory() as home:
        history = _started(home, originals, steps)
        reader = _Reader(table, history.folder.path, properties)
        now = history.snapshot()
        visible = history.model.visible(now)
        for one in filters:
            expected = {
                key: row
                for key, row in visible.items()
                if all(_fits(domain, row["kv".index(name)]) for name, domain in one.items())
            }
            assert reader.rows(now, one) == expected


def test_rows_that_share_a_key_go_together(table: _Table, tmp_path: Path) -> None:
    """Trino wrote keys twice (trinodb/trino 8268, 8452); Hive deletes all rows of a key."""
    rows: dict[int, list[Row]] = {0: [(1, "a"), (2, "b")]}
    folder = AcidLocation(tmp_path, FIELDS, OrcLayout(stripe_rows=1), attempt=0)
    folder.insert(1, rows)
    replace(folder, attempt=1).insert(1, rows)
    first = RowKey(1, bucket_property(0), 0)
    folder.delete(2, [first])
    reader, both = _Reader(table, tmp_path), Snapshot(2)
    assert sorted(_tuples(reader.read(Snapshot(1), ("k",)))) == [(1,), (1,), (2,), (2,)]
    assert sorted(_tuples(reader.read(both, ("k",)))) == [(2,), (2,)]


def _started(home: str, originals: list[int], steps: list[Step] | None = None) -> History:
    history = History(AcidLocation(Path(home, "t"), FIELDS))
    history.start(originals)
    for step in steps or ():
        history.apply(step)
    return history


def _check_history(table: _Table, originals: list[int], steps: list[Step]) -> None:
    with TemporaryDirectory() as home:
        history = _started(home, originals)
        reader = _Reader(table, history.folder.path)
        for step in steps:
            history.apply(step)
            assert reader.rows(history.snapshot()) == history.model.visible(history.snapshot())
        for snapshot in [*history.snapshots.values(), *map(history.snapshot().as_of, history.versions())]:
            _check(history, reader, snapshot)


def _check(history: History, reader: _Reader, snapshot: Snapshot) -> None:
    """Right, or refused where a base has taken in what the snapshot does not see."""
    try:
        found = reader.rows(snapshot)
    except ConnectorError as error:
        if not (error.code in _GONE and history.has_base_above(snapshot.last_complete)):
            raise
    else:
        assert found == history.model.visible(snapshot), f"{snapshot} of {history.on_disk()}"


def _fits(domain: Domain, value: object) -> bool:
    return domain.includes_value(cast("Value | None", value))


def _tuples(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
