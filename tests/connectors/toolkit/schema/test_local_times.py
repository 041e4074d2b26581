"""Instants on the clocks of zones, against Python's own zones, which know daylight saving time in any year."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from connectors.toolkit.schema.local_times import java_standard_time, local_times

_ZONES = ("America/New_York", "Europe/Berlin", "Australia/Sydney", "Asia/Kolkata", "America/Sao_Paulo", "Europe/Dublin")


@pytest.mark.parametrize("zone", _ZONES)
def test_every_year_has_its_summer(zone: str) -> None:
    random = Random(7)
    seconds = [random.randrange(-2_000_000_000, 253_000_000_000) for _ in range(2000)]
    moments = [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=one, microseconds=5) for one in seconds]
    found = local_times(pa.array([None, *moments], pa.timestamp("us", "UTC")), zone)
    assert found.to_pylist() == [None, *(one.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for one in moments)]


def test_the_hours_around_a_change_in_a_far_year() -> None:
    # In 2099 clocks of New York go forward on 8 March at 2 o'clock, and in 2096 (a leap year) on 11 March.
    instants = [datetime(2099, 3, 8, 6, 59), datetime(2099, 3, 8, 7), datetime(2096, 3, 11, 6, 59)]
    found = local_times(pa.array(instants, pa.timestamp("us")), "America/New_York").to_pylist()
    assert found == [datetime(2099, 3, 8, 1, 59), datetime(2099, 3, 8, 3), datetime(2096, 3, 11, 1, 59)]


def test_old_java_has_todays_standard_time_before_1900() -> None:
    instants = pa.array([datetime(1899, 12, 31, 23), datetime(1900, 1, 1), datetime(2099, 7, 1)], pa.timestamp("us"))
    # Paris was 9:21 ahead until 1911.
    assert local_times(instants, "Europe/Paris", legacy=True).to_pylist() == [
        datetime(1900, 1, 1),
        datetime(1900, 1, 1, 0, 9, 21),
        datetime(2099, 7, 1, 2),
    ]
    assert local_times(instants, "Europe/Paris")[0].as_py() == datetime(1899, 12, 31, 23, 9, 21)


def test_zones_that_are_offsets() -> None:
    instants = pa.array([datetime(2024, 7, 1, 12), None], pa.timestamp("us"))
    assert local_times(instants, "GMT+02:00").to_pylist() == [datetime(2024, 7, 1, 14), None]
    assert local_times(instants, "UTC").to_pylist() == [datetime(2024, 7, 1, 12), None]
    assert java_standard_time("+02:00") is None
    assert java_standard_time("Europe/Dublin") == 0
