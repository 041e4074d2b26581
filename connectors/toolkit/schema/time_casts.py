"""Casts of dates and timestamps by a file's calendar and zone. Executor side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa

from connectors.toolkit.schema.floor_division import floor_divide
from connectors.toolkit.schema.local_times import local_times
from connectors.toolkit.schema.time_conventions import INT96, TimeConventions, rebase_dates, rebase_timestamps

__all__ = ["ArrayFunction", "date_cast", "timestamp_cast"]

ArrayFunction = Callable[[pa.Array], pa.Array]


def date_cast(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    """The function between types of dates; ``None`` where the arrays can be taken as they are."""
    hybrid = rebase_dates if conventions.hybrid_dates else None
    to_day: ArrayFunction | None = None if source == pa.date32() else lambda array: array.cast(pa.date32())
    to_target: ArrayFunction | None = None if target == pa.date32() else lambda array: array.cast(target)
    return _all_of(to_day, hybrid, to_target)


def timestamp_cast(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    """The function from timestamps to timestamps or dates; ``None`` where the arrays can be taken as they are."""
    int96 = source == INT96
    naive_source = source.tz is None
    legacy = conventions.legacy_int96 if int96 else conventions.legacy_instants and not naive_source
    hybrid = conventions.hybrid_int96 if int96 else conventions.hybrid_timestamps or legacy
    clock_first = legacy or (conventions.hybrid_clock and not int96)
    as_micros: ArrayFunction | None = None
    if int96:
        # The label never reaches the values: the reader gives INT96 without a zone.
        as_micros = lambda array: array.view(pa.timestamp("us", "UTC"))  # noqa: E731
    elif source.unit != "us":
        as_micros = _floor_to_micros(source)
    zone: ArrayFunction | None = None
    if pa.types.is_date(target):
        target_zone = None
    else:
        target_zone = target.tz
    if not naive_source and target_zone is None:
        old_zones = legacy or (conventions.legacy_clock and not int96)
        zone = partial(local_times, zone=conventions.int96_zone if int96 else conventions.zone, legacy=old_zones)
    elif not naive_source and source.tz != target_zone:
        zone = lambda array: array.cast(pa.timestamp("us", target_zone))  # noqa: E731
    to_target: ArrayFunction | None = None
    if target != pa.timestamp("us", target_zone):
        to_target = lambda array: array.cast(target, safe=False)  # noqa: E731
    rebase = rebase_timestamps if hybrid else None
    # java.text.DateFormat goes to the zone's clock first, and names the day by the hybrid calendar then.
    return _all_of(as_micros, zone, rebase, to_target) if clock_first else _all_of(as_micros, rebase, zone, to_target)


def _floor_to_micros(source: pa.DataType) -> ArrayFunction:
    target = pa.timestamp("us", source.tz)
    if source.unit != "ns":
        return lambda array: array.cast(target)

    def floored(array: pa.Array) -> pa.Array:
        # A stripe with times out of reach of nanoseconds comes in microseconds, whatever the file's type.
        if array.type.unit != "ns":
            return array.cast(target)
        # A plain cast cuts towards zero, which moves times before 1970 forward.
        return floor_divide(array.view(pa.int64()), 1000).view(target)

    return floored


def _all_of(*functions: ArrayFunction | None) -> ArrayFunction | None:
    steps = [function for function in functions if function is not None]
    if not steps:
        return None

    def run(array: pa.Array) -> pa.Array:
        for step in steps:
            array = step(array)
        return array

    return run
