"""What is counted of columns while they are written, against what their values are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from catalog.metastore.model import ColumnStatistics
from connector_spi.serializable import from_json, to_json
from connectors.hive.write.statistics import distinct_values
from connectors.hive.write.statistics.merged_statistics import added_to, of_rows
from connectors.hive.write.statistics.written_columns import FileStatistics, WrittenColumn, has_written_statistics
from tests.connectors.hive.counted_rows import FOUND as ANALYZED_FOUND
from tests.connectors.hive.counted_rows import ROWS as ANALYZED

ROWS = ANALYZED.drop_columns("tags").append_column("none", pa.nulls(len(ANALYZED), pa.int64()))
# No metastore keeps distinct values of binary.
FOUND = [replace(one, distinct_count=None) if one.column == "raw" else one for one in ANALYZED_FOUND]
FOUND.append(ColumnStatistics("none", "bigint", 4, 0))
TYPES = [one.type for one in FOUND]


def counted(*batches: pa.Table) -> tuple[WrittenColumn, ...]:
    statistics = FileStatistics(ROWS.column_names, "file:/a")
    for batch in batches:
        statistics.add(batch)
    return statistics.result()


def statistics_of(rows: int, *files: tuple[WrittenColumn, ...]) -> list[ColumnStatistics]:
    columns = zip(*files, strict=True)
    return [
        of_rows(parts, hive, field.type, rows) for parts, hive, field in zip(columns, TYPES, ROWS.schema, strict=True)
    ]


def times(columns: list[ColumnStatistics], factor: int) -> Iterator[ColumnStatistics]:
    """The statistics of the same rows, so many times."""
    for one in columns:
        counts: dict[str, Any] = {
            name: None if getattr(one, name) is None else getattr(one, name) * factor
            for name in ("null_count", "true_count", "false_count")
        }
        rest = {name: getattr(one, name) for name in one.__slots__ if name not in counts}
        yield ColumnStatistics(**rest, **counts)


@pytest.mark.parametrize("repeated", [1, 100], ids=["few", "many"])
@pytest.mark.parametrize("batches", [1, 3])
def test_columns_of_every_type(repeated: int, batches: int) -> None:
    rows = pa.concat_tables([ROWS] * repeated)
    parts = [rows.slice(start, -(-len(rows) // batches)) for start in range(0, len(rows), -(-len(rows) // batches))]
    assert statistics_of(len(rows), counted(*parts)) == list(times(FOUND, repeated))
    files = [counted(part) for part in parts]
    assert statistics_of(len(rows), *files) == list(times(FOUND, repeated))


def test_what_travels_is_plain_data() -> None:
    for column in (*counted(ROWS), *counted(pa.concat_tables([ROWS] * 100))):
        again = from_json(to_json(column), WrittenColumn)
        assert repr(again) == repr(column)  # NaN is not equal to itself


def test_rows_that_are_added() -> None:
    first, second = statistics_of(2, counted(ROWS.slice(0, 2))), statistics_of(2, counted(ROWS.slice(2)))
    both = [added_to(old, 2, new, 2) for old, new in zip(first, second, strict=True)]
    # 3 is on both sides, and is not known to be the same; so the part with more of them is what is known.
    least = {"d": 2, "day": 2, "at": 2, "s": 2, "n": 2, "f": 2, "odd": 2}
    for wanted, found in zip(FOUND, both, strict=True):
        assert found.average_length == pytest.approx(wanted.average_length)
        for name in ("null_count", "low", "high", "max_length", "true_count", "false_count"):
            assert getattr(found, name) == getattr(wanted, name), (wanted.column, name)
        assert found.distinct_count == least.get(wanted.column, wanted.distinct_count)


def test_nothing_is_said_of_both_that_is_not_known_of_one() -> None:
    known = ColumnStatistics("n", "int", 0, 2, 1, 3)
    nothing = ColumnStatistics("n", "int", None, None)
    assert added_to(nothing, 5, known, 2) == ColumnStatistics("n", "int")
    only_nulls = ColumnStatistics("n", "int", 5, 0)
    assert added_to(only_nulls, 5, known, 2) == ColumnStatistics("n", "int", 5, 2, 1, 3)


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us", "UTC"), pa.list_(pa.int32()), pa.struct([("a", pa.int32())])], ids=str
)
def test_columns_that_no_metastore_counts(kind: pa.DataType) -> None:
    assert not has_written_statistics(kind)


def test_years_that_python_does_not_have() -> None:
    statistics = FileStatistics(["day"], "file:/a")
    statistics.add(pa.table({"day": pa.array([0, 10_000_000], pa.int32()).cast(pa.date32())}))
    [found] = statistics.result()
    assert of_rows([found], "date", pa.date32(), 2) == ColumnStatistics("day", "date", 0, 2)


@pytest.mark.parametrize("repeated", [1, 100])
def test_texts_that_are_no_texts(repeated: int) -> None:
    """Spark's may be any bytes."""
    offsets, data = pa.array([0, 1, 2], pa.int32()), pa.py_buffer(b"a\xff")
    text = pa.StringArray.from_buffers(2, offsets.buffers()[1], data)
    statistics = FileStatistics(["s"], "file:/a")
    statistics.add(pa.table({"s": pa.chunked_array([text] * 2 * repeated)}))
    [found] = statistics.result()
    assert of_rows([found], "string", pa.string(), 4 * repeated) == ColumnStatistics(
        "s", "string", 0, 2, average_length=1.0, max_length=1
    )


def test_no_write_fails_by_what_cannot_be_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no such values")

    monkeypatch.setattr(distinct_values, "_hashes", fail)
    assert counted(*[ROWS] * 100) == ()
    assert (
        "the columns of file:/a have no statistics, since its values cannot be counted: no such values" in caplog.text
    )
