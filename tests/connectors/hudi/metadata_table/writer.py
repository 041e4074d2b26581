"""Writes metadata tables, for states that no real writer leaves on demand. Timeline layout 2."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import fastavro

from connectors.hudi.log.block import BlockType, HeaderKey
from connectors.hudi.metadata_table.keys import column_stats_key, partition_stats_key
from tests.connectors.hudi.hfile.writer import hfile
from tests.connectors.hudi.log.writer import log_block
from tests.connectors.hudi.writer import HudiWriter, write_metadata

_NAMESPACE = "org.apache.hudi.avro.model"


def _wrapper(name: str, kind: object) -> dict[str, object]:
    return {"type": "record", "name": f"{name}Wrapper", "fields": [{"name": "value", "type": kind}]}


_WRAPPERS = [
    _wrapper("Boolean", "boolean"),
    _wrapper("Int", "int"),
    _wrapper("Long", "long"),
    _wrapper("Float", "float"),
    _wrapper("Double", "double"),
    _wrapper("Bytes", "bytes"),
    _wrapper("String", "string"),
    _wrapper("Date", {"type": "int", "logicalType": "date"}),
    _wrapper("Decimal", {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 15}),
]
_STATS: dict[str, object] = {
    "type": "record",
    "name": "HoodieMetadataColumnStats",
    "fields": [
        {"name": "fileName", "type": ["null", "string"]},
        {"name": "columnName", "type": ["null", "string"]},
        {"name": "minValue", "type": ["null", *_WRAPPERS]},
        {"name": "maxValue", "type": ["null", *(str(item["name"]) for item in _WRAPPERS)]},
        {"name": "valueCount", "type": ["null", "long"]},
        {"name": "nullCount", "type": ["null", "long"]},
        {"name": "isDeleted", "type": "boolean"},
        {"name": "isTightBound", "type": "boolean", "default": False},
    ],
}
_FILE = {
    "type": "record",
    "name": "HoodieMetadataFileInfo",
    "fields": [{"name": "size", "type": "long"}, {"name": "isDeleted", "type": "boolean"}],
}
_LOCATION = {
    "type": "record",
    "name": "HoodieRecordIndexInfo",
    "fields": [
        {"name": "partitionName", "type": "string"},
        {"name": "fileIdHighBits", "type": "long"},
        {"name": "fileIdLowBits", "type": "long"},
        {"name": "fileIndex", "type": "int"},
        {"name": "fileId", "type": "string"},
        {"name": "instantTime", "type": "long"},
        {"name": "fileIdEncoding", "type": "int"},
    ],
}
SCHEMA: dict[str, object] = {
    "type": "record",
    "name": "HoodieMetadataRecord",
    "namespace": _NAMESPACE,
    "fields": [
        {"name": "key", "type": "string"},
        {"name": "type", "type": "int"},
        {"name": "filesystemMetadata", "type": ["null", {"type": "map", "values": _FILE}], "default": None},
        {"name": "ColumnStatsMetadata", "type": ["null", _STATS], "default": None},
        {"name": "recordIndexMetadata", "type": ["null", _LOCATION], "default": None},
    ],
}
_PARSED = fastavro.parse_schema(SCHEMA)
_PREFIXES = {
    "files": "files",
    "column_stats": "col-stats",
    "partition_stats": "partition-stats",
    "record_index": "record-index",
}

Records = Mapping[bytes, Mapping[str, object]]


@dataclass
class MetadataWriter:
    """The metadata table of a table of version 8 or later.

    Attributes:
        table: The data table.
        indexes: Its partitions, each of one file group.
        state: What was noted, by index.
        paths: Files written at each instant, by index.
    """

    table: HudiWriter
    indexes: Sequence[str] = ("files",)
    state: dict[str, dict[bytes, Mapping[str, object]]] = field(default_factory=dict)
    paths: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The metadata table's folder."""
        return self.table.folder / ".hoodie" / "metadata"

    @property
    def timeline(self) -> Path:
        """Folder of its instants."""
        return self.folder / ".hoodie" / "timeline"

    def create(self) -> MetadataWriter:
        """Makes it, filled with what is on storage, and turns it on."""
        self.timeline.mkdir(parents=True)
        lines = {
            "hoodie.table.name": "t_metadata",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.version": str(self.table.version),
            "hoodie.timeline.layout.version": "2",
            "hoodie.table.base.file.format": "HFILE",
            "hoodie.compaction.payload.class": "org.apache.hudi.metadata.HoodieMetadataPayload",
        }
        text = "".join(f"{key}={value}\n" for key, value in lines.items())
        (self.folder / ".hoodie" / "hoodie.properties").write_text(text)
        self.turn_on(self.indexes)
        listed = self._on_storage()
        for number, index in enumerate(self.indexes):
            instant = f"{number:017}"
            (self.folder / index).mkdir()
            self.state[index] = dict(listed) if index == "files" else {}
            self.write_base(index, instant)
            self._complete(instant, "deltacommit")
        return self

    def turn_on(self, indexes: Sequence[str]) -> None:
        """Names the indexes in the data table's properties."""
        path = self.table.folder / ".hoodie" / "hoodie.properties"
        lines = [line for line in path.read_text().splitlines() if "metadata.partitions" not in line]
        path.write_text("\n".join([*lines, f"hoodie.table.metadata.partitions={','.join(indexes)}", ""]))

    def note(self, instant: str, complete: bool = True, **records: Records) -> None:
        """Notes a write: the files on storage that it made, and what else is given by index."""
        made: dict[str, Records] = {"files": self._on_storage(instant), **records}
        for index, found in made.items():
            if found:
                self.append(index, instant, found)
        if complete:
            self._complete(instant, "deltacommit")

    def forget(self, instant: str, names: Mapping[str, Sequence[str]], partitions: Sequence[str] = ()) -> None:
        """Notes that files, by partition, or whole partitions are gone."""
        gone = {name: {"size": 0, "isDeleted": True} for name in partitions}
        records = {path.encode(): files(dict.fromkeys(names[path])) for path in names}
        if gone:
            records[b"__all_partitions__"] = {"type": 1, "filesystemMetadata": gone}
        self.append("files", instant, records)
        self._complete(instant, "deltacommit")

    def append(self, index: str, instant: str, records: Records) -> Path:
        """Writes a log file with one block."""
        headers: dict[int, str] = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: json.dumps(SCHEMA)}
        block = log_block(BlockType.HFILE_DATA, headers, hfile(_cells(records), info={"schema": _schema_bytes()}))
        path = self.folder / index / f".{_PREFIXES[index]}-0000-0_{instant}.log.1_0-1-1"
        path.write_bytes(block)
        self.paths.setdefault(instant, []).append((index, path))
        for key, record in records.items():
            older = self.state[index].get(key)
            self.state[index][key] = record if older is None else _taken_together(older, record)
        return path

    def write_base(self, index: str, instant: str, records: Records | None = None) -> Path:
        """Writes a base file of what was noted so far, or of some records."""
        cells = _cells(self.state[index] if records is None else records)
        path = self.folder / index / f"{_PREFIXES[index]}-0000-0_0-1-1_{instant}.hfile"
        path.write_bytes(hfile(cells, per_block=50, info={"schema": _schema_bytes()}))
        self.paths.setdefault(instant, []).append((index, path))
        return path

    def compact(self) -> None:
        """Writes base files of all that was noted."""
        instant = self.table.next_instant()
        for index in self.indexes:
            self.write_base(index, instant)
        for state in ("requested", "inflight"):
            (self.timeline / f"{instant}.compaction.{state}").touch()
        self._write_instant(instant, "commit")

    def _complete(self, instant: str, action: str) -> None:
        for state in ("requested", "inflight"):
            (self.timeline / f"{instant}.{action}.{state}").touch()
        self._write_instant(instant, action)

    def _write_instant(self, instant: str, action: str) -> None:
        written: dict[str, list[dict[str, object]]] = {}
        for index, path in self.paths.get(instant, ()):
            stat: dict[str, object] = {
                "fileId": f"{_PREFIXES[index]}-0000-0",
                "path": f"{index}/{path.name}",
                "partitionPath": index,
            }
            written.setdefault(index, []).append(stat)
        write_metadata(
            self.timeline / f"{instant}_{self.table.next_instant()}.{action}",
            {"partitionToWriteStats": written, "compacted": False, "extraMetadata": {}, "operationType": "UPSERT"},
        )

    def _on_storage(self, instant: str | None = None) -> dict[bytes, Mapping[str, object]]:
        found: dict[str, dict[str, int | None]] = {}
        for path in self.table.folder.rglob("*.parquet"):
            if instant is None or path.name.endswith(f"_{instant}.parquet"):
                part = path.parent.relative_to(self.table.folder).as_posix()
                found.setdefault(part, {})[path.name] = path.stat().st_size
        partitions = {part: {"size": 0, "isDeleted": False} for part in found}
        every: dict[bytes, Mapping[str, object]] = {part.encode(): files(names) for part, names in found.items()}
        return {b"__all_partitions__": {"type": 1, "filesystemMetadata": partitions}, **every}


def files(sizes: Mapping[str, int | None]) -> dict[str, object]:
    """A record of files and their bytes; ``None`` for a deleted one."""
    entry = {name: {"size": size or 0, "isDeleted": size is None} for name, size in sizes.items()}
    return {"type": 2, "filesystemMetadata": entry}


def stats(
    column: str, name: str, low: object, high: object, count: int, nulls: int = 0, wrapper: str = "Long"
) -> dict[str, object]:
    """A record of column statistics of a file or partition."""

    def bound(value: object) -> object:
        return None if value is None else (f"{_NAMESPACE}.{wrapper}Wrapper", {"value": value})

    entry = {"fileName": name, "columnName": column, "minValue": bound(low), "maxValue": bound(high)}
    counts = {"valueCount": count, "nullCount": nulls, "isDeleted": False, "isTightBound": True}
    return {"type": 3, "ColumnStatsMetadata": {**entry, **counts}}


def file_stats(column: str, partition: str, name: str, low: object, high: object, count: int) -> Records:
    """Statistics of a column of whole numbers in a file."""
    return {column_stats_key(column, partition, name): stats(column, name, low, high, count)}


def whole_stats(
    column: str, partition: str, low: object, high: object, count: int, wrapper: str = "Long", nulls: int = 0
) -> Records:
    """Statistics of a column in a partition."""
    record = stats(column, partition or ".", low, high, count, nulls, wrapper)
    return {partition_stats_key(column, partition): record}


def _taken_together(older: Mapping[str, object], newer: Mapping[str, object]) -> Mapping[str, object]:
    before, after = older.get("filesystemMetadata"), newer.get("filesystemMetadata")
    return {**newer, "filesystemMetadata": {**before, **after}} if before and after else newer  # type: ignore[dict-item]


def _cells(records: Records) -> list[tuple[bytes, bytes]]:
    return [(key, _encoded(records[key])) for key in sorted(records)]


def _encoded(record: Mapping[str, object]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, _PARSED, {"key": "", **record})
    return out.getvalue()


def _schema_bytes() -> bytes:
    return json.dumps(SCHEMA).encode()
