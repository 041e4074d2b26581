"""Which parts of a query surely mean the same in Spark and in DuckDB; all else is refused by name.

Spark means Spark 4 with its default settings (``spark.sql.ansi.enabled``), in the time zone UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.errors import NotSupportedError
from lakeport.duckdb.kinds import EXACT, Kind, digits_of, kind_of
from lakeport.error_codes import UNSUPPORTED_LOCAL_SQL

__all__ = ["checked", "refused"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(rf"{_DATE.pattern}( \d\d:\d\d:\d\d(\.\d{{1,6}})?)?")
# A decimal of so many digits is a whole number of a double, divided by a power of ten: rounded once.
_EXACT_IN_DOUBLE = 15
_MOST_DIGITS = 38
_NUMBERS = frozenset({Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL})
_PLAIN: tuple[type[Expr], ...] = (
    exp.Select, exp.From, exp.Where, exp.Having, exp.Group, exp.Order, exp.Limit, exp.Offset, exp.Distinct, exp.With,
    exp.CTE, exp.Subquery, exp.TableAlias, exp.Table, exp.Identifier, exp.Alias, exp.Column, exp.Boolean, exp.Null,
    exp.Literal, exp.And, exp.Or, exp.Not, exp.Exists, exp.Is, exp.Star, exp.Count, exp.DataType,
    exp.DataTypeParam, exp.Tuple, exp.Var, exp.RowNumber, exp.Rank, exp.DenseRank, exp.If,
)  # fmt: skip
_COMPARED: tuple[type[Expr], ...] = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)


def checked(query: Expr) -> Expr:
    """The query with results of Spark's types, if all parts of it mean the same in both engines.

    Args:
        query: Spark's SQL with qualified columns and types; changed.

    Raises:
        NotSupportedError: A part may mean something else; the message names it.
    """
    for node in reversed(list(query.walk())):
        rule = _RULES.get(type(node))
        if rule is not None:
            rule(node)
        elif not isinstance(node, _PLAIN):
            raise refused(node, "it is not known to mean the same in both engines")
    for node in reversed(list(query.walk())):
        target = _type_in_spark(node)
        if target is not None:
            node.replace(exp.cast(node.copy(), target))
    return query


def refused(node: Expr | str, reason: str) -> NotSupportedError:
    """The error for a part of a statement."""
    text = node if isinstance(node, str) else node.sql("spark")
    return NotSupportedError(
        f"{text if len(text) <= 100 else text[:100] + '...'} is not run by the engine duckdb: {reason}; use the engine "
        "spark for it",
        UNSUPPORTED_LOCAL_SQL,
    )


def _compare(node: Expr) -> None:
    _check_compared(node, [node.this, node.expression])


def _between(node: Expr) -> None:
    _check_compared(node, [node.this, node.args["low"], node.args["high"]])


def _in(node: Expr) -> None:
    query = node.args.get("query")
    _check_compared(node, [node.this, *_values(node.expressions), *([] if query is None else query.unnest().selects)])


def _values(given: Iterable[Expr]) -> list[Expr]:
    return [one.unalias() for one in given]


def _check_compared(node: Expr, parts: Sequence[Expr]) -> None:
    plain = [one for one in parts if kind_of(one) is not Kind.NULL]
    kinds = {kind_of(one) for one in plain}
    if Kind.OTHER in kinds:
        raise refused(node, "values of nested or unknown types are not compared")
    if len(kinds) < 2:
        return
    if kinds <= _NUMBERS:
        _check_numbers(node, plain, kinds)
        return
    for kind, pattern in ((Kind.DATE, _DATE), (Kind.TIMESTAMP, _TIME)):
        if kinds == {kind, Kind.TEXT} and all(_is_text(one, pattern) for one in plain if kind_of(one) is Kind.TEXT):
            return
    raise refused(node, f"{' and '.join(sorted(kind.value for kind in kinds))} are compared, which engines cast apart")


def _is_text(node: Expr, pattern: re.Pattern[str]) -> bool:
    return isinstance(node, exp.Literal) and pattern.fullmatch(node.name) is not None


def _check_numbers(node: Expr, parts: Iterable[Expr], kinds: set[Kind]) -> None:
    """Decimals that meet doubles have to be exact in them."""
    if Kind.DOUBLE in kinds:
        for one in parts:
            if kind_of(one) is Kind.DECIMAL and (digits_of(one) or (_MOST_DIGITS, 0))[0] > _EXACT_IN_DOUBLE:
                raise refused(node, "a decimal of many digits becomes a double, which the engines round apart")


def _arithmetic(node: Expr) -> None:
    parts = [node.this, node.expression]
    kinds = {kind_of(one) for one in parts}
    if not kinds <= _NUMBERS:
        raise refused(node, f"arithmetic of {' and '.join(sorted(kind.value for kind in kinds))}")
    _check_numbers(node, parts, kinds)
    if Kind.DOUBLE in kinds:
        node.type = exp.DataType.build("DOUBLE")
    if Kind.DECIMAL not in kinds or Kind.DOUBLE in kinds:
        return
    left, right = (digits_of(one) for one in parts)
    if left is None or right is None:
        raise refused(node, "the digits of a decimal are not known")
    if isinstance(node, exp.Mul):
        precision, scale = left[0] + right[0] + 1, left[1] + right[1]
    else:
        scale = max(left[1], right[1])
        precision = max(left[0] - left[1], right[0] - right[1]) + scale + 1
    if precision > _MOST_DIGITS:
        raise refused(node, f"a decimal of {precision} digits, of which Spark rounds some away")
    node.type = exp.DataType.build(f"DECIMAL({precision}, {scale})")


def _divide(node: Expr) -> None:
    divisor = node.expression
    kinds = {kind_of(node.this), kind_of(divisor)}
    if not kinds <= {Kind.INTEGER, Kind.DOUBLE}:
        raise refused(node, f"division of {' and '.join(sorted(kind.value for kind in kinds))}")
    if not isinstance(divisor, exp.Literal) or not float(divisor.name):
        raise refused(node, "Spark fails where the divisor is 0, and DuckDB does not")
    node.type = exp.DataType.build("DOUBLE")


def _negate(node: Expr) -> None:
    if kind_of(node.this) not in _NUMBERS:
        raise refused(node, f"the negative of {kind_of(node.this).value}")
    node.type = node.this.type


def _inside(node: Expr) -> None:
    node.type = node.this.type


def _cast(node: Expr) -> None:
    source, target, given = kind_of(node.this), kind_of(node), node.this
    digits = digits_of(given)
    if given.meta.get(EXACT) is not None:
        fine = True
    elif isinstance(given, exp.Literal) and given.is_string:
        fine = (target is Kind.DATE and _is_text(given, _DATE)) or (target is Kind.TIMESTAMP and _is_text(given, _TIME))
    elif isinstance(given, exp.Literal):
        # Also numbers with a suffix, such as 1L and 1.5D. Fractions are cut by Spark, and rounded by DuckDB.
        fine = target in (_NUMBERS if given.name.isdigit() else (Kind.DOUBLE,))
    else:
        fine = (source, target) in _CASTS or (
            (source, target) == (Kind.DECIMAL, Kind.DOUBLE) and digits is not None and digits[0] <= _EXACT_IN_DOUBLE
        )
    if not fine and not (source is target and source in (Kind.TEXT, Kind.DATE, Kind.BOOLEAN)):
        raise refused(node, f"a cast of {source.value} to {target.value}")


def _like(node: Expr) -> None:
    pattern = node.expression
    if kind_of(node.this) is not Kind.TEXT or not isinstance(pattern, exp.Literal) or "\\" in pattern.name:
        raise refused(node, "a pattern that is no plain text, since a backslash is an escape in Spark alone")


def _texts(node: Expr) -> None:
    if any(kind_of(one) is not Kind.TEXT for one in (node.this, node.expression)):
        raise refused(node, "values of other types than string are joined to a text")


def _aggregate(*kinds: Kind) -> Callable[[Expr], None]:
    def check(node: Expr) -> None:
        inner = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        found = kind_of(inner)
        if found not in kinds:
            raise refused(node, f"of {found.value} it is not known to give the same in both engines")
        if isinstance(node, (exp.Min, exp.Max, exp.Abs)):
            if node.expressions:
                raise refused(node, "more than one argument")
            node.type = inner.type

    return check


def _of(kind: Kind) -> Callable[[Expr], None]:
    def check(node: Expr) -> None:
        inner = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        if kind_of(inner) is not kind:
            raise refused(node, f"of {kind_of(inner).value}, not of {kind.value}")

    return check


def _same_types(node: Expr) -> None:
    if isinstance(node, exp.Coalesce):
        parts = [node.this, *node.expressions]
    else:
        parts = [branch.args["true"] for branch in node.args["ifs"]]
        parts += [] if node.args.get("default") is None else [node.args["default"]]
        if node.this is not None:
            for branch in node.args["ifs"]:
                _check_compared(node, [node.this, branch.this])
    plain = [one for one in parts if kind_of(one) is not Kind.NULL]
    kinds = {kind_of(one) for one in plain}
    alike = kinds == {Kind.INTEGER} or all(one.type == plain[0].type for one in plain)
    if not alike or Kind.OTHER in kinds:
        raise refused(node, "its results are of different types")
    if plain:
        node.type = max((one.type for one in plain), key=lambda found: found.this.name == "BIGINT")


def _ordered(node: Expr) -> None:
    if kind_of(node.this) is Kind.OTHER and not isinstance(node.this, exp.Literal):
        raise refused(node, "an order of nested or unknown types")


def _join(node: Expr) -> None:
    kind = str(node.args.get("kind") or "").upper()
    if node.args.get("method") or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"):
        raise refused(node, "a join of this kind")


def _set_operation(node: Expr) -> None:
    if node.args.get("by_name"):
        raise refused(node, "columns are found by name")
    for left, right in zip(node.this.unnest().selects, node.expression.unnest().selects, strict=False):
        if kind_of(left) is not kind_of(right) or kind_of(left) is Kind.OTHER:
            raise refused(node, f"column '{left.alias_or_name}' is of different types")


def _window(node: Expr) -> None:
    if node.args.get("spec") is not None or node.args.get("over") not in (None, "OVER"):
        raise refused(node, "a frame of rows")


def _type_in_spark(node: Expr) -> str | None:
    """The type of a result in Spark where it is another one in DuckDB; no value changes, but one that is too large."""
    if isinstance(node.parent, exp.Window) and node.parent.this is node:
        return None
    if isinstance(node, exp.Window):
        node = node.this
        if isinstance(node, _RANKS):
            return "INT"
    if isinstance(node, (exp.Year, exp.Month, exp.Day, exp.Length)):
        return "INT"
    if isinstance(node, exp.Sum):
        inner = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        digits = digits_of(inner)
        if kind_of(inner) is Kind.INTEGER:
            return "BIGINT"
        if kind_of(inner) is Kind.DECIMAL and digits is not None:
            return f"DECIMAL({min(digits[0] + 10, _MOST_DIGITS)}, {digits[1]})"
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)) and kind_of(node) is Kind.DECIMAL:
        digits = digits_of(node)
        return None if digits is None else f"DECIMAL({digits[0]}, {digits[1]})"
    return None


_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_CASTS = {
    (Kind.INTEGER, Kind.INTEGER),
    (Kind.INTEGER, Kind.DOUBLE),
    (Kind.INTEGER, Kind.TEXT),
    (Kind.FLOAT, Kind.DOUBLE),
    (Kind.DATE, Kind.TEXT),
}
_ORDERED_KINDS = tuple(kind for kind in Kind if kind not in (Kind.OTHER, Kind.NULL))
_RULES: dict[type[Expr], Callable[[Expr], None]] = {
    **dict.fromkeys(_COMPARED, _compare),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), _arithmetic),
    **dict.fromkeys((exp.Union, exp.Intersect, exp.Except), _set_operation),
    **dict.fromkeys((exp.Coalesce, exp.Case), _same_types),
    **dict.fromkeys((exp.Year, exp.Month, exp.Day), _of(Kind.DATE)),
    **dict.fromkeys((exp.Min, exp.Max), _aggregate(*_ORDERED_KINDS)),
    exp.TsOrDsToDate: _of(Kind.DATE),
    exp.Abs: _aggregate(Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL),
    exp.Sum: _aggregate(Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL),
    exp.Avg: _aggregate(Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE),
    exp.Length: _of(Kind.TEXT),
    exp.Between: _between,
    exp.In: _in,
    exp.Div: _divide,
    exp.Cast: _cast,
    exp.Neg: _negate,
    exp.Paren: _inside,
    exp.Like: _like,
    exp.DPipe: _texts,
    exp.Ordered: _ordered,
    exp.Join: _join,
    exp.Window: _window,
}
