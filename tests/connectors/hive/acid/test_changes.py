"""Changes between write ids: of random histories against the model, and of tables that real Hive wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pyarrow as pa
from hypothesis import given, note, settings
from hypothesis import strategies as st

from connector_spi.errors import ConnectorError
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.hive import error_codes
from connectors.hive.acid.changes import BEFORE_ALL, ChangeSpan
from connectors.hive.config import MAX_SPLIT_SIZE
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from tests.connectors.hive.acid.conftest import TABLE
from tests.connectors.hive.acid.history import FIELDS, History
from tests.connectors.hive.acid.model import Snapshot
from tests.connectors.hive.acid.snapshots import acid_snapshot
from tests.connectors.hive.acid.steps import Step, original_counts, step_lists
from tests.connectors.hive.acid.writer import AcidLocation, Row, RowKey
from tests.connectors.hive.reading import make_session, scan_table
from tests.sampling import examples

_COLUMNS = ("_commit_version", "_change_type", "$row_id", "k", "v")

Change = tuple[int, str, RowKey, Row]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the changes of a history's folder."""

    connector: HiveConnector
    folder: Path
    properties: Mapping[str, int] = field(default_factory=dict)

    def changes(
        self, snapshot: Snapshot, span: ChangeSpan, filters: Mapping[str, Domain] | None = None
    ) -> list[Change]:
        """The changes of a span, before anything is filtered again."""
        found = self.table(snapshot, span, _COLUMNS, filters).to_pylist()
        return [
            (row["_commit_version"], row["_change_type"], RowKey(*row["$row_id"].values()), (row["k"], row["v"]))
            for row in found
        ]

    def table(
        self,
        snapshot: Snapshot,
        span: ChangeSpan,
        columns: tuple[str, ...],
        filters: Mapping[str, Domain] | None = None,
    ) -> pa.Table:
        """What the page sources give."""

        def of_span(handle: HiveTableHandle) -> HiveTableHandle:
            return replace(handle, location=str(self.folder), snapshot=acid_snapshot(snapshot), changes=span)

        return scan_table(
            self.connector,
            TABLE.schema,
            TABLE.table,
            columns,
            constraint=TupleDomain(filters) if filters else None,
            session=make_session(self.connector, "UTC", **self.properties),
            changed=of_span,
        ).rows


def _spans() -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=5, max_size=5)


@settings(max_examples=examples(60))
@given(originals=original_counts(), steps=step_lists(14), spans=_spans())
def test_the_changes_of_any_span_are_the_differences_of_the_models_states(
    acid_connector: HiveConnector, originals: list[int], steps: list[Step], spans: list[tuple[int, int]]
) -> None:
    with TemporaryDirectory() as home:
        history = _started(home, originals, steps)
        now = history.snapshot()
        reader = _Reader(acid_connector, history.folder.path)
        note(f"{now}, on disk: {sorted(path.name for path in history.folder.path.iterdir())}")
        for span in _chosen(history, spans):
            found = _changes_or_refusal(history, reader, now, span)
            if found is not None:
                assert Counter(found) == Counter(_expected(history, now, span))


@settings(max_examples=examples(15))
@given(originals=original_counts(), steps=step_lists(), spans=_spans(), split=st.integers(40, 1000) | st.just(10**6))
def test_filters_columns_and_splits_change_nothing(
    acid_connector: HiveConnector, originals: list[int], steps: list[Step], spans: list[tuple[int, int]], split: int
) -> None:
    with TemporaryDirectory() as home:
        history = _started(home, originals, steps)
        now = history.snapshot()
        reader = _Reader(acid_connector, history.folder.path, {MAX_SPLIT_SIZE.name_in_session: split})
        for span in _chosen(history, spans)[:2]:
            found = _changes_or_refusal(history, reader, now, span)
            if found is None:
                continue
            expected = _expected(history, now, span)
            assert Counter(found) == Counter(expected)
            assert reader.table(now, span, ()).num_rows == len(expected)
            only = reader.table(now, span, ("_commit_version", "_commit_timestamp"))
            assert Counter(only.column(0).to_pylist()) == Counter(one[0] for one in expected)
            assert only.column(1).null_count == len(expected)
            for kind in ("insert", "delete"):
                some = Counter(reader.changes(now, span, {"_change_type": Domain.single_value(pa.string(), kind)}))
                assert {one for one in some if one[1] == kind} == {one for one in expected if one[1] == kind}
                assert not some - Counter(expected)
            below = Domain.create(ValueSet.of_ranges(pa.int32(), [Range.less_than(pa.int32(), 4)]), False)
            some = Counter(reader.changes(now, span, {"k": below}))
            assert {one for one in some if _k(one) < 4} == {one for one in expected if _k(one) < 4}
            assert not some - Counter(expected)


def _chosen(history: History, spans: list[tuple[int, int]]) -> list[ChangeSpan]:
    versions = [BEFORE_ALL, 0, *history.versions()]
    chosen = []
    for one, other in spans:
        first = one % len(versions)
        chosen.append(ChangeSpan(versions[first], versions[first + other % (len(versions) - first)]))
    return [*chosen, ChangeSpan(BEFORE_ALL, versions[-1])]


def _changes_or_refusal(history: History, reader: _Reader, now: Snapshot, span: ChangeSpan) -> list[Change] | None:
    """``None`` where a base has taken over what the span or the state before it needs."""
    note(str(span))
    try:
        return reader.changes(now, span)
    except ConnectorError as error:
        gone = error.code in (error_codes.HIVE_ACID_HISTORY, error_codes.HIVE_FILE_CLEANED)
        if not (gone and history.has_base_above(span.after)):
            raise
        note(str(error))
        return None


def _expected(history: History, now: Snapshot, span: ChangeSpan) -> list[Change]:
    before = {} if span.after == BEFORE_ALL else history.model.visible(now.as_of(span.after))
    found: list[Change] = []
    for version in [0, *history.versions()]:
        if not span.after < version <= span.last:
            continue
        after = history.model.visible(now.as_of(version))
        found += [(version, "insert", key, row) for key, row in after.items() if key not in before]
        found += [(version, "delete", key, row) for key, row in before.items() if key not in after]
        before = after
    return found


def _k(change: Change) -> int:
    return cast(int, change[3][0])


def _started(home: str, originals: list[int], steps: list[Step]) -> History:
    history = History(AcidLocation(Path(home, "t"), FIELDS))
    history.start(originals)
    for step in steps:
        history.apply(step)
    return history
