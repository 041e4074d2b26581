"""Results as text and files."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.output.cells import text_column
from lakeport.shell.output.formats import FORMATS

SOME = pa.record_batch(
    {
        "n": pa.array([1, None, -30], pa.int32()),
        "name": ["a,b", None, 'say "hi"'],
        "when": pa.array([datetime(2024, 1, 1, 12, 30), datetime(2024, 1, 2, 0, 0, 0, 1500), None], pa.timestamp("us")),
    }
)


def written(name: str, *batches: pa.RecordBatch) -> bytes:
    out = io.BytesIO()
    count = FORMATS[name](batches[0].schema, iter(batches), out)
    assert count == sum(batch.num_rows for batch in batches)
    return out.getvalue()


def test_aligned() -> None:
    assert written("aligned", SOME).decode().splitlines() == [
        "  n   |   name   |           when",
        "------+----------+--------------------------",
        "    1 | a,b      | 2024-01-01 12:30:00",
        " NULL | NULL     | 2024-01-02 00:00:00.0015",
        '  -30 | say "hi" | NULL',
        "(3 rows)",
    ]


def test_wide_and_dangerous_characters() -> None:
    batch = pa.record_batch({"t": ["日本", "a\nb\x1b[31m", "ab"], "n": [1, 2, 3]})
    assert written("aligned", batch).decode().splitlines() == [
        "      t       | n",
        "--------------+---",
        " 日本         | 1",
        " a\\nb\\x1b[31m | 2",
        " ab           | 3",
        "(3 rows)",
    ]


@given(
    st.lists(
        st.tuples(st.none() | st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.integers(-9, 9)),
        max_size=8,
    )
)
def test_csv_is_read_back_as_it_was(rows: list[tuple[str | None, int | None]]) -> None:
    batch = pa.record_batch(
        {"t": pa.array([t for t, _ in rows], pa.string()), "n": pa.array([n for _, n in rows], pa.int64())}
    )
    text = written("csv", batch).decode()
    header, *found = list(csv.reader(io.StringIO(text, newline="")))
    assert header == ["t", "n"]
    assert found == [[t or "", "" if n is None else str(n)] for t, n in rows]


def test_the_text_of_a_plan_stands_alone() -> None:
    batch = pa.record_batch({"plan": ["== Physical Plan ==\n+- Scan\n\n"]})
    assert written("aligned", batch) == b"== Physical Plan ==\n+- Scan\n"


def test_csv_tells_null_from_an_empty_text() -> None:
    assert written("csv", pa.record_batch({"a": ["", None], "b": ["x", "y"]})) == b'a,b\n"",x\n,y\n'


def test_tsv() -> None:
    batch = pa.record_batch({"a": ["x\ty", None, "\\N", "l1\nl2"], "b": [1, 2, 3, 4]})
    assert written("tsv", batch).decode().splitlines() == ["a\tb", "x\\ty\t1", "\\N\t2", "\\\\N\t3", "l1\\nl2\t4"]


def test_json_lines() -> None:
    batch = pa.record_batch(
        {
            "d": [Decimal("1.50")],
            "f": [float("nan")],
            "t": pa.array([datetime(2024, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
            "s": [{"x": [1, None], "b": b"\x00\xff"}],
            "m": pa.array([[(1, float("inf"))]], pa.map_(pa.int32(), pa.float64())),
            "u": ["ä"],
        }
    )
    assert [json.loads(line) for line in written("json", batch).decode().splitlines()] == [
        {
            "d": "1.50",
            "f": "NaN",
            "t": "2024-01-01T00:00:00+00:00",
            "s": {"x": [1, None], "b": "AP8="},
            "m": {"1": "Infinity"},
            "u": "ä",
        }
    ]


def test_arrow_and_parquet_hold_the_rows() -> None:
    both = pa.Table.from_batches([SOME, SOME])
    assert pa.ipc.open_stream(written("arrow", SOME, SOME)).read_all().equals(both)
    assert pq.read_table(io.BytesIO(written("parquet", SOME, SOME))).equals(both)
    nothing = SOME.slice(0, 0)
    assert pa.ipc.open_stream(written("arrow", nothing)).read_all().equals(pa.Table.from_batches([nothing]))
    assert pq.read_table(io.BytesIO(written("parquet", nothing))).schema.equals(SOME.schema)


def test_same_names_are_refused_where_a_value_would_be_lost() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for name in ("json", "parquet"):
        with pytest.raises(InvalidArgumentError, match="two columns are named 'a'"):
            written(name, batch)
    assert written("csv", batch) == b"a,a\n1,2\n"


def test_more_rows_than_are_laid_out_at_once() -> None:
    batches = [pa.record_batch({"n": list(range(start, start + 700))}) for start in range(0, 3500, 700)]
    lines = written("aligned", *batches).decode().splitlines()
    assert [int(line) for line in lines[2:-1]] == list(range(3500))


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (
            pa.array([1.0, 0.1, 1e20, None, float("nan"), float("-inf")]),
            ["1.0", "0.1", "1e+20", None, "NaN", "-Infinity"],
        ),
        (pa.array([0.1, None], pa.float32()), ["0.1", None]),
        (
            pa.array([Decimal("0E-10"), Decimal("0.0000000001"), None], pa.decimal128(20, 10)),
            ["0.0000000000", "0.0000000001", None],
        ),
        (pa.array([True, None]), ["true", None]),
        (pa.array([b"\x01\xab", None]), ["0x01ab", None]),
        (pa.array([date(2024, 2, 29), date(1, 1, 1)]), ["2024-02-29", "0001-01-01"]),
        (pa.array([datetime(2024, 1, 1, 0, 0, 0, 120000)], pa.timestamp("us")), ["2024-01-01 00:00:00.12"]),
        (pa.array([datetime(2024, 7, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")), ["2024-07-01 00:00:00"]),
        (pa.array([datetime(2024, 7, 1, tzinfo=UTC)], pa.timestamp("us", "Europe/Berlin")), ["2024-07-01 02:00:00"]),
        (pa.array([{"a": [1, 2]}, None]), ['{"a": [1, 2]}', None]),
        (pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int8())), ['{"k": 1}', None]),
        (pa.array([[("k", 1), ("k", 2)]], pa.map_(pa.string(), pa.int8())), ['[["k", 1], ["k", 2]]']),
        (pa.array([[(date(2024, 1, 1), None)]], pa.map_(pa.date32(), pa.int8())), ['{"2024-01-01": null}']),
        (pa.nulls(2), [None, None]),
    ],
)
def test_values_as_text(column: pa.Array, texts: list[str | None]) -> None:
    assert text_column(column).to_pylist() == texts


@pytest.mark.parametrize("zone", ["America/New_York", "+02:00"])
def test_instants_of_far_summers_are_those_of_the_zone(zone: str) -> None:
    instants = [datetime(year, month, 1, 12, 30, tzinfo=UTC) for year in (2030, 2036, 2041, 9990) for month in (1, 7)]
    summer = {"America/New_York": "08:30:00", "+02:00": "14:30:00"}[zone]
    winter = {"America/New_York": "07:30:00", "+02:00": "14:30:00"}[zone]
    texts = text_column(pa.array([*instants, None], pa.timestamp("us", zone))).to_pylist()
    assert [text and text[11:] for text in texts] == [winter, summer] * 4 + [None]
