"""Functions of dates and times, in UTC. Both engines have the proleptic Gregorian calendar."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from lakeport.duckdb.functions.function import Function, Functions
from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused

__all__ = ["DAYS"]

_DATE_UNITS = {"year": ("YEAR", "YYYY", "YY"), "quarter": ("QUARTER",), "month": ("MONTH", "MM", "MON"),
               "week": ("WEEK",)}  # fmt: skip
_TIME_UNITS = {**_DATE_UNITS, "day": ("DAY", "DD"), "hour": ("HOUR",), "minute": ("MINUTE",), "second": ("SECOND",),
               "millisecond": ("MILLISECOND",), "microsecond": ("MICROSECOND",)}  # fmt: skip
_EPOCH = "DATE '1970-01-01'"
_MINUTES = "((CAST(b AS BIGINT) * 24 + c) * 60 + d)"
# Without the fraction, also before 1970.
_SECONDS = "epoch_us(a) // 1000000"


def _known_unit(node: exp.Anonymous) -> None:
    unit = next(one for one in node.expressions if isinstance(one, exp.Literal))
    units = _DATE_UNITS if node.name.lower() == "trunc" else _TIME_UNITS
    if not any(unit.name.upper() in names for names in units.values()):
        raise refused(node, f"the unit '{unit.name}', which is none of {', '.join(units)}")


def _of_time(node: exp.Anonymous) -> None:
    """Of a date and of an instant Spark gives other types."""
    kind = kind_of(node.expressions[0])
    if kind is not Kind.TIMESTAMP:
        raise refused(node, f"{kind.value} and an interval that is computed")


def _cut(units: Iterable[tuple[str, tuple[str, ...]]], unit: str, value: str) -> str:
    branches = " ".join(
        f"WHEN upper({unit}) IN ({', '.join(repr(name) for name in names)}) THEN date_trunc('{name_of}', {value})"
        for name_of, names in units
    )
    return f"CASE {branches} END"


DAYS: Functions = {
    **{name: (Function("D", "INT", f"{name}(a)"),) for name in ("year", "quarter", "month", "day", "dayofyear")},
    "dayofmonth": (Function("D", "INT", "day(a)"),),
    "dayofweek": (Function("D", "INT", "dayofweek(a) + 1"),),
    "weekday": (Function("D", "INT", "isodow(a) - 1"),),
    "weekofyear": (Function("D", "INT", "weekofyear(a)"),),
    **{name: (Function("T", "INT", f"{name}(a)"),) for name in ("hour", "minute", "second")},
    "dayname": (Function("D", "VARCHAR", "strftime(a, '%a')"),),
    "monthname": (Function("D", "VARCHAR", "strftime(a, '%b')"),),
    "last_day": (Function("D", "DATE", "last_day(a)"),),
    **dict.fromkeys(("date_add", "dateadd"), (Function("Di", "DATE", "a + CAST(b AS INT)"),)),
    "date_sub": (Function("Di", "DATE", "a - CAST(b AS INT)"),),
    "add_months": (Function("Di", "DATE", "CAST(a + to_months(CAST(b AS INT)) AS DATE)"),),
    **dict.fromkeys(("datediff", "date_diff"), (Function("DD", "INT", "date_diff('day', b, a)"),)),
    "make_date": (Function("iii", "DATE", "make_date(a, b, c)"),),
    "make_timestamp_ntz": (Function("iiiiii", "TIMESTAMPNTZ", "make_timestamp(a, b, c, d, e, CAST(f AS DOUBLE))"),),
    "unix_micros": (Function("T", "BIGINT", "epoch_us(a)"),),
    "unix_millis": (
        Function("T", "BIGINT", "epoch_us(a) // 1000 - CASE WHEN epoch_us(a) % 1000 < 0 THEN 1 ELSE 0 END"),
    ),
    "timestamp_millis": (Function("i", "TIMESTAMPTZ", "make_timestamptz(CAST(a AS BIGINT) * 1000)"),),
    "timestamp_micros": (Function("i", "TIMESTAMPTZ", "make_timestamptz(CAST(a AS BIGINT))"),),
    # Spark's EXTRACT(YEAROFWEEK ...), and CAST(CAST(a - b AS INTERVAL SECOND) AS DECIMAL).
    "lakeport_year_of_week": (Function("D", "INT", "isoyear(a)"),),
    "lakeport_seconds": (
        Function("TT", "DECIMAL(20, 6)", "CAST(epoch_us(a) - epoch_us(b) AS DECIMAL(20, 0)) * 0.000001"),
    ),
    # A time and make_dt_interval(...) or make_ym_interval(...).
    "lakeport_time_later": (
        Function("Ti", "TIMESTAMPNTZ", "a + to_days(CAST(b AS INT))", check=_of_time),
        Function(
            "Tiiim",
            "TIMESTAMPNTZ",
            f"a + to_microseconds({_MINUTES} * 60000000 + CAST(CAST(e AS DECIMAL(38, 6)) * 1000000 AS BIGINT))",
            check=_of_time,
        ),
        Function("Tiiii", "TIMESTAMPNTZ", f"a + to_microseconds(({_MINUTES} * 60 + e) * 1000000)", check=_of_time),
    ),
    "lakeport_months_later": (
        Function("Tii", "TIMESTAMPNTZ", "a + to_months(CAST(b * 12 + c AS INT))", check=_of_time),
    ),
    "unix_date": (Function("D", "INT", f"date_diff('day', {_EPOCH}, a)"),),
    "date_from_unix_date": (Function("i", "DATE", f"{_EPOCH} + CAST(a AS INT)"),),
    "to_date": (Function("D", "DATE", "a"),),
    "to_timestamp_ntz": (Function("s", "TIMESTAMPNTZ", "lakeport_text_time(a)"),),
    "to_timestamp": (Function("s", "TIMESTAMPTZ", "timezone('UTC', lakeport_text_time(a))"),),
    "trunc": (Function("DS", "DATE", f"CAST({_cut(_DATE_UNITS.items(), 'b', 'a')} AS DATE)", check=_known_unit),),
    "date_trunc": (
        Function("ST", "TIMESTAMPTZ", f"timezone('UTC', {_cut(_TIME_UNITS.items(), 'a', 'b')})", check=_known_unit),
    ),
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), (Function("T", "BIGINT", _SECONDS),)),
    "timestamp_seconds": (Function("i", "TIMESTAMPTZ", "make_timestamptz(CAST(a AS BIGINT) * 1000000)"),),
}
"""Functions of dates and times."""
