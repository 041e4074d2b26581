"""Writes what statements of Hive leave in the folder of a table or partition."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from tests.connectors.hive.acid.writer.names import (
    RowKey,
    base_name,
    bucket_file,
    bucket_of_property,
    bucket_property,
    delete_delta_name,
    delta_name,
    original_keys,
)
from tests.connectors.hive.acid.writer.orc_files import (
    Event,
    OrcLayout,
    Row,
    deletes,
    inserts,
    write_acid_file,
    write_flat_file,
    write_streaming_file,
)

__all__ = ["AcidLocation", "EmptyKind", "Flush", "InsertOnlyFolder"]

EmptyKind = Literal["version", "truncated", "flat file", "zero bytes"]
"""What lies in a base without rows: the version marker, the metastore's marker of TRUNCATE (Hive 4), a file of no rows
with the table's own columns (Tez), or a file of no bytes."""


@dataclass(frozen=True, slots=True)
class Flush:
    """What one transaction of a streaming batch wrote.

    Attributes:
        write_id: Of the transaction.
        rows: In order.
    """

    write_id: int
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class AcidLocation:
    """The folder of a transactional table or partition.

    Every method returns the keys of the rows that it wrote, with the rows.

    Attributes:
        path: The folder.
        fields: Fields of the rows, such as ``id:int,name:string``.
        layout: Of the files that are written.
        attempt: The task's attempt in names of files, as Hive 4 has it; ``None`` as Hive 3, without.
    """

    path: Path
    fields: str
    layout: OrcLayout = field(default_factory=OrcLayout)
    attempt: int | None = None

    def with_layout(self, layout: OrcLayout, attempt: int | None) -> AcidLocation:
        """The same folder, written in another way."""
        return replace(self, layout=layout, attempt=attempt)

    def insert(self, write_id: int, rows: Mapping[int, Sequence[Row]], statement: int = 0) -> dict[RowKey, Row]:
        """INSERT by one statement, with a file for each bucket or writer."""
        return self._insert_into(delta_name(write_id, write_id, statement), write_id, rows, statement)

    def delete(self, write_id: int, keys: Iterable[RowKey], statement: int = 0) -> None:
        """DELETE by one statement: the bucket of an event's file is that of the row's property."""
        self._write_events(delete_delta_name(write_id, write_id, statement), deletes(keys, write_id), self.attempt)

    def update(
        self, write_id: int, rows: Mapping[RowKey, Row], statement: int = 0, insert_statement: int | None = None
    ) -> dict[RowKey, Row]:
        """UPDATE: the old rows are deleted, new ones inserted, each in the bucket of the old one.

        Args:
            write_id: Of the transaction.
            rows: The new row for each old key.
            statement: Of the events of deletion.
            insert_statement: Of the new rows; ``None`` is the same, as in Hive 3. Hive 4 takes the next.
        """
        self.delete(write_id, rows, statement)
        by_bucket: dict[int, list[Row]] = {}
        for key in sorted(rows):
            by_bucket.setdefault(bucket_of_property(key.bucket), []).append(rows[key])
        return self.insert(write_id, by_bucket, statement if insert_statement is None else insert_statement)

    def overwrite(self, write_id: int, rows: Mapping[int, Sequence[Row]]) -> dict[RowKey, Row]:
        """INSERT OVERWRITE."""
        return self._insert_into(base_name(write_id), write_id, rows, 0)

    def truncate(self, write_id: int, kind: EmptyKind = "version") -> None:
        """TRUNCATE, or INSERT OVERWRITE of nothing: a base without rows."""
        base = self.path / base_name(write_id)
        base.mkdir(parents=True)
        if kind != "zero bytes":
            self._mark_version(base)
        if kind == "truncated":
            _mark_metadata(base, "truncated")
        elif kind == "flat file":
            write_flat_file(base / bucket_file(0, self.attempt), self.fields, [])
        elif kind == "zero bytes":
            (base / bucket_file(0, self.attempt)).touch()

    def load_data(
        self, write_id: int, files: Mapping[str, Sequence[Row]], overwrite: bool = False
    ) -> dict[RowKey, Row]:
        """LOAD DATA: files of the table's own columns, without keys, in a delta or base that has no marker."""
        name = base_name(write_id) if overwrite else delta_name(write_id, write_id, 0)
        return self._write_flat(self.path / name, files, write_id)

    def originals(self, files: Mapping[str, Sequence[Row]]) -> dict[RowKey, Row]:
        """Files from before the table was converted, by path below the folder."""
        return self._write_flat(self.path, files, 0)

    def stream(
        self, bucket: int, flushes: Sequence[Flush], unflushed: Sequence[Row] = (), closed: bool = True
    ) -> dict[RowKey, Row]:
        """Streaming ingest of transactions with write ids in a row: one file, row ids begin anew in each.

        Args:
            bucket: Of the writer.
            flushes: One for each transaction of the batch.
            unflushed: Written by the last transaction after its last flush.
            closed: Whether the writer ended well.
        """
        own = bucket_property(bucket)
        events = [
            inserts([RowKey(flush.write_id, own, row) for row in range(len(flush.rows))], flush.rows)
            for flush in flushes
        ]
        last = flushes[-1]
        lost = [RowKey(last.write_id, own, len(last.rows) + row) for row in range(len(unflushed))]
        delta = self.path / delta_name(flushes[0].write_id, last.write_id)
        write_streaming_file(delta / bucket_file(bucket), self.fields, events, inserts(lost, unflushed), closed)
        self._mark_version(delta)
        return _rows(event for flush in events for event in flush)

    def minor_compaction(self, first: int, last: int, events: Iterable[Event], visibility: int = 0) -> list[str]:
        """Merges deltas into one, and delete deltas into one; a kind without events gets no directory.

        Args:
            first: Lowest write id of the merged directories.
            last: Highest.
            events: Theirs, without those of aborted transactions.
            visibility: The transaction of the compaction; 0 as in Hive 3.

        Returns:
            Names of the new directories.
        """
        told = list(events)
        names = []
        for name, kind in (
            (delta_name(first, last, None, visibility), [event for event in told if event.row is not None]),
            (delete_delta_name(first, last, None, visibility), [event for event in told if event.row is None]),
        ):
            if kind:
                self._write_events(name, kind, None)
                names.append(name)
        return names

    def major_compaction(self, last: int, rows: Mapping[RowKey, Row], visibility: int = 0, marker: bool = True) -> str:
        """Writes the rows that are left, with their keys, as a base.

        Args:
            last: Highest write id of the merged directories; ``PRE_ACID_BASE`` where there were only original files.
            rows: What is left.
            visibility: The transaction of the compaction; 0 as in Hive 3.
            marker: Whether a base of Hive 3 says that it is compacted; that of Hive 4 says it by its name.

        Returns:
            Name of the base.
        """
        name = base_name(last, visibility)
        self._write_events(name, inserts(list(rows), list(rows.values())), None)
        base = self.path / name
        base.mkdir(exist_ok=True)
        self._mark_version(base)
        if marker and not visibility:
            _mark_metadata(base, "compacted")
        return name

    def nest(self, name: str) -> None:
        """Leaves a copy of a directory in itself, as two compactions of the same range did (HIVE-25600)."""
        copy = self.path / f"{name}.copy"
        shutil.copytree(self.path / name, copy)
        copy.rename(self.path / name / name)

    def remove(self, name: str) -> None:
        """Removes a directory or file, as the cleaner does."""
        path = self.path / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    def litter(self) -> None:
        """Leaves what writers leave behind, and no reader may take for data."""
        for name in (".hive-staging_hive_1/-ext-10000/000000_0", "_tmp.delta_0000001_0000001_0000/bucket_00000"):
            write_flat_file(self.path / name, self.fields, [])
            with (self.path / name).open("ab") as file:
                file.write(b"half of a file")
        (self.path / "_SUCCESS").touch()

    def _insert_into(
        self, name: str, write_id: int, rows: Mapping[int, Sequence[Row]], statement: int
    ) -> dict[RowKey, Row]:
        events: list[Event] = []
        for bucket, values in rows.items():
            own = bucket_property(bucket, statement)
            events += inserts([RowKey(write_id, own, row) for row in range(len(values))], values)
        self._write_events(name, events, self.attempt)
        return _rows(events)

    def _write_events(self, name: str, events: Iterable[Event], attempt: int | None) -> None:
        by_bucket: dict[int, list[Event]] = {}
        for event in events:
            by_bucket.setdefault(bucket_of_property(event.key.bucket), []).append(event)
        for bucket, own in by_bucket.items():
            write_acid_file(self.path / name / bucket_file(bucket, attempt), self.fields, own, self.layout)
        if by_bucket:
            self._mark_version(self.path / name)

    def _write_flat(self, folder: Path, files: Mapping[str, Sequence[Row]], write_id: int) -> dict[RowKey, Row]:
        keys = original_keys({path: len(rows) for path, rows in files.items()}, write_id)
        for path, rows in files.items():
            write_flat_file(folder / path, self.fields, rows, self.layout)
        return {key: row for path, rows in files.items() for key, row in zip(keys[path], rows, strict=True)}

    def _mark_version(self, directory: Path) -> None:
        if not self.layout.query_compacted:
            (directory / "_orc_acid_version").write_text("2")


class InsertOnlyFolder(AcidLocation):
    """The folder of an insert-only table: its files have no keys and no markers; there are no deletes."""

    def _write_events(self, name: str, events: Iterable[Event], attempt: int | None) -> None:
        by_bucket: dict[int, list[Row]] = {}
        for event in sorted(events, key=lambda event: event.key):
            assert event.row is not None
            by_bucket.setdefault(bucket_of_property(event.key.bucket), []).append(event.row)
        for bucket, rows in by_bucket.items():
            write_flat_file(self.path / name / f"{bucket:06}_{attempt or 0}", self.fields, rows, self.layout)

    def _mark_version(self, directory: Path) -> None:
        pass


def _mark_metadata(directory: Path, data_format: str) -> None:
    text = json.dumps({"thisFileVersion": "0", "dataFormat": data_format}, separators=(",", ":"))
    (directory / "_metadata_acid").write_text(text)


def _rows(events: Iterable[Event]) -> dict[RowKey, Row]:
    return {event.key: event.row for event in events if event.row is not None}
