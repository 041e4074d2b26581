"""Compactions of tables whose rows have ids: rows and delete events are merged, bucket by bucket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

import pyarrow as pa

from catalog.metastore.compactions import CompactionKind
from connectors.hive.acid.directories.data_files import cleaned_away, data_files, delete_files
from connectors.hive.acid.directories.listing import AcidListing
from connectors.hive.acid.file import AcidFile
from connectors.hive.compaction.keyed_file import Columns, KeyedFileWriter, delete_events, inserted_rows
from connectors.hive.compaction.merging import SortedStream, merged
from connectors.hive.compaction.output import CompactedFiles
from connectors.hive.compaction.plan import CompactionPlan
from connectors.hive.compaction.sources import TableSources
from connectors.hive.write.sink.compression import compression
from connectors.toolkit.storage.filesystem import storage_errors

__all__ = ["compact_rows"]


def compact_rows(
    plan: CompactionPlan, sources: TableSources, output: CompactedFiles, check: Callable[[], None]
) -> None:
    """Writes the files of a compaction.

    Args:
        plan: What is made.
        sources: Reads the table's files.
        output: Takes the files.
        check: Called between batches; raises where the compaction is to be given up.

    Raises:
        ConnectorError: A file cannot be read, or a value of it cannot be written so that all readers agree on it.
    """
    table = sources.table
    codec = compression(table.storage)
    visible = plan.listed.snapshot.visible
    row = pa.struct([(column.name, column.type) for column in table.data_columns])
    with cleaned_away(plan.listed.location):
        for bucket, files in _by_bucket(_data_files(plan, sources)).items():
            streams = [sources.rows(file) for file in files]
            _write(output, f"{plan.target}/bucket_{bucket:05d}", streams, (inserted_rows, codec, False), check)
        if plan.delete_target is not None:
            for bucket, found in sorted(delete_files(plan.listed.listing, plan.listed.state).items()):
                streams = [sources.events(one, visible) for one in found]
                columns = (lambda batch: delete_events(batch, row), codec, True)
                _write(output, f"{plan.delete_target}/bucket_{bucket:05d}", streams, columns, check)


def _data_files(plan: CompactionPlan, sources: TableSources) -> list[AcidFile]:
    listed = plan.listed
    if plan.kind is CompactionKind.MAJOR:
        return data_files(sources.files, listed.listing, listed.state, listed.compacted, row_ids_needed=True)
    # Of what is older nothing is read, and rows stay although there is an event for them.
    listing = AcidListing(listed.listing.location, listed.listing.directories)
    state = replace(listed.state, base=None)
    found = data_files(sources.files, listing, state, listed.compacted, row_ids_needed=True)
    return [replace(one, deletes=()) for one in found]


def _by_bucket(files: Sequence[AcidFile]) -> dict[int, list[AcidFile]]:
    found: dict[int, list[AcidFile]] = {}
    for file in files:
        found.setdefault(file.bucket, []).append(file)
    return dict(sorted(found.items()))


def _write(
    output: CompactedFiles,
    name: str,
    streams: Sequence[SortedStream],
    written: tuple[Columns, str | None, bool],
    check: Callable[[], None],
) -> None:
    """Writes a file, if there are rows for it."""
    columns, codec, deletes = written
    with closing(merged(streams)) as batches:
        first = next(batches, None)
        if first is None:
            return
        path = output.add(name)
        with storage_errors(path, "write"), output.files.create(path) as sink:
            writer = KeyedFileWriter(sink, path, columns, codec, deletes=deletes)
            writer.write(first)
            for batch in batches:
                check()
                writer.write(batch)
            writer.close()
        output.rows += writer.rows
