"""Casts of whole arrays against a model that goes value by value, by the words of Hive's rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal, localcontext

import pyarrow as pa
import pytest

from connectors.hive.formats.coercions.java_numbers import float_texts
from connectors.hive.formats.coercions.rules import ORC_RULES, PARQUET_RULES, ROW_RULES
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import CastRules, adaptation

_EPOCH = datetime(1970, 1, 1)
_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_DECIMALS = (pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal128(38, 19), pa.decimal128(7, 3), pa.decimal128(1))
_RANDOM = random.Random(20240229)


def _whole(value: Decimal, target: pa.DataType) -> int | None:
    number = int(value.to_integral_value(ROUND_DOWN))
    return number if _fits(number, target) else None


def _fits(number: int, target: pa.DataType) -> bool:
    return bool(-(1 << (target.bit_width - 1)) <= number < 1 << (target.bit_width - 1))


def _rounded(value: Decimal, target: pa.DataType) -> Decimal | None:
    with localcontext() as context:
        context.prec = 120
        number = value.quantize(Decimal(1).scaleb(-target.scale), ROUND_HALF_UP)
        return number if abs(number) < Decimal(10) ** (target.precision - target.scale) else None


def _seconds(value: Decimal) -> datetime:
    with localcontext() as context:
        context.prec = 120
        micros = int(value.scaleb(6).to_integral_value(ROUND_FLOOR))
    return _EPOCH + timedelta(microseconds=micros)


def _decimals(source: pa.DataType) -> list[Decimal]:
    with localcontext() as context:
        context.prec = 120
        sizes = [_RANDOM.randrange(source.precision) + 1 for _ in range(200)]
        digits = [_RANDOM.randrange(10**size) * _RANDOM.choice((1, -1)) for size in sizes]
        edges = [0, 10**source.precision - 1, 1 - 10**source.precision, 5, -5]
        return [Decimal(number).scaleb(-source.scale) for number in (*digits, *edges)]


def _integers(source: pa.DataType) -> list[int]:
    edges = [-(1 << (bits - 1)) + step for bits in (8, 16, 32, 64) for step in (-1, 0, 1)]
    edges += [(1 << (bits - 1)) + step for bits in (8, 16, 32, 64) for step in (-2, -1, 0)]
    return [number for number in edges if _fits(number, source)]


def _check(values: Sequence[object], source: pa.DataType, target: pa.DataType, model: Callable[..., object]) -> None:
    for rules in (ORC_RULES, ROW_RULES):
        function = adaptation(source, target, TimeConventions(), "v", rules=rules)
        array = pa.array([None, *values], source)
        found = (function(array) if function else array).to_pylist()
        assert found == [None, *(model(value) for value in values)], f"{source} as {target}"


@pytest.mark.parametrize("source", _DECIMALS, ids=str)
def test_decimals(source: pa.DataType) -> None:
    values = _decimals(source)
    for target in _DECIMALS:
        _check(values, source, target, lambda value, target=target: _rounded(value, target))
    for target in _INTEGERS:
        _check(values, source, target, lambda value, target=target: _whole(value, target))
    _check(values, source, pa.float64(), float)
    _check(values, source, pa.bool_(), lambda value: value != 0)
    times = [value for value in values if abs(value) < 5 * 10**10]
    _check(times, source, pa.timestamp("us"), _seconds)


@pytest.mark.parametrize("source", _INTEGERS, ids=str)
def test_integers(source: pa.DataType) -> None:
    values = _integers(source)
    for target in _INTEGERS:
        _check(values, source, target, lambda value, target=target: value if _fits(value, target) else None)
    for target in _DECIMALS:
        _check(values, source, target, lambda value, target=target: _rounded(Decimal(value), target))
    _check(values, source, pa.string(), str)
    texts = [str(value) for value in values]
    for target in _INTEGERS:
        _check(texts, pa.string(), target, lambda text, target=target: int(text) if _fits(int(text), target) else None)


def test_times_are_seconds_and_fractions() -> None:
    moments = [_EPOCH + timedelta(microseconds=_RANDOM.randrange(-(10**16), 10**16)) for _ in range(300)]
    micros = [(moment - _EPOCH) // timedelta(microseconds=1) for moment in moments]
    known = dict(zip(moments, micros, strict=True))
    _check(moments, pa.timestamp("us"), pa.int64(), lambda moment: known[moment] // 10**6)
    exact = pa.decimal128(20, 6)
    _check(moments, pa.timestamp("us"), exact, lambda moment: Decimal(known[moment]).scaleb(-6))
    _check(moments, pa.timestamp("us"), pa.date32(), lambda moment: moment.date())
    text = [f"{moment:%Y-%m-%d %H:%M:%S}" + (f".{moment:%f}".rstrip("0")).rstrip(".") for moment in moments]
    shown = dict(zip(moments, text, strict=True))
    _check(moments, pa.timestamp("us"), pa.string(), lambda moment: shown[moment])
    _check(text, pa.string(), pa.timestamp("us"), lambda written: datetime.fromisoformat(written))


def test_times_at_the_ends_of_what_can_be_held() -> None:
    lowest, highest = -(1 << 63), (1 << 63) - 1
    day = 86_400_000_000
    ends = [lowest, lowest + 1, -day - 1, -day, -1, 0, highest - 1, highest]
    known = pa.array(ends, pa.timestamp("us"))
    far = pa.array([highest // day, highest // day + 1, -(highest // day), -(1 << 31), 0, None], pa.date32())
    held = [highest // day * day, None, -(highest // day) * day, None, 0, None]
    for rules in (ORC_RULES, ROW_RULES):

        def cast(array: pa.Array, target: pa.DataType, rules: CastRules = rules) -> pa.Array:
            function = adaptation(array.type, target, TimeConventions(), "v", rules=rules)
            assert function is not None
            return function(array)

        assert cast(known, pa.int64()).to_pylist() == [end // 10**6 for end in ends]
        assert cast(known, pa.date32()).cast(pa.int32()).to_pylist() == [end // day for end in ends]
        written = cast(known, pa.string()).to_pylist()
        assert [text is None for text in written] == [True] * 2 + [False] * 4 + [True] * 2
        assert cast(far, pa.timestamp("us")).cast(pa.int64()).to_pylist() == held
        assert cast(far, pa.string()).to_pylist() == [None, None, None, None, "1970-01-01", None]


def test_only_whole_numbers_of_parquet_become_integers() -> None:
    values = [_RANDOM.choice((1, 4)) * _RANDOM.randrange(-(10**6), 10**6) / 4 for _ in range(300)]
    function = adaptation(pa.float64(), pa.int32(), TimeConventions(), "v", rules=PARQUET_RULES)
    assert function is not None
    assert function(pa.array(values)).to_pylist() == [int(value) if value == int(value) else None for value in values]


def test_texts_of_floats_tell_the_number_in_javas_form() -> None:
    values = [_RANDOM.choice((1, -1)) * _RANDOM.random() * 10.0 ** _RANDOM.randrange(-30, 30) for _ in range(2000)]
    for text, value in zip(float_texts(pa.array(values)).to_pylist(), values, strict=True):
        assert float(text) == value
        plain = 1e-3 <= abs(value) < 1e7
        assert ("E" in text) != plain
        mantissa = text.lstrip("-").partition("E")[0]
        whole, _, fraction = mantissa.partition(".")
        assert fraction
        assert plain or (len(whole) == 1 and whole != "0")
