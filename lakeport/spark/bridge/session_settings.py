"""What statements and scans go by in a Spark session, in one round trip each.

``SessionSettings.java`` tells it in one text. Where Java has no such class, each setting is asked for; see
docs/adr/0013.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from py4j.java_gateway import JavaObject

from lakeport.planning.packing import Packing
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm

__all__ = [
    "FileSettings",
    "StatementSettings",
    "exchange_property",
    "file_settings",
    "read_file_settings",
    "read_statement_settings",
]

_CURRENT_USER = "org.apache.spark.sql.catalyst.CurrentUserContext"
_JOBS = ("spark.jobGroup.id", "spark.job.tags")
_COMPATIBLE_BUCKETS = "spark.sql.sources.v2.bucketing.allowCompatibleTransforms.enabled"
_PARALLELISM = ("spark.sql.files.minPartitionNum", "spark.sql.leafNodeDefaultParallelism")


@dataclass(frozen=True, slots=True)
class StatementSettings:
    """What a statement goes by.

    Attributes:
        zone: The session's time zone.
        given: Settings by their names without the prefix that was asked for.
        user: Whom Spark's servers know as the client of this thread; ``None`` outside of them.
        jobs: What Spark has the jobs of this thread by: their group, and their tags.
        before: What the local property was that was set, if one was to be.
    """

    zone: str
    given: Mapping[str, str]
    user: str | None
    jobs: tuple[str, ...] = ()
    before: str | None = None


@dataclass(frozen=True, slots=True)
class FileSettings:
    """What scans of files go by.

    Attributes:
        packing: How splits become tasks (``FilePartition.maxSplitBytes``).
        case_sensitive: Names of columns are the same in the same case only.
        column_statistics: The optimizer goes by statistics of columns.
        partitioning: Joins may go by how the rows of scans lie (``spark.sql.sources.v2.bucketing.enabled``).
        compatible_buckets: Also where two tables have different numbers of buckets.
    """

    packing: Packing
    case_sensitive: bool
    column_statistics: bool
    partitioning: bool = False
    compatible_buckets: bool = False


def read_statement_settings(
    jvm: Jvm, prefix: str, session: JavaObject | None = None, marked: tuple[str, str] | None = None
) -> StatementSettings:
    """The settings of the Spark session that is active in this thread.

    Args:
        jvm: The JVM.
        prefix: Of the names of settings that matter.
        session: Becomes the active one.
        marked: A local property of this thread's Java thread to set, and its value.
    """
    java = _java(jvm)
    before = None
    if java is not None:
        found = json.loads(java.settings(session, prefix, *(marked or ())))
        zone, given, user = found["zone"], found["settings"], found["user"]
        group, tags = found["group"], found["tags"]
        before = found.get("before")
    else:
        before = None if marked is None else exchange_property(jvm, *marked)
        if session is not None:
            jvm.cls("org.apache.spark.sql.classic.SparkSession").setActiveSession(session)
        conf = jvm.sql_conf()
        settings = conf.settings()
        # One look at all keys is one round trip; most sessions set none of ours.
        keys = [key for key in str(settings.keySet().toString()).strip("[]").split(", ") if key.startswith(prefix)]
        zone, given = str(conf.sessionLocalTimeZone()), {key: str(settings.get(key)) for key in keys}
        user = jvm.cls(_CURRENT_USER).CURRENT_USER().get()
        group, tags = (jvm.context.getLocalProperty(name) for name in _JOBS)
    jobs = [group, *(tags or "").split(",")]
    return StatementSettings(
        zone, {key[len(prefix) :]: text for key, text in given.items()}, user, tuple(job for job in jobs if job), before
    )


def exchange_property(jvm: Jvm, name: str, value: str | None) -> str | None:
    """Sets a local property of this thread's Java thread, or takes it away, and gives what it was."""
    java = _java(jvm)
    if java is not None:
        found = java.exchange(name, value)
        return None if found is None else str(found)
    before = jvm.context.getLocalProperty(name)
    jvm.context.setLocalProperty(name, value)  # type: ignore[arg-type]
    return before


def read_file_settings(jvm: Jvm) -> FileSettings:
    """The settings of the Spark session that is active in this thread."""
    java = _java(jvm)
    if java is not None:
        return file_settings(java.files())
    conf = jvm.sql_conf()
    # A default that is no number is refused, so the name is looked for first.
    chosen = next((name for name in _PARALLELISM if conf.contains(name)), None)
    tasks = jvm.context._jsc.sc().defaultParallelism() if chosen is None else conf.getConfString(chosen)
    packing = Packing(int(tasks), int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes()))
    by_cost = bool(conf.cboEnabled()) or bool(conf.planStatsEnabled())
    compatible = str(conf.getConfString(_COMPATIBLE_BUCKETS, "false")) == "true"
    return FileSettings(
        packing, bool(conf.caseSensitiveAnalysis()), by_cost, bool(conf.v2BucketingEnabled()), compatible
    )


def file_settings(words: str) -> FileSettings:
    """The settings in what ``SessionSettings.java`` tells."""
    found = json.loads(words)
    packing = Packing(found["tasks"], found["most"], found["open"])
    return FileSettings(
        packing, found["exact names"], found["column statistics"], found["partitioning"], found["compatible buckets"]
    )


def _java(jvm: Jvm) -> JavaObject | None:
    return java_classes.function(jvm, "SessionSettings")
