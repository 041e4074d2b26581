"""Writes merge-on-read tables of one file group: base files, and log files of the blocks given, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.hudi.schema.table_schema import META_COLUMNS
from tests.connectors.hudi.log.writer import data_block, delete_block, encoded_positions
from tests.connectors.hudi.writer import HudiWriter, avro_schema

__all__ = ["Block", "Delete", "Partial", "Row", "SliceWriter", "Upsert"]

FILE_ID = "00000000-0000-0000-0000-000000000001-0"

Row = Mapping[str, object]


@dataclass(frozen=True)
class Upsert:
    """Rows of a data block, with their keys in ``key``."""

    rows: Sequence[Row]


@dataclass(frozen=True)
class Partial:
    """Rows of a data block that has these columns, ``key`` and the ordering field only."""

    rows: Sequence[Row]


@dataclass(frozen=True)
class Delete:
    """Deletes by key, with an ordering value or without."""

    keys: Sequence[tuple[str, int | None]]


Block = Upsert | Partial | Delete


@dataclass
class SliceWriter:
    """A table without partitions that has one file group.

    Attributes:
        folder: The table's folder.
        version: Table version.
        schema: The user's columns, ``key`` among them.
        properties: More lines of ``hoodie.properties``.
        positions: Whether blocks record the positions of their rows in the base file, where all rows are in it, once.
        named_base: The instant that logs of layout 1 are named after.
    """

    folder: Path
    version: int
    schema: pa.Schema
    properties: Mapping[str, str] = field(default_factory=dict)
    positions: bool = False

    def __post_init__(self) -> None:
        recorded = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.table.recordkey.fields": "key", **self.properties}
        self.table = HudiWriter(self.folder, self.version, properties=recorded).create()
        self.named_base: str | None = None
        self._logs = 0
        self._base = ""
        self._positions: dict[object, int] = {}

    def base(self, rows: Sequence[Row], group_rows: int = 5, action: str = "deltacommit") -> str:
        """Commits a base file, with row groups of this many rows; as a compaction with the action ``commit``."""
        instant = self.table.next_instant()
        name = f"{FILE_ID}_0-1-1_{instant}.parquet"
        meta = {
            "_hoodie_commit_time": instant,
            "_hoodie_commit_seqno": instant,
            "_hoodie_partition_path": "",
            "_hoodie_file_name": name,
        }
        written = [{**meta, "_hoodie_record_key": row["key"], **row} for row in rows]
        pq.write_table(pa.Table.from_pylist(written, self.full_schema), self.folder / name, row_group_size=group_rows)
        (self.folder / ".hoodie_partition_metadata").write_text("commitTime=1\npartitionDepth=0\n")
        self.complete(instant, name, action)
        self.named_base, self._logs = instant, 0
        self._base, self._positions = instant, {row["key"]: at for at, row in enumerate(rows)}
        return instant

    def log(self, blocks: Sequence[Block | bytes], *, complete: bool = True, instant: str | None = None) -> str:
        """Commits a log file of these blocks; bytes are written as they are."""
        instant = instant or self.table.next_instant()
        if self.named_base is None and self.version < 8:
            self.named_base = instant
        self._logs += 1
        named = self.named_base if self.version < 8 else instant
        number = self._logs if self.version < 8 else 1
        name = f".{FILE_ID}_{named}.log.{number}_0-1-{self._logs}"
        data = b"".join(block if isinstance(block, bytes) else self.block(block, instant) for block in blocks)
        (self.folder / name).write_bytes(data)
        (self.folder / ".hoodie_partition_metadata").write_text("commitTime=1\npartitionDepth=0\n")
        (self.table.timeline / f"{instant}.deltacommit.requested").touch()
        (self.table.timeline / f"{instant}.deltacommit.inflight").touch()
        if complete:
            self.complete(instant, name)
        return instant

    def block(self, block: Block, instant: str, **headers: str) -> bytes:
        """The bytes of a block."""
        if self.positions:
            block, recorded = self._with_positions(block)
            headers |= recorded
        if isinstance(block, Delete):
            return delete_block(
                instant,
                [
                    {
                        "recordKey": key,
                        "partitionPath": "",
                        "orderingVal": ("IntWrapper", {"value": 0})
                        if value is None
                        else ("LongWrapper", {"value": value}),
                    }
                    for key, value in block.keys
                ],
                **headers,
            )
        names = list(block.rows[0]) if isinstance(block, Partial) and block.rows else self.schema.names
        if isinstance(block, Partial):
            headers["IS_PARTIAL"] = "true"
        known = [*META_COLUMNS, *(name for name in self.schema.names if name in names)]
        schema = json.loads(avro_schema(pa.schema([self.full_schema.field(name) for name in known])))
        meta = {
            "_hoodie_commit_time": instant,
            "_hoodie_commit_seqno": instant,
            "_hoodie_partition_path": "",
            "_hoodie_file_name": FILE_ID,
        }
        rows = [{**dict.fromkeys(known), **meta, "_hoodie_record_key": row["key"], **row} for row in block.rows]
        return data_block(instant, schema, rows, **headers)

    def _with_positions(self, block: Block) -> tuple[Block, dict[str, str]]:
        """The block in the order of the base file, and its headers; HoodieLogBlock writes none where one is missing."""
        keys = [key for key, _ in block.keys] if isinstance(block, Delete) else [row["key"] for row in block.rows]
        if not set(keys) <= set(self._positions) or len(set(keys)) < len(keys):
            return block, {}
        positions = [self._positions[key] for key in keys]
        order = sorted(range(len(keys)), key=positions.__getitem__)
        headers = {
            "RECORD_POSITIONS": encoded_positions(sorted(positions)),
            "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS": self._base,
        }
        if isinstance(block, Delete):
            return Delete([block.keys[at] for at in order]), headers
        return replace(block, rows=[block.rows[at] for at in order]), headers

    def complete(self, instant: str, file_name: str, action: str = "deltacommit") -> None:
        """Writes the completed instant."""
        stat = {"fileId": FILE_ID, "path": file_name, "prevCommit": self.named_base or "null", "partitionPath": ""}
        metadata = {
            "partitionToWriteStats": {"": [stat]},
            "compacted": action == "commit",
            "extraMetadata": {"schema": avro_schema(self.schema)},
            "operationType": "COMPACT" if action == "commit" else "UPSERT",
        }
        self.table.complete(instant, action, metadata)

    @property
    def full_schema(self) -> pa.Schema:
        """With the meta columns."""
        return pa.schema([*(pa.field(name, pa.string()) for name in META_COLUMNS), *self.schema])
