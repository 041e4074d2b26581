"""Spark's own Parquet and ORC readers over files and ranges that our split managers choose.

The reader comes from Spark's ``ParquetScan`` or ``OrcScan`` made over an empty file index; Spark's planning, listing
and pruning of partitions take no part. See docs/adr/0003.

Times without a zone are asked of the reader as times with one. Spark has both as microseconds since 1970, and gives
those of a file unchanged; its ORC reader has none without a zone (``OrcAtomicColumnVector.getLong``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.errors import InternalError
from connector_spi.handles import NativeFile, Split
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.rows import internal_row
from lakeport.spark.bridge.versions import BY_NAME, NO_REBASE, orc_scan, parquet_scan
from lakeport.spark.scan.partitioned_files import file_partitions, file_words
from lakeport.spark.scan.reader_choice import NativeRead

__all__ = ["NativeReader"]

_DATASOURCES = "org.apache.spark.sql.execution.datasources."
_WITHOUT_ZONE = re.compile(r'("(?:type|elementType|keyType|valueType)":)"timestamp_ntz"')


class NativeReader:
    """Spark's reader for one scan.

    Args:
        jvm: The door to the JVM.
        read: What it reads.
        columns: The scan's columns with Spark's types, constants last.
        schema_json: The scan's columns as a Spark struct, in JSON.
        filters: For row groups and stripes, a ``Predicate[]``.
    """

    def __init__(self, jvm: Jvm, read: NativeRead, columns: pa.Schema, schema_json: str, filters: JavaObject) -> None:
        self._jvm = jvm
        self._read = read
        self._columns = columns
        self._filters = filters
        fields = json.loads(schema_json)["fields"]
        at = len(fields) - len(read.constants)
        self._data_json = _WITHOUT_ZONE.sub(r'\1"timestamp"', _struct(fields[:at]))
        self._constants_json = _struct(fields[at:])

    def factory(self) -> JavaObject:
        """The ``PartitionReaderFactory``."""
        java = java_classes.function(self._jvm, "NativeScan")
        if java is not None:
            return java.factory(self._filters, self.words())
        return self._scan(self._jvm).createReaderFactory()

    def words(self) -> str:
        """What ``NativeScan.java`` makes the factory of, beside predicates."""
        words = {
            "format": self._read.format,
            "columns": self._data_json,
            "constants": self._constants_json,
            "options": NO_REBASE if self._read.format == "parquet" else {},
            "hadoop": {} if self._read.format == "parquet" else BY_NAME,
        }
        return json.dumps(words)

    def _scan(self, jvm: Jvm) -> JavaObject:
        session = jvm.cls("org.apache.spark.sql.classic.SparkSession").active()
        data = jvm.data_type(self._data_json)
        index = jvm.cls(_DATASOURCES + "InMemoryFileIndex")(
            session,
            jvm.empty_seq,
            jvm.empty_map,
            jvm.some(data),
            jvm.scala_object(_DATASOURCES + "NoopCache"),
            jvm.none,
            jvm.none,
        )
        make = parquet_scan if self._read.format == "parquet" else orc_scan
        constants = jvm.data_type(self._constants_json)
        filters = jvm.cls("org.apache.spark.sql.internal.connector.PredicateUtils").toV1(self._filters)
        return make(jvm, session, index, data=data, constants=constants, filters=filters)

    def partitions(self, tasks: Sequence[Sequence[Split]]) -> JavaObject:
        """The ``InputPartition[]`` of the tasks."""
        numbers: dict[tuple[object, ...], int] = {}
        files: list[list[tuple[NativeFile, int]]] = []
        for task in tasks:
            files.append([])
            for split in task:
                native = _native_file(split)
                files[-1].append((native, numbers.setdefault(self._constants_of(native), len(numbers))))
        types = [self._columns.field(name).type for name in self._read.constants]
        struct = self._jvm.data_type(self._constants_json) if any(numbers) else None
        rows = [internal_row(self._jvm, struct, types, values) for values in numbers if struct is not None and values]
        return file_partitions(self._jvm, files, rows)

    def file_words(self, tasks: Sequence[Sequence[Split]]) -> str | None:
        """What ``FilePartitions.java`` makes the partitions of; ``None`` where constants are Java objects."""
        if self._read.constants:
            return None
        files = [[_native_file(split) for split in task] for task in tasks]
        return file_words([[(file, 0) for file in task] for task in files])

    def _constants_of(self, native: NativeFile) -> tuple[object, ...]:
        values = dict(native.constants)
        return tuple(values[name] for name in self._read.constants)


def _native_file(split: Split) -> NativeFile:
    if split.native_file is None:
        raise InternalError("a split that only its connector can read came to Spark's own reader")
    return split.native_file


def _struct(fields: list[object]) -> str:
    """With no blanks after colons, as Spark writes types."""
    return json.dumps({"type": "struct", "fields": fields}, separators=(",", ":"))
