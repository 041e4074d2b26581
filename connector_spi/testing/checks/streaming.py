"""Streams, compared with a model that is a dict of rows by ``id``: all that is new comes, and nothing else."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import CHANGE_TYPE, ChangeType
from connector_spi.optional.streaming import StreamStart, SupportsStreaming
from connector_spi.testing.base import SCHEMA, ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour

__all__ = ["StreamingChecks"]

_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string())])
_VALUES = st.sampled_from(["a", "b", None])
_ROWS = st.dictionaries(st.integers(0, 7), _VALUES, max_size=4)
_STEPS = st.lists(st.tuples(_ROWS, st.sets(st.integers(0, 7), max_size=3), st.booleans()), min_size=1, max_size=4)
_MOST_HISTORIES = 15
"""Each makes a table of its own, which stays to the end of the test."""
_CAME = (ChangeType.INSERT.value, ChangeType.UPDATE_POSTIMAGE.value)

Rows = Mapping[int, str | None]


@dataclass(frozen=True)
class _Batch:
    """One batch, the states of the table around it, and all rows that were written in it."""

    start: str
    end: str
    rows: pa.Table
    before: Rows
    after: Rows
    written: Counter[tuple[int, str | None]]

    def check(self) -> None:
        """All that is other than before has come, and nothing that was not written."""
        met = _bag(self.rows)
        needed = Counter(item for item in self.after.items() if item not in self.before.items())
        assert not needed - met, "rows are missing"
        assert not met - self.written, "rows came that were not written, or more often than they were written"


class StreamingChecks(ConformanceBase):
    """Batches, their limits, places that are none."""

    _tables_read = itertools.count()

    def test_a_stream_gives_what_is_new(self) -> None:
        self.require(Behaviour.STREAMING)

        # Explaining a failure would make hundreds of tables more.
        phases = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)

        @settings(
            max_examples=min(self.max_examples, _MOST_HISTORIES),
            phases=phases,
            report_multiple_bugs=False,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(_ROWS.filter(bool), _STEPS)
        def check(created: Rows, steps: list[tuple[Rows, set[int], bool]]) -> None:
            name = self._new_table(created)
            state, offset = dict(created), self._initial(name, StreamStart())
            batches: list[_Batch] = []
            before: Rows = {}
            written = Counter(created.items())
            for rows, deletes, is_read in [({}, set[int](), True), *steps, ({}, set[int](), True)]:
                gone = deletes - rows.keys()
                if rows or gone:
                    self.merge_rows(name, _table(rows), sorted(gone))
                state = {key: value for key, value in {**state, **rows}.items() if key not in gone}
                written.update(rows.items())
                if is_read:
                    end = self._latest(name, offset)
                    batches.append(
                        _Batch(
                            start=offset,
                            end=end,
                            rows=self._read(name, offset, end),
                            before=before,
                            after=dict(state),
                            written=written,
                        )
                    )
                    offset, before, written = end, dict(state), Counter()
            assert self._latest(name, offset) == offset, "nothing is new, and there is an offset further on"
            for batch in batches:
                batch.check()
                # After a restart the engine reads a batch again that was cut off.
                assert_same_rows(self._read(name, batch.start, batch.end), batch.rows)
                self._check_changes(name, batch)

        check()

    def test_the_first_batch_is_the_table_as_it_is(self) -> None:
        self.require(Behaviour.STREAMING)
        name = self._new_table({1: "a", 2: "a"})
        self.merge_rows(name, _table({1: "b", 3: "a"}), [2])
        start = self._initial(name, StreamStart())
        end = self._latest(name, start, 1)
        self.merge_rows(name, _table({4: "a"}), [1])
        assert _bag(self._read(name, start, end)) == Counter({(1, "b"): 1, (3, "a"): 1})

    def test_batches_of_one_version(self) -> None:
        self.require(Behaviour.STREAMING)
        name = self._new_table({0: "a"})
        offset = self._initial(name, StreamStart(latest=True))
        assert self._latest(name, offset) == offset
        for number in (1, 2, 3):
            self.merge_rows(name, _table({number: "a"}), [])
        until = self._latest(name, offset)
        self.merge_rows(name, _table({4: "a"}), [])
        for number in (1, 2, 3):
            end = self._latest(name, offset, 1, until)
            assert _bag(self._read(name, offset, end)) == Counter({(number, "a"): 1})
            offset = end
        assert self._latest(name, offset, 1, until) == offset
        assert _bag(self._read(name, offset, self._latest(name, offset))) == Counter({(4, "a"): 1})

    def test_a_stream_from_a_version_on(self) -> None:
        self.require(Behaviour.STREAMING)
        name = self._new_table({0: "a"})
        self.merge_rows(name, _table({1: "a"}), [])
        version = self.newest_version(name)
        self.merge_rows(name, _table({2: "a"}), [])
        for inclusive, expected in ((True, [1, 2]), (False, [2])):
            start = self._initial(name, StreamStart(version, inclusive))
            met = self._read(name, start, self._latest(name, start))
            assert sorted(met.column("id").to_pylist()) == expected

    def test_places_that_are_none(self) -> None:
        self.require(Behaviour.STREAMING)
        name = self._new_table({1: "a"})
        offset = self._latest(name, self._initial(name, StreamStart()))
        missing = SchemaTableName(SCHEMA, "no_such_table")
        with self.query() as query:
            metadata = query.metadata
            assert isinstance(metadata, SupportsStreaming)
            assert metadata.get_initial_offset(query.session, missing, StreamStart()) is None
            assert metadata.get_latest_offset(query.session, missing, offset) is None
            assert metadata.get_stream_batch(query.session, missing, offset, offset, changes=False) is None
            for odd in ("", "{}", "no offset", '{"other": 1}'):
                with pytest.raises(InvalidArgumentError):
                    metadata.get_latest_offset(query.session, name, odd)
                with pytest.raises(InvalidArgumentError):
                    metadata.get_stream_batch(query.session, name, offset, odd, changes=False)
        assert "\n" not in offset

    def _check_changes(self, name: SchemaTableName, batch: _Batch) -> None:
        met = self._read(name, batch.start, batch.end, changes=True)
        came = pa.array([kind in _CAME for kind in met.column(CHANGE_TYPE).to_pylist()], pa.bool_())
        went = pa.array([kind not in _CAME for kind in met.column(CHANGE_TYPE).to_pylist()], pa.bool_())
        net = Counter(batch.before.items())
        net.update(_bag(met.filter(came)))
        net.subtract(_bag(met.filter(went)))
        assert +net == Counter(batch.after.items())
        assert min(net.values(), default=0) >= 0

    def _new_table(self, rows: Rows) -> SchemaTableName:
        return self.made(_table(rows), table=f"streamed_{next(self._tables_read)}")

    def _initial(self, name: SchemaTableName, start: StreamStart) -> str:
        with self.query() as query:
            assert isinstance(query.metadata, SupportsStreaming)
            found = query.metadata.get_initial_offset(query.session, name, start)
            assert found is not None
            return found

    def _latest(
        self, name: SchemaTableName, offset: str, max_versions: int | None = None, until: str | None = None
    ) -> str:
        with self.query() as query:
            assert isinstance(query.metadata, SupportsStreaming)
            found = query.metadata.get_latest_offset(query.session, name, offset, max_versions, until)
            assert found is not None
            return found

    def _read(self, name: SchemaTableName, start: str, end: str, *, changes: bool = False) -> pa.Table:
        with self.query() as query:
            assert isinstance(query.metadata, SupportsStreaming)
            found = query.metadata.get_stream_batch(query.session, name, start, end, changes=changes)
            assert found is not None
            return query.scan(found).read()


def _table(rows: Rows) -> pa.Table:
    return pa.table({"id": list(rows), "v": list(rows.values())}, _SCHEMA)


def _bag(table: pa.Table) -> Counter[tuple[int, str | None]]:
    return Counter(zip(table.column("id").to_pylist(), table.column("v").to_pylist(), strict=True))
