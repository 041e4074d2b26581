"""A small writer of copy-on-write tables, for states that no real writer leaves on demand.

It follows the layout as Hudi writes it: file names, timelines of both layouts, commit metadata in JSON or Avro.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from uuid import UUID

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from connector_spi.partition_names import DEFAULT_PARTITION, escape_path_name
from connectors.hudi.schema.table_schema import META_COLUMNS

_STAT = {
    "type": "record",
    "name": "HoodieWriteStat",
    "fields": [
        {"name": "fileId", "type": ["null", "string"], "default": None},
        {"name": "path", "type": ["null", "string"], "default": None},
        {"name": "prevCommit", "type": ["null", "string"], "default": None},
        {"name": "numWrites", "type": ["null", "long"], "default": None},
        {"name": "partitionPath", "type": ["null", "string"], "default": None},
        {"name": "fileSizeInBytes", "type": ["null", "long"], "default": None},
    ],
}
_METADATA_FIELDS = [
    {
        "name": "partitionToWriteStats",
        "type": ["null", {"type": "map", "values": {"type": "array", "items": _STAT}}],
        "default": None,
    },
    {"name": "compacted", "type": ["null", "boolean"], "default": None},
    {"name": "extraMetadata", "type": ["null", {"type": "map", "values": "string"}], "default": None},
    {"name": "operationType", "type": ["null", "string"], "default": None},
]
_REPLACED_FIELD = {
    "name": "partitionToReplaceFileIds",
    "type": ["null", {"type": "map", "values": {"type": "array", "items": "string"}}],
    "default": None,
}

Files = Mapping[tuple[str, str], pa.Table]
"""Rows of base files, by partition path and file group id."""


@dataclass
class HudiWriter:
    """A table being written.

    Attributes:
        folder: The table's folder.
        version: Table version; 8 and later have the timeline of layout 2.
        partition_fields: Names of the partition fields.
        populate_meta_fields: Whether the meta columns get values.
        hive_style: Partition folders are ``field=value``, escaped.
        properties: More lines of ``hoodie.properties``, or others.
        clock: Counts the instants.
    """

    folder: Path
    version: int = 6
    partition_fields: Sequence[str] = ()
    populate_meta_fields: bool = True
    hive_style: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)
    clock: int = 0

    @property
    def timeline(self) -> Path:
        """Folder of the instants."""
        return self.folder / ".hoodie" / "timeline" if self.version >= 8 else self.folder / ".hoodie"

    def create(self) -> HudiWriter:
        """Writes ``hoodie.properties`` and the folders."""
        self.timeline.mkdir(parents=True)
        kind = "COMPLEX" if self.partition_fields else "NON_PARTITION"
        lines = {
            "hoodie.table.name": "t",
            "hoodie.table.type": "COPY_ON_WRITE",
            "hoodie.table.version": str(self.version),
            "hoodie.timeline.layout.version": "2" if self.version >= 8 else "1",
            "hoodie.table.partition.fields": ",".join(self.partition_fields),
            "hoodie.table.keygenerator.type": kind,
            "hoodie.populate.meta.fields": str(self.populate_meta_fields).lower(),
            "hoodie.datasource.write.hive_style_partitioning": str(self.hive_style).lower(),
            "hoodie.datasource.write.partitionpath.urlencode": str(self.hive_style).lower(),
            **self.properties,
        }
        text = "#Updated\n" + "".join(f"{key}={value}\n" for key, value in lines.items())
        (self.folder / ".hoodie" / "hoodie.properties").write_text(text)
        return self

    def next_instant(self) -> str:
        """A requested or completion time, later than all before."""
        self.clock += 1
        return f"20240101{self.clock:09d}"

    def commit(
        self,
        files: Files,
        *,
        action: str = "commit",
        operation: str = "UPSERT",
        replaced: Mapping[str, Sequence[str]] | None = None,
        extra: Mapping[str, str] | None = None,
        complete: bool = True,
        previous: str = "null",
    ) -> str:
        """Writes base files and, when ``complete``, the completed instant. Returns the requested time.

        ``previous`` is the write that made the groups' base files before.
        """
        requested = self.next_instant()
        (self.timeline / f"{requested}.{action}.requested").touch()
        inflight = f"{requested}.inflight" if action == "commit" else f"{requested}.{action}.inflight"
        (self.timeline / inflight).touch()
        stats: dict[str, list[dict[str, object]]] = {}
        schema: pa.Schema | None = None
        for (partition, file_id), rows in files.items():
            path = self.write_base_file(partition, file_id, requested, rows)
            schema = pa.schema([column for column in rows.schema if column.name not in META_COLUMNS])
            stat = {
                "fileId": file_id,
                "path": f"{partition}/{path.name}" if partition else path.name,
                "prevCommit": previous,
                "numWrites": rows.num_rows,
                "partitionPath": partition,
                "fileSizeInBytes": path.stat().st_size,
            }
            stats.setdefault(partition, []).append(stat)
        recorded = {"schema": avro_schema(schema)} if schema is not None else {}
        metadata: dict[str, object] = {
            "partitionToWriteStats": stats,
            "compacted": False,
            "extraMetadata": {**recorded, **(extra or {})},
            "operationType": operation,
        }
        if action == "replacecommit":
            metadata["partitionToReplaceFileIds"] = {key: list(ids) for key, ids in (replaced or {}).items()}
        if complete:
            self.complete(requested, action, metadata)
        return requested

    def complete(self, requested: str, action: str, metadata: Mapping[str, object]) -> None:
        """Writes the completed instant's file."""
        if self.version < 8:
            (self.timeline / f"{requested}.{action}").write_text(json.dumps(metadata))
            return
        write_metadata(self.timeline / f"{requested}_{self.next_instant()}.{action}", metadata)

    def write_base_file(
        self, partition: str, file_id: str, instant: str, rows: pa.Table, token: str = "0-1-1", mark: bool = True
    ) -> Path:
        """Writes one base file, the meta columns in front, and the partition's marker.

        Commit times and record keys are those of the rows where they have such columns.
        """
        folder = self.folder / partition
        folder.mkdir(parents=True, exist_ok=True)
        if mark:
            depth = len([part for part in partition.split("/") if part])
            (folder / ".hoodie_partition_metadata").write_text(f"commitTime={instant}\npartitionDepth={depth}\n")
        path = folder / f"{file_id}_{token}_{instant}.parquet"
        count = rows.num_rows
        values: list[list[str | None]] = [
            [instant] * count,
            [f"{instant}_0_{row}" for row in range(count)],
            [f"{file_id}-{row}" for row in range(count)],
            [partition] * count,
            [path.name] * count,
        ]
        for position, name in enumerate(META_COLUMNS):
            if name in rows.column_names:
                values[position] = rows.column(name).to_pylist()
                rows = rows.drop_columns([name])
        if not self.populate_meta_fields:
            values = [[None] * count] * 5
        for position, (name, column) in enumerate(zip(META_COLUMNS, values, strict=True)):
            rows = rows.add_column(position, name, pa.array(column, pa.string()))
        pq.write_table(rows, path, row_group_size=5 if count < 1000 else 65536)
        return path

    def insert(self, rows: pa.Table, complete: bool = True) -> str:
        """Commits rows into new file groups, one for each partition."""
        number = self.clock
        return self.commit(
            {
                (path, str(UUID(int=number * 1000 + position)) + "-0"): part
                for position, (path, part) in enumerate(self.partitioned(rows).items())
            },
            operation="INSERT",
            complete=complete,
        )

    def partitioned(self, rows: pa.Table) -> dict[str, pa.Table]:
        """The rows of each partition, by path."""
        if not self.partition_fields:
            return {"": rows}
        keys = [
            self._path(values)
            for values in zip(*(rows[name].to_pylist() for name in self.partition_fields), strict=True)
        ]
        column = pa.array(keys, pa.string())
        return {path: rows.filter(pc.equal(column, path)) for path in dict.fromkeys(keys)}

    def _path(self, values: Sequence[object]) -> str:
        texts = [_text(value) for value in values]
        if self.hive_style:
            pairs = zip(self.partition_fields, texts, strict=True)
            return "/".join(f"{name}={escape_path_name(text)}" for name, text in pairs)
        return "/".join(texts)


def write_metadata(path: Path, metadata: Mapping[str, object]) -> None:
    """Writes the file of a completed instant of timeline layout 2."""
    fields = [*_METADATA_FIELDS, *([_REPLACED_FIELD] if path.suffix == ".replacecommit" else [])]
    record = {"type": "record", "name": "HoodieCommitMetadata", "fields": fields}
    sink = io.BytesIO()
    fastavro.writer(sink, fastavro.parse_schema(record), [metadata])
    path.write_bytes(sink.getvalue())


def _text(value: object) -> str:
    if value is None or value == "":
        return DEFAULT_PARTITION
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) and not isinstance(value, datetime) else str(value)


def avro_schema(schema: pa.Schema) -> str:
    """The Avro schema that Hudi writes for columns of these types, without meta columns."""
    return json.dumps({"type": "record", "name": "t_record", "namespace": "hoodie.t", "fields": _fields(schema, "t")})


def _fields(fields: Sequence[pa.Field], path: str) -> list[dict[str, object]]:
    return [
        {"name": item.name, "type": ["null", _avro(item.type, f"{path}_{item.name}")], "default": None}
        for item in fields
    ]


def _avro(arrow: pa.DataType, path: str) -> object:
    if pa.types.is_struct(arrow):
        return {"type": "record", "name": path, "fields": _fields(list(arrow), path)}
    if pa.types.is_list(arrow):
        return {"type": "array", "items": ["null", _avro(arrow.value_type, f"{path}_e")]}
    if pa.types.is_map(arrow):
        return {"type": "map", "values": ["null", _avro(arrow.item_type, f"{path}_v")]}
    if pa.types.is_decimal(arrow):
        kind = {"logicalType": "decimal", "precision": arrow.precision, "scale": arrow.scale}
        return {"type": "fixed", "name": f"{path}_fixed", "size": 16, **kind}
    return _AVRO[arrow]


_AVRO: dict[pa.DataType, object] = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    pa.timestamp("us", "UTC"): {"type": "long", "logicalType": "timestamp-micros"},
    pa.timestamp("us"): {"type": "long", "logicalType": "local-timestamp-micros"},
}
