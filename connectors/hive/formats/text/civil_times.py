"""Fields of dates and times, as texts, to values in the proleptic calendar. Executor side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.values import real_nulls

__all__ = ["civil_days", "civil_times", "text_field"]

_MICROS = pa.timestamp("us")


def civil_times(fields: pa.Array, *, smart: bool = False) -> pa.Array:
    """Times of fields that a pattern found: ``y``, ``m``, ``d`` and, if there, ``h``, ``i``, ``s``, ``f`` (a fraction).

    Args:
        fields: Structs of texts.
        smart: As Java's ``ResolverStyle.SMART``: 31 February is its last day, and 24:00 the next day.
    """
    days, good = civil_days(fields, smart)
    hours, _ = _numbers(fields, "h")
    minutes, _ = _numbers(fields, "i")
    seconds, _ = _numbers(fields, "s")
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(text_field(fields, "f"), 6, "0"), 0, 6)
    micros = pc.fill_null(real_nulls(fraction, pc.not_equal(fraction, "")), "0").cast(pa.int64()).to_numpy()
    midnight = (hours == 24) & (minutes == 0) & (seconds == 0) & (micros == 0) & smart
    good &= ((hours < 24) | midnight) & (minutes < 60) & (seconds < 60)
    # The year is bounded, so that nothing runs over.
    total = (days * 86400 + (hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros
    return pa.array(total, pa.int64(), mask=~good).view(_MICROS)


def civil_days(fields: pa.Array, smart: bool = False) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Days since 1970 in the proleptic calendar, and where there is such a day."""
    year, good = _numbers(fields, "y")
    month, _ = _numbers(fields, "m", 1)
    day, _ = _numbers(fields, "d", 1)
    good &= (np.abs(year) < 200_000) & (month >= 1) & (month <= 12) & (day >= 1)
    months = ((np.where(good, year, 1970) - 1970) * 12 + np.where(good, month, 1) - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    inside = days.astype("datetime64[M]") == months
    if smart:
        last = (months + 1).astype("datetime64[D]") - 1
        days, inside = np.where(inside | (day > 31), days, last), inside | (day <= 31)
    good &= inside
    return days.astype(np.int64), good


def text_field(fields: pa.Array, name: str) -> pa.Array:
    """Texts of a field; NULLs where the pattern has no such field."""
    names = [field.name for field in fields.type]
    return pc.struct_field(fields, name) if name in names else pa.nulls(len(fields), pa.string())


def _numbers(fields: pa.Array, name: str, default: int = 0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    texts = text_field(fields, name)
    present = pc.and_(pc.is_valid(texts), pc.not_equal(pc.fill_null(texts, ""), ""))
    numbers = pc.fill_null(real_nulls(texts, present).cast(pa.int64()), default)
    return numbers.to_numpy(zero_copy_only=False), present.to_numpy(zero_copy_only=False).copy()
