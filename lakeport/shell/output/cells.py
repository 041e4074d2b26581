"""Values as text, column by column."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["CONTROL", "cut", "is_number", "json_lines", "padded", "printable", "shown_width", "text_column"]

CONTROL = r"[\x00-\x1f\x7f-\x9f]"
"""Characters that ``printable`` escapes, as a regular expression."""

# Trailing zeros of a fraction, and a point without digits after it.
_FRACTION_ZEROS = r"(\.\d*?)0+$"
_BARE_POINT = r"\.$"


def text_column(column: pa.Array) -> pa.Array:
    """A column as strings; NULL stays NULL.

    Instants are shown at the wall clock of their type's time zone, binary as ``0x`` and digits, nested values as JSON.
    """
    types = pa.types
    data_type = column.type
    if types.is_string(data_type):
        return column
    if types.is_timestamp(data_type):
        return _timestamps(column)
    if types.is_floating(data_type):
        return _floats(column)
    if types.is_decimal(data_type):
        return _decimals(column)
    if types.is_binary(data_type):
        return _each(column, lambda value: "0x" + bytes(value).hex())  # type: ignore[call-overload]
    if types.is_nested(data_type):
        return _each(column, _json)
    if types.is_duration(data_type):
        return _each(column, str)
    return column.cast(pa.string())


def is_number(data_type: pa.DataType) -> bool:
    """Whether values are aligned right."""
    types = pa.types
    return bool(types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type))


def printable(text: str) -> str:
    """Control characters as escapes: data must not move the cursor or colour the terminal."""
    return "".join(c if c >= " " and not "\x7f" <= c <= "\x9f" else c.encode("unicode_escape").decode() for c in text)


def shown_width(text: str) -> int:
    """Terminal columns of a printable text; many Asian characters, and emoji, take two."""
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth  # a tenth of a second, which few results need

    return get_cwidth(text)


def padded(text: str, width: int, side: str) -> str:
    """A text padded to a width; ``side`` is its alignment: ``<``, ``>`` or ``^``."""
    missing = width - shown_width(text)
    if missing <= 0:
        return text
    left = missing if side == ">" else missing // 2 if side == "^" else 0
    return " " * left + text + " " * (missing - left)


def cut(text: str, width: int) -> str:
    """A text of at most this width, which is 1 or more; a cut text ends in an ellipsis."""
    if shown_width(text) <= width:
        return text
    kept, taken = 0, 0
    for character in text:
        taken += shown_width(character)
        if taken > width - 1:
            break
        kept += 1
    return text[:kept] + "…"


def json_lines(batch: pa.RecordBatch) -> str:
    """Each row as a JSON object on its own line.

    Decimals, dates and timestamps are strings, binary is base64, and floats that JSON does not have are strings.
    """
    return "".join(_json(row) + "\n" for row in _python(batch))


def _timestamps(column: pa.Array) -> pa.Array:
    zone = column.type.tz
    if zone is not None:
        # UTC needs no time zone database, which a small image may lack.
        column = column.cast(pa.timestamp("us")) if zone == "UTC" else _local(column, zone)
    text = pc.replace_substring_regex(column.cast(pa.string()), _FRACTION_ZEROS, r"\1")
    return pc.replace_substring_regex(text, _BARE_POINT, "")


def _local(column: pa.Array, zone: str) -> pa.Array:
    """The wall-clock times of a zone."""
    local = pc.local_timestamp(column)
    # Arrow has no daylight saving time after 2037; Python has no dates after the year 9999.
    first, last = (pa.scalar(datetime(*day, tzinfo=UTC), column.type) for day in ((2037, 1, 1), (9999, 12, 30)))
    far = pc.and_kleene(pc.greater_equal(column, first), pc.less(column, last))
    if zone.startswith(("+", "-")) or not pc.any(far, min_count=0).as_py():
        return local
    known = ZoneInfo(zone)
    right = [value.astimezone(known).replace(tzinfo=None) for value in column.filter(far).to_pylist()]
    return pc.replace_with_mask(local, pc.fill_null(far, False), pa.array(right, local.type))


def _floats(column: pa.Array) -> pa.Array:
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
    text = numbers.astype(np.str_).astype(object)
    text[np.isnan(numbers)] = "NaN"
    text[np.isposinf(numbers)] = "Infinity"
    text[np.isneginf(numbers)] = "-Infinity"
    return pa.array(text, pa.string(), mask=column.is_null().to_numpy(zero_copy_only=False))


def _decimals(column: pa.Array) -> pa.Array:
    text = column.cast(pa.string())
    if not pc.any(pc.match_substring(text, "E")).as_py():
        return text
    return _each(column, lambda value: format(value, "f"))


def _each(column: pa.Array, convert: Callable[[object], str]) -> pa.Array:
    return pa.array([None if value is None else convert(value) for value in _python(column)], pa.string())


def _python(values: pa.Array | pa.RecordBatch) -> list[object]:
    try:
        found: list[object] = values.to_pylist(maps_as_pydicts="strict")
    except KeyError:
        found = values.to_pylist()  # a map with a duplicate key stays a list of pairs
    return found


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_json_value)
    except (ValueError, TypeError):
        return json.dumps(_strict(value), ensure_ascii=False, default=_json_value)


def _strict(value: object) -> object:
    """The same value for JSON: NaN and infinities as text, keys as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key if isinstance(key, str) else _key(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return value


def _key(value: object) -> str:
    found = _json_value(value) if not isinstance(value, bool | int | float) else value
    return str(found)


def _json_value(value: object) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, timedelta):
        return str(value)
    return str(value)
