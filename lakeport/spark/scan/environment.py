"""What a scan has to know of the Spark that it runs in."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Protocol

from py4j.protocol import Py4JJavaError

from lakeport.planning.packing import Packing
from lakeport.spark.bridge.columns import columns_unavailable
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.session_settings import FileSettings, read_file_settings
from lakeport.spark.bridge.versions import rows_need_a_column, sorts_grouped_tasks
from lakeport.spark.tasks.counters import TaskCounters, new_counters

__all__ = ["JvmEnvironment", "SparkEnvironment"]

_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT")
_USER_ZONE = re.compile(r"-Duser\.timezone=(\S+)")


class SparkEnvironment(Protocol):
    """The answers of one Spark; each may cost round trips to Java."""

    def is_case_sensitive(self) -> bool:
        """Spark's readers miss columns whose names differ in case from the table's."""

    def has_file_system(self, scheme: str) -> bool:
        """Spark's readers can open files of this scheme, which is in lower case."""

    def tasks_are_in_utc(self) -> bool:
        """The JVM of each task has UTC for its time zone."""

    def rows_need_a_column(self) -> bool:
        """Python tasks cannot give rows without columns."""

    def columns_unavailable(self) -> str | None:
        """Why Python tasks cannot hand over columns; ``None`` where they can."""

    def packing(self) -> Packing:
        """How splits become tasks."""

    def uses_column_statistics(self) -> bool:
        """The optimizer goes by statistics of columns."""

    def joins_by_partitioning(self) -> bool:
        """Joins may go by how the rows of scans lie."""

    def joins_other_bucket_counts(self) -> bool:
        """They may also where two tables have different numbers of buckets."""

    def keeps_order_of_tasks(self) -> bool:
        """What is reported of the order of rows holds for all that Spark does with tasks."""

    def new_counters(self) -> TaskCounters:
        """What tasks can count into."""


class JvmEnvironment:
    """The Spark behind a JVM, with the settings that one scan goes by.

    Args:
        jvm: The door to the JVM.
        files: Settings, where they are known.
    """

    def __init__(self, jvm: Jvm, files: FileSettings | None = None) -> None:
        self._jvm = jvm
        self._known_files = files

    def is_case_sensitive(self) -> bool:
        """The session's ``spark.sql.caseSensitive``."""
        return self._files.case_sensitive

    def has_file_system(self, scheme: str) -> bool:
        """Whether Hadoop knows a class for it: PySpark brings none for S3, GCS and Azure."""
        key = ("file system", scheme)
        if scheme == "file":
            return True
        if key not in self._jvm.shared:
            hadoop = self._jvm.context._jsc.hadoopConfiguration()
            try:
                self._jvm.cls("org.apache.hadoop.fs.FileSystem").getFileSystemClass(scheme, hadoop)
                self._jvm.shared[key] = True
            except Py4JJavaError:
                # UnsupportedFileSystemException, or the class that a setting names is not there.
                self._jvm.shared[key] = False
        return bool(self._jvm.shared[key])

    def tasks_are_in_utc(self) -> bool:
        """Whether the driver's JVM is in UTC and, where executors are JVMs of their own, these are made so, too."""
        key = "tasks are in UTC"
        if key not in self._jvm.shared:
            context = self._jvm.context._jsc.sc()
            zones = _USER_ZONE.findall(str(context.conf().get("spark.executor.extraJavaOptions", "")))
            here = str(self._jvm.cls("java.util.TimeZone").getDefault().getID())
            executors = bool(context.isLocal()) or (bool(zones) and zones[-1] in _UTC)
            self._jvm.shared[key] = here in _UTC and executors
        return bool(self._jvm.shared[key])

    def rows_need_a_column(self) -> bool:
        """By Spark's version."""
        return rows_need_a_column(self._jvm)

    def columns_unavailable(self) -> str | None:
        """By whether the Java class that does it could be loaded."""
        return columns_unavailable(self._jvm)

    def packing(self) -> Packing:
        """By Spark's settings for files."""
        return self._files.packing

    def uses_column_statistics(self) -> bool:
        """The session's ``spark.sql.cbo.enabled``, or ``spark.sql.cbo.planStats.enabled``."""
        return self._files.column_statistics

    def joins_by_partitioning(self) -> bool:
        """The session's ``spark.sql.sources.v2.bucketing.enabled``."""
        return self._files.partitioning

    def joins_other_bucket_counts(self) -> bool:
        """The session's ``spark.sql.sources.v2.bucketing.allowCompatibleTransforms.enabled``."""
        return self._files.compatible_buckets

    def keeps_order_of_tasks(self) -> bool:
        """By Spark's version, and by whether it may read several buckets in one task."""
        return sorts_grouped_tasks(self._jvm) or not self._files.compatible_buckets

    def new_counters(self) -> TaskCounters:
        """An accumulator."""
        return new_counters(self._jvm.context)

    @cached_property
    def _files(self) -> FileSettings:
        return read_file_settings(self._jvm) if self._known_files is None else self._known_files
