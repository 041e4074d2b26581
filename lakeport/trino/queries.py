"""Translates queries from Trino's SQL to Spark's: equal parts are kept, different ones rewritten, others refused.

sqlglot parses and writes. It translates for many engines and ignores some differences, such as the NULLs of
``array_agg`` or the outer rows of ``LEFT JOIN UNNEST``; so the supported parts of a query are listed here.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError
from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import UNSUPPORTED_TRINO_SQL
from lakeport.trino.columns_of import ColumnsOf
from lakeport.trino.decimals import decimal_digits, loses_digits
from lakeport.trino.functions import FUNCTION_RULES, SAME_FUNCTIONS, SAME_NAMES
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of, with_types
from lakeport.trino.unnest import generated_query, unnest_as_lateral

__all__ = ["translate_query"]

_SAME_CLASSES = (
    "Alias And Array Between Boolean CTE Case Column ColumnDef Cube DPipe DataType DataTypeParam Distinct Dot EQ "
    "Escape Except Exists Fetch Filter GT GTE Group GroupingSets Having HexString Identifier If In Intersect Interval "
    "Is LT LTE Lambda Lateral Limit LimitOptions Literal Mod NEQ Neg Not Null NullSafeEQ NullSafeNEQ Offset Or "
    "Order Ordered Paren Rollup Select Star Subquery TableAlias Tuple Union Unnest Values Var Where Window "
    "WindowSpec"
)
_SAME = frozenset(_SAME_CLASSES.split())


def translate_query(text: str, columns_of: ColumnsOf) -> str:
    """A query in Spark's SQL, under ``spark.sql.ansi.enabled``.

    Args:
        text: One query in Trino's SQL.
        columns_of: Returns the types of a table's columns; unknown types are refused where they matter.

    Raises:
        InvalidArgumentError: It is not a query in Trino's SQL.
        NotSupportedError: A part of it is unknown, or may mean something else in Spark; the message names the part and
            what to write instead.
    """
    try:
        parsed = sqlglot.parse_one(text, dialect="trino")
    except ParseError as error:
        raise _not_parsed(error) from error
    except SqlglotError as error:
        raise InvalidArgumentError(f"not valid in Trino's SQL: {str(error).splitlines()[0]}") from error
    if not isinstance(parsed, exp.Query | exp.Values):
        raise _refused(parsed, f"of Trino's statements, {type(parsed).__name__.upper()} is not translated", "")
    try:
        query = with_types(parsed, columns_of)
        for node in reversed(list(query.walk(bfs=False))):
            _translate(node)
        return str(query.sql(dialect="spark", identify=True, unsupported_level=ErrorLevel.RAISE))
    except UntranslatableError as error:
        raise _refused(error.node, error.why, error.instead) from error
    except SqlglotError as error:
        reason = str(error).splitlines()[0]
        raise NotSupportedError(f"the query is not translated: {reason}", UNSUPPORTED_TRINO_SQL) from error


def _translate(node: Expr) -> None:
    """Translates one node, whose children are already translated."""
    kind = type(node).__name__
    rule = _RULES.get(kind)
    if rule is not None:
        made = rule(node)
        if made is not None and made is not node:
            node.replace(made)
        return
    if kind == "Anonymous" and node.name.upper() in SAME_NAMES:
        return
    if kind not in _SAME and kind not in SAME_FUNCTIONS:
        what = f"the function {node.name.lower()}" if kind == "Anonymous" else "it"
        raise UntranslatableError(node, f"{what} has no translation that surely means the same in Spark", "")


def _refused(node: Expr, why: str, instead: str) -> NotSupportedError:
    part = " ".join(node.sql(dialect="trino").split())
    part = part if len(part) <= 100 else part[:100] + "..."
    way_out = f"; {instead}" if instead else ""
    return NotSupportedError(f"{part} is not translated from Trino's SQL: {why}{way_out}", UNSUPPORTED_TRINO_SQL)


def _not_parsed(error: ParseError) -> InvalidArgumentError:
    found = error.errors[0] if error.errors else {}
    highlight = found.get("highlight") or ""
    what = str(found.get("description") or error).partition(" but got ")[0].rstrip(".")
    near = f" at '{highlight}'" if highlight else ""
    # sqlglot's column is that of the last character, from 1.
    position = f" (line {found['line']}, pos {max(found['col'] - len(highlight), 0)})" if found.get("line") else ""
    return InvalidArgumentError(f"not valid in Trino's SQL{near}: {what}{position}")


def _division(node: Expr) -> Expr | None:
    kinds = (kind_of(node.this), kind_of(node.args["expression"]))
    if kinds == (Kind.INTEGER, Kind.INTEGER):
        return exp.IntDiv(this=node.this, expression=node.args["expression"])
    if Kind.FLOAT in kinds and Kind.UNKNOWN not in kinds:
        return None
    if Kind.DECIMAL in kinds:
        why = "Trino and Spark keep different numbers of digits in a division of decimals"
    else:
        why = "Trino's division of integers is an integer, and the types are not known here"
    raise UntranslatableError(node, why, "cast one side to DOUBLE, or both to BIGINT")


def _arithmetic(node: Expr) -> Expr | None:
    kinds = (kind_of(node.this), kind_of(node.args["expression"]))
    if Kind.DECIMAL not in kinds or Kind.FLOAT in kinds:
        return None
    digits = decimal_digits(node)
    if digits is not None and not loses_digits(digits):
        return None
    if digits is None:
        why = "the number of digits is not known here, and of large decimals Spark keeps fewer than Trino"
    else:
        why = f"of a result of {digits[0]} digits Spark keeps fewer after the point than Trino"
    raise UntranslatableError(node, why, "cast both sides to decimals of fewer digits, or to DOUBLE")


def _cast(node: Expr) -> Expr | None:
    target, operand = node.args["to"], node.this
    name, source = target.this.name, kind_of(operand)
    if isinstance(operand, exp.Null) and name not in ("TIMESTAMP", "TIMESTAMPNTZ", "STRUCT"):
        return None
    if type(node).__name__ == "TryCast" and source is Kind.TEXT and name != "DOUBLE":
        return _try_cast_text(node, name)
    if name in ("DOUBLE", "FLOAT", "BOOLEAN", "DATE") and source not in (Kind.OTHER, Kind.UNKNOWN):
        return None
    if name in ("TINYINT", "SMALLINT", "INT", "BIGINT") and source in (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN):
        return None
    if name in ("INT", "BIGINT") and source in (Kind.FLOAT, Kind.DECIMAL):
        rounded = exp.Anonymous(this="ROUND", expressions=[operand.copy()])  # Spark cuts off where Trino rounds
        node.set("this", rounded)
        return None
    if name in ("VARCHAR", "TEXT") and not target.expressions:
        if source in (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.DECIMAL):
            return None
        raise UntranslatableError(
            node, "Spark's text of doubles, times and nested values differs", "leave the cast out"
        )
    if name == "DECIMAL" and target.expressions and source in (Kind.INTEGER, Kind.DECIMAL, Kind.TEXT):
        return None
    if name in ("TIMESTAMP", "TIMESTAMPNTZ") and source in (Kind.TEXT, Kind.DATE, Kind.TIMESTAMP):
        node.set("to", exp.DataType.build("TIMESTAMP_NTZ", dialect="spark"))
        return None
    if name == "STRUCT":
        return _row(node)
    if source is Kind.UNKNOWN:
        why = f"the type of {operand.sql(dialect='trino')} is not known here, and some are cast in another way"
        raise UntranslatableError(node, why, "cast it to DOUBLE or DATE in the table's own query")
    raise UntranslatableError(node, f"Trino and Spark cast {source.value} to {name} in other ways", "")


def _try_cast_text(node: Expr, name: str) -> Expr:
    """Spark accepts texts that are NULL in Trino, such as a number with blanks around it."""
    if name not in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
        raise UntranslatableError(node, "Spark accepts texts that are NULL in Trino", "use CAST")
    is_number = exp.RegexpLike(this=node.this.copy(), expression=exp.Literal.string("^[+-]?[0-9]+$"))
    return exp.Case(ifs=[exp.If(this=is_number, true=node.copy())])


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
        named += [exp.Literal.string(field.name), inner if made is None else made]
    return exp.Anonymous(this="NAMED_STRUCT", expressions=named)


def _try(node: Expr) -> Expr:
    inner = node.this
    if type(inner).__name__ != "Cast" or isinstance(inner.this, exp.Anonymous):
        raise UntranslatableError(node, "TRY is translated around a CAST only", "use TRY_CAST, or NULLIF(divisor, 0)")
    return exp.TryCast(this=inner.this.copy(), to=inner.args["to"].copy(), safe=True)


def _table(node: Expr) -> Expr | None:
    for key, value in node.args.items():
        if value and key not in ("this", "db", "catalog", "alias", "joins"):
            raise UntranslatableError(node, f"{key} is not translated", "")
    if not isinstance(node.this, exp.Identifier):
        raise UntranslatableError(node, "table functions are not translated", "")
    return None


def _with(node: Expr) -> Expr | None:
    if node.args.get("recursive"):
        raise UntranslatableError(node, "WITH RECURSIVE is not translated", "")
    return None


def _like(node: Expr) -> Expr | None:
    pattern = node.args["expression"]
    is_escaped = isinstance(node.parent, exp.Escape)
    if not is_escaped and not (pattern.is_string and "\\" not in pattern.name):
        why = "a backslash in a pattern escapes in Spark, and is a character in Trino"
        raise UntranslatableError(node, why, "write ESCAPE with a character that does not occur")
    return None


def _struct(node: Expr) -> Expr | None:
    if isinstance(node.parent, exp.Cast):
        return None
    raise UntranslatableError(node, "only Spark names the fields of a row", "write CAST(ROW(...) AS ROW(x type))")


def _from(node: Expr) -> Expr | None:
    if isinstance(node.this, exp.Unnest):
        node.set("this", generated_query(node.this))
    return None


_RULES: dict[str, Rule] = {
    "Add": _arithmetic,
    "Cast": _cast,
    "Div": _division,
    "From": _from,
    "Like": _like,
    "Mul": _arithmetic,
    "Struct": _struct,
    "Sub": _arithmetic,
    "Table": _table,
    "Try": _try,
    "TryCast": _cast,
    "With": _with,
    "Join": unnest_as_lateral,
    **FUNCTION_RULES,
}
