from __future__ import annotations

from connectors.hudi.metadata_table.records import (
    Record,
    RecordLocation,
    merge_column_stats,
    merge_files,
    record_location,
)


def files(**sizes: int | None) -> Record:
    entry = {name: {"size": size or 0, "isDeleted": size is None} for name, size in sizes.items()}
    return {"type": 2, "filesystemMetadata": entry}


def stats(low: int | None, high: int | None, count: int, nulls: int, **more: object) -> Record:
    def bound(value: int | None) -> object:
        return None if value is None else ("org.apache.hudi.avro.model.IntWrapper", {"value": value})

    entry = {"fileName": "f", "columnName": "c", "minValue": bound(low), "maxValue": bound(high)}
    return {
        "ColumnStatsMetadata": {**entry, "valueCount": count, "nullCount": nulls, "isDeleted": False, **more},
    }


def location(high: int, low: int, index: int) -> Record:
    entry = {"partitionName": "p", "fileIdHighBits": high, "fileIdLowBits": low, "fileIndex": index, "fileId": ""}
    return {"recordIndexMetadata": {**entry, "fileIdEncoding": 0}}


def test_files_come_and_go() -> None:
    assert merge_files([files(a=1, b=2), files(c=3, a=None)]) == {"b": 2, "c": 3}


def test_a_file_only_grows() -> None:
    assert merge_files([files(a=10), files(a=7)]) == {"a": 10}
    assert merge_files([files(a=10), files(a=17)]) == {"a": 17}


def test_a_file_can_be_deleted_before_it_is_known() -> None:
    assert merge_files([files(a=None), files(b=1)]) == {"b": 1}


def test_a_deleted_key_forgets_what_was_before() -> None:
    assert merge_files([files(a=1), None, files(b=1)]) == {"b": 1}


def test_statistics_of_one_file_are_taken_together() -> None:
    """A log file that grows has statistics of each part."""
    merged = merge_column_stats([stats(5, 9, 4, 1), stats(2, 6, 3, 0)])
    assert merged is not None
    assert [value.value for value in merged.low] == [5, 2]
    assert [value.value for value in merged.high] == [9, 6]
    assert (merged.value_count, merged.null_count) == (7, 1)


def test_statistics_without_bounds_take_the_bounds_away() -> None:
    merged = merge_column_stats([stats(5, 9, 4, 1), stats(None, None, 3, 0)])
    assert merged is not None
    assert (merged.low, merged.high) == ((), ())


def test_what_is_said_to_be_nothing_but_nulls_takes_the_bounds_away() -> None:
    """Hudi says so of values whose bounds were not recorded, too."""
    merged = merge_column_stats([stats(5, 9, 4, 1), stats(None, None, 3, 3)])
    assert merged is not None
    assert (merged.low, merged.high, merged.null_count) == ((), (), 4)


def test_deletes_leave_the_bounds() -> None:
    merged = merge_column_stats([stats(5, 9, 4, 1), stats(None, None, 0, 0)])
    assert merged is not None
    assert [value.value for value in (*merged.low, *merged.high)] == [5, 9]


def test_tight_statistics_replace_and_deleted_ones_vanish() -> None:
    merged = merge_column_stats([stats(5, 9, 4, 1), stats(6, 6, 1, 0, isTightBound=True)])
    assert merged is not None
    assert [value.value for value in merged.low] == [6]
    assert merge_column_stats([stats(5, 9, 4, 1), stats(None, None, 0, 0, isDeleted=True)]) is None
    assert merge_column_stats([stats(5, 9, 4, 1), None]) is None


def test_locations_are_uuids_with_a_number() -> None:
    # The record of key '2' in a table that Hudi wrote.
    record = location(200742889829650127, -8772902760862284018, 0)
    assert record_location([record]) == RecordLocation("p", "02c92e98-3f7b-4ecf-8640-636b79c2870e-0")
    assert record_location([record, None]) is None
    assert record_location([record, location(1, 2, -1)]) == RecordLocation("p", "00000000-0000-0001-0000-000000000002")
