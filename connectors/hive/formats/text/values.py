"""Texts of single values to values, as Hive's lazy SerDe reads them: what it cannot read is NULL. Executor side.

Each function takes an Arrow string array and gives an array of the asked type. Arrow's own casts do the work where
all texts are in the form that Hive writes; else a pattern finds the odd ones. Sources of the rules are Hive's
classes ``LazyInteger``, ``LazyLong``, ``LazyDouble``, ``LazyBoolean``, ``LazyHiveDecimal``, ``LazyDate``,
``LazyTimestamp``, ``LazyBinary`` and ``LazyUtils.isNumberMaybe`` of 4.0.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "as_strings",
    "parse_base64",
    "parse_booleans",
    "parse_decimals",
    "parse_floats",
    "parse_integers",
    "real_nulls",
]

_INTEGER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$"
_FLOAT = r"^[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)$"
_HEXADECIMAL = r"^[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+$"
# Hive takes no exponents of three digits, but for zeros in front.
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?0*[0-9]{1,2})?$"
_MOST_DIGITS = 38
_SHORT_DECIMAL = r"^[+-]?[0-9.]{1,38}$"
# Java's String.trim takes all of them off.
_BLANKS = "".join(map(chr, range(0x21)))


def as_strings(array: pa.Array) -> pa.Array:
    """Bytes as text; bytes that are no UTF-8 become U+FFFD, as in Java."""
    if pa.types.is_string(array.type):
        return array
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        texts = [None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()]
        return pa.array(texts, pa.string())


def real_nulls(array: pa.Array, good: pa.Array) -> pa.Array:
    """The array with NULL where ``good`` is not true."""
    return pc.if_else(good, array, pa.scalar(None, array.type))


def parse_integers(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """Whole numbers; of ``1.9`` the whole part; NULL for what is no number or out of range."""
    texts = _without_empty(texts)
    fast = _try_cast(texts, target)
    # Arrow reads hexadecimal numbers, too.
    if fast is not None and not _has_byte(texts, b"xX"):
        return fast

    def slow(odd: pa.Array) -> pa.Array:
        good = real_nulls(odd, pc.match_substring_regex(odd, _INTEGER))
        whole = pc.replace_substring_regex(good, r"^\+|\.[0-9]*$", "")
        whole = pc.replace_substring_regex(whole, r"^(-?)0*([0-9]*)$", r"\10\2")
        short = real_nulls(whole, pc.less_equal(pc.binary_length(whole), 30))
        return _within(short.cast(pa.decimal128(38, 0)), target)

    return _over_distinct(texts, slow)


def parse_floats(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """Numbers as ``Double.parseDouble`` and ``Float.parseFloat`` read them."""
    texts = _without_empty(texts)
    fast = _try_cast(texts, target)
    # Arrow takes words such as nan and inf, which Java does not know.
    if fast is not None and bool(pc.all(pc.is_finite(fast), min_count=0).as_py()):
        return fast

    def slow(odd: pa.Array) -> pa.Array:
        # A text of four bytes that begins with n is taken for the word null.
        null_word = pc.and_(pc.equal(pc.binary_length(odd), 4), pc.match_substring_regex(odd, "^[nN]"))
        trimmed = pc.utf8_trim(real_nulls(odd, pc.invert(null_word)), _BLANKS)
        plain = pc.replace_substring_regex(trimmed, r"([0-9.])[fFdD]$", r"\1")
        hexadecimal = pc.match_substring_regex(plain, _HEXADECIMAL)
        numbers = real_nulls(plain, pc.match_substring_regex(plain, _FLOAT)).cast(target)
        if not _any(hexadecimal):
            return numbers
        values = [
            _from_hexadecimal(text) if is_hexadecimal and text else None
            for text, is_hexadecimal in zip(plain.to_pylist(), hexadecimal.to_pylist(), strict=True)
        ]
        return pc.coalesce(numbers, pa.array(values, pa.float64()).cast(target, safe=False))

    return _over_distinct(texts, slow)


def parse_booleans(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """``true`` and ``false`` in any case."""
    # ``ascii_lower`` of Arrow 26 damages texts whose buffer has bytes before the first.
    lowered = pc.utf8_lower(texts)
    true = pc.equal(lowered, "true")
    return real_nulls(true, pc.or_(true, pc.equal(lowered, "false")))


def parse_decimals(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """Decimals, rounded half up to the type's scale; NULL where the whole part does not fit.

    ``HiveDecimalWritable.setFromBytes`` ignores blanks at both ends.
    """
    texts = _without_empty(texts)
    # Arrow cuts texts of more digits than 38, and takes any exponent.
    usual = (pc.max(pc.binary_length(texts)).as_py() or 0) <= _MOST_DIGITS
    usual = usual and not _has_byte(texts, b"eE")
    fast = None
    if usual and target.precision + target.scale <= _MOST_DIGITS:
        fast = _try_cast(texts, target)
    elif usual:
        # Arrow moves the point before it looks how many digits there are, and in 128 bits they would run over.
        wide = _try_cast(texts, pa.decimal256(2 * _MOST_DIGITS, target.scale))
        fast = None if wide is None else _try_cast(wide, target)
    return fast if fast is not None else _over_distinct(texts, lambda odd: _slow_decimals(odd, target))


def parse_base64(values: pa.Array) -> pa.Array:
    """Bytes from base64 with or without padding; bytes that are not base64 stay as they are (``LazyBinary``)."""
    values = values.cast(pa.binary())
    texts = pc.replace_substring_regex(values, b"^(.*[^=])=*$", rb"\1")
    lengths = pc.binary_length(texts)
    unpadded = pc.match_substring_regex(values, b"^[A-Za-z0-9+/]*$")
    padded = pc.match_substring_regex(values, b"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$")
    remainder = pc.bit_wise_and(lengths, pa.scalar(3, lengths.type))
    good = pc.or_(padded, pc.and_(unpadded, pc.not_equal(remainder, 1)))
    candidates = pc.fill_null(real_nulls(texts, good), b"")
    decoded = _decode_base64(candidates)
    return pc.if_else(good, decoded, values)


def _decode_base64(texts: pa.Array) -> pa.Array:
    """Decodes texts without padding, all in one call: each is filled up to whole groups of four."""
    filled = pc.binary_join_element_wise(
        texts, pc.binary_repeat(pa.scalar(b"A"), pc.bit_wise_and(pc.negate(pc.binary_length(texts)), 3)), b""
    )
    raw = np.frombuffer(base64.b64decode(_contiguous(filled)), np.uint8)
    whole = pc.binary_length(filled).to_numpy().astype(np.int64) // 4 * 3
    kept = pc.binary_length(texts).to_numpy().astype(np.int64) * 6 // 8
    starts = np.concatenate(([0], np.cumsum(whole)))[:-1]
    inside = np.arange(len(raw)) - np.repeat(starts, whole) < np.repeat(kept, whole)
    offsets = np.concatenate(([0], np.cumsum(kept))).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(raw[inside])]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def _has_byte(texts: pa.Array, asked: bytes) -> bool:
    data = bytes(_contiguous(texts))
    return any(one in data for one in asked)


def _contiguous(array: pa.Array) -> memoryview:
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    data = array.buffers()[2]
    return memoryview(b"" if data is None else data)[int(offsets[0]) : int(offsets[-1])]


def _slow_decimals(odd: pa.Array, target: pa.DataType) -> pa.Array:
    # Between an exponent's letter and blanks Hive needs no digits.
    trimmed = pc.utf8_trim(pc.replace_substring_regex(odd, r"([0-9.])[eE][+-]?[ \t\v]+$", r"\1"), " \t\x0b")
    good = real_nulls(trimmed, pc.match_substring_regex(trimmed, _DECIMAL))
    short = pc.match_substring_regex(good, _SHORT_DECIMAL)
    # One digit behind the scale tells how to round: Arrow's division by more than 10 goes wrong at powers of 2.
    scale = min(target.scale + 1, _MOST_DIGITS)
    cut = pc.replace_substring_regex(real_nulls(good, short), rf"^([+-]?[0-9]*\.[0-9]{{{scale}}})[0-9]+$", r"\1")
    wide = cut.cast(pa.decimal256(2 * _MOST_DIGITS, scale))
    rounded = pc.round(wide, ndigits=target.scale, round_mode="half_towards_infinity")
    digits = target.precision - target.scale
    # Texts of 38 digits always fit in 38, and a bound of one more would not fit in Arrow's decimals.
    inside = pc.is_valid(rounded)
    if digits < 38:
        inside = pc.less(pc.abs(rounded), pa.scalar(Decimal(10**digits), wide.type))
    numbers = _cast_where(rounded, inside, target)
    long = pc.and_(pc.is_valid(good), pc.invert(pc.fill_null(short, False)))
    if not _any(long):
        return numbers
    with localcontext() as context:
        context.prec = 200
        values = [_python_decimal(text, target) if text else None for text in real_nulls(good, long).to_pylist()]
    return pc.coalesce(numbers, pa.array(values, target))


def _python_decimal(text: str, target: pa.DataType) -> Decimal | None:
    digits, _, exponent = text.lower().partition("e")
    number = Decimal(digits)
    whole = max(number.adjusted() + 1, 0)
    if number.is_zero() or whole > _MOST_DIGITS:
        return Decimal(0) if number.is_zero() else None
    # HiveDecimal keeps 38 digits, and is rounded before and behind the exponent, and to the type's scale.
    number = _rounded(number, _MOST_DIGITS - whole).scaleb(int(exponent or 0))
    whole = max(number.adjusted() + 1, 0)
    if number.is_zero() or whole > target.precision - target.scale:
        return Decimal(0) if number.is_zero() else None
    number = _rounded(_rounded(number, _MOST_DIGITS - whole), target.scale)
    return number if abs(number) < 10 ** (target.precision - target.scale) else None


def _rounded(number: Decimal, scale: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


def _cast_where(numbers: pa.Array, good: pa.Array, target: pa.DataType) -> pa.Array:
    """A cast that fails on no value which is NULL then: Arrow looks at these, too."""
    zero = pa.scalar(Decimal(0), numbers.type)
    return real_nulls(pc.if_else(pc.fill_null(good, False), numbers, zero).cast(target), good)


def _within(numbers: pa.Array, target: pa.DataType) -> pa.Array:
    bits = target.bit_width - 1
    low, high = (pa.scalar(Decimal(value), numbers.type) for value in (-(1 << bits), (1 << bits) - 1))
    inside = pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high))
    return _cast_where(numbers, inside, target)


def _without_empty(texts: pa.Array) -> pa.Array:
    empty = pc.equal(pc.binary_length(texts), 0)
    return real_nulls(texts, pc.invert(empty)) if _any(empty) else texts


def _try_cast(texts: pa.Array, target: pa.DataType) -> pa.Array | None:
    try:
        return texts.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _over_distinct(texts: pa.Array, function: Callable[[pa.Array], pa.Array]) -> pa.Array:
    encoded = texts.dictionary_encode()
    return function(encoded.dictionary).take(encoded.indices)


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())
