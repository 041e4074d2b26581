"""How a table's rows of one key are merged, by its properties. Pure (invariant I6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connector_spi.properties import data_size_property
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_MERGE
from connectors.hudi.merge.merger_plugins import MERGER_ENTRY_POINTS, plugin_mergers
from connectors.hudi.merge.mergers import COMMIT_TIME_ORDERING, EVENT_TIME_ORDERING, MODES, PAYLOADS, HudiMerger
from connectors.hudi.merge.partial_updates import PartialUpdates
from connectors.hudi.merge.record_merger import MergeRules

__all__ = ["MERGE_CACHE", "MERGE_MEMORY", "MergeConfig", "is_merge_property", "merge_config"]

MERGE_MEMORY = data_size_property(
    "hudi.merge-memory",
    "Memory for the logs of a split of a merge-on-read table; what is above it goes through disk.",
    512 << 20,
    minimum=1 << 10,
    session="merge_memory",
)
"""Bytes that the logs of a split may take in memory."""

MERGE_CACHE = data_size_property(
    "hudi.merge-cache",
    "Memory of each process for merged logs, which the next reads of the same slices use again; 0B keeps none.",
    256 << 20,
    minimum=0,
    session="merge_cache",
)
"""Bytes of merged logs that a process keeps."""

_CUSTOM = "CUSTOM"
_STRATEGIES = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": EVENT_TIME_ORDERING,
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": COMMIT_TIME_ORDERING,
}
_PAYLOAD_BASED_ID = "00000000-0000-0000-0000-000000000000"
_DEFAULT_PAYLOAD = "DefaultHoodieRecordPayload"
_PAYLOAD_PACKAGES = ("org.apache.hudi.common.model.", "org.apache.hudi.common.model.debezium.")
_MERGE_PROPERTY = "hoodie.record.merge.property."


@dataclass(frozen=True, slots=True)
class MergeConfig:
    """How rows of one key are merged.

    Attributes:
        merger: Names the merger: a merge mode, a payload class of Hudi, or what a plugin brings.
        rules: What the properties say for it.
        key_fields: Record key fields, for tables without meta columns.
        complex_keys: Keys are pairs of field and value even where there is one field.
    """

    merger: str
    rules: MergeRules
    key_fields: tuple[str, ...] = ()
    complex_keys: bool = False


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

    - Since version 9 the mode is recorded; payload classes are turned into properties.
    - In version 8 the merge strategy decides, the payload class where there is none.
    - Before, the payload class decides, whatever the other properties say.

    Args:
        version: Table version.
        properties: Of ``hoodie.properties``; those of ``is_merge_property`` suffice.
        location: The table's directory, for messages.

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
        known = _payload_name(payload) if payload is not None else None
        # What a payload class does beyond ordering, version 9 says in properties.
        details = PAYLOADS[known] if self.version < 9 and known is not None else None
        merger = self._merger(payload)
        if known is not None and details is not None and details.mode == merger:
            merger = known
        key_fields = _names(self._value("hoodie.table.recordkey.fields"))
        return MergeConfig(merger, self._rules(details), key_fields, complex_keys=len(key_fields) > 1)

    def _rules(self, details: type[HudiMerger] | None) -> MergeRules:
        defaults = details.payload_rules if details is not None else MergeRules()
        fields = _names(self._value("hoodie.table.ordering.fields", "hoodie.table.precombine.field"))
        if details is not None and details.overrides_ordering:
            fields = defaults.ordering_fields
        field, marker = self._delete_marker(defaults)
        return MergeRules(
            ordering_fields=fields or defaults.ordering_fields,
            delete_field=field,
            delete_marker=marker,
            partial_updates=self._partial_updates(defaults),
            unavailable_value=self._merge_property("hoodie.write.partial.update.custom.marker")
            or self._merge_property("partial.update.unavailable.value")
            or defaults.unavailable_value,
        )

    def _merger(self, payload: str | None) -> str:
        """The merge mode, or the name of a plugin's merger."""
        mode = self._value("hoodie.record.merge.mode")
        strategy = self._value("hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy")
        if self.version >= 9 or (payload is None and strategy is None):
            return self._recorded_mode(mode, payload, strategy) if mode is not None else self._natural_mode()
        if self.version == 8 and strategy is not None:
            return self._of_strategy(strategy, payload)
        return self._of_payload(payload if payload is not None else _DEFAULT_PAYLOAD)

    def _recorded_mode(self, mode: str, payload: str | None, strategy: str | None) -> str:
        if mode.upper() in MODES:
            return mode.upper()
        legacy = self._value("hoodie.table.legacy.payload.class", "hoodie.compaction.payload.class")
        if mode.upper() == _CUSTOM:
            for name in (legacy, payload, strategy):
                if name is not None and name in plugin_mergers():
                    return name
        raise self._refusal(f"hoodie.record.merge.mode {mode}" + (f" of {legacy}" if legacy else ""))

    def _natural_mode(self) -> str:
        fields = self._value("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
        return EVENT_TIME_ORDERING if fields is not None else COMMIT_TIME_ORDERING

    def _of_strategy(self, strategy: str, payload: str | None) -> str:
        if strategy in _STRATEGIES:
            return _STRATEGIES[strategy]
        if strategy == _PAYLOAD_BASED_ID and payload is not None:
            return self._of_payload(payload)
        if strategy in plugin_mergers():
            return strategy
        raise self._refusal(f"the record merge strategy {strategy}")

    def _of_payload(self, payload: str) -> str:
        known = _payload_name(payload)
        if known is not None:
            return PAYLOADS[known].mode
        if payload in plugin_mergers():
            return payload
        raise self._refusal(f"the payload class {payload}")

    def _payload_class(self) -> str | None:
        return self._value(
            "hoodie.compaction.payload.class",
            "hoodie.datasource.write.payload.class",
            "hoodie.table.legacy.payload.class",
        )

    def _partial_updates(self, defaults: MergeRules) -> PartialUpdates:
        text = self._value("hoodie.table.partial.update.mode")
        if text is None:
            return defaults.partial_updates
        # The betas of 1.1 wrote other names.
        name = {"IGNORE_MARKERS": "FILL_UNAVAILABLE"}.get(text.upper(), text.upper())
        for known in PartialUpdates:
            if name == known.value:
                return known
        raise self._refusal(f"hoodie.table.partial.update.mode {text}")

    def _delete_marker(self, defaults: MergeRules) -> tuple[str | None, str | None]:
        field = self._merge_property("hoodie.payload.delete.field") or self._value("hoodie.payload.delete.field")
        marker = self._merge_property("hoodie.payload.delete.marker") or self._value("hoodie.payload.delete.marker")
        if field is not None and marker is not None:
            return field, marker
        return defaults.delete_field, defaults.delete_marker

    def _merge_property(self, name: str) -> str | None:
        return self._value(f"{_MERGE_PROPERTY}{name}")

    def _value(self, *keys: str) -> str | None:
        return next((text.strip() for key in keys if (text := self.properties.get(key)) and text.strip()), None)

    def _refusal(self, what: str) -> NotSupportedError:
        return NotSupportedError(
            f"{self.location}: its rows are merged by {what}, which is code that cannot be run here; the modes "
            f"{' and '.join(MODES)} and the payload classes {', '.join(PAYLOADS)} can be read: compact the table with "
            "Hudi, read its base files alone (session property read_optimized), or install a plugin with a merger of "
            f"that name (entry point group {MERGER_ENTRY_POINTS})",
            HUDI_UNSUPPORTED_MERGE,
        )


def _payload_name(payload: str) -> str | None:
    """The name of a payload class of Hudi without its package; ``None`` for a class of others."""
    for package in (*_PAYLOAD_PACKAGES, ""):
        name = payload.removeprefix(package)
        if payload.startswith(package) and "." not in name:
            return name if name in PAYLOADS else None
    return None


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
