from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.serializable import Serializable, from_json, to_json


class Color(Enum):
    RED = "red"


class Size(StrEnum):
    SMALL = "small"


class Level(IntEnum):
    LOW = 1


class Magic(bytes, Enum):
    PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class Box(Serializable):
    content: object


@dataclass(frozen=True, slots=True)
class BigBox(Box):
    label: str = "none"


@dataclass(frozen=True, slots=True)
class Measured(Serializable):
    text: str
    size: int = field(init=False)

    def __post_init__(self) -> None:
        if not self.text:
            raise InvalidArgumentError("text is empty")
        object.__setattr__(self, "size", len(self.text))


class Outer:
    @dataclass(frozen=True, slots=True)
    class Inner(Serializable):
        value: int


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(timezone(timedelta(hours=-3, minutes=-30)))),
    st.times(),
    st.timedeltas(),
    st.sampled_from([Color.RED, Size.SMALL, Level.LOW, Magic.PARQUET]),
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(SCALARS, max_size=3),
        st.dictionaries(SCALARS, inner, max_size=3),
        st.builds(Box, inner),
        st.builds(BigBox, inner, st.text()),
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_plain_values_travel(value: object) -> None:
    box = Box(value)
    assert pickle.loads(pickle.dumps(box)) == box
    copy = from_json(to_json(box), Box)
    assert copy == box
    assert same_classes(copy.content, value)


def same_classes(left: object, right: object) -> bool:
    """Looks where ``==`` does not: True == 1 == Decimal(1), and -0.0 == 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple) and isinstance(right, tuple):
        return all(map(same_classes, left, right))
    if isinstance(left, datetime) and isinstance(right, datetime):
        return left.utcoffset() == right.utcoffset()
    return repr(left) == repr(right) if isinstance(left, (float, Decimal)) else True


@pytest.mark.parametrize(
    "value",
    [
        pa.int8(),
        pa.decimal128(38, 10),
        pa.timestamp("us", "Europe/Paris"),
        pa.dictionary(pa.int32(), pa.string()),
        pa.uuid(),
        pa.map_(pa.string(), pa.list_(pa.struct([pa.field("a", pa.int8(), nullable=False)]))),
        pa.schema([pa.field("a", pa.int8(), nullable=False, metadata={"k": "v"})], metadata={"m": "n"}),
        pa.schema([]),
    ],
    ids=str,
)
def test_arrow_types_and_schemas_travel(value: pa.DataType | pa.Schema) -> None:
    copy = from_json(to_json(Box(value)), Box).content
    assert copy == value
    assert copy.equals(value, check_metadata=True)  # type: ignore[attr-defined]  # it is an Arrow object


def test_nan_travels() -> None:
    copy = from_json(to_json(Box(float("nan"))), Box).content
    assert isinstance(copy, float)
    assert copy != copy


def test_a_map_that_looks_like_a_tag_stays_a_map() -> None:
    box = Box({"@": "data", "v": {"class": "x"}})
    assert from_json(to_json(box), Box) == box


def test_sets_of_one_content_give_one_text() -> None:
    words = [f"word{number}" for number in range(50)]
    assert to_json(Box(frozenset(words))) == to_json(Box(frozenset(reversed(words))))


def test_nested_classes_and_derived_fields_travel() -> None:
    inner = Outer.Inner(3)
    assert from_json(to_json(inner), Outer.Inner) == inner
    measured = from_json(to_json(Measured("abc")), Measured)
    assert measured == Measured("abc")
    assert measured.size == 3


def test_a_base_class_may_be_expected() -> None:
    assert from_json(to_json(BigBox(1, "x")), Box) == BigBox(1, "x")
    with pytest.raises(InternalError, match="expected JSON of a BigBox, met Box"):
        from_json(to_json(Box(1)), BigBox)


@pytest.mark.parametrize(
    "value", [[1], {1}, object(), bytearray(b"a"), pa.array([1]), 1j, Box], ids=lambda value: type(value).__name__
)
def test_what_is_not_plain_is_refused(value: object) -> None:
    with pytest.raises(InternalError, match="is not serializable"):
        to_json(Box((value,)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        '{"a":1}',
        '{"@":"unknown","v":1}',
        '{"@":"decimal","v":"x"}',
        '{"@":"type","v":"AAAA"}',
        '{"@":"data","class":"os:PathLike","v":{}}',
        '{"@":"data","class":"os:PathLike","v":[]}',
        '{"@":"enum","v":["os:Nothing","A"]}',
    ],
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(InternalError):
        from_json(text, Box)


def test_json_of_other_fields_is_refused() -> None:
    with pytest.raises(InternalError, match="label"):
        from_json(to_json(BigBox(1, "x")).replace("BigBox", "Box"), Box)


def test_a_class_refuses_its_values_in_its_own_words() -> None:
    with pytest.raises(InvalidArgumentError, match="text is empty"):
        from_json(to_json(Measured("abc")).replace("abc", ""), Measured)
