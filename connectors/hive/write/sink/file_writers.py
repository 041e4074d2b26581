"""Writes data files of one format each. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.write.handles import AcidWrite, HiveInsertHandle
from connectors.hive.write.sink.acid_file import AcidFileWriter
from connectors.hive.write.sink.avro.file import AvroFileWriter
from connectors.hive.write.sink.compression import compression, file_extension
from connectors.hive.write.sink.containers.rcfile import RcFileWriter
from connectors.hive.write.sink.containers.sequence import SequenceFileWriter
from connectors.hive.write.sink.orc_blooms import BloomFilters
from connectors.hive.write.sink.orc_output import OrcOutput, OrcWriter
from connectors.hive.write.sink.text.file import TextFileWriter

__all__ = ["WRITTEN_FORMATS", "FileWriter", "TaskFiles"]


class FileWriter(Protocol):
    """A file that is being written."""

    def write(self, table: pa.Table) -> None:
        """Writes rows."""

    def close(self) -> None:
        """Writes what belongs to the end of the file."""


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """The files of one task: how they are written, and what they are called where readers look for them.

    Attributes:
        insert: The insert; its format is one of ``WRITTEN_FORMATS``, checked by ``check_writable``.
        task: Number of the task.
    """

    insert: HiveInsertHandle
    task: int

    def open(self, sink: pa.NativeFile, path: str, bucket: int | None = None) -> FileWriter:
        """Begins a file.

        Args:
            sink: Where it goes.
            path: The file, for messages.
            bucket: The bucket of its rows, where the table has buckets.

        Raises:
            NotSupportedError: The task's number does not fit into row ids.
        """
        insert = self.insert
        if insert.acid is not None and insert.acid.row_ids:
            acid, number = self._numbered(insert.acid, bucket)
            return AcidFileWriter(sink, path, acid, number, compression(insert.storage))
        schema = pa.schema([(column.name, column.type) for column in insert.data_columns])
        return WRITTEN_FORMATS[insert.storage.format](insert.storage, sink, schema)

    def target(self, name: str, bucket: int | None = None) -> str:
        """The path of a file below its partition's directory.

        Args:
            name: A name that no other file has; the files of transactional tables have the names that Hive gives.
            bucket: As for ``open``.
        """
        extension = file_extension(self.insert.storage)
        if self.insert.acid is None:
            return f"{name}{extension}" if bucket is None else f"{bucket:06d}_0{extension}"
        acid, number = self._numbered(self.insert.acid, bucket)
        return f"{acid.directory}/" + (f"bucket_{number:05d}" if acid.row_ids else f"{number:06d}_0{extension}")

    def _numbered(self, acid: AcidWrite, bucket: int | None) -> tuple[AcidWrite, int]:
        """A task is a bucket where the table has none. Else the driver looks that no two files are of one."""
        return acid.of_task(self.task) if bucket is None else (acid, bucket)


def _orc_writer(storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> FileWriter:
    blooms = BloomFilters.of(storage, schema, "the table")
    return OrcWriter(
        OrcOutput(sink),
        compression=compression(storage),
        bloom_filter_columns=blooms.type_ids or None,
        bloom_filter_fpp=blooms.fpp,
    )


class _ParquetWriter:
    def __init__(self, storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> None:
        # Hive reads times as INT96 in all releases, and by this entry in the zone that they were written in
        # (DataWritableReadSupport); dates are of the proleptic calendar.
        entries = {"writer.time.zone": "UTC", "writer.date.proleptic": "true", "writer.zone.conversion.legacy": "false"}
        self._writer = pq.ParquetWriter(
            sink,
            schema.with_metadata(entries),
            compression=compression(storage),
            use_deprecated_int96_timestamps=True,
            store_schema=False,
            store_decimal_as_integer=False,
        )
        self._schema = self._writer.schema

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table.replace_schema_metadata(self._schema.metadata))

    def close(self) -> None:
        self._writer.close()


WRITTEN_FORMATS: Mapping[str, Callable[[FileStorage, pa.NativeFile, pa.Schema], FileWriter]] = {
    "orc": _orc_writer,
    "parquet": _ParquetWriter,
    "textfile": TextFileWriter,
    "avro": AvroFileWriter,
    "rcfile": RcFileWriter,
    "sequencefile": SequenceFileWriter,
}
"""What begins a file, by the name of a format."""
