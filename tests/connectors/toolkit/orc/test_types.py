"""What pyarrow leaves out of ORC files: char, and the second that it takes off by the wrong clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyorc
import pytest

from connector_spi.errors import CorruptFileError
from connectors.toolkit.orc.footer import OrcType, read_orc_footer
from connectors.toolkit.orc.types import CHAR, mark_chars, repair_times

_SECOND = 10**9


@pytest.mark.parametrize(
    ("zone", "offset"), [("America/New_York", -5), ("Asia/Tokyo", 9), ("Asia/Kolkata", 5.5), ("UTC", 0)]
)
def test_times_around_1970_are_those_of_java(tmp_path: Path, zone: str, offset: float) -> None:
    path = str(tmp_path / "f.orc")
    with open(path, "wb") as file, pyorc.Writer(file, "struct<t:timestamp>", timezone=ZoneInfo(zone)) as writer:
        writer.write((datetime(2024, 1, 1, tzinfo=ZoneInfo(zone)),))
    shift = int(offset * 3600)
    stored = [
        (second, nanos)
        for near in (0, shift, -shift)
        for second in range(near - 3, near + 4)
        for nanos in (0, 1_000, 999_999, 1_000_000, 500_000_000)
    ]
    # Java takes the second off by the instant, and goes to the wall clock then; the C++ library turns that around.
    java = [(second - (second < 0 and nanos > 999_999) + shift) * _SECOND + nanos for second, nanos in stored]
    walls = [(second + shift, nanos) for second, nanos in stored]
    cpp = [(wall - (wall < 0 and nanos > 999_999)) * _SECOND + nanos for wall, nanos in walls]
    times = pa.array([None, *cpp], pa.int64()).view(pa.timestamp("ns"))
    nested = pa.StructArray.from_arrays([times], ["t"])
    batch = pa.record_batch({"t": times, "s": nested})

    with pa.OSFile(path) as source:
        footer = replace(read_orc_footer(source, path), writer=0)
        found = repair_times(batch, source, footer, 0, path)
        assert repair_times(batch, source, replace(footer, writer=1), 0, path).equals(batch)

    assert found.column("t").view(pa.int64()).to_pylist() == [None, *java]
    assert found.column("s").field("t").equals(found.column("t"))


def test_chars_are_marked_wherever_they_are() -> None:
    inner = pa.struct([("c", pa.string()), ("s", pa.string())])
    schema = pa.schema({"c": pa.string(), "l": pa.list_(inner), "m": pa.map_(pa.string(), pa.string())})
    # OrcProto.Type.Kind: 7 string, 10 list, 11 map, 12 struct, 17 char.
    types = [
        OrcType(12, (1, 2, 6)),
        OrcType(17, ()),
        OrcType(10, (3,)),
        OrcType(12, (4, 5)),
        OrcType(17, ()),
        OrcType(7, ()),
        OrcType(11, (7, 8)),
        OrcType(7, ()),
        OrcType(17, ()),
    ]
    marked = mark_chars(schema, types, "f")
    assert marked.field("c").type == CHAR
    assert marked.field("l").type == pa.list_(pa.struct([("c", CHAR), ("s", pa.string())]))
    assert marked.field("m").type == pa.map_(pa.string(), CHAR)
    assert mark_chars(schema, [OrcType(7, ())] * 9, "f") is schema
    with pytest.raises(CorruptFileError, match="f cannot be read as ORC"):
        mark_chars(schema, types[:4], "f")
