"""How a table's rows of one key are merged, by its properties. Pure (invariant I6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from connector_spi.errors import NotSupportedError
from connector_spi.properties import data_size_property
from connector_spi.serializable import Serializable
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_MERGE

__all__ = ["MERGE_MEMORY", "MergeConfig", "MergeMode", "PartialUpdates", "is_merge_property", "merge_config"]

MERGE_MEMORY = data_size_property(
    "hudi.merge-memory",
    "Memory for the logs of a split of a merge-on-read table; what is above it goes through disk.",
    512 << 20,
    minimum=1 << 10,
    session="merge_memory",
)
"""Bytes that the logs of a split may take in memory."""

_EVENT_TIME_ID = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
_COMMIT_TIME_ID = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
_PAYLOAD_BASED_ID = "00000000-0000-0000-0000-000000000000"
_DEFAULT_PAYLOAD = "DefaultHoodieRecordPayload"
_PAYLOAD_PACKAGES = ("org.apache.hudi.common.model.", "org.apache.hudi.common.model.debezium.")
_MERGE_PROPERTY = "hoodie.record.merge.property."
_UNAVAILABLE = "__debezium_unavailable_value"


class MergeMode(Enum):
    """What decides between two rows of one key (RecordMergeMode)."""

    COMMIT_TIME = "COMMIT_TIME_ORDERING"
    """The row that was written later."""
    EVENT_TIME = "EVENT_TIME_ORDERING"
    """The row with the greater ordering value; of equal ones the row that was written later."""


class PartialUpdates(Enum):
    """Which columns of the deciding row are taken from the other one (PartialUpdateMode)."""

    NONE = "NONE"
    IGNORE_DEFAULTS = "IGNORE_DEFAULTS"
    """Those that hold the default of their field."""
    FILL_UNAVAILABLE = "FILL_UNAVAILABLE"
    """Those that hold the text that stands for a value which the source did not send."""


@dataclass(frozen=True, slots=True)
class MergeConfig(Serializable):
    """How rows of one key are merged.

    Attributes:
        mode: What decides.
        ordering_fields: Columns of the ordering value; a field may be nested (``a.b``). Without any, every ordering
            value is the same.
        partial_updates: Which columns of the deciding row do not count.
        unavailable_value: With ``FILL_UNAVAILABLE``: the text that stands for a value that was not sent.
        delete_field: Column whose value says that a row is deleted; ``None`` where there is none.
        delete_marker: That value.
        key_fields: Record key fields, for tables without meta columns.
        complex_keys: Keys are pairs of field and value even where there is one field.
        binlog_positions: Ordering values are texts ``<file>.<position>`` of a MySQL binlog, which compare by the
            number that ends the file's name, then by the position (MySqlDebeziumAvroPayload).
        newest_meta_columns: The meta columns are those of the row that was written later, whichever row decides
            (PartialUpdateAvroPayload.mergeDisorderRecordsWithMetadata).
    """

    mode: MergeMode
    ordering_fields: tuple[str, ...] = ()
    partial_updates: PartialUpdates = PartialUpdates.NONE
    unavailable_value: str = _UNAVAILABLE
    delete_field: str | None = None
    delete_marker: str | None = None
    key_fields: tuple[str, ...] = ()
    complex_keys: bool = False
    binlog_positions: bool = False
    newest_meta_columns: bool = False

    @property
    def by_event_time(self) -> bool:
        """Whether ordering values have to be compared."""
        return self.mode is MergeMode.EVENT_TIME and bool(self.ordering_fields)


@dataclass(frozen=True, slots=True)
class _Payload:
    """What a payload class does (HoodieTableConfig.inferMergingConfigsForV9TableCreation, and the classes)."""

    mode: MergeMode
    partial_updates: PartialUpdates = PartialUpdates.NONE
    delete_field: str | None = None
    delete_marker: str | None = None
    ordering_fields: tuple[str, ...] = ()
    binlog_positions: bool = False
    newest_meta_columns: bool = False


_PAYLOADS: dict[str, _Payload] = {
    _DEFAULT_PAYLOAD: _Payload(MergeMode.EVENT_TIME),
    "EventTimeAvroPayload": _Payload(MergeMode.EVENT_TIME),
    "OverwriteWithLatestAvroPayload": _Payload(MergeMode.COMMIT_TIME),
    "OverwriteNonDefaultsWithLatestAvroPayload": _Payload(MergeMode.COMMIT_TIME, PartialUpdates.IGNORE_DEFAULTS),
    "PartialUpdateAvroPayload": _Payload(
        MergeMode.EVENT_TIME, PartialUpdates.IGNORE_DEFAULTS, newest_meta_columns=True
    ),
    "AWSDmsAvroPayload": _Payload(MergeMode.COMMIT_TIME, delete_field="Op", delete_marker="D"),
    "MySqlDebeziumAvroPayload": _Payload(
        MergeMode.EVENT_TIME,
        delete_field="_change_operation_type",
        delete_marker="d",
        ordering_fields=("_event_seq",),
        binlog_positions=True,
    ),
    "PostgresDebeziumAvroPayload": _Payload(
        MergeMode.EVENT_TIME,
        PartialUpdates.FILL_UNAVAILABLE,
        delete_field="_change_operation_type",
        delete_marker="d",
        ordering_fields=("_event_lsn",),
    ),
}

_OTHER_KEYS = frozenset(
    {
        "hoodie.table.recordkey.fields",
        "hoodie.table.keygenerator.class",
        "hoodie.table.keygenerator.type",
        "hoodie.table.ordering.fields",
        "hoodie.table.precombine.field",
        "hoodie.table.partial.update.mode",
        "hoodie.compaction.payload.class",
        "hoodie.compaction.record.merger.strategy",
        "hoodie.datasource.write.payload.class",
        "hoodie.record.merge.mode",
        "hoodie.record.merge.strategy.id",
        "hoodie.table.legacy.payload.class",
        "hoodie.payload.delete.field",
        "hoodie.payload.delete.marker",
    }
)


def is_merge_property(key: str) -> bool:
    """Whether a property of a table says how its rows are merged."""
    return key in _OTHER_KEYS or key.startswith(_MERGE_PROPERTY)


def merge_config(version: int, properties: Mapping[str, str], location: str) -> MergeConfig:
    """Decides how rows are merged (HoodieTableConfig.inferMergingConfigs).

    - Since version 9 the mode is told; payload classes are turned into properties.
    - In version 8 the merge strategy decides, the payload class where there is none.
    - Before, the payload class decides, whatever the other properties say.

    Args:
        version: Table version.
        properties: Of ``hoodie.properties``; those of ``is_merge_property`` suffice.
        location: The table's folder, for messages.

    Raises:
        NotSupportedError: The rows are merged by code that is not known here; names it.
    """
    return _Properties(version, properties, location).config()


@dataclass(frozen=True, slots=True)
class _Properties:
    version: int
    properties: Mapping[str, str]
    location: str

    def config(self) -> MergeConfig:
        payload = self._payload_class()
        known = self._known_payload(payload) if payload is not None else None
        mode = self._mode(payload)
        told = self._told("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
        fields = _names(told)
        # What a payload class does beyond ordering, version 9 says in properties.
        details = known if self.version < 9 and known is not None else None
        if details is not None and details.ordering_fields and (details.binlog_positions or not fields):
            fields = details.ordering_fields
        field, marker = self._delete_marker(details)
        key_fields = _names(self._told("hoodie.table.recordkey.fields"))
        return MergeConfig(
            mode=mode,
            ordering_fields=fields,
            partial_updates=self._partial_updates(details),
            unavailable_value=self._merge_property("hoodie.write.partial.update.custom.marker")
            or self._merge_property("partial.update.unavailable.value")
            or _UNAVAILABLE,
            delete_field=field,
            delete_marker=marker,
            key_fields=key_fields,
            complex_keys=len(key_fields) > 1,
            binlog_positions=details is not None and details.binlog_positions,
            newest_meta_columns=details is not None and details.newest_meta_columns,
        )

    def _mode(self, payload: str | None) -> MergeMode:
        told = self._told("hoodie.record.merge.mode")
        strategy = self._told("hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy")
        if self.version >= 9:
            return self._told_mode(told) if told is not None else self._natural_mode()
        if payload is None and strategy is None:
            return self._told_mode(told) if told is not None else self._natural_mode()
        if self.version == 8 and strategy is not None:
            return self._of_strategy(strategy, payload)
        return self._of_payload(payload if payload is not None else _DEFAULT_PAYLOAD)

    def _told_mode(self, told: str) -> MergeMode:
        for mode in MergeMode:
            if told.upper() == mode.value:
                return mode
        legacy = self._told("hoodie.table.legacy.payload.class", "hoodie.compaction.payload.class")
        raise self._refusal(f"hoodie.record.merge.mode {told}" + (f" of {legacy}" if legacy else ""))

    def _natural_mode(self) -> MergeMode:
        fields = self._told("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
        return MergeMode.EVENT_TIME if fields is not None else MergeMode.COMMIT_TIME

    def _of_strategy(self, strategy: str, payload: str | None) -> MergeMode:
        if strategy == _EVENT_TIME_ID:
            return MergeMode.EVENT_TIME
        if strategy == _COMMIT_TIME_ID:
            return MergeMode.COMMIT_TIME
        if strategy == _PAYLOAD_BASED_ID and payload is not None:
            return self._of_payload(payload)
        raise self._refusal(f"the record merge strategy {strategy}")

    def _of_payload(self, payload: str) -> MergeMode:
        known = self._known_payload(payload)
        if known is None:
            raise self._refusal(f"the payload class {payload}")
        return known.mode

    def _payload_class(self) -> str | None:
        return self._told(
            "hoodie.compaction.payload.class",
            "hoodie.datasource.write.payload.class",
            "hoodie.table.legacy.payload.class",
        )

    def _known_payload(self, payload: str) -> _Payload | None:
        for package in (*_PAYLOAD_PACKAGES, ""):
            name = payload.removeprefix(package)
            if payload.startswith(package) and "." not in name:
                return _PAYLOADS.get(name)
        return None

    def _partial_updates(self, details: _Payload | None) -> PartialUpdates:
        told = self._told("hoodie.table.partial.update.mode")
        if told is None:
            return details.partial_updates if details is not None else PartialUpdates.NONE
        # The betas of 1.1 wrote other names.
        name = {"IGNORE_MARKERS": "FILL_UNAVAILABLE"}.get(told.upper(), told.upper())
        for known in PartialUpdates:
            if name == known.value:
                return known
        raise self._refusal(f"hoodie.table.partial.update.mode {told}")

    def _delete_marker(self, details: _Payload | None) -> tuple[str | None, str | None]:
        field = self._merge_property("hoodie.payload.delete.field") or self._told("hoodie.payload.delete.field")
        marker = self._merge_property("hoodie.payload.delete.marker") or self._told("hoodie.payload.delete.marker")
        if field is not None and marker is not None:
            return field, marker
        return (details.delete_field, details.delete_marker) if details is not None else (None, None)

    def _merge_property(self, name: str) -> str | None:
        return self._told(f"{_MERGE_PROPERTY}{name}")

    def _told(self, *keys: str) -> str | None:
        return next((text.strip() for key in keys if (text := self.properties.get(key)) and text.strip()), None)

    def _refusal(self, what: str) -> NotSupportedError:
        known = ", ".join(sorted(_PAYLOADS))
        return NotSupportedError(
            f"{self.location}: its rows are merged by {what}, which is code that cannot be run here; the modes "
            f"COMMIT_TIME_ORDERING and EVENT_TIME_ORDERING and the payload classes {known} can be read: compact the "
            "table with Hudi, or read its base files alone (session property read_optimized)",
            HUDI_UNSUPPORTED_MERGE,
        )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
