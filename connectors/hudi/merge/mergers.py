"""The mergers of Hudi itself: one for each merge mode, and for each payload class that does more. Both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from connectors.hudi.merge.ordering import OrderingKeys, binlog_keys
from connectors.hudi.merge.partial_updates import PartialUpdates
from connectors.hudi.merge.record_merger import MergeRules, RecordMerger
from connectors.hudi.schema.table_schema import META_COLUMNS

__all__ = ["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "MODES", "PAYLOADS", "HudiMerger"]

COMMIT_TIME_ORDERING = "COMMIT_TIME_ORDERING"
EVENT_TIME_ORDERING = "EVENT_TIME_ORDERING"


class HudiMerger(RecordMerger):
    """A merger that Hudi has, with what its payload class says where the table's properties say nothing.

    Attributes:
        mode: The merge mode (RecordMergeMode).
        payload_rules: By HoodieTableConfig.inferMergingConfigsForV9TableCreation, and the payload classes.
        overrides_ordering: The payload's ordering fields count, whatever the table says.
    """

    mode: ClassVar[str]
    payload_rules: ClassVar[MergeRules] = MergeRules()
    overrides_ordering: ClassVar[bool] = False


class CommitTimeMerger(HudiMerger):
    """The row that was written later wins."""

    mode = COMMIT_TIME_ORDERING

    @property
    def ordering_fields(self) -> tuple[str, ...]:
        return ()


class EventTimeMerger(HudiMerger):
    """The row with the greater ordering value wins; of equal ones the row that was written later."""

    mode = EVENT_TIME_ORDERING

    @property
    def ordering_fields(self) -> tuple[str, ...]:
        return self.rules.ordering_fields


class NonDefaultsMerger(CommitTimeMerger):
    """NULL in the later row leaves the earlier value."""

    payload_rules = MergeRules(partial_updates=PartialUpdates.IGNORE_DEFAULTS)


class PartialUpdateMerger(EventTimeMerger):
    """NULL in the winning row leaves the other value."""

    payload_rules = MergeRules(partial_updates=PartialUpdates.IGNORE_DEFAULTS)

    @property
    def later_columns(self) -> frozenset[str]:
        """The meta columns (PartialUpdateAvroPayload.mergeDisorderRecordsWithMetadata)."""
        return frozenset(META_COLUMNS)


class AwsDmsMerger(CommitTimeMerger):
    """Rows of AWS's migration service, which say in a column that they are deleted."""

    payload_rules = MergeRules(delete_field="Op", delete_marker="D")


class MySqlDebeziumMerger(EventTimeMerger):
    """Rows of a MySQL binlog, by its files and positions."""

    payload_rules = MergeRules(("_event_seq",), "_change_operation_type", "d")
    overrides_ordering = True

    def ordering_keys(self, values: Sequence[pa.Array], where: str) -> OrderingKeys:
        """By the number that ends the name of the binlog's file, then by the position in it."""
        return binlog_keys(values)


class PostgresDebeziumMerger(EventTimeMerger):
    """Rows of a PostgreSQL log; values that the source did not send leave the other value."""

    payload_rules = MergeRules(("_event_lsn",), "_change_operation_type", "d", PartialUpdates.FILL_UNAVAILABLE)


MODES: Mapping[str, type[HudiMerger]] = {
    COMMIT_TIME_ORDERING: CommitTimeMerger,
    EVENT_TIME_ORDERING: EventTimeMerger,
}
"""By RecordMergeMode."""

PAYLOADS: Mapping[str, type[HudiMerger]] = {
    "AWSDmsAvroPayload": AwsDmsMerger,
    "DefaultHoodieRecordPayload": EventTimeMerger,
    "EventTimeAvroPayload": EventTimeMerger,
    "MySqlDebeziumAvroPayload": MySqlDebeziumMerger,
    "OverwriteNonDefaultsWithLatestAvroPayload": NonDefaultsMerger,
    "OverwriteWithLatestAvroPayload": CommitTimeMerger,
    "PartialUpdateAvroPayload": PartialUpdateMerger,
    "PostgresDebeziumAvroPayload": PostgresDebeziumMerger,
}
"""By class name, without the package."""
