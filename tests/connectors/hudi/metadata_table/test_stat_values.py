from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from connector_spi.predicate import Domain, Range, Value, ValueSet
from connectors.hudi.metadata_table.records import ColumnStats, StatValue
from connectors.hudi.metadata_table.stat_values import may_hold

DECIMAL = pa.decimal128(10, 2)
UTC_TIME = pa.timestamp("us", "UTC")


def stats(low: StatValue | None, high: StatValue | None, count: int = 10, nulls: int = 0) -> ColumnStats:
    bounds = [() if value is None else (value,) for value in (low, high)]
    return ColumnStats("f", "c", bounds[0], bounds[1], count, nulls, tight=False)


def between(
    wrapper: str, low: object, high: object, scale: int | None = None, ordinal: int | None = None
) -> ColumnStats:
    return stats(StatValue(wrapper, low, scale, ordinal), StatValue(wrapper, high, scale, ordinal))


def equal(arrow: pa.DataType, value: Value) -> Domain:
    return Domain(ValueSet.of_ranges(arrow, [Range.equal(arrow, value)]), null_allowed=False)


def unscaled(number: int) -> bytes:
    return number.to_bytes(16, "big", signed=True)


def micros(when: datetime) -> int:
    return round(when.timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("arrow", "found", "inside", "outside"),
    [
        (pa.bool_(), between("BooleanWrapper", False, False), False, True),
        (pa.int32(), between("IntWrapper", 3, 7), 7, 8),
        (pa.int64(), between("IntWrapper", 3, 7), 3, 2),
        (pa.int64(), between("LongWrapper", -5, 7), -5, -6),
        (pa.float64(), between("DoubleWrapper", 1.5, 2.5), 1.5, 1.25),
        (pa.string(), between("StringWrapper", "b", "d"), "c", "e"),
        (pa.date32(), between("DateWrapper", 19000, 19010), date(2022, 1, 8), date(2022, 1, 20)),
        (pa.date32(), between("IntWrapper", 19000, 19010, None, 12), date(2022, 1, 8), date(2022, 1, 20)),
        # Version 1 of the index has all decimals with 15 digits behind the point.
        (
            DECIMAL,
            between("DecimalWrapper", unscaled(15 * 10**14), unscaled(25 * 10**14), 15),
            Decimal("2.5"),
            Decimal("2.51"),
        ),
        (DECIMAL, between("BytesWrapper", b"\xfe", b"\x05", 2, 10), Decimal("-0.02"), Decimal("-0.03")),
        (
            UTC_TIME,
            between("LongWrapper", micros(datetime(2024, 1, 1, tzinfo=UTC)), micros(datetime(2024, 1, 2, tzinfo=UTC))),
            datetime(2024, 1, 1, 12, tzinfo=UTC),
            datetime(2024, 1, 2, 12, tzinfo=UTC),
        ),
        (
            pa.timestamp("us"),
            between("LongWrapper", micros(datetime(2024, 1, 1, tzinfo=UTC)), micros(datetime(2024, 1, 2, tzinfo=UTC))),
            datetime(2024, 1, 1, 12),
            datetime(2024, 1, 2, 12),
        ),
    ],
)
def test_files_are_left_out_by_bounds(arrow: pa.DataType, found: ColumnStats, inside: Value, outside: Value) -> None:
    assert may_hold(equal(arrow, inside), found)
    assert not may_hold(equal(arrow, outside), found)


def test_times_may_be_milliseconds() -> None:
    """Some versions wrote milliseconds where they said microseconds."""
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    millis = micros(noon) // 1000
    found = between("LongWrapper", millis, millis)
    assert may_hold(equal(UTC_TIME, noon), found)
    assert may_hold(
        equal(UTC_TIME, datetime(1970, 1, 20, 17, 28, 19, 200000, tzinfo=UTC)), between("LongWrapper", 0, millis)
    )
    assert not may_hold(equal(UTC_TIME, datetime(2024, 1, 3, tzinfo=UTC)), found)


@pytest.mark.parametrize(
    ("arrow", "found", "value"),
    [
        # What a type's bounds look like is not always certain.
        (pa.binary(), between("BytesWrapper", b"\x01", b"\x02"), b"\xff"),
        (pa.float64(), between("DoubleWrapper", 1.0, 2.0), float("nan")),
        (pa.string(), between("StringWrapper", "a", "\uffff"), "\U00010000"),
        (pa.string(), between("StringWrapper", "\U00010000", "\U00010001"), "\ue000"),
        (pa.string(), between("IntWrapper", 1, 2), "9"),
        (pa.date32(), between("IntWrapper", 1, 2), date(2024, 1, 1)),
        (pa.date32(), between("DateWrapper", -200_000, 1), date(1400, 1, 1)),
        (DECIMAL, between("BytesWrapper", b"\x01", b"\x02"), Decimal("5.00")),
        (DECIMAL, between("DecimalWrapper", unscaled(10**30), unscaled(10**31), 15), Decimal("5.00")),
        (pa.int64(), stats(StatValue("LongWrapper", 5), None), 1),
        (pa.int64(), stats(None, None, 10, 3), 1),
    ],
)
def test_files_are_kept_on_doubt(arrow: pa.DataType, found: ColumnStats, value: Value) -> None:
    assert may_hold(equal(arrow, value), found)


def test_decimals_of_more_digits_are_rounded_outwards() -> None:
    found = between("DecimalWrapper", unscaled(1_004 * 10**12), unscaled(1_006 * 10**12), 15)
    assert may_hold(equal(DECIMAL, Decimal("1.00")), found)
    assert may_hold(equal(DECIMAL, Decimal("1.01")), found)
    assert not may_hold(equal(DECIMAL, Decimal("1.02")), found)


def test_nulls_are_counted() -> None:
    assert not may_hold(Domain.only_null(pa.int64()), between("LongWrapper", 1, 2))
    some = stats(StatValue("LongWrapper", 1), StatValue("LongWrapper", 2), 10, 3)
    assert may_hold(Domain.only_null(pa.int64()), some)


@pytest.mark.parametrize(
    ("arrow", "found", "value"),
    [
        pytest.param(pa.string(), stats(None, None, 2, 2), "x" * 5000, id="long texts alone"),
        pytest.param(
            pa.string(),
            stats(StatValue("StringWrapper", "b3062"), StatValue("StringWrapper", "b3999"), 3999, 3061),
            "x" * 5000,
            id="row groups of long texts, and of short ones",
        ),
        pytest.param(pa.float64(), between("DoubleWrapper", 0.0, 0.0), -5.0, id="values and NaN"),
        pytest.param(pa.float64(), between("DoubleWrapper", 0.0, 2.5), -5.0, id="row groups with NaN, and without"),
        pytest.param(pa.float32(), between("FloatWrapper", -0.0, 2.5), -5.0, id="floats"),
    ],
)
def test_values_that_hudi_notes_wrong_are_kept(arrow: pa.DataType, found: ColumnStats, value: Value) -> None:
    """What Hudi 1.1.1 notes of Parquet files with texts of 5,000 letters, and with -5.0 and NaN.

    parquet-mr writes no bounds of such texts, for which Hudi counts NULLs, and 0.0 of numbers with a NaN. Hudi's own
    queries by these values find no row, unless hoodie.enable.data.skipping is off.
    """
    assert may_hold(equal(arrow, value), found)
    assert may_hold(Domain.only_null(arrow), stats(None, None, 2, 2))


def test_numbers_whose_bounds_leave_out_zero_have_no_nan_among_them() -> None:
    assert not may_hold(equal(pa.float64(), 1.0), between("DoubleWrapper", 1.5, 2.5))
    assert not may_hold(equal(pa.float64(), -3.0), between("DoubleWrapper", -2.5, -1.5))


def test_a_log_of_deletes_brings_no_value() -> None:
    assert not may_hold(equal(pa.int64(), 1), stats(None, None, 0, 0))
    assert not may_hold(Domain.only_null(pa.int64()), stats(None, None, 0, 0))


def test_merged_bounds_reach_from_the_least_to_the_greatest() -> None:
    merged = between("LongWrapper", 5, 6).widened(between("LongWrapper", 1, 2))
    assert all(may_hold(equal(pa.int64(), value), merged) for value in (1, 4, 6))
    assert not may_hold(equal(pa.int64(), 7), merged)
