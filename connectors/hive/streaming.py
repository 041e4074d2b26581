"""Offsets in the history of a transactional table, and the rows between them. Driver side.

Write ids are given out when a writer begins and committed when it ends, so a high watermark alone is no offset: a write
id below it may commit later. An offset holds the list of those that were open, and each comes once it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamStart, offset_fields, offset_text
from connectors.hive.acid.changes import BEFORE_ALL, ChangeSpan
from connectors.hive.acid.valid_ids import AcidSnapshot, RangeValidity, ValidIds
from connectors.hive.listing.acid_table import version_write_id

__all__ = ["StreamedRows", "initial_offset", "latest_offset", "streamed_rows"]

_FIELDS = {"high_watermark": int, "open": list}


@dataclass(frozen=True, slots=True)
class StreamedRows:
    """What a batch reads.

    Attributes:
        snapshot: What is visible at the end of the batch.
        changes: Whose inserts or changes; ``None`` for the whole table.
    """

    snapshot: AcidSnapshot
    changes: ChangeSpan | None


@dataclass(frozen=True, slots=True)
class _Offset:
    """An offset: what was open then, of the write ids up to the highest."""

    high_watermark: int
    open: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return offset_text({"high_watermark": self.high_watermark, "open": self.open})


def initial_offset(name: SchemaTableName, ids: ValidIds, start: StreamStart) -> str:
    """Where a stream begins.

    Args:
        name: The table.
        ids: Its write ids as they are now.
        start: By write id, from the beginning or from now on.

    Raises:
        InvalidArgumentError: The version is no write id of the table.
        NotSupportedError: It is a time.
    """
    if start.latest:
        return _Offset(ids.high_watermark, ids.open).text
    if start.version is None:
        return _Offset(BEFORE_ALL).text
    write_id = version_write_id(name, start.version)
    if write_id > ids.high_watermark + start.inclusive:
        raise InvalidArgumentError(
            f"{name} has no version {write_id}: expected a write id from 0 to {ids.high_watermark}, or the next one"
        )
    # Write ids before it are not asked for, also those that are open now.
    return _Offset(write_id - start.inclusive).text


def latest_offset(
    name: SchemaTableName, ids: ValidIds, offset: str, max_versions: int | None, until: str | None
) -> str:
    """How far a batch may go.

    Args:
        name: The table.
        ids: Its write ids as they are now.
        offset: Where the batch begins.
        max_versions: Most write ids of the batch; the first batch of a stream is the whole table.
        until: An offset not to go beyond.

    Raises:
        InvalidArgumentError: The offset is none of this table.
    """
    begin = _offset(name, offset, ids)
    if until is not None:
        last = _offset(name, until, ids)
        ids = replace(ids.up_to(last.high_watermark), open=(*ids.open, *last.open))
    if begin.high_watermark == BEFORE_ALL:
        return _Offset(ids.high_watermark, ids.open).text
    late = [one for one in begin.open if ids.is_valid(one)]
    later = ids.range_validity(begin.high_watermark + 1, ids.high_watermark)
    has_later = ids.high_watermark > begin.high_watermark and later is not RangeValidity.NONE
    if not late and not has_later:
        return offset
    high_watermark = ids.high_watermark if has_later else begin.high_watermark
    if max_versions is not None:
        chosen = [*late, *_valid_ids(ids, begin.high_watermark, max_versions)][:max_versions]
        late, high_watermark = late[:max_versions], max(begin.high_watermark, chosen[-1])
    # Of the write ids up to the begin only those count that were waited for there.
    waited = [one for one in begin.open if one not in late and not ids.is_aborted(one)]
    running = [one for one in ids.open if begin.high_watermark < one <= high_watermark]
    return _Offset(high_watermark, tuple(sorted([*waited, *running]))).text


def streamed_rows(
    name: SchemaTableName, snapshot: AcidSnapshot, start: str, end: str, *, changes: bool
) -> StreamedRows:
    """What a batch reads.

    Args:
        name: The table.
        snapshot: What a statement sees now.
        start: Exclusive.
        end: Inclusive.
        changes: Whether changes are asked for, or rows that were inserted.

    Raises:
        InvalidArgumentError: An offset is none of this table.
    """
    ids = snapshot.write_ids
    begin, last = (_offset(name, text, ids) for text in (start, end))
    # What has committed since does not belong to the batch, though it does to the table.
    hidden = tuple(one for one in last.open if ids.is_valid(one))
    then = replace(snapshot, hidden=hidden)
    if begin.high_watermark == BEFORE_ALL and not changes:
        is_now = not hidden and last.high_watermark == ids.high_watermark
        return StreamedRows(then if is_now else then.at(last.high_watermark), None)
    late = tuple(one for one in begin.open if one not in last.open and ids.is_valid(one))
    after = min((begin.high_watermark, *(one - 1 for one in late)))
    high_watermark = max(after, last.high_watermark)
    return StreamedRows(then, ChangeSpan(after, high_watermark, begin.high_watermark, late, inserts_only=not changes))


def _offset(name: SchemaTableName, text: str, ids: ValidIds) -> _Offset:
    fields = offset_fields(name, text, _FIELDS)
    high_watermark, running = fields["high_watermark"], fields["open"]
    assert isinstance(high_watermark, int)
    assert isinstance(running, list)
    if high_watermark > ids.high_watermark or not all(type(one) is int for one in running):
        raise InvalidArgumentError(
            f"{text!r:.200} is no offset of a stream of table {name}, whose newest write id is {ids.high_watermark}: "
            "the table was made anew, or the checkpoint is of another one; start the query with a new checkpoint"
        )
    return _Offset(high_watermark, tuple(running))


def _valid_ids(ids: ValidIds, after: int, most: int) -> Iterator[int]:
    return islice((one for one in range(after + 1, ids.high_watermark + 1) if ids.is_valid(one)), most)
