"""Casts of Trino, as far as Spark casts alike."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer, text, when
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["CAST_RULES"]

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_TIMES = ("TIMESTAMP", "TIMESTAMPNTZ")
_TEXTS = ("VARCHAR", "TEXT")
_WHOLE_TEXT = r"^\s*[+-]?[0-9]+\s*$"
# Trino's and Spark's forms of these texts are the same; Spark accepts more.
_DECIMAL_TEXT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DOUBLE_TEXT = r"^\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?|NaN|Infinity)\s*$"
_DATE_TEXT = r"^\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\s*$"
_TIME_TEXT = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?$"


def _cast(node: Expr) -> Expr | None:
    target, operand = node.args["to"], node.this
    name, source = target.this.name, kind_of(operand)
    tried = type(node).__name__ == "TryCast"
    if isinstance(operand, exp.Null) and name not in (*_TIMES, "STRUCT"):
        return None
    if tried and source is Kind.TEXT and name not in _TEXTS:
        return _try_cast_text(node, name)
    if name in ("DOUBLE", "FLOAT", "BOOLEAN", "DATE") and source not in (Kind.OTHER, Kind.UNKNOWN, Kind.JSON):
        return None
    if name in _INTEGERS and source in (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN):
        return None
    if name in _INTEGERS and source in (Kind.FLOAT, Kind.DECIMAL):
        node.set("this", call("ROUND", operand))  # Spark cuts off where Trino rounds
        return None
    if name in _TEXTS:
        return _cast_to_text(node, source)
    is_real = operand.type is not None and operand.type.this.name == "FLOAT"
    if name == "DECIMAL" and source in (Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.FLOAT) and not is_real:
        if not target.expressions:
            node.set("to", exp.DataType.build("DECIMAL(38, 0)"))
        return None
    if name in _TIMES and source in (Kind.TEXT, Kind.DATE, Kind.TIMESTAMP, Kind.ZONED):
        node.set("to", exp.DataType.build("TIMESTAMP_NTZ", dialect="spark"))
        return None
    if name == "TIMESTAMPTZ" and operand.is_string and not tried:
        node.set("to", exp.DataType.build("TIMESTAMP", dialect="spark"))
        return None
    if name == "STRUCT":
        return _row(node)
    if name == "ARRAY" and source is Kind.ARRAY:
        return _cast_array(node)
    if source is Kind.UNKNOWN:
        why = f"the type of {operand.sql(dialect='trino')} is not known here, and some are cast in another way"
        raise UntranslatableError(node, why, "cast it to DOUBLE or DATE in the table's own query")
    raise UntranslatableError(node, f"Trino and Spark cast {source.value} to {name} in other ways", "")


def _cast_to_text(node: Expr, source: Kind) -> Expr | None:
    length = node.args["to"].expressions
    if length:
        if source is not Kind.TEXT:
            raise UntranslatableError(node, "only texts are cut to a length", "cast to VARCHAR")
        return call("LEFT", node.this, exp.Literal.number(length[0].name))
    if source in (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.DECIMAL):
        return None
    raise UntranslatableError(node, "Spark's text of doubles, times and nested values differs", "leave the cast out")


def _cast_array(node: Expr) -> Expr | None:
    """Element by element, where each is cast alike."""
    inner, given = node.args["to"].expressions, node.this.type.expressions if node.this.type is not None else []
    element = exp.to_identifier("e")
    if len(inner) != 1 or len(given) != 1 or not isinstance(given[0], exp.DataType):
        raise UntranslatableError(node, "the type of the elements is not known here", "")
    element.type = given[0].copy()
    made: Expr = type(node)(this=element, to=inner[0].copy())
    replaced = _cast(made)
    body = made if replaced is None else replaced
    return call("TRANSFORM", node.this, exp.Lambda(this=body, expressions=[exp.to_identifier("e")]))


def _try_cast_text(node: Expr, name: str) -> Expr:
    """Spark accepts texts that are NULL in Trino, such as a number with blanks around it."""
    if name in _INTEGERS:
        return when(_matches(node.this, _WHOLE_TEXT), node.copy())
    if name == "DECIMAL" and node.args["to"].expressions:
        return when(_matches(node.this, _DECIMAL_TEXT), node.copy())
    if name == "DOUBLE":
        return when(_matches(node.this, _DOUBLE_TEXT), node.copy())
    if name == "DATE":
        return when(_matches(node.this, _DATE_TEXT), node.copy())
    if name in _TIMES:
        made = exp.TryCast(this=node.this.copy(), to=exp.DataType.build("TIMESTAMP_NTZ", dialect="spark"), safe=True)
        return when(_matches(node.this, _TIME_TEXT), made)
    if name == "BOOLEAN":
        lowered = call("LOWER", node.this)
        true, false = ([text(one) for one in words.split()] for words in ("t true 1", "f false 0"))
        cases = [
            exp.If(this=exp.In(this=lowered, expressions=true), true=exp.true()),
            exp.If(this=exp.In(this=lowered.copy(), expressions=false), true=exp.false()),
        ]
        return exp.Case(ifs=cases)
    raise UntranslatableError(node, "Spark accepts texts that are NULL in Trino", "use CAST")


def _matches(value: Expr, pattern: str) -> Expr:
    return exp.RegexpLike(this=value.copy(), expression=text(pattern))


def _row(node: Expr) -> Expr:
    fields = [field for field in node.args["to"].expressions if isinstance(field, exp.ColumnDef)]
    values = node.this.expressions if isinstance(node.this, exp.Struct) else []
    if not fields or len(fields) != len(values) or type(node).__name__ != "Cast":
        raise UntranslatableError(node, "a row is translated as CAST(ROW(...) AS ROW(name type, ...)) only", "")
    named: list[Expr] = []
    for field, value in zip(fields, values, strict=True):
        inner = exp.Cast(this=value.copy(), to=field.args["kind"].copy())
        inner.this.type = value.type
        made = _cast(inner)
        named += [text(field.name), inner if made is None else made]
    return exp.Anonymous(this="NAMED_STRUCT", expressions=named)


def _try(node: Expr) -> Expr:
    inner = node.this.unnest()
    if isinstance(inner, exp.IntDiv):
        # What else could fail, the smallest number divided by -1, fails.
        return when(exp.NEQ(this=inner.expression.copy(), expression=integer(0)), inner.copy())
    if isinstance(inner, exp.Div) and kind_of(inner) is Kind.DECIMAL:
        return call("TRY_DIVIDE", inner.this, inner.expression)
    if type(inner).__name__ != "Cast" or isinstance(inner.this, exp.Anonymous):
        raise UntranslatableError(
            node, "TRY is translated around a CAST or a division only", "use TRY_CAST, or NULLIF(divisor, 0)"
        )
    return exp.TryCast(this=inner.this.copy(), to=inner.args["to"].copy(), safe=True)


def _date(node: Expr) -> Expr:
    """``date(x)`` is ``CAST(x AS date)``."""
    if node.this is None or node.expressions or kind_of(node.this) in (Kind.OTHER, Kind.UNKNOWN):
        raise UntranslatableError(node, "the type is not known here", "write CAST(... AS DATE)")
    return cast(node.this, "DATE")


CAST_RULES: dict[str, Rule] = {
    "Cast": _cast,
    "Date": _date,
    "Try": _try,
    "TryCast": _cast,
}
"""By the names of sqlglot's classes."""
