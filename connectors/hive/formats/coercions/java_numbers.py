"""Floating-point numbers and decimals as the texts that Java writes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["decimal_texts", "float_texts"]


def float_texts(array: pa.Array) -> pa.Array:
    """``Double.toString`` and ``Float.toString`` of Java 19 and later: the shortest digits that tell the number."""
    finite = pc.is_finite(array)
    size = pc.abs(array)
    # Java writes the numbers between as digits, the others with an exponent; Arrow does so at other bounds.
    plain = pc.or_(pc.equal(size, 0), pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)))
    texts = array.cast(pa.string())
    if _all(plain):
        whole = pc.invert(pc.match_substring(texts, "."))
        return pc.if_else(whole, pc.binary_join_element_wise(texts, "0", "."), texts)
    encoded = array.dictionary_encode() if _all(finite) else None
    if encoded is None:
        return _words(array)
    return _words(encoded.dictionary).take(encoded.indices)


def decimal_texts(array: pa.Array, *, stripped: bool) -> pa.Array:
    """Decimals as digits without an exponent.

    Args:
        array: The decimals.
        stripped: Leave out zeros at the end, and a point with nothing behind it (``HiveDecimal.toString``).
    """
    texts = array.cast(pa.string())
    if pc.any(pc.match_substring(texts, "E"), min_count=0).as_py():
        encoded = array.dictionary_encode()
        words = [None if value is None else f"{value:f}" for value in encoded.dictionary.to_pylist()]
        texts = pa.array(words, pa.string()).take(encoded.indices)
    if not stripped or array.type.scale <= 0:
        return texts
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"(\.[0-9]*[1-9])0+$", r"\1"), r"\.0+$", "")


def _words(array: pa.Array) -> pa.Array:
    narrow = pa.types.is_float32(array.type)
    write = _float32_text if narrow else _double_text
    return pa.array([None if value is None else write(value) for value in array.to_pylist()], pa.string())


def _double_text(value: float) -> str:
    return _java(f"{value:.1e}" if float(f"{value:.1e}") == value else repr(value))


def _float32_text(value: float) -> str:
    # Where two digits are enough, Java takes the two that are nearest, also where one would do.
    two = f"{value:.1e}"
    return _java(two if np.float32(two) == np.float32(value) else str(np.float32(value)))


def _java(text: str) -> str:
    """A number as Python writes it, as Java writes it."""
    if text.endswith(("inf", "nan")):
        return text.replace("inf", "Infinity").replace("nan", "NaN")
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, _, exponent = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    if not significant:
        return f"{sign}0.0"
    # The number is 0.SIGNIFICANT * 10 ** point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(significant))
    significant = significant.rstrip("0")
    if -2 <= point <= 7:
        padded = significant.ljust(point, "0") if point > 0 else "0" * (1 - point) + significant
        cut = max(point, 1)
        return f"{sign}{padded[:cut]}.{padded[cut:] or '0'}"
    return f"{sign}{significant[0]}.{significant[1:] or '0'}E{point - 1}"


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(mask, min_count=0).as_py())
