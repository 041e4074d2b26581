from __future__ import annotations

import io

import fastavro
import pytest

from connectors.hudi.timeline.avro_record import container_record
from connectors.toolkit.avro.errors import AVRO_ERRORS

RECORD = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["int", "null"]}]}


def written(schema: object, records: list[object]) -> bytes:
    sink = io.BytesIO()
    fastavro.writer(sink, fastavro.parse_schema(schema), records)
    return sink.getvalue()


def test_the_schema_of_the_file_decides() -> None:
    assert container_record(written(RECORD, [{"a": 5}])) == {"a": 5}
    assert container_record(written(RECORD, [{"a": None}])) == {"a": None}


@pytest.mark.parametrize(
    "data",
    [b"", b"Obj", written(RECORD, []), written("int", [1]), written(RECORD, [{"a": 1}])[:-20]],
    ids=["nothing", "magic alone", "no record", "a number", "cut"],
)
def test_what_holds_no_record_is_an_error_of_avro(data: bytes) -> None:
    with pytest.raises(AVRO_ERRORS):
        container_record(data)
