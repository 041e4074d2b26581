"""How a file's dates and timestamps are to be read: calendar and time zone.

Before 1582-10-15 a writer that used ``java.sql.Date`` or ``JDateTime`` counted days in the Julian calendar. Such a
day number is read as the date of the same name: Julian 1500-02-28 stays 1500-02-28. A Julian leap day that the
Gregorian calendar lacks becomes the first of March, as in Spark (``RebaseDateTime``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.serializable import Serializable

__all__ = ["ARROW_SCHEMA_KEYS", "INT96", "TimeConventions", "parquet_conventions", "rebase_dates", "rebase_timestamps"]

INT96 = pa.timestamp("us", "INT96")
"""Marks a Parquet INT96 timestamp in a file's schema; never the type of a value that is given out."""
ARROW_SCHEMA_KEYS = (b"ARROW:schema", b"ARROW-schema")
"""The entry of a Parquet footer with the writer's Arrow schema, and its name where it is hidden from Arrow."""

_GREGORIAN_START = -141427  # 1582-10-15, days since 1970
_JULIAN_YEAR_ZERO = 719470  # days from 0000-03-01 (Julian) to 1970-01-01
_DAY_MICROS = 86_400_000_000


@dataclass(frozen=True, slots=True)
class TimeConventions(Serializable):
    """What a file's footer says of its dates and timestamps.

    Attributes:
        hybrid_dates: Dates count days in the Julian calendar before 1582-10-15.
        hybrid_int96: INT96 timestamps do so.
        hybrid_timestamps: Other timestamps do so.
        zone: Zone in which an instant is shown where the table's type is a wall-clock time.
        int96_zone: The same for INT96, which does not tell whether it is an instant.
        legacy_int96: INT96 is shown by ``java.util.TimeZone`` and the hybrid calendar, as by old versions of Hive.
        legacy_instants: So are other instants; wall-clock times are not.
        hybrid_clock: The calendar is that of the zone's clock: other instants go to the clock first.
        legacy_clock: They do so by ``java.util.TimeZone``, whatever the calendar.
    """

    hybrid_dates: bool = False
    hybrid_int96: bool = False
    hybrid_timestamps: bool = False
    zone: str = "UTC"
    int96_zone: str = "UTC"
    legacy_int96: bool = False
    legacy_instants: bool = False
    hybrid_clock: bool = False
    legacy_clock: bool = False


def parquet_conventions(
    metadata: Mapping[bytes, bytes] | None, created_by: str | None, default_zone: str
) -> TimeConventions:
    """Reads what a Parquet footer says of dates and timestamps.

    Hive 3.1 and later say ``writer.date.proleptic`` and ``writer.time.zone`` (``DataWritableReadSupport``), Spark says
    its version and, from 3.0 and for INT96 from 3.1, ``legacyDateTime`` / ``legacyINT96``; older ones wrote the hybrid
    calendar without a word (``DataSourceUtils.getRebaseSpec``, which compares versions as texts).

    Which of Java's two views of zones is that of INT96, ``writer.zone.conversion.legacy`` says; without it, it is the
    older one where no zone is recorded (``DataWritableReadSupport.getZoneConversionLegacy``), and for Spark where the
    calendar is the older one.

    A file of parquet-mr that says nothing is by an older Hive: hybrid calendar, INT96 in the zone of its writer, which
    is taken to be ``default_zone``. Other writers (Impala, Arrow) put wall-clock times into INT96 with no zone.

    Args:
        metadata: Key-value metadata of the footer.
        created_by: Who wrote the file.
        default_zone: Zone to use where the file has instants and names no zone.
    """
    properties = metadata or {}
    parquet_mr = (created_by or "").startswith("parquet-mr")
    if b"org.apache.spark.version" in properties:
        version = properties[b"org.apache.spark.version"]
        legacy = b"org.apache.spark.legacyDateTime" in properties or version < b"3.0.0"
        hybrid_int96 = b"org.apache.spark.legacyINT96" in properties or version < b"3.1.0"
        return TimeConventions(
            hybrid_dates=legacy,
            hybrid_int96=hybrid_int96,
            hybrid_timestamps=False,
            zone=default_zone,
            int96_zone=default_zone,
            legacy_int96=hybrid_int96,
            legacy_instants=legacy,
        )
    if b"writer.time.zone" in properties or b"writer.date.proleptic" in properties:
        hybrid = properties.get(b"writer.date.proleptic") == b"false"
        zone = properties.get(b"writer.time.zone", default_zone.encode()).decode()
        legacy_int96 = properties.get(b"writer.zone.conversion.legacy", b"").lower() == b"true"
        legacy_int96 = legacy_int96 or not properties.keys() & {b"writer.zone.conversion.legacy", b"writer.time.zone"}
        return TimeConventions(
            hybrid_dates=hybrid,
            hybrid_int96=True,
            hybrid_timestamps=False,
            zone=default_zone,
            int96_zone=zone,
            legacy_int96=legacy_int96,
        )
    silent = parquet_mr and not (properties.keys() - {*ARROW_SCHEMA_KEYS})
    return TimeConventions(
        hybrid_dates=silent,
        hybrid_int96=silent,
        hybrid_timestamps=False,
        zone=default_zone,
        int96_zone=default_zone if parquet_mr else "UTC",
        legacy_int96=silent,
    )


def rebase_dates(dates: pa.Array) -> pa.Array:
    """Turns ``date32`` in the hybrid calendar into ``date32`` in the Gregorian one."""
    if not _has_below(dates.view(pa.int32()), _GREGORIAN_START):
        return dates
    days = dates.view(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    days = days + _shift(days)
    return pa.array(days.astype(np.int32), pa.int32(), mask=_null_mask(dates)).view(pa.date32())


def rebase_timestamps(timestamps: pa.Array) -> pa.Array:
    """Turns ``timestamp[us]`` in the hybrid calendar into one in the Gregorian calendar; the zone stays."""
    if not _has_below(timestamps.view(pa.int64()), _GREGORIAN_START * _DAY_MICROS):
        return timestamps
    micros = timestamps.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    micros = micros + _shift(micros // _DAY_MICROS) * _DAY_MICROS
    return pa.array(micros, pa.int64(), mask=_null_mask(timestamps)).view(timestamps.type)


def _has_below(numbers: pa.Array, bound: int) -> bool:
    low = pc.min(numbers).as_py()
    return low is not None and low < bound


def _null_mask(array: pa.Array) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return mask


def _shift(days: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    # Years that begin in March put the leap day last, so that the calendars differ by a constant within a century.
    century = (4 * (days + _JULIAN_YEAR_ZERO) + 3) // 1461 // 100
    shift: npt.NDArray[np.int64] = np.where(days < _GREGORIAN_START, century // 4 + 2 - century, 0)
    return shift
