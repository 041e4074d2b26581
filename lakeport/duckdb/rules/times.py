"""Dates: their parts, and days, months and years later or earlier."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["TIMES", "as_int", "check_shift", "of", "shifted"]

_UNITS = frozenset({"DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS"})
_PARTS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY"})


def check_shift(node: Expr) -> None:
    """Refuses a sum with an interval that is not a date and whole days, months or years."""
    if kind_of(node.this) is not Kind.DATE:
        raise refused(node, f"{kind_of(node.this).value} and an interval")
    node.type = exp.DataType.build("DATE")


def shifted(node: Expr) -> Expr:
    """The same as a date, where DuckDB has a timestamp."""
    return exp.cast(node, "DATE", copy=False)


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
    if unit is None or unit.name.upper() not in _UNITS or not isinstance(number, exp.Literal):
        raise refused(node, "an interval of other than whole days, weeks, months or years")
    if not number.name.lstrip("-").isdigit() or not isinstance(node.parent, (exp.Add, exp.Sub)):
        raise refused(node, "an interval that is not added to a date")


def _extract(node: Expr) -> None:
    if kind_of(node.expression) is not Kind.DATE or node.this.name.upper() not in _PARTS:
        raise refused(node, "a part of other than a date, or another one than year, quarter, month and day")
    node.type = exp.DataType.build("INT")


TIMES: Rules = {
    **dict.fromkeys((exp.Year, exp.Quarter, exp.Month, exp.Day), Rule(of(Kind.DATE), as_int)),
    exp.TsOrDsToDate: Rule(of(Kind.DATE)),
    exp.Extract: Rule(_extract, as_int),
    exp.Interval: Rule(_interval),
}
