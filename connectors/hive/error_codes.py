"""What the hive connector refuses or finds wrong, by name."""

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
    "HIVE_TABLE_EXISTS",
    "HIVE_TRANSACTIONAL_TABLE",
    "HIVE_TRANSACTION_LOST",
    "HIVE_UNSUPPORTED_FORMAT",
    "HIVE_UNSUPPORTED_TYPE",
    "HIVE_VIEW",
]

HIVE_ACID_HISTORY = ErrorCode("HIVE_ACID_HISTORY", ErrorType.USER_ERROR)
"""A version, or changes, of a transactional table that compaction or an overwrite has taken over.

Ask for one that the message says is left.
"""
HIVE_ACID_LAYOUT = ErrorCode("HIVE_ACID_LAYOUT", ErrorType.EXTERNAL)
"""A folder of a transactional table holds what Hive does not write there.

Move it out, or let Hive compact the table.
"""
HIVE_BAD_PARTITION = ErrorCode("HIVE_BAD_PARTITION", ErrorType.EXTERNAL)
"""The metastore's entry of a partition makes no sense. Drop the partition in Hive and add it again."""
HIVE_BAD_TABLE = ErrorCode("HIVE_BAD_TABLE", ErrorType.EXTERNAL)
"""The metastore's entry of a table makes no sense, or its schema cannot be read.

Correct the property that the message names.
"""
HIVE_DELTA_LAKE_TABLE = ErrorCode("HIVE_DELTA_LAKE_TABLE", ErrorType.USER_ERROR)
"""A Delta Lake table, whose files alone do not tell its rows. Read it with a reader of Delta Lake."""
HIVE_EXCEEDED_PARTITION_LIMIT = ErrorCode("HIVE_EXCEEDED_PARTITION_LIMIT", ErrorType.INSUFFICIENT_RESOURCES)
"""The query would read more partitions than the catalog allows.

Filter by partition keys, or raise ``hive.max-partitions-per-scan``.
"""
HIVE_FILE_CLEANED = ErrorCode("HIVE_FILE_CLEANED", ErrorType.EXTERNAL)
"""Hive's cleaner removed a file after a compaction while it was read. Run the statement again."""
HIVE_HUDI_TABLE = ErrorCode("HIVE_HUDI_TABLE", ErrorType.USER_ERROR)
"""A Hudi table, and no catalog of the hudi connector shares the metastore. Add one."""
HIVE_ICEBERG_TABLE = ErrorCode("HIVE_ICEBERG_TABLE", ErrorType.USER_ERROR)
"""An Iceberg table, whose files alone do not tell its rows. Read it with a reader of Iceberg."""
HIVE_INVALID_BUCKET_FILES = ErrorCode("HIVE_INVALID_BUCKET_FILES", ErrorType.EXTERNAL)
"""A file lies in another bucket than its rows say, or its name tells none.

Write the table anew, or set ``hive.validate-bucketing`` to false.
"""
HIVE_LOCK_NOT_ACQUIRED = ErrorCode("HIVE_LOCK_NOT_ACQUIRED", ErrorType.EXTERNAL)
"""Somebody else holds a lock on a transactional table; the message says who.

Try again, or read without a lock: session property ``transactional_read_lock``.
"""
HIVE_MISSING_PARTITION_FOLDER = ErrorCode("HIVE_MISSING_PARTITION_FOLDER", ErrorType.EXTERNAL)
"""The metastore names a folder that storage lacks.

Restore it, drop the partition, or take it as empty: ``hive.ignore-absent-partitions``.
"""
HIVE_PARTITION_DROPPED = ErrorCode("HIVE_PARTITION_DROPPED", ErrorType.EXTERNAL)
"""A partition was dropped while the query was planned. Run it again."""
HIVE_PARTITION_FILTER_REQUIRED = ErrorCode("HIVE_PARTITION_FILTER_REQUIRED", ErrorType.USER_ERROR)
"""The catalog wants a filter on a partition key of each query.

Add one, or set the session property that the message names.
"""
HIVE_PARTITION_NOT_FOUND = ErrorCode("HIVE_PARTITION_NOT_FOUND", ErrorType.USER_ERROR)
"""A procedure or statement names a partition that the table lacks. ``SHOW PARTITIONS`` lists those there are."""
HIVE_TABLE_EXISTS = ErrorCode("HIVE_TABLE_EXISTS", ErrorType.USER_ERROR)
"""The table is registered already. Unregister it first, or choose another name."""
HIVE_TRANSACTIONAL_TABLE = ErrorCode("HIVE_TRANSACTIONAL_TABLE", ErrorType.USER_ERROR)
"""Something that cannot be done with a transactional table, or one of a kind that is not understood.

The message says which; Hive itself can.
"""
HIVE_TRANSACTION_LOST = ErrorCode("HIVE_TRANSACTION_LOST", ErrorType.EXTERNAL)
"""The metastore gave up the transaction under which tables were read, so their files may go away.

Run the statement again.
"""
HIVE_UNSUPPORTED_FORMAT = ErrorCode("HIVE_UNSUPPORTED_FORMAT", ErrorType.USER_ERROR)
"""A file format, serde or option of one that is not read, named by its class. A plugin can add a serde."""
HIVE_UNSUPPORTED_TYPE = ErrorCode("HIVE_UNSUPPORTED_TYPE", ErrorType.USER_ERROR)
"""A column of a type that is not read. Leave the column out, or declare it otherwise."""
HIVE_VIEW = ErrorCode("HIVE_VIEW", ErrorType.USER_ERROR)
"""A view, read without Spark. Query it through Spark, or query its tables."""
