"""The merge mode of a table by its properties, as ``HoodieTableConfig`` infers it."""

from __future__ import annotations

import pytest

from connector_spi.errors import NotSupportedError
from connectors.hudi.merge.config import MergeConfig, is_merge_property, merge_config
from connectors.hudi.merge.merger_plugins import create_merger
from connectors.hudi.merge.mergers import CommitTimeMerger, EventTimeMerger, MySqlDebeziumMerger, PartialUpdateMerger
from connectors.hudi.merge.partial_updates import PartialUpdates
from connectors.hudi.merge.record_merger import RecordMerger

PACKAGE = "org.apache.hudi.common.model."
EVENT_TIME = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_TIME = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
BY_PAYLOAD = "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    ("version", "properties", "mode"),
    [
        (6, {"payload": "OverwriteWithLatestAvroPayload", "strategy": EVENT_TIME, "precombine": "ts"}, "COMMIT_TIME"),
        (6, {"payload": "DefaultHoodieRecordPayload", "precombine": "ts"}, "EVENT_TIME"),
        (6, {"strategy": COMMIT_TIME, "precombine": "ts"}, "EVENT_TIME"),
        (6, {"precombine": "ts"}, "EVENT_TIME"),
        (6, {}, "COMMIT_TIME"),
        (8, {"payload": "OverwriteWithLatestAvroPayload", "strategy": EVENT_TIME, "precombine": "ts"}, "EVENT_TIME"),
        (8, {"payload": "PartialUpdateAvroPayload", "strategy": BY_PAYLOAD, "mode": "CUSTOM"}, "EVENT_TIME"),
        (8, {"mode": "COMMIT_TIME_ORDERING", "precombine": "ts"}, "COMMIT_TIME"),
        (9, {"mode": "EVENT_TIME_ORDERING", "legacy": "OverwriteWithLatestAvroPayload"}, "EVENT_TIME"),
        (9, {"ordering": "a,b"}, "EVENT_TIME"),
        (9, {}, "COMMIT_TIME"),
    ],
)
def test_mode(version: int, properties: dict[str, str], mode: str) -> None:
    expected = {"COMMIT_TIME": CommitTimeMerger, "EVENT_TIME": EventTimeMerger}[mode]
    assert isinstance(_merger(merge_config(version, _full(properties), "t")), expected)


def test_payload_classes_of_old_tables() -> None:
    dms = merge_config(6, _full({"payload": "AWSDmsAvroPayload"}), "t")
    assert isinstance(_merger(dms), CommitTimeMerger)
    assert (dms.rules.delete_field, dms.rules.delete_marker) == ("Op", "D")
    mysql = merge_config(8, _full({"payload": "debezium.MySqlDebeziumAvroPayload", "strategy": BY_PAYLOAD}), "t")
    assert isinstance(_merger(mysql), MySqlDebeziumMerger)
    assert mysql.rules.ordering_fields == ("_event_seq",)
    postgres = merge_config(6, _full({"payload": "debezium.PostgresDebeziumAvroPayload"}), "t").rules
    assert (postgres.partial_updates, postgres.ordering_fields) == (PartialUpdates.FILL_UNAVAILABLE, ("_event_lsn",))
    partial = merge_config(6, _full({"payload": "OverwriteNonDefaultsWithLatestAvroPayload"}), "t")
    assert isinstance(_merger(partial), CommitTimeMerger)
    assert partial.rules.partial_updates is PartialUpdates.IGNORE_DEFAULTS


def test_a_strategy_of_version_8_decides_over_the_payload_class() -> None:
    properties = _full(
        {"payload": "OverwriteNonDefaultsWithLatestAvroPayload", "strategy": EVENT_TIME, "ordering": "a"}
    )
    merger = _merger(merge_config(8, properties, "t"))
    assert isinstance(merger, EventTimeMerger)
    assert merger.ordering_fields == ("a",)
    assert merger.value_test is not None


def test_partial_updates_take_the_meta_columns_of_the_later_row() -> None:
    merger = _merger(merge_config(6, _full({"payload": "PartialUpdateAvroPayload"}), "t"))
    assert isinstance(merger, PartialUpdateMerger)
    assert "_hoodie_commit_time" in merger.later_columns


def test_properties_of_version_9() -> None:
    found = merge_config(
        9,
        {
            "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
            "hoodie.table.ordering.fields": "_event_bin_file,_event_pos",
            "hoodie.table.legacy.payload.class": f"{PACKAGE}debezium.MySqlDebeziumAvroPayload",
            "hoodie.table.partial.update.mode": "FILL_UNAVAILABLE",
            "hoodie.record.merge.property.partial.update.unavailable.value": "?",
            "hoodie.record.merge.property.hoodie.payload.delete.field": "op",
            "hoodie.record.merge.property.hoodie.payload.delete.marker": "d",
        },
        "t",
    )
    rules = found.rules
    assert rules.ordering_fields == ("_event_bin_file", "_event_pos")
    assert type(_merger(found)) is EventTimeMerger
    assert (rules.partial_updates, rules.unavailable_value) == (PartialUpdates.FILL_UNAVAILABLE, "?")
    assert (rules.delete_field, rules.delete_marker) == ("op", "d")


@pytest.mark.parametrize(
    ("version", "properties", "named"),
    [
        (6, {"payload": "com.example.Mine"}, r"com\.example\.Mine"),
        (8, {"strategy": "1897ef5f-18bc-4557-939c-9d6a8afd1519"}, "1897ef5f"),
        (9, {"mode": "CUSTOM", "legacy": "com.example.Mine"}, r"CUSTOM of com\.example\.Mine"),
    ],
)
def test_unknown_code_is_refused_by_name(version: int, properties: dict[str, str], named: str) -> None:
    with pytest.raises(NotSupportedError, match=named):
        merge_config(version, _full(properties), "t")


_KEYS = {
    "payload": "hoodie.compaction.payload.class",
    "legacy": "hoodie.table.legacy.payload.class",
    "strategy": "hoodie.record.merge.strategy.id",
    "mode": "hoodie.record.merge.mode",
    "precombine": "hoodie.table.precombine.field",
    "ordering": "hoodie.table.ordering.fields",
}


def _merger(config: MergeConfig) -> RecordMerger:
    return create_merger(config.merger, config.rules)


def _full(properties: dict[str, str]) -> dict[str, str]:
    own = ("Payload", "payload")
    found = {
        _KEYS[key]: PACKAGE + value if value.endswith(own) and not value.startswith("com.") else value
        for key, value in properties.items()
    }
    assert all(map(is_merge_property, found))
    return found
