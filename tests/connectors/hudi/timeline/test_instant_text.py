from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connectors.hudi.timeline.instant_text import instant_of_text, instant_of_time, time_of_instant, timeline_zone

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        # What Hudi's formatQueryInstant makes of each form.
        ("20240308", None),
        ("20240308093000123", "20240308093000123"),
        ("20240308093000", "20240308093000"),
        ("2024-03-08", "20240308000000000"),
        ("2024-03-08 09:30:00", "20240308093000000"),
        ("2024-03-08 09:30:00.5", "20240308093000500"),
        ("2024-03-08 09:30:00.123", "20240308093000123"),
        ("2024-03-08T09:30:00.123", "20240308093000123"),
        (" 2024-03-08T09:30 ", "20240308093000000"),
        # Berlin is an hour ahead of UTC in winter.
        ("2024-03-08T09:30:00Z", "20240308103000000"),
        ("2024-03-08T09:30:00.123456+01:00", "20240308093000123"),
        ("2024-03-08 09:30:00-0500", "20240308153000000"),
        # Instants that Hudi reserves are no dates.
        ("00000000000001", "00000000000001"),
        ("2024-02-30", None),
        ("2024-03-08 24:00:00", None),
        ("soon", None),
        ("", None),
        ("2024-03-08 09:30:00 CET", None),
    ],
)
def test_forms_of_an_instant(text: str, instant: str | None) -> None:
    if instant is None:
        with pytest.raises(InvalidArgumentError, match="is no instant"):
            instant_of_text(text, BERLIN)
    else:
        assert instant_of_text(text, BERLIN) == instant


def test_the_first_years_keep_their_digits() -> None:
    assert instant_of_text("0001-02-03", UTC) == "00010203000000000"


@given(st.datetimes(datetime(1970, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC)))
def test_an_instant_is_the_last_one_that_is_not_after_a_time(time: datetime) -> None:
    instant = instant_of_time(time, UTC)
    meant = time_of_instant(instant, UTC)
    assert meant is not None
    assert meant <= time < meant + timedelta(milliseconds=1)
    assert instant_of_text(time.isoformat(), UTC) == instant


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC)),
    st.datetimes(datetime(1970, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC)),
)
def test_texts_are_ordered_as_times(one: datetime, other: datetime) -> None:
    if one <= other:
        assert instant_of_time(one, UTC) <= instant_of_time(other, UTC)


def test_instants_that_are_no_dates_have_no_time() -> None:
    assert time_of_instant("00000000000001", UTC) is None
    assert time_of_instant("20240101", UTC) is None
    assert time_of_instant("20240308093000123", BERLIN) == datetime(2024, 3, 8, 8, 30, 0, 123000, UTC)


def test_the_zone_of_a_timeline() -> None:
    assert timeline_zone(True, "Europe/Berlin") is UTC
    assert timeline_zone(False, "Europe/Berlin") == BERLIN
    day = datetime(2024, 1, 1, tzinfo=UTC)
    for text, hours in {"+02:00": 2, "GMT-3": -3, "UTC+05:30": 5.5, "Z": 0}.items():
        assert timeline_zone(False, text).utcoffset(day) == timedelta(hours=hours)
    assert timeline_zone(False, "+02:00") == timezone(timedelta(hours=2))
    with pytest.raises(InvalidArgumentError, match="time zone 'Mars' is not known"):
        timeline_zone(False, "Mars")
