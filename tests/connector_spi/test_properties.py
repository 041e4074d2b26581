from __future__ import annotations

import traceback
from datetime import UTC, datetime

import pytest

from connector_spi.errors import InternalError, InvalidPropertyError
from connector_spi.properties import (
    PropertyMetadata,
    boolean_property,
    closest,
    data_size_property,
    duration_property,
    enum_property,
    integer_property,
    parse_properties,
    string_list_property,
    string_property,
)
from connector_spi.session import ConnectorSession

DURATION = duration_property("timeout", "How long.", 10.0, minimum=0.001)
SIZE = data_size_property("size", "How much.", minimum=1)
COUNT = integer_property("count", "How many.", 4, minimum=1, maximum=64)
FLAG = boolean_property("flag", "Whether.", True)
LIST = string_list_property("hosts", "Which.")
CHOICE = enum_property("codec", "What.", ("NONE", "SNAPPY"), "NONE")
SECRET = integer_property("pin", "The secret number.")
SECRET = PropertyMetadata(SECRET.name, SECRET.description, SECRET.kind, SECRET.parse, sensitive=True)


@pytest.mark.parametrize(
    ("prop", "text", "value"),
    [
        # Trino's documentation, "Properties reference", types data size and duration.
        (DURATION, "30s", 30.0),
        (DURATION, "1.5m", 90.0),
        (DURATION, "250ms", 0.25),
        (DURATION, " 2 h ", 7200.0),
        (DURATION, "1d", 86400.0),
        (SIZE, "64MB", 64 * 1024 * 1024),
        (SIZE, "1.5GB", 1536 * 1024 * 1024),
        (SIZE, "1kB", 1024),
        (SIZE, "7B", 7),
        (COUNT, "64", 64),
        (FLAG, "FALSE", False),
        (FLAG, " true ", True),
        (LIST, "a:1, b:2,", ("a:1", "b:2")),
        (LIST, "", ()),
        (CHOICE, "snappy", "SNAPPY"),
    ],
)
def test_values(prop: PropertyMetadata[object], text: str, value: object) -> None:
    assert parse_properties([prop], {prop.name: text}, str).as_dict() == {prop.name: value}


@pytest.mark.parametrize(
    ("prop", "text", "expected"),
    [
        (DURATION, "30", "expects duration such as 30s, at least 0.001s, met '30'"),
        (DURATION, "30 S", "expects duration such as 30s, at least 0.001s, met '30 S'"),
        (DURATION, "-1s", "expects duration such as 30s, at least 0.001s, met '-1s'"),
        (DURATION, "0s", "expects duration such as 30s, at least 0.001s, met '0s'"),
        (SIZE, "64", "expects data size such as 64MB, at least 1B, met '64'"),
        (SIZE, "64mb", "expects data size such as 64MB, at least 1B, met '64mb'"),
        (COUNT, "0", "expects whole number from 1 to 64, met '0'"),
        (COUNT, "65", "expects whole number from 1 to 64, met '65'"),
        (COUNT, "1.0", "expects whole number from 1 to 64, met '1.0'"),
        (FLAG, "yes", "expects true or false, met 'yes'"),
        (CHOICE, "gzip", "expects one of NONE, SNAPPY, met 'gzip'"),
    ],
)
def test_wrong_values_say_what_is_expected(prop: PropertyMetadata[object], text: str, expected: str) -> None:
    with pytest.raises(InvalidPropertyError) as met:
        parse_properties([prop], {prop.name: text}, lambda name: f"a.properties, line 7 ({name})")
    assert f"a.properties, line 7 ({prop.name}): property '{prop.name}' {expected}" in str(met.value)


def test_defaults_are_filled_in() -> None:
    values = parse_properties([DURATION, SIZE, LIST], {}, str)
    timeout: float = values.get(DURATION)
    size: int | None = values.get(SIZE)
    hosts: tuple[str, ...] = values.get(LIST)
    assert (timeout, size, hosts) == (10.0, None, ())


def test_an_unknown_name_is_refused_with_the_closest() -> None:
    with pytest.raises(InvalidPropertyError, match=r"here: unknown property 'time-out'; did you mean 'timeout'\?"):
        parse_properties([DURATION, COUNT], {"time-out": "1s"}, lambda name: "here")


def test_a_required_property_that_is_missing() -> None:
    required = string_property("uri", "Where the server is.", required=True)
    with pytest.raises(InvalidPropertyError, match=r"property 'uri' is missing: Where the server is\."):
        parse_properties([required], {}, str)
    assert parse_properties([required], {"uri": ""}, str).get(required) == ""


def test_an_alias_means_the_same_and_not_both_may_be_given() -> None:
    prop = string_property("new", "Text.", aliases=("old",))
    assert parse_properties([prop], {"old": "x"}, str).get(prop) == "x"
    with pytest.raises(InvalidPropertyError, match="'new' says again what 'old' says; keep one"):
        parse_properties([prop], {"old": "x", "new": "y"}, str)


def test_a_secret_is_not_shown_even_in_the_trace() -> None:
    given = {"pin": "hunter2"}
    with pytest.raises(InvalidPropertyError, match="expects whole number, met the value given") as met:
        parse_properties([SECRET], given, str)
    assert "hunter2" not in "".join(traceback.format_exception(met.value))


def test_closest_stays_silent_where_nothing_is_close() -> None:
    assert closest("zzz", ["timeout", "count"]) == ""


def test_values_are_read_by_their_property_and_repr_shows_none() -> None:
    values = parse_properties([SECRET, COUNT, FLAG], {"pin": "4711", "count": "7"}, str)
    assert values.texts([SECRET, FLAG]) == (("pin", "4711"),)
    assert repr(values) == "PropertyValues(pin, count)"
    with pytest.raises(InternalError, match="property 'timeout' is not declared"):
        values.get(DURATION)


def test_a_property_of_the_catalog_is_the_default_of_the_session() -> None:
    limit = integer_property("x.max-rows", "Most rows.", 10, minimum=1, session="max_rows")
    values = parse_properties([limit, COUNT], {"x.max-rows": "20"}, str)
    [of_session] = values.session_properties([limit, COUNT])
    assert (of_session.name, of_session.default) == ("max_rows", 20)
    given = parse_properties([of_session], {"max_rows": "5"}, str).as_dict()
    session = ConnectorSession("q", "ann", "UTC", datetime(2024, 1, 1, tzinfo=UTC), tuple(given.items()))
    rows: int = session.get(limit)
    assert rows == session.get(of_session) == 5
    with pytest.raises(InternalError, match="session property 'count' is not declared"):
        session.get(COUNT)


def test_an_unknown_choice_names_the_closest() -> None:
    with pytest.raises(InvalidPropertyError, match=r"expects one of NONE, SNAPPY, met 'SNAPY'; did you mean 'SNAPPY'"):
        parse_properties([CHOICE], {"codec": "SNAPY"}, str)


@pytest.mark.parametrize(
    ("prop", "text"),
    [
        (DURATION, "10s"),
        (duration_property("d", "", 0.2), "0.2s"),
        (duration_property("d", "", 1e7), "10000000s"),
        (duration_property("d", "", 0), "0s"),
        (data_size_property("s", "", 64 << 20), "64MB"),
        (data_size_property("s", "", 65537), "65537B"),
        (data_size_property("s", "", 0), "0B"),
        (FLAG, "true"),
        (COUNT, "4"),
        (CHOICE, "NONE"),
        (string_list_property("l", "", ("b", "a")), "b, a"),
        (SECRET, ""),
    ],
)
def test_defaults_as_files_have_them(prop: PropertyMetadata[object], text: str) -> None:
    assert prop.default_text == text
    if text:
        assert prop.parse(text) == prop.default
