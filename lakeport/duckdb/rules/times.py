"""Dates: their parts, and days, months and years later or earlier."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["TIMES", "as_int", "check_days", "check_shift", "of"]

_UNITS = frozenset({"DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS"})
_SHORT_UNITS = frozenset({"HOUR", "HOURS", "MINUTE", "MINUTES", "SECOND", "SECONDS"})


def check_shift(node: Expr) -> None:
    """Refuses a sum with an interval that is not a date and whole days, months or years, or a time and such a unit."""
    kind, unit = kind_of(node.this), node.expression.args.get("unit")
    if kind not in (Kind.DATE, Kind.TIMESTAMP, Kind.INSTANT):
        raise refused(node, f"{kind.value} and an interval")
    if kind is Kind.DATE and unit is not None and unit.name.upper() in _SHORT_UNITS:
        raise refused(node, "a date and a part of a day")
    node.type = node.this.type


def check_days(node: Expr) -> None:
    """Refuses days that are added to a date, or taken away, if they may be too many for an int."""
    days = node.expression.type
    if days is None or days.this.name not in ("TINYINT", "SMALLINT", "INT"):
        raise refused(node, "days that are no int")
    node.type = node.this.type


def of(kind: Kind) -> Callable[[Expr], None]:
    """A check that an expression is of one kind of values."""

    def check(node: Expr) -> None:
        inner = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        if kind_of(inner) is not kind:
            raise refused(node, f"of {kind_of(inner).value}, not of {kind.value}")
        node.type = exp.DataType.build("DATE" if isinstance(node, exp.TsOrDsToDate) else "INT")

    return check


def as_int(node: Expr) -> Expr:
    """The same as an int, where DuckDB has a bigint."""
    return exp.cast(node, "INT", copy=False)


def _interval(node: Expr) -> None:
    unit, number = node.args.get("unit"), node.this
    if unit is None or unit.name.upper() not in _UNITS | _SHORT_UNITS or not isinstance(number, exp.Literal):
        raise refused(node, "an interval of other than whole seconds, minutes, hours, days, weeks, months or years")
    if not number.name.lstrip("-").isdigit() or not isinstance(node.parent, (exp.Add, exp.Sub, exp.GenerateSeries)):
        raise refused(node, "an interval that is not added to a date or a time")


def _extract(node: Expr) -> None:
    raise refused(node, f"the part {node.this.name}")


def _today(node: Expr) -> None:
    if node.this is not None:
        raise refused(node, "a zone")
    node.type = exp.DataType.build("DATE")


def _utc_today(node: Expr) -> Expr:
    now = exp.Anonymous(this="lakeport_today")
    now.type = node.type
    return now


def _now(node: Expr) -> None:
    if node.this is not None:
        raise refused(node, "a number of digits")
    node.type = exp.DataType.build("TIMESTAMPTZ", dialect="duckdb")


def _begin_of_query(node: Expr) -> Expr:
    made = exp.Anonymous(this="now")
    made.type = node.type
    return made


TIMES: Rules = {
    exp.CurrentTimestamp: Rule(_now, _begin_of_query),
    exp.TsOrDsToDate: Rule(of(Kind.DATE)),
    exp.Extract: Rule(_extract),
    exp.Interval: Rule(_interval),
    exp.CurrentDate: Rule(_today, _utc_today),
}
