"""What the engine refuses or finds wrong, by name."""

from __future__ import annotations

from connector_spi.errors import ErrorCode, ErrorType

__all__ = [
    "JAVA_NOT_FOUND",
    "JAVA_TOO_OLD",
    "LIBRARY_NOT_INSTALLED",
    "SAMPLE_WAREHOUSE_TAKEN",
    "SERVER_DOES_NOT_START",
    "SERVER_NOT_REACHED",
    "SERVER_WITHOUT_AUTHENTICATION",
    "SPARK_CONNECT",
    "SPARK_DOES_NOT_START",
    "STALE_PARTITIONING",
    "TASK_PYTHON",
    "UNSUPPORTED_LOCAL_SQL",
    "UNSUPPORTED_SPARK_VERSION",
    "UNSUPPORTED_TRINO_SQL",
    "UNSUPPORTED_VIEW",
]

JAVA_NOT_FOUND = ErrorCode("JAVA_NOT_FOUND", ErrorType.EXTERNAL)
"""Spark needs Java, and there is none. Install Java 17 or later, or name it in ``JAVA_HOME``."""
JAVA_TOO_OLD = ErrorCode("JAVA_TOO_OLD", ErrorType.EXTERNAL)
"""The Java that was found is older than Spark needs. Install Java 17 or later, or name it in ``JAVA_HOME``."""
LIBRARY_NOT_INSTALLED = ErrorCode("LIBRARY_NOT_INSTALLED", ErrorType.USER_ERROR)
"""A library that is asked for is an extra of Lakeport's. Install it; the message says how."""
SAMPLE_WAREHOUSE_TAKEN = ErrorCode("SAMPLE_WAREHOUSE_TAKEN", ErrorType.USER_ERROR)
"""The folder of the sample warehouse holds something else. Run the demo in another folder."""
SERVER_DOES_NOT_START = ErrorCode("SERVER_DOES_NOT_START", ErrorType.EXTERNAL)
"""A server did not start, for instance since its port is taken. Give another port; the message holds the reason."""
SERVER_NOT_REACHED = ErrorCode("SERVER_NOT_REACHED", ErrorType.EXTERNAL)
"""A server is not at its address, or does not let the client in. The message holds the reason."""
SERVER_WITHOUT_AUTHENTICATION = ErrorCode("SERVER_WITHOUT_AUTHENTICATION", ErrorType.USER_ERROR)
"""A server would let in who has shown nothing, or other machines without TLS. The message says what to give."""
SPARK_CONNECT = ErrorCode("SPARK_CONNECT", ErrorType.USER_ERROR)
"""A session of Spark Connect, whose catalogs are out of reach. Use a classic session."""
SPARK_DOES_NOT_START = ErrorCode("SPARK_DOES_NOT_START", ErrorType.EXTERNAL)
"""Java ended before Spark was there. The message holds what it said."""
STALE_PARTITIONING = ErrorCode("STALE_PARTITIONING", ErrorType.EXTERNAL)
"""Files of a bucketed table were replaced by others, in no bucket, while a query joined by buckets. Run it again."""
TASK_PYTHON = ErrorCode("TASK_PYTHON", ErrorType.USER_ERROR)
"""The Python that Spark starts its tasks with cannot read tables. Set PYSPARK_PYTHON to one that has Lakeport."""
UNSUPPORTED_LOCAL_SQL = ErrorCode("UNSUPPORTED_LOCAL_SQL", ErrorType.USER_ERROR)
"""Part of a statement may mean something else in DuckDB than in Spark. The message names it; run it in Spark."""
UNSUPPORTED_SPARK_VERSION = ErrorCode("UNSUPPORTED_SPARK_VERSION", ErrorType.USER_ERROR)
"""Spark is of a version that Lakeport was not made for, or too old for what was asked. The message says which fits."""
UNSUPPORTED_TRINO_SQL = ErrorCode("UNSUPPORTED_TRINO_SQL", ErrorType.USER_ERROR)
"""Part of a statement in Trino's SQL may mean something else in Spark. The message names it, and what to write."""
UNSUPPORTED_VIEW = ErrorCode("UNSUPPORTED_VIEW", ErrorType.USER_ERROR)
"""A view whose text Spark does not understand. The message shows the part; query the view's tables."""
