"""What the logs of a slice say, one row for each key: kept from another read, or read and merged. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from typing import TypeAlias

from connector_spi.handles import ColumnHandle
from connector_spi.scan_counters import count
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.merge.event_store import KeyRange, decoded_bytes, held_bytes
from connectors.hudi.merge.key_index import key_index
from connectors.hudi.merge.merged import merged_log
from connectors.hudi.read.kept_log import KeptLog
from connectors.hudi.read.log_cache import LOG_CACHE, LogCache, log_identity
from connectors.hudi.read.log_events import (
    counting_blocks,
    events_of_blocks,
    log_form,
    slice_merge_columns,
    values_of_events,
)
from connectors.hudi.read.slice_logs import SliceLogs
from connectors.hudi.read.slice_read import SliceRead

__all__ = ["SliceMerge"]

_Parts: TypeAlias = Generator[tuple[KeyRange, KeptLog], None, None]


class SliceMerge:
    """The merged logs of a slice.

    Args:
        read: What to read.
        cache: Where they are kept for other reads.

    Attributes:
        identity: Stands for the logs (``log_identity``); ``None`` where they are not kept.
        bytes_read: Bytes of logs that were read so far.
    """

    def __init__(self, read: SliceRead, cache: LogCache[KeptLog] = LOG_CACHE) -> None:
        self._read = read
        self._cache = cache
        self._memory = min(read.merge_cache, held_bytes(read.merge_memory))
        self.identity = log_identity(read) if self._memory else None
        self.bytes_read = 0

    def parts(self) -> _Parts:
        """What the logs say of some keys at a time, of the columns of the read's merge; to be closed."""
        with self._alone():
            kept = self._kept()
            found = None if kept is None else self._found(kept)
            merged = self._merged(kept) if found is None else None
            # All logs are read for the first part, and kept where it is all there is.
            first = None if merged is None else next(merged, None)
        if found is not None:
            yield KeyRange(), found
        if merged is not None:
            with closing(merged):
                if first is not None:
                    yield first
                del first
                yield from merged

    def _alone(self) -> AbstractContextManager[None]:
        """Other splits of the slice wait for its logs, where what is merged of them will be kept."""
        logs = sum(log.size for log in self._read.split.logs)
        if self.identity is None or logs > self._memory:
            return nullcontext()
        return self._cache.merging(self.identity)

    def _kept(self) -> KeptLog | None:
        kept = None if self.identity is None else self._cache.get(self.identity)
        return kept if kept is not None and kept.nbytes <= self._memory else None

    def _found(self, kept: KeptLog) -> KeptLog | None:
        """The columns of the read, of what is kept or with those that it lacks."""
        columns = slice_merge_columns(self._read, kept.form)
        found = kept.of(columns)
        if found is not None:
            count("log blocks merged", found.blocks)
            count("file slices whose merged logs were kept")
        else:
            missing = kept.missing(columns)
            found = self._completed(kept, columns, missing) if missing else None
        if found is not None:
            count("log records merged", found.records)
        return found

    def _completed(self, kept: KeptLog, columns: MergeColumns, missing: Sequence[ColumnHandle]) -> KeptLog | None:
        """What is kept, with the columns that it lacks, which alone are decoded of the logs."""
        read = self._read
        with SliceLogs(read.files, read.split.logs, decoded_bytes(read.merge_memory)) as logs:
            blocks = counting_blocks(read, logs)
            values = values_of_events(read, blocks, logs, columns.values_of(missing))
            self.bytes_read += sum(block.content_length for block in blocks)
        if values is None or len(values) != kept.records:
            return None
        made = kept.with_values(values)
        if self.identity is not None:
            # Other slices are worth more than columns of this one that are not asked now.
            room = self._memory - self._cache.nbytes + kept.nbytes
            self._cache.put(self.identity, made.within(room, columns.names), self._memory)
        return made.of(columns)

    def _merged(self, before: KeptLog | None) -> _Parts:
        read = self._read
        with SliceLogs(read.files, read.split.logs, decoded_bytes(read.merge_memory)) as logs:
            blocks = counting_blocks(read, logs)
            form = log_form(read, blocks)
            columns = slice_merge_columns(read, form)
            wide = columns if before is None else slice_merge_columns(self._widened(columns, before), form)
            events = events_of_blocks(read, blocks, logs, wide)
            self.bytes_read += sum(block.content_length for block in blocks)
        with events as store:
            for keys, tables in store.read():
                log = merged_log(tables, wide) if tables else None
                if log is not None and not store.is_whole:
                    log = replace(log, events=None)
                index = None if log is None else key_index(log.keys)
                made = KeptLog(form, log, index, len(blocks), store.records)
                # What a plugin's merger holds is not known here.
                if keys.is_all and self.identity is not None and columns.combine is None:
                    self._cache.put(self.identity, made, self._memory)
                narrow = made.of(columns)
                assert narrow is not None
                del made, log
                yield keys, narrow

    def _widened(self, columns: MergeColumns, before: KeptLog) -> SliceRead:
        """The read with the columns that others asked: in the end the cache has what all queries ask.

        Where it would fill the cache, the other slices are worth more than both columns of this one.
        """
        known = {*columns.names, *self._read.constants}
        fits = self._cache.nbytes + before.nbytes <= self._memory
        more = [ColumnHandle(field.name, field.type) for field in before.schema if fits and field.name not in known]
        return replace(self._read, columns=(*columns.given, *more))
