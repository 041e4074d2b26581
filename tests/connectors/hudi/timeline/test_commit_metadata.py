from __future__ import annotations

import io
import json

import fastavro
import pytest

from connector_spi.errors import CorruptFileError
from connectors.hudi.timeline.commit_metadata import parse_commit_metadata

STAT = {
    "fileId": "f-0",
    "path": "p1/f-0_0-1-2_20240101000000000.parquet",
    "prevCommit": "null",
    "numWrites": 3,
    "fileSizeInBytes": 99,
    "unknownKey": {"a": 1},
}


def test_json_with_unknown_keys_and_null_parts() -> None:
    text = json.dumps(
        {
            "partitionToWriteStats": {"p1": [STAT], "p2": []},
            "compacted": False,
            "extraMetadata": {"schema": "{}", "nothing": None},
            "operationType": "UPSERT",
            "totalRecordsDeleted": 4,
            "fileIdAndRelativePaths": {"f-0": "p1/x"},
        }
    )
    met = parse_commit_metadata(text.encode(), "x.commit")
    assert met.operation == "UPSERT"
    assert met.schema == "{}"
    assert met.replaced == ()
    [stat] = met.stats
    assert (stat.partition, stat.file_id, stat.rows, stat.size) == ("p1", "f-0", 3, 99)
    assert stat.path == STAT["path"]


def test_replaced_groups_of_json() -> None:
    text = json.dumps({"partitionToWriteStats": {}, "partitionToReplaceFileIds": {"p1": ["a", "b"], "": ["c"]}})
    met = parse_commit_metadata(text.encode(), "x.replacecommit")
    assert met.replaced == (("p1", ("a", "b")), ("", ("c",)))


def test_avro_with_unions_in_either_order() -> None:
    stat = {
        "type": "record",
        "name": "S",
        "fields": [
            {"name": "fileId", "type": ["null", "string"]},
            {"name": "numWrites", "type": ["long", "null"]},
            {"name": "path", "type": ["string", "null"]},
        ],
    }
    schema = {
        "type": "record",
        "name": "C",
        "fields": [
            {"name": "partitionToWriteStats", "type": {"type": "map", "values": {"type": "array", "items": stat}}},
            {"name": "operationType", "type": ["string", "null"]},
        ],
    }
    sink = io.BytesIO()
    record = {"partitionToWriteStats": {"p": [{"fileId": "f", "numWrites": 7, "path": None}]}, "operationType": "X"}
    fastavro.writer(sink, fastavro.parse_schema(schema), [record])
    met = parse_commit_metadata(sink.getvalue(), "x.commit")
    assert [(item.file_id, item.rows, item.path) for item in met.stats] == [("f", 7, None)]
    assert met.schema is None


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("UPSERT", True), ("CLUSTER", False), ("COMPACT", False), ("ALTER_SCHEMA", True), ("", True)],
)
def test_who_may_change_the_schema(operation: str, expected: bool) -> None:
    text = json.dumps({"operationType": operation})
    assert parse_commit_metadata(text.encode(), "x").may_update_schema is expected


@pytest.mark.parametrize("data", [b"", b"{", b"Obj\x01", b"Obj\x01\x04garbage", b"[]", b'{"partitionToWriteStats": 5}'])
def test_a_cut_off_file_is_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(CorruptFileError, match=r"x\.commit") as caught:
        parse_commit_metadata(data, "/t/x.commit")
    assert caught.value.code.name == "HUDI_BAD_TIMELINE"
