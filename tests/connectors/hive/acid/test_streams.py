"""Streams of transactional tables: random histories against the model, read while they go on and read again later."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.streaming import StreamStart
from connectors.hive import error_codes
from connectors.hive.acid.valid_ids import ValidIds
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from connectors.hive.streaming import initial_offset, latest_offset, streamed_rows
from tests.connectors.hive.acid.conftest import TABLE
from tests.connectors.hive.acid.history import FIELDS, History
from tests.connectors.hive.acid.model import AcidModel
from tests.connectors.hive.acid.snapshots import acid_snapshot
from tests.connectors.hive.acid.steps import (
    Compact,
    Finish,
    Outcome,
    Statement,
    Step,
    Verb,
    Write,
    insert_only_step_lists,
    original_counts,
    step_lists,
)
from tests.connectors.hive.acid.writer import AcidLocation, InsertOnlyFolder, Row
from tests.connectors.hive.reading import scan_table
from tests.sampling import examples

_INSERT = Statement(Verb.INSERT, (3, 2), 0)
_OPEN = Write((_INSERT,), Outcome.OPEN, 0, 0)
_DONE = Write((_INSERT,), Outcome.COMMITTED, 0, 0)
_COMMIT_FIRST = Finish(0, committed=True)
_MOST = st.sampled_from([None, None, 1, 2])
_MAJOR = Compact(True, True, Outcome.COMMITTED, False, False, 1, False, True)
_GONE = (error_codes.HIVE_ACID_HISTORY, error_codes.HIVE_FILE_CLEANED, error_codes.HIVE_ACID_LAYOUT)


@dataclass(frozen=True)
class _Batch:
    start: str
    end: str
    expected: Counter[Row]


@dataclass
class _Stream:
    """Reads a history as a stream, and knows from the model what has to come."""

    connector: HiveConnector
    history: History
    place: str
    insert_only: bool
    told: frozenset[int] | None = None

    def next_batch(self, most: int | None) -> _Batch:
        """What comes next, by brute force: each write id comes in the first batch that sees it."""
        now = self.history.snapshot()
        start, self.place = self.place, latest_offset(TABLE, acid_snapshot(now).write_ids, self.place, most, None)
        model = self.history.model
        seen = frozenset(one for one in [0, *self.history.versions()] if now.sees(one))
        if self.told is None:
            self.told = seen
            return _Batch(start, self.place, Counter(model.visible(now).values()))
        new = sorted(seen - self.told)[:most]
        self.told |= frozenset(new)
        return _Batch(start, self.place, Counter(row for one in new for row in _inserted(model, one)))

    def read(self, batch: _Batch) -> Counter[Row]:
        """What the connector gives, now."""
        rows = streamed_rows(TABLE, acid_snapshot(self.history.snapshot()), batch.start, batch.end, changes=False)

        def of_batch(handle: HiveTableHandle) -> HiveTableHandle:
            place = str(self.history.folder.path)
            handle = replace(handle, location=place, snapshot=rows.snapshot, changes=rows.changes)
            return replace(handle, insert_only=self.insert_only)

        table = scan_table(self.connector, TABLE.schema, TABLE.table, ["k", "v"], changed=of_batch).rows
        return Counter(zip(table.column("k").to_pylist(), table.column("v").to_pylist(), strict=True))


@pytest.mark.parametrize("insert_only", [False, True])
def test_streams_of_random_histories(acid_connector: HiveConnector, insert_only: bool) -> None:
    lists = insert_only_step_lists if insert_only else step_lists

    @settings(max_examples=examples(12))
    @given(originals=original_counts(), steps=lists(14), reads=st.lists(st.booleans(), min_size=14), most=_MOST)
    def check(originals: list[int], steps: list[Step], reads: list[bool], most: int | None) -> None:
        with TemporaryDirectory() as home:
            history = _history(home, insert_only)
            history.start(originals)
            stream = _Stream(acid_connector, history, initial_offset(TABLE, ValidIds(0), StreamStart()), insert_only)
            batches: list[_Batch] = []
            for step, is_read in zip(steps, reads, strict=False):
                history.apply(step)
                if is_read:
                    batches.append(stream.next_batch(most))
                    _check(stream, batches[-1])
            batches.append(stream.next_batch(None))
            for batch in batches:
                _check(stream, batch)

    check()


def _check(stream: _Stream, batch: _Batch) -> None:
    """The rows are those of the model; or compaction took them over, and it is said."""
    note(f"{batch}, now {stream.history.snapshot()}, on disk {stream.history.on_disk()}")
    try:
        met = stream.read(batch)
    except ConnectorError as error:
        if error.code not in _GONE or not stream.history.is_compacted_above(-1):
            raise
        note(str(error))
        return
    assert met == batch.expected


def test_a_write_id_that_commits_late_comes_once(acid_connector: HiveConnector, tmp_path: Path) -> None:
    history = _history(str(tmp_path), False)
    history.start()
    stream = _Stream(acid_connector, history, initial_offset(TABLE, ValidIds(0), StreamStart()), False)
    batches = []
    for step in (_DONE, _OPEN, _DONE, _COMMIT_FIRST, _DONE):
        history.apply(step)
        batches.append(stream.next_batch(None))
    assert [batch.expected.total() for batch in batches] == [5, 0, 5, 5, 5]
    for batch in batches:
        assert stream.read(batch) == batch.expected
    assert stream.next_batch(None).start == batches[-1].end


def test_what_compaction_took_over_is_refused(acid_connector: HiveConnector, tmp_path: Path) -> None:
    history = _history(str(tmp_path), False)
    history.start()
    stream = _Stream(acid_connector, history, initial_offset(TABLE, ValidIds(0), StreamStart()), False)
    for step in (_DONE, _DONE):
        history.apply(step)
        stream.next_batch(None)
    history.apply(_DONE)
    behind = stream.next_batch(None)
    history.apply(_MAJOR)
    with pytest.raises(InvalidArgumentError, match=r"base_0*3.* has replaced what was written before"):
        stream.read(behind)
    history.apply(_DONE)
    after = stream.next_batch(None)
    assert stream.read(after) == after.expected


def test_where_a_stream_begins() -> None:
    ids = ValidIds(7, open=(5,))

    def place(version: str, inclusive: bool = True) -> str:
        return initial_offset(TABLE, ids, StreamStart(TableVersion(VersionKind.VERSION, version), inclusive))

    assert initial_offset(TABLE, ids, StreamStart(latest=True)) == '{"high_watermark":7,"open":[5]}'
    assert place("6") == place("5", inclusive=False) == '{"high_watermark":5,"open":[]}'
    assert latest_offset(TABLE, ids, place("8"), None, None) == place("8")
    assert latest_offset(TABLE, ids, place("6"), 1, None) == '{"high_watermark":6,"open":[]}'
    for odd in ("9", "x"):
        with pytest.raises(InvalidArgumentError):
            place(odd)
    with pytest.raises(InvalidArgumentError, match="the table was created again"):
        latest_offset(TABLE, ValidIds(3), place("6"), None, None)
    with pytest.raises(NotSupportedError, match="as of a time"):
        initial_offset(TABLE, ids, StreamStart(TableVersion(VersionKind.TIMESTAMP, datetime(2024, 1, 1, tzinfo=UTC))))


def _inserted(model: AcidModel, write_id: int) -> list[Row]:
    """The rows that a write id left; those that it deleted again itself were never seen by anybody."""
    return [
        row
        for key, row in model.inserted.items()
        if key.write_id == write_id and write_id not in model.deleted.get(key, ())
    ]


def _history(home: str, insert_only: bool) -> History:
    return History((InsertOnlyFolder if insert_only else AcidLocation)(Path(home, "t"), FIELDS))
