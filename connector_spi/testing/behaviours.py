"""What a connector can do; the conformance suite expects all of it but what is listed as missing."""

from __future__ import annotations

from enum import Enum

__all__ = ["Behaviour"]


class Behaviour(Enum):
    """An ability that a connector may lack. The value says it in words."""

    ADDED_ROWS = "rows can be added to a table, by add_rows"
    ANY_COLUMN_NAME = "columns may have blanks, quotes and signs in their names"
    CHANGES = "metadata is SupportsChanges"
    COLUMN_STATISTICS = "statistics know the smallest and largest value of a column"
    DAMAGED_DATA = "the rows lie where they can be damaged, by damage"
    EMPTY_TABLES = "a table may have no rows"
    FILTER_PUSHDOWN = "apply_filter takes something over"
    HIDDEN_COLUMNS = "tables have columns that SELECT * does not show"
    LIMIT = "metadata is SupportsLimit"
    NESTED_PROJECTION = "nested types may be narrowed to the fields used"
    NULL_PARTITION_KEYS = "a partition key may be null"
    PARTITIONED_TABLES = "tables can be partitioned"
    PARTITION_LISTING = "metadata is SupportsPartitionListing"
    PARTITION_PRUNING = "a filter on a partition key leaves out the other partitions"
    PROCEDURES = "the connector has procedures"
    SEVERAL_SCHEMAS = "tables may be in more than one schema"
    SNAPSHOT_ISOLATION = "rows added after the handle was made are not seen"
    STATISTICS = "metadata is SupportsStatistics, and knows the row count of a table just made"
    STREAMING = "metadata is SupportsStreaming"
    SYSTEM_TABLES = "tables have system tables"
    TIME_TRAVEL = "metadata is SupportsTimeTravel"
    TYPE_BINARY = "columns of type binary"
    TYPE_BOOLEAN = "columns of type bool"
    TYPE_DATE = "columns of type date32"
    TYPE_DECIMAL = "columns of type decimal128"
    TYPE_DEEPLY_NESTED = "columns of lists of structs of maps"
    TYPE_DOUBLE = "columns of type float64"
    TYPE_FLOAT = "columns of type float32"
    TYPE_INT8 = "columns of type int8"
    TYPE_INT16 = "columns of type int16"
    TYPE_INT32 = "columns of type int32"
    TYPE_LIST = "columns of type list"
    TYPE_MAP = "columns of type map"
    TYPE_STRUCT = "columns of type struct"
    TYPE_TIMESTAMP = "columns of type timestamp[us], a wall-clock time"
    TYPE_TIMESTAMP_UTC = "columns of type timestamp[us, UTC], an instant"
    VALUE_CONTROL_CHARACTERS = "strings hold line ends and tabs"
    VALUE_EMPTY_STRING = "an empty string is not NULL"
    VALUE_INFINITY = "floating-point numbers may be infinite"
    VALUE_NAN = "floating-point numbers may be NaN, which is not NULL"
    VALUE_NEGATIVE_ZERO = "the floating-point number -0.0 stays what it is"
