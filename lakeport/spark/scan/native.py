"""Spark's own Parquet and ORC readers over files and ranges that our split managers choose.

The reader comes from Spark's ``ParquetScan`` or ``OrcScan`` made over an empty file index; Spark's planning, listing
and pruning of partitions take no part. See docs/adr/0003.

Times without a zone are asked of the reader as times with one. Spark holds both as microseconds since 1970, and gives
those of a file as they stand; its ORC reader has none without a zone (``OrcAtomicColumnVector.getLong``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError

from connector_spi.errors import InternalError
from connector_spi.handles import NativeFile, Split
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.rows import internal_row
from lakeport.spark.bridge.versions import orc_scan, parquet_scan
from lakeport.spark.scan.partitioned_files import make_files, take_files

__all__ = ["NativeReader", "constant_names", "has_zone_of_times", "readable_by_spark"]

_DATASOURCES = "org.apache.spark.sql.execution.datasources."
_FORMATS = ("parquet", "orc")
_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT")
_USER_ZONE = re.compile(r"-Duser\.timezone=(\S+)")
_WITHOUT_ZONE = re.compile(r'("(?:type|elementType|keyType|valueType)":)"timestamp_ntz"')


def constant_names(splits: Sequence[Split], columns: pa.Schema) -> tuple[str, ...] | None:
    """Which of the last columns come as constants, when Spark's reader can read every split.

    Returns:
        The names, in order; ``None`` where a split is not natively readable, formats differ, or constants are not the
        last columns of the scan.
    """
    formats, names = set(), set()
    for split in splits:
        native = split.native_file
        if native is None or native.format not in _FORMATS:
            return None
        given = {name for name, _ in native.constants}
        formats.add(native.format)
        names.add(tuple(name for name in columns.names if name in given))
    if len(formats) != 1 or len(names) != 1:
        return None
    [constants] = names
    return constants if tuple(columns.names[len(columns) - len(constants) :]) == constants else None


def readable_by_spark(jvm: Jvm, splits: Sequence[Split]) -> bool:
    """Whether Spark's readers find the files of all splits, and their columns.

    PySpark brings no file system for S3, GCS and Azure. Columns of another case than the table's are NULL to readers
    that look for the very name (``spark.sql.caseSensitive``), and Hive's tables are not told by the case of names.
    """
    if jvm.sql_conf().caseSensitiveAnalysis():
        return False
    paths = (split.native_file.path for split in splits if split.native_file is not None)
    return all(_has_file_system(jvm, path.partition(":")[0].lower()) for path in paths if not path.startswith("/"))


def has_zone_of_times(jvm: Jvm, splits: Sequence[Split], columns: pa.Schema) -> bool:
    """Whether Spark's reader would give the times of all splits as they stand in the files.

    That of ORC makes ``java.sql.Timestamp`` of them, in the zone of each task's JVM; only in UTC nothing is moved.
    """
    if not any(split.native_file is not None and split.native_file.format == "orc" for split in splits):
        return True
    return not any("timestamp" in str(column.type) for column in columns) or _tasks_are_in_utc(jvm)


class NativeReader:
    """Spark's reader for one scan.

    Args:
        jvm: The door to the JVM.
        spark_session: The JVM's classic ``SparkSession``.
        file_format: ``parquet`` or ``orc``.
        columns: The scan's columns with Spark's types, constants last.
        constants: Names of the columns that the files do not hold.
        read_schema: The scan's columns as a Spark ``StructType``.
        filters: V1 filters for row groups and stripes (a Java array).
    """

    def __init__(
        self,
        jvm: Jvm,
        spark_session: JavaObject,
        file_format: str,
        columns: pa.Schema,
        constants: tuple[str, ...],
        read_schema: JavaObject,
        filters: JavaObject,
    ) -> None:
        self._jvm = jvm
        self._session = spark_session
        self._format = file_format
        self._columns = columns
        self._constants = constants
        self._filters = filters
        field_class = "org.apache.spark.sql.types.StructField"
        struct_type = jvm.cls("org.apache.spark.sql.types.StructType")
        fields = list(read_schema.fields())
        at = len(fields) - len(constants)
        self._data_schema = _with_zones(jvm, struct_type(jvm.array(field_class, fields[:at])), columns)
        self._constant_schema = struct_type(jvm.array(field_class, fields[at:]))

    def factory(self) -> JavaObject:
        """The ``PartitionReaderFactory``."""
        jvm = self._jvm
        index = jvm.cls(_DATASOURCES + "InMemoryFileIndex")(
            self._session,
            jvm.empty_seq,
            jvm.empty_map,
            jvm.some(self._data_schema),
            jvm.scala_object(_DATASOURCES + "NoopCache"),
            jvm.none,
            jvm.none,
        )
        make = parquet_scan if self._format == "parquet" else orc_scan
        scan = make(jvm, self._session, index, self._data_schema, self._constant_schema, self._filters)
        return scan.createReaderFactory()

    def partitions(self, tasks: Sequence[Sequence[Split]]) -> JavaObject:
        """The ``InputPartition[]`` of the tasks."""
        jvm, partition = self._jvm, self._jvm.cls(_DATASOURCES + "FilePartition")
        numbers: dict[tuple[object, ...], int] = {}
        files = []
        for split in (split for task in tasks for split in task):
            native = split.native_file
            if native is None:
                raise InternalError("a split that only its connector can read came to Spark's own reader")
            files.append((native, numbers.setdefault(self._constants_of(native), len(numbers))))
        types = [self._columns.field(name).type for name in self._constants]
        rows = [internal_row(jvm, self._constant_schema, types, values) for values in numbers]
        made, start, partitions = make_files(jvm, files, rows), 0, []
        for index, task in enumerate(tasks):
            partitions.append(partition(index, take_files(jvm, made, start, start + len(task))))
            start += len(task)
        return jvm.array("org.apache.spark.sql.connector.read.InputPartition", partitions)

    def _constants_of(self, native: NativeFile) -> tuple[object, ...]:
        values = dict(native.constants)
        return tuple(values[name] for name in self._constants)


def _with_zones(jvm: Jvm, struct: JavaObject, columns: pa.Schema) -> JavaObject:
    if not any("timestamp" in str(column.type) for column in columns):
        return struct
    return jvm.data_type(_WITHOUT_ZONE.sub(r'\1"timestamp"', struct.json()))


def _tasks_are_in_utc(jvm: Jvm) -> bool:
    key = "tasks are in UTC"
    if key not in jvm.shared:
        conf = jvm.context._jsc.sc().conf()
        told = _USER_ZONE.findall(str(conf.get("spark.executor.extraJavaOptions", "")))
        is_local = bool(jvm.context._jsc.sc().isLocal())
        here = str(jvm.cls("java.util.TimeZone").getDefault().getID())
        jvm.shared[key] = here in _UTC and (is_local or (bool(told) and told[-1] in _UTC))
    return bool(jvm.shared[key])


def _has_file_system(jvm: Jvm, scheme: str) -> bool:
    key = ("file system", scheme)
    if scheme == "file":
        return True
    if key not in jvm.shared:
        hadoop = jvm.context._jsc.hadoopConfiguration()
        try:
            jvm.cls("org.apache.hadoop.fs.FileSystem").getFileSystemClass(scheme, hadoop)
            jvm.shared[key] = True
        except Py4JJavaError:
            # UnsupportedFileSystemException, or the class that a setting names is not there.
            jvm.shared[key] = False
    return bool(jvm.shared[key])
