"""What a connector may offer beside reading: changes, streams, definitions, procedures, options, events, pushdown."""

from connector_spi.optional.aggregation import (
    AggregateFunction,
    AggregateKind,
    Aggregation,
    AggregationApplication,
    SupportsAggregation,
)
from connector_spi.optional.changes import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    ChangeRange,
    ChangeType,
    SupportsChanges,
    TableChanges,
    with_change_columns,
)
from connector_spi.optional.definitions import (
    PartitionDefinition,
    SupportsPartitionDefinition,
    SupportsSchemaDefinition,
    SupportsTableDefinition,
    SupportsViews,
    TableDefinition,
    ViewDefinition,
    ViewDialect,
)
from connector_spi.optional.event_listener import (
    EventListener,
    QueryCompletedEvent,
    QueryCreatedEvent,
    TableReadEvent,
)
from connector_spi.optional.grants import SupportsGrants
from connector_spi.optional.listing import SupportsTableListing
from connector_spi.optional.page_sink import (
    DELETE_OPERATION,
    INSERT_OPERATION,
    OPERATION_COLUMN,
    Fragment,
    InsertHandle,
    MergeHandle,
    MergeSink,
    PageSink,
    PageSinkProvider,
)
from connector_spi.optional.procedures import Procedure, ProcedureArgument, ProcedureFunction
from connector_spi.optional.read_options import SupportsReadOptions
from connector_spi.optional.replacing import SupportsTableReplacement
from connector_spi.optional.statistics_collection import (
    CollectedColumn,
    CollectedStatistics,
    StatisticsCollection,
    SupportsStatisticsCollection,
)
from connector_spi.optional.streaming import StreamStart, SupportsStreaming, offset_fields, offset_text
from connector_spi.optional.top_n import SortItem, SupportsTopN, TopNApplication
from connector_spi.optional.writing import (
    BucketFunction,
    InsertLayout,
    MergeCommand,
    Overwrite,
    SupportsInsert,
    SupportsInsertLayout,
    SupportsMerge,
    SupportsOverwrite,
)

__all__ = [
    "CHANGE_TYPE",
    "COMMIT_TIMESTAMP",
    "COMMIT_VERSION",
    "DELETE_OPERATION",
    "INSERT_OPERATION",
    "OPERATION_COLUMN",
    "AggregateFunction",
    "AggregateKind",
    "Aggregation",
    "AggregationApplication",
    "BucketFunction",
    "ChangeRange",
    "ChangeType",
    "CollectedColumn",
    "CollectedStatistics",
    "EventListener",
    "Fragment",
    "InsertHandle",
    "InsertLayout",
    "MergeCommand",
    "MergeHandle",
    "MergeSink",
    "Overwrite",
    "PageSink",
    "PageSinkProvider",
    "PartitionDefinition",
    "Procedure",
    "ProcedureArgument",
    "ProcedureFunction",
    "QueryCompletedEvent",
    "QueryCreatedEvent",
    "SortItem",
    "StatisticsCollection",
    "StreamStart",
    "SupportsAggregation",
    "SupportsChanges",
    "SupportsGrants",
    "SupportsInsert",
    "SupportsInsertLayout",
    "SupportsMerge",
    "SupportsOverwrite",
    "SupportsPartitionDefinition",
    "SupportsReadOptions",
    "SupportsSchemaDefinition",
    "SupportsStatisticsCollection",
    "SupportsStreaming",
    "SupportsTableDefinition",
    "SupportsTableListing",
    "SupportsTableReplacement",
    "SupportsTopN",
    "SupportsViews",
    "TableChanges",
    "TableDefinition",
    "TableReadEvent",
    "TopNApplication",
    "ViewDefinition",
    "ViewDialect",
    "offset_fields",
    "offset_text",
    "with_change_columns",
]
