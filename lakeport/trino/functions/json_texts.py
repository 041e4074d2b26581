"""JSON texts of Trino."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, text, when
from lakeport.trino.rules import Rule, UntranslatableError

__all__ = ["JSON_RULES"]

_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL")
_DOUBTFUL = r"^([\[{]|-?[0-9]+[.eE])"
"""What may be an object, an array, or a fraction, which Spark writes anew: 1.5 for 1.50."""


def _json_extract_scalar(node: Expr) -> Expr:
    """NULL for objects and arrays, whose text Spark returns; numbers as they are written."""
    path = text(_spark_path(node))
    found = call("GET_JSON_OBJECT", node.this, path)
    value = call("TRY_VARIANT_GET", call("TRY_PARSE_JSON", node.this), path, text("variant"))
    kind = call("SCHEMA_OF_VARIANT", value)
    number = exp.or_(
        exp.EQ(this=kind.copy(), expression=text("DOUBLE")),
        exp.Like(this=kind.copy(), expression=text("DECIMAL%")),
    )
    parent = node.parent
    is_read = isinstance(parent, exp.Cast | exp.TryCast) and parent.to.this.name in _NUMBERS
    message = text("the text of a JSON number with a fraction is not translated from Trino's SQL: cast it to DOUBLE")
    doubtful = exp.Case(
        ifs=[
            exp.If(this=exp.EQ(this=kind, expression=text("STRING")), true=found.copy()),
            exp.If(this=number, true=found.copy() if is_read else call("RAISE_ERROR", message)),
        ]
    )
    return when(exp.RegexpLike(this=found, expression=text(_DOUBTFUL)), doubtful, found.copy())


def _spark_path(node: Expr) -> str:
    path = node.args["expression"]
    parts = path.expressions if isinstance(path, exp.JSONPath) else []
    made = ["$"]
    for part in parts[1:]:
        name = part.this
        if isinstance(part, exp.JSONPathKey) and isinstance(name, str) and not set(name) & set("'\\?*"):
            made.append(f"['{name}']")
        elif isinstance(part, exp.JSONPathSubscript) and isinstance(name, int) and name >= 0:
            made.append(f"[{name}]")
        else:
            parts = []
    if not parts:
        raise UntranslatableError(node, "the path is not a literal of names and numbers", "write '$.name[0]'")
    return "".join(made)


JSON_RULES: dict[str, Rule] = {"JSONExtractScalar": _json_extract_scalar}
"""By the names of sqlglot's classes."""
