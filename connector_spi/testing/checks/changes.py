"""Changes between versions, compared with a model that is a dict of rows by ``id``."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    ChangeRange,
    ChangeType,
    SupportsChanges,
)
from connector_spi.predicate import TupleDomain
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import rows_that_fit
from connector_spi.testing.strategies import predicates

__all__ = ["ChangesChecks"]

_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string())])
_VALUES = st.sampled_from(["a", "b", None])
_ROWS = st.dictionaries(st.integers(0, 7), _VALUES, max_size=4)
_STEPS = st.lists(st.tuples(_ROWS, st.sets(st.integers(0, 7), max_size=3)), min_size=1, max_size=4)
_MOST_HISTORIES = 40
"""Each makes a table of its own, which stays to the end of the test."""
_TOLD = {
    ChangeType.INSERT.value: 1,
    ChangeType.UPDATE_POSTIMAGE.value: 1,
    ChangeType.DELETE.value: -1,
    ChangeType.UPDATE_PREIMAGE.value: -1,
}

Rows = Mapping[int, str | None]
Change = tuple[str, int, str | None, int]
"""Version, id, value, and 1 for a row that came or -1 for one that went."""


@dataclass
class _History:
    """What a table was after each of its versions."""

    versions: list[TableVersion] = field(default_factory=list)
    states: list[Rows] = field(default_factory=lambda: [{}])

    def add(self, version: TableVersion, state: Rows) -> None:
        if self.versions and self.versions[-1] == version:
            assert self.states[-1] == state, "the rows changed without a new version"
            return
        self.versions.append(version)
        self.states.append(state)

    def changes(self, first: int, last: int) -> Counter[Change]:
        """Of the versions with these numbers, the last included."""
        found: Counter[Change] = Counter()
        for number in range(first, last + 1):
            version = str(self.versions[number].value)
            before, after = self.states[number].items(), self.states[number + 1].items()
            found.update((version, key, value, -1) for key, value in before - after)
            found.update((version, key, value, 1) for key, value in after - before)
        return found


class ChangesChecks(ConformanceBase):
    """Ranges, contents, filters."""

    _tables = itertools.count()

    def test_the_changes_of_any_range_are_those_of_a_model(self) -> None:
        self.require(Behaviour.CHANGES)

        # Explaining a failure would make hundreds of tables more.
        phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
        examples = min(self.max_examples, _MOST_HISTORIES)

        @settings(
            max_examples=examples,
            phases=phases,
            report_multiple_bugs=False,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(_ROWS.filter(bool), _STEPS, st.data())
        def check(created: Rows, steps: list[tuple[Rows, set[int]]], data: st.DataObject) -> None:
            name, history = self._made(created, steps)
            last = len(history.versions) - 1
            first = data.draw(st.integers(0, last))
            end = data.draw(st.integers(first, last))
            includes = data.draw(st.booleans()), data.draw(st.booleans())
            bounds = history.versions[first], None if end == last and includes[1] else history.versions[end]
            met = self._changes(name, ChangeRange(*bounds, *includes))
            expected = history.changes(first + (not includes[0]), end - (not includes[1]))
            assert _told(met) == expected
            everything = self._changes(name, ChangeRange())
            assert _told(everything) == history.changes(0, last)
            self._check_filter(name, everything, data)
            self._check_times(name, everything, data)

        check()

    def test_changes_have_the_columns_of_the_table_and_three_more(self) -> None:
        self.require(Behaviour.CHANGES)
        name, _ = self._made({1: "a"}, [])
        with self.query() as query:
            assert isinstance(query.metadata, SupportsChanges)
            found = query.metadata.get_changes(query.session, query.table(name).table, ChangeRange())
            table = query.metadata.get_table_metadata(query.session, found.table)
            summary = query.scan(found.table).splits()[1]
        visible = [(column.name, column.type) for column in table.visible_columns()]
        version = dict(visible)[COMMIT_VERSION]
        assert version in (pa.int64(), pa.string())
        assert visible == [
            *zip(_SCHEMA.names, _SCHEMA.types, strict=True),
            (CHANGE_TYPE, pa.string()),
            (COMMIT_VERSION, version),
            (COMMIT_TIMESTAMP, pa.timestamp("us", "UTC")),
        ]
        assert set(found.row_id) <= {column.name for column in table.columns}
        assert "changes" in (summary.snapshot or "")

    def test_changes_in_the_making_are_not_seen(self) -> None:
        self.require(Behaviour.CHANGES)
        name, history = self._made({1: "a"}, [({2: "b"}, set())])
        with self.query() as query:
            scan = query.changes(name, ChangeRange())
            self.merge_rows(name, _table({1: "c"}), [2])
            assert _told(scan.read()) == history.changes(0, len(history.versions) - 1)

    def test_ranges_that_are_not_there(self) -> None:
        self.require(Behaviour.CHANGES)
        name, history = self._made({1: "a"}, [({1: "b"}, set())])
        first, newest = history.versions[0], history.versions[-1]
        odd = TableVersion(VersionKind.VERSION, "no such version")
        with self.query() as query:
            assert isinstance(query.metadata, SupportsChanges)
            table = query.table(name).table
            for change_range in (ChangeRange(odd), ChangeRange(first, odd), ChangeRange(newest, first)):
                with pytest.raises(InvalidArgumentError):
                    query.metadata.get_changes(query.session, table, change_range)

    def _made(self, created: Rows, steps: list[tuple[Rows, set[int]]]) -> tuple[SchemaTableName, _History]:
        name = self.made(_table(created), table=f"history_{next(self._tables)}")
        history, state = _History(), dict(created)
        history.add(self.newest_version(name), dict(state))
        for rows, deletes in steps:
            gone = deletes - rows.keys()
            self.merge_rows(name, _table(rows), sorted(gone))
            state = {key: value for key, value in {**state, **rows}.items() if key not in gone}
            history.add(self.newest_version(name), dict(state))
        return name, history

    def _changes(self, name: SchemaTableName, change_range: ChangeRange) -> pa.Table:
        with self.query() as query:
            return query.changes(name, change_range).read()

    def _check_filter(self, name: SchemaTableName, everything: pa.Table, data: st.DataObject) -> None:
        named = everything.drop_columns([COMMIT_TIMESTAMP])
        if not _has_values(named):
            return
        predicate: TupleDomain[str] = data.draw(predicates(named))
        columns = data.draw(st.permutations(named.column_names))[:2]
        with self.query() as query:
            met = query.changes(name, ChangeRange()).filter_by_name(predicate).project_names(columns).read()
        assert_same_rows(met, rows_that_fit(named, predicate).select(columns))

    def _check_times(self, name: SchemaTableName, everything: pa.Table, data: st.DataObject) -> None:
        times = sorted({time for time in everything.column(COMMIT_TIMESTAMP).to_pylist() if time is not None})
        if not times:
            return
        start = data.draw(st.sampled_from(times))
        includes = data.draw(st.booleans())
        bound = TableVersion(VersionKind.TIMESTAMP, start)
        met = self._changes(name, replace(ChangeRange(bound), start_inclusive=includes))
        fits = [
            time is not None and (time > start or (includes and time == start))
            for time in everything.column(COMMIT_TIMESTAMP).to_pylist()
        ]
        assert_same_rows(met, everything.filter(pa.array(fits, pa.bool_())))


def _table(rows: Rows) -> pa.Table:
    return pa.table({"id": list(rows), "v": list(rows.values())}, _SCHEMA)


def _has_values(table: pa.Table) -> bool:
    return all(table.column(name).null_count < table.num_rows for name in table.column_names)


def _told(changes: pa.Table) -> Counter[Change]:
    """The changes as a bag; a row that went and came back unchanged in one version is no change."""
    columns: Sequence[list[object]] = [changes.column(name).to_pylist() for name in (COMMIT_VERSION, "id", "v")]
    rows = [(str(version), key, value) for version, key, value in zip(*columns, strict=True)]
    signs = [_TOLD[change] for change in changes.column(CHANGE_TYPE).to_pylist()]
    came = Counter(row for row, sign in zip(rows, signs, strict=True) if sign > 0)
    went = Counter(row for row, sign in zip(rows, signs, strict=True) if sign < 0)
    found: Counter[Change] = Counter()
    for row, count in (came - went).items():
        found[(*row, 1)] += count
    for row, count in (went - came).items():
        found[(*row, -1)] += count
    return found
