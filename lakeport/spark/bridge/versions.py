"""The differences between the supported Spark versions, mostly in constructors."""

from __future__ import annotations

from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_SPARK_VERSION
from lakeport.spark.bridge.jvm import CATALOG, READ, Jvm

__all__ = [
    "BY_NAME",
    "NO_REBASE",
    "check_version",
    "orc_scan",
    "parquet_scan",
    "pushes_catalyst_filters",
    "python_reader_factory",
    "python_writer_factory",
    "rows_need_a_column",
    "sorts_grouped_tasks",
    "v2_columns",
]

_V2 = "org.apache.spark.sql.execution.datasources.v2."
NO_REBASE = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
"""Options that override a session's settings for rebasing dates and times (``ParquetOptions``)."""
BY_NAME = {"orc.force.positional.evolution": "false"}
"""Else Spark finds columns by position among those of the scan (``OrcUtils.requestedColumnIds``)."""
_OLDEST = (4, 0)
_NEWEST_MAJOR = 4


def check_version(jvm: Jvm) -> tuple[int, int]:
    """Major and minor version of the running Spark.

    Raises:
        NotSupportedError: Lakeport does not support the version.
    """
    text = jvm.version
    major, minor = (int(part) for part in text.split(".")[:2])
    if (major, minor) < _OLDEST or major > _NEWEST_MAJOR:
        raise NotSupportedError(
            f"Spark {text} is running; Lakeport needs Spark 4.0 or later, below 5: pip install 'pyspark>=4.0,<5'",
            UNSUPPORTED_SPARK_VERSION,
        )
    return major, minor


def parquet_scan(
    jvm: Jvm, session: JavaObject, index: JavaObject, data: JavaObject, constants: JavaObject, filters: JavaObject
) -> JavaObject:
    """A ``ParquetScan`` of ``data`` columns followed by ``constants``, which does not rebase dates and times."""
    conf = session.sessionState().newHadoopConf()
    args = [session, conf, index, data, data, constants, filters, _no_rebase(jvm)]
    args += [jvm.none, jvm.empty_seq, jvm.empty_seq]
    if check_version(jvm) >= (4, 1):
        args.append(jvm.array(READ + "VariantExtraction", []))
    return jvm.cls(_V2 + "parquet.ParquetScan")(*args)


def orc_scan(
    jvm: Jvm, session: JavaObject, index: JavaObject, data: JavaObject, constants: JavaObject, filters: JavaObject
) -> JavaObject:
    """An ``OrcScan`` of ``data`` columns followed by ``constants``, which finds columns by name."""
    conf = session.sessionState().newHadoopConf()
    for name, text in BY_NAME.items():
        conf.set(name, text)
    columns = [index, data, data, constants]
    options = [_no_options(jvm), jvm.none, filters, jvm.empty_seq, jvm.empty_seq]
    return jvm.cls(_V2 + "orc.OrcScan")(session, conf, *columns, *options)


def python_reader_factory(jvm: Jvm, source: JavaObject, command: bytes, schema: JavaObject) -> JavaObject:
    """A ``PythonPartitionReaderFactory`` that runs a pickled function in a task's Python."""
    args: list[object] = [source, bytearray(command), schema, jvm.none]
    if check_version(jvm) >= (4, 1):
        args.append(jvm.none)
    return jvm.cls(_V2 + "python.PythonPartitionReaderFactory")(*args)


def python_writer_factory(
    jvm: Jvm, source: JavaObject, command: bytes, schema: JavaObject, *, streaming: bool = False
) -> JavaObject:
    """A ``PythonBatchWriterFactory`` that runs a pickled function in a task's Python, or its like for streams."""
    args: list[object] = [source, bytearray(command), schema, jvm.none]
    if check_version(jvm) >= (4, 1):
        args.append(jvm.none)
    return jvm.cls(_V2 + ("python.PythonStreamingWriterFactory" if streaming else "python.PythonBatchWriterFactory"))(
        *args
    )


def rows_need_a_column(jvm: Jvm) -> bool:
    """Whether batches of no columns lose their row count on the way from a Python task: Spark 4.0 counts 0 rows."""
    return check_version(jvm) < (4, 1)


def pushes_catalyst_filters(jvm: Jvm) -> bool:
    """Whether Spark calls any ``SupportsPushDownCatalystFilters``: Spark 4.0 only calls its own file scans."""
    return check_version(jvm) >= (4, 1)


def sorts_grouped_tasks(jvm: Jvm) -> bool:
    """Whether Spark knows that rows of buckets it reads in one task, one after another, have no order together.

    It looks at the buckets as the scan reported them before 4.2 (``DataSourceV2ScanExecBase.outputOrdering``), not at
    those of two tables with other numbers of them, and leaves the sort of a join out, which then misses rows.
    """
    return check_version(jvm) >= (4, 2)


def v2_columns(jvm: Jvm, struct: JavaObject) -> JavaObject:
    """The ``Column[]`` of a ``StructType``."""
    convert = jvm.cls(CATALOG + "CatalogV2Util").structTypeToV2Columns
    return convert(struct, False) if check_version(jvm) >= (4, 2) else convert(struct)


def _no_rebase(jvm: Jvm) -> JavaObject:
    return jvm.cls("org.apache.spark.sql.util.CaseInsensitiveStringMap")(jvm.string_map(NO_REBASE.items()))


def _no_options(jvm: Jvm) -> JavaObject:
    return jvm.cls("org.apache.spark.sql.util.CaseInsensitiveStringMap").empty()
