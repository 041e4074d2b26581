"""What the hudi connector refuses or finds wrong, by name."""

from __future__ import annotations

from connector_spi.errors import ErrorCode, ErrorType

__all__ = [
    "HUDI_BAD_HFILE",
    "HUDI_BAD_INSTANT",
    "HUDI_BAD_LOG_FILE",
    "HUDI_BAD_OPTION",
    "HUDI_BAD_PROPERTIES",
    "HUDI_BAD_SCHEMA",
    "HUDI_BAD_TIMELINE",
    "HUDI_BOOTSTRAP",
    "HUDI_CLEANED",
    "HUDI_DUPLICATE_BASE_FILE",
    "HUDI_DUPLICATE_KEYS",
    "HUDI_MERGE_ON_READ",
    "HUDI_MISSING_BASE_FILE",
    "HUDI_MISSING_PARTITION",
    "HUDI_NOT_A_HUDI_TABLE",
    "HUDI_NO_META_FIELDS",
    "HUDI_PARTITION_FILTER_REQUIRED",
    "HUDI_PARTITION_VALUE",
    "HUDI_PENDING_WRITE",
    "HUDI_SCHEMA_ON_READ",
    "HUDI_TIMESTAMP_UNIT",
    "HUDI_UNKNOWN_FILE_NAME",
    "HUDI_UNSUPPORTED_BASE_FILE",
    "HUDI_UNSUPPORTED_HFILE",
    "HUDI_UNSUPPORTED_KEY",
    "HUDI_UNSUPPORTED_LOG_BLOCK",
    "HUDI_UNSUPPORTED_MERGE",
    "HUDI_UNSUPPORTED_TABLE_FORMAT",
    "HUDI_UNSUPPORTED_TABLE_VERSION",
]


def _user(name: str) -> ErrorCode:
    return ErrorCode(name, ErrorType.USER_ERROR)


def _external(name: str) -> ErrorCode:
    return ErrorCode(name, ErrorType.EXTERNAL)


HUDI_BAD_INSTANT = _user("HUDI_BAD_INSTANT")
"""Text that is no instant, or a session time zone that is not known. The message shows the forms."""
HUDI_BAD_OPTION = _user("HUDI_BAD_OPTION")
"""A read option, or two of them together, that cannot be. The message says what it wants."""
HUDI_CLEANED = _user("HUDI_CLEANED")
"""What an earlier time or a range needs was removed by Hudi's cleaner. Ask for what the message says is left."""
HUDI_DUPLICATE_KEYS = _user("HUDI_DUPLICATE_KEYS")
"""Several rows of one record key, so changes cannot be matched.

Read snapshots, or ``CHANGES FROM VERSION`` where the message says so.
"""
HUDI_NO_META_FIELDS = _user("HUDI_NO_META_FIELDS")
"""The table has no meta columns, so it is unknown when a row was written. Read its snapshot or its changes."""
HUDI_PENDING_WRITE = _user("HUDI_PENDING_WRITE")
"""A write is not finished yet, and the answer may change with it.

Ask for an earlier instant, or roll it back with Hudi.
"""
HUDI_MERGE_ON_READ = _user("HUDI_MERGE_ON_READ")
"""Log files in a table that says it is copy-on-write. Correct ``hoodie.table.type``, or compact the table."""
HUDI_BOOTSTRAP = _user("HUDI_BOOTSTRAP")
"""A bootstrapped table and its original files do not fit together.

Restore the original files, or say where they are: ``hoodie.bootstrap.base.path``.
"""
HUDI_NOT_A_HUDI_TABLE = _user("HUDI_NOT_A_HUDI_TABLE")
"""No Hudi table is there. Check the location, or read the table through a catalog of the hive connector."""
HUDI_PARTITION_FILTER_REQUIRED = _user("HUDI_PARTITION_FILTER_REQUIRED")
"""The catalog wants a filter on a partition field of each query.

Add one, or set the session property that the message names.
"""
HUDI_PARTITION_VALUE = _user("HUDI_PARTITION_VALUE")
"""A partition's path leaves the column's value in doubt. Select other columns."""
HUDI_SCHEMA_ON_READ = _user("HUDI_SCHEMA_ON_READ")
"""The table was altered in a way that its older files cannot be read by. Leave the column out, or rewrite the table."""
HUDI_TIMESTAMP_UNIT = _user("HUDI_TIMESTAMP_UNIT")
"""The schema says milliseconds and the file microseconds, a known bug of older Hudi.

Leave the column out, or rewrite the table with Hudi 1.1 or later.
"""
HUDI_UNSUPPORTED_BASE_FILE = _user("HUDI_UNSUPPORTED_BASE_FILE")
"""Base files of another format than Parquet and ORC."""
HUDI_UNSUPPORTED_HFILE = _user("HUDI_UNSUPPORTED_HFILE")
"""An HFile of a compression or encryption that is not read.

Set ``hoodie.hfile.compression.algorithm`` to GZ and let Hudi compact it.
"""
HUDI_UNSUPPORTED_KEY = _user("HUDI_UNSUPPORTED_KEY")
"""Record keys of a type whose text depends on the writer, in a table without meta columns."""
HUDI_UNSUPPORTED_LOG_BLOCK = _user("HUDI_UNSUPPORTED_LOG_BLOCK")
"""A block of a log file of a kind or version that is not understood. Compact the table with Hudi."""
HUDI_UNSUPPORTED_MERGE = _user("HUDI_UNSUPPORTED_MERGE")
"""Rows are merged by code that cannot be run here.

Compact the table with Hudi, or read its base files alone: session property ``read_optimized``.
"""
HUDI_UNSUPPORTED_TABLE_FORMAT = _user("HUDI_UNSUPPORTED_TABLE_FORMAT")
"""``hoodie.table.format`` or its storage layout is not Hudi's own."""
HUDI_UNSUPPORTED_TABLE_VERSION = _user("HUDI_UNSUPPORTED_TABLE_VERSION")
"""A table version other than 5, 6, 8 and 9. Upgrade the table with Hudi."""
HUDI_BAD_HFILE = _external("HUDI_BAD_HFILE")
"""A damaged file of the metadata table. Restore it, or let Hudi make the metadata table anew."""
HUDI_BAD_LOG_FILE = _external("HUDI_BAD_LOG_FILE")
"""A damaged log file. Restore it."""
HUDI_BAD_PROPERTIES = _external("HUDI_BAD_PROPERTIES")
"""``hoodie.properties`` is missing or damaged, and its backup, too. Repair it with Hudi's own tools."""
HUDI_BAD_SCHEMA = _external("HUDI_BAD_SCHEMA")
"""The table's schema or schema history cannot be read. Restore the file that the message names."""
HUDI_BAD_TIMELINE = _external("HUDI_BAD_TIMELINE")
"""The timeline is missing, or a file of it is not understood.

An upgrade may be running: try again; else restore the file.
"""
HUDI_DUPLICATE_BASE_FILE = _external("HUDI_DUPLICATE_BASE_FILE")
"""Two base files for one file group and instant, and it is unknown which was committed.

Remove the one of the failed task.
"""
HUDI_MISSING_BASE_FILE = _external("HUDI_MISSING_BASE_FILE")
"""The timeline names a file that storage lacks.

Run the query again, as the cleaner may have come by; else restore the file.
"""
HUDI_MISSING_PARTITION = _external("HUDI_MISSING_PARTITION")
"""The metastore names a partition whose directory storage lacks. Restore it, or sync the table again."""
HUDI_UNKNOWN_FILE_NAME = _external("HUDI_UNKNOWN_FILE_NAME")
"""A file in the table's folders that has no name of Hudi's. Move it out of the table."""
