"""Stream offsets of a transactional table, and the rows between two of them. Driver side.

A write id is allocated when a writer begins and committed when it ends, so a high watermark alone is not an offset: a
write id below it may commit later. So an offset also holds the open write ids; each is read once it has committed.
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
        changes: The write ids whose inserts or changes are read; ``None`` for the whole table.
    """

    snapshot: AcidSnapshot
    changes: ChangeSpan | None


@dataclass(frozen=True, slots=True)
class _Offset:
    """The highest write id at a moment, and those below it that were open."""

    high_watermark: int
    open: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return offset_text({"high_watermark": self.high_watermark, "open": self.open})


def initial_offset(name: SchemaTableName, ids: ValidIds, start: StreamStart) -> str:
    """The offset at which a stream begins.

    Args:
        name: The table.
        ids: Its current write ids.
        start: A write id, the beginning, or now.

    Raises:
        InvalidArgumentError: The version is not a write id of the table.
        NotSupportedError: The start is a time.
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
    # Write ids before it are not read, not even those that are open now.
    return _Offset(write_id - start.inclusive).text


def latest_offset(
    name: SchemaTableName, ids: ValidIds, offset: str, max_versions: int | None, until: str | None
) -> str:
    """The offset at which a batch ends.

    Args:
        name: The table.
        ids: Its current write ids.
        offset: Start of the batch.
        max_versions: Most write ids of the batch; the first batch of a stream is the whole table.
        until: An offset that the batch must not pass.

    Raises:
        InvalidArgumentError: An offset does not belong to this table.
    """
    begin = _parse_offset(name, offset, ids)
    if until is not None:
        last = _parse_offset(name, until, ids)
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
    # Of the write ids up to the start, only those that were open there are still due.
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
        start: Start of the batch, exclusive.
        end: End of the batch, inclusive.
        changes: Read changes; else inserted rows.

    Raises:
        InvalidArgumentError: An offset does not belong to this table.
    """
    ids = snapshot.write_ids
    begin, last = (_parse_offset(name, text, ids) for text in (start, end))
    # Write ids committed since belong to the table, but not to the batch.
    hidden = tuple(one for one in last.open if ids.is_valid(one))
    then = replace(snapshot, hidden=hidden)
    if begin.high_watermark == BEFORE_ALL and not changes:
        is_now = not hidden and last.high_watermark == ids.high_watermark
        return StreamedRows(then if is_now else then.at(last.high_watermark), None)
    late = tuple(one for one in begin.open if one not in last.open and ids.is_valid(one))
    after = min((begin.high_watermark, *(one - 1 for one in late)))
    high_watermark = max(after, last.high_watermark)
    return StreamedRows(then, ChangeSpan(after, high_watermark, begin.high_watermark, late, inserts_only=not changes))


def _parse_offset(name: SchemaTableName, text: str, ids: ValidIds) -> _Offset:
    fields = offset_fields(name, text, _FIELDS)
    high_watermark, running = fields["high_watermark"], fields["open"]
    assert isinstance(high_watermark, int)
    assert isinstance(running, list)
    if high_watermark > ids.high_watermark or not all(type(one) is int for one in running):
        raise InvalidArgumentError(
            f"{text!r:.200} is not an offset in a stream of table {name}, whose newest write id is "
            f"{ids.high_watermark}: the table was created again, or the checkpoint belongs to another table; start the "
            "query with a new checkpoint"
        )
    return _Offset(high_watermark, tuple(running))


def _valid_ids(ids: ValidIds, after: int, most: int) -> Iterator[int]:
    return islice((one for one in range(after + 1, ids.high_watermark + 1) if ids.is_valid(one)), most)
