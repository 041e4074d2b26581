"""Error codes of the hive connector."""

from __future__ import annotations

from connector_spi.errors import ErrorCode, ErrorType

__all__ = [
    "HIVE_ACID_HISTORY",
    "HIVE_ACID_LAYOUT",
    "HIVE_BAD_PARTITION",
    "HIVE_BAD_TABLE",
    "HIVE_DELTA_LAKE_TABLE",
    "HIVE_EXCEEDED_PARTITION_LIMIT",
    "HIVE_FILE_CLEANED",
    "HIVE_HUDI_TABLE",
    "HIVE_ICEBERG_TABLE",
    "HIVE_INVALID_BUCKET_FILES",
    "HIVE_LOCK_NOT_ACQUIRED",
    "HIVE_MISSING_PARTITION_FOLDER",
    "HIVE_PARTITION_DROPPED",
    "HIVE_PARTITION_FILTER_REQUIRED",
    "HIVE_PARTITION_NOT_FOUND",
    "HIVE_STREAM_BATCH_UNKNOWN",
    "HIVE_TABLE_EXISTS",
    "HIVE_TRANSACTIONAL_TABLE",
    "HIVE_TRANSACTION_LOST",
    "HIVE_UNSUPPORTED_FORMAT",
    "HIVE_UNSUPPORTED_TYPE",
    "HIVE_VIEW",
    "HIVE_WRITE_CONFLICT",
]

HIVE_ACID_HISTORY = ErrorCode("HIVE_ACID_HISTORY", ErrorType.USER_ERROR)
"""Compaction or an overwrite has replaced the version, or the changes, of a transactional table.
Use a version that the message lists.
"""
HIVE_ACID_LAYOUT = ErrorCode("HIVE_ACID_LAYOUT", ErrorType.EXTERNAL)
"""A directory of a transactional table holds something that Hive does not write there.
Move it away, or let Hive compact the table.
"""
HIVE_BAD_PARTITION = ErrorCode("HIVE_BAD_PARTITION", ErrorType.EXTERNAL)
"""The partition's definition in the metastore is invalid. Drop the partition in Hive and add it again."""
HIVE_BAD_TABLE = ErrorCode("HIVE_BAD_TABLE", ErrorType.EXTERNAL)
"""The table's definition in the metastore is invalid, or its schema cannot be read.

Correct the property that the message names.
"""
HIVE_COMMIT_UNKNOWN = ErrorCode("HIVE_COMMIT_UNKNOWN", ErrorType.EXTERNAL)
"""The connection to the metastore broke while rows were committed: they are all there, or none is.

Look before you add them again.
"""
HIVE_DELTA_LAKE_TABLE = ErrorCode("HIVE_DELTA_LAKE_TABLE", ErrorType.USER_ERROR)
"""A Delta Lake table: its files alone do not determine its rows. Read it with a Delta Lake reader."""
HIVE_EXCEEDED_PARTITION_LIMIT = ErrorCode("HIVE_EXCEEDED_PARTITION_LIMIT", ErrorType.INSUFFICIENT_RESOURCES)
"""The query would read more partitions than the catalog allows.

Filter by partition keys, or raise ``hive.max-partitions-per-scan``.
"""
HIVE_COMPACTION_FAILED = ErrorCode("HIVE_COMPACTION_FAILED", ErrorType.EXTERNAL)
"""A compaction that was waited for has failed, or no worker has made it in time, or one of the table is made already.

``t$compactions`` shows it.
"""
HIVE_FILE_CLEANED = ErrorCode("HIVE_FILE_CLEANED", ErrorType.EXTERNAL)
"""Hive's cleaner removed a file during the read, after a compaction. Run the statement again."""
HIVE_HUDI_TABLE = ErrorCode("HIVE_HUDI_TABLE", ErrorType.USER_ERROR)
"""A Hudi table, but no catalog of the hudi connector uses the same metastore. Add one."""
HIVE_ICEBERG_TABLE = ErrorCode("HIVE_ICEBERG_TABLE", ErrorType.USER_ERROR)
"""An Iceberg table: its files alone do not determine its rows. Read it with an Iceberg reader."""
HIVE_INVALID_BUCKET_FILES = ErrorCode("HIVE_INVALID_BUCKET_FILES", ErrorType.EXTERNAL)
"""A file holds rows of another bucket than its name, or its name has no bucket.
Write the table again, or set ``hive.validate-bucketing`` to false.
"""
HIVE_LOCK_NOT_ACQUIRED = ErrorCode("HIVE_LOCK_NOT_ACQUIRED", ErrorType.EXTERNAL)
"""Another transaction holds a lock on a transactional table; the message says which.
Try again, or read without a lock: session property ``transactional_read_lock``.
"""
HIVE_MISSING_PARTITION_FOLDER = ErrorCode("HIVE_MISSING_PARTITION_FOLDER", ErrorType.EXTERNAL)
"""A directory that the metastore names is missing in storage.
Restore it, drop the partition, or read it as empty: ``hive.ignore-absent-partitions``.
"""
HIVE_PARTITION_DROPPED = ErrorCode("HIVE_PARTITION_DROPPED", ErrorType.EXTERNAL)
"""A partition was dropped during planning. Run the query again."""
HIVE_PARTITION_FILTER_REQUIRED = ErrorCode("HIVE_PARTITION_FILTER_REQUIRED", ErrorType.USER_ERROR)
"""The catalog requires each query to filter on a partition key.

Add one, or set the session property that the message names.
"""
HIVE_PARTITION_NOT_FOUND = ErrorCode("HIVE_PARTITION_NOT_FOUND", ErrorType.USER_ERROR)
"""A procedure or statement names a partition that does not exist. ``SHOW PARTITIONS`` lists the existing ones."""
HIVE_STREAM_BATCH_UNKNOWN = ErrorCode("HIVE_STREAM_BATCH_UNKNOWN", ErrorType.EXTERNAL)
"""A streaming query was killed while it committed a batch, and others have changed the table since.

Look whether the rows of the batch are there, and do as the message says.
"""
HIVE_TABLE_EXISTS = ErrorCode("HIVE_TABLE_EXISTS", ErrorType.USER_ERROR)
"""The table already exists. Unregister it first, or choose another name."""
HIVE_TRANSACTIONAL_TABLE = ErrorCode("HIVE_TRANSACTIONAL_TABLE", ErrorType.USER_ERROR)
"""The operation is not supported for transactional tables, or the table is of an unknown transactional kind.
Use Hive for it.
"""
HIVE_TRANSACTION_LOST = ErrorCode("HIVE_TRANSACTION_LOST", ErrorType.EXTERNAL)
"""The metastore ended the transaction that protected the tables being read, so their files may disappear.

Run the statement again.
"""
HIVE_UNSUPPORTED_FORMAT = ErrorCode("HIVE_UNSUPPORTED_FORMAT", ErrorType.USER_ERROR)
"""An unsupported file format, SerDe or SerDe option; the message names the class. A plugin can add a SerDe."""
HIVE_UNSUPPORTED_TYPE = ErrorCode("HIVE_UNSUPPORTED_TYPE", ErrorType.USER_ERROR)
"""A column has an unsupported type. Leave the column out, or declare another type."""
HIVE_VIEW = ErrorCode("HIVE_VIEW", ErrorType.USER_ERROR)
"""A view is more than columns of one table, and cannot be read without Spark. Query it there, or query its tables."""
HIVE_WRITE_CONFLICT = ErrorCode("HIVE_WRITE_CONFLICT", ErrorType.EXTERNAL)
"""Another writer has changed the table meanwhile; nothing of the statement is visible. Run it again."""
