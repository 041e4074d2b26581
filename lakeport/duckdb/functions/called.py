"""Calls of functions by their names."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.properties import closest
from lakeport.duckdb.functions.function import LETTERS, Function
from lakeport.duckdb.functions.tables import FUNCTIONS_BY_NAME, macro_name
from lakeport.duckdb.kinds import Kind, as_typed, is_nested, kind_of
from lakeport.duckdb.refusal import refused

__all__ = ["FUNCTION_NAMES", "call_checked", "call_rewritten"]

FUNCTION_NAMES = sorted(name for name in FUNCTIONS_BY_NAME if not name.startswith("lakeport_"))
"""Names of the functions, in lower case."""
_WAY, _KINDS = "lakeport_way", "lakeport_kinds"
_NULLS = {"s": "VARCHAR", "S": "VARCHAR", "i": "INT", "I": "INT", "F": "FLOAT", "f": "DOUBLE", "d": "DOUBLE",
          "D": "DATE", "T": "TIMESTAMP", "b": "BOOLEAN", "x": "BLOB"}  # fmt: skip
# How a value of another kind becomes what a function takes; a name of a macro, or a type.
_BECOMES = {
    ("d", Kind.INTEGER): "DOUBLE",
    ("d", Kind.FLOAT): "DOUBLE",
    ("f", Kind.FLOAT): "DOUBLE",
    ("d", Kind.DECIMAL): "lakeport_decimal_double",
    ("D", Kind.TEXT): "lakeport_text_date",
    ("D", Kind.TIMESTAMP): "DATE",
    ("D", Kind.INSTANT): "lakeport_instant_date",
    ("T", Kind.INSTANT): "lakeport_instant_time",
    ("T", Kind.DATE): "TIMESTAMP",
}


def call_checked(node: Expr, known: Sequence[str]) -> None:
    """Gives the call of a function the type of its result.

    Args:
        node: The call.
        known: Names of functions, for the message.

    Raises:
        NotSupportedError: There is no such function here, or it is not called so.
    """
    assert isinstance(node, exp.Anonymous)
    name = node.name.lower()
    ways = FUNCTIONS_BY_NAME.get(name)
    if ways is None:
        raise refused(node, f"it runs no function {name}{closest(name, known)}")
    arguments = list(node.expressions)
    way = next((at for at, one in enumerate(ways) if _fits(one, arguments)), None)
    if way is None:
        raise refused(node, f"of {', '.join(_spoken(one) for one in arguments) or 'nothing'}")
    function = ways[way]
    if function.check is not None:
        function.check(node)
    node.meta[_WAY] = way
    node.meta[_KINDS] = [kind_of(one) for one in arguments]
    node.type = exp.DataType.build(function.gives) if isinstance(function.gives, str) else function.gives(arguments)


def call_rewritten(node: Expr) -> Expr:
    """The same in DuckDB's words."""
    assert isinstance(node, exp.Anonymous)
    name, way, kinds = node.name.lower(), node.meta[_WAY], node.meta[_KINDS]
    function = FUNCTIONS_BY_NAME[name][way]
    letters = function.takes
    given = [_become(letter, kind, one) for letter, kind, one in zip(letters, kinds, node.expressions, strict=False)]
    node.set("expressions", [*given, *node.expressions[len(given) :]])
    if function.rewrite is not None:
        made: Expr = function.rewrite(node)
        made.type = node.type
        return made
    made = exp.Anonymous(this=macro_name(name, way), expressions=node.expressions)
    made.type = node.type
    return as_typed(made) if kind_of(node) not in (Kind.TEXT, Kind.BOOLEAN, Kind.BINARY, Kind.OTHER) else made


def _fits(function: Function, arguments: Sequence[Expr]) -> bool:
    letters = function.takes
    if letters.endswith("+"):
        letters = letters[:-1].ljust(len(arguments), letters[-2]) if len(arguments) >= len(letters) - 1 else letters
    return len(letters) == len(arguments) and all(map(_is_of, letters, arguments))


def _is_of(letter: str, one: Expr) -> bool:
    if letter == "S":
        return isinstance(one, exp.Literal) and one.is_string
    if letter == "I":
        number = one.this if isinstance(one, exp.Neg) else one
        return isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit()
    if letter in "AM":
        return is_nested(one.type, exp.DType.ARRAY if letter == "A" else exp.DType.MAP)
    kind = kind_of(one)
    return (kind is Kind.NULL and letter in _NULLS) or kind in LETTERS[letter]


def _become(letter: str, kind: Kind, one: Expr) -> Expr:
    if kind is Kind.NULL and letter in _NULLS:
        return exp.cast(one, exp.DataType.build(_NULLS[letter], dialect="duckdb"), copy=False)
    to = _BECOMES.get((letter, kind))
    if to is None:
        return one
    if to.startswith("lakeport_"):
        return exp.Anonymous(this=to, expressions=[one])
    return exp.cast(one, exp.DataType.build(to, dialect="duckdb"), copy=False)


def _spoken(one: Expr) -> str:
    for dtype in (exp.DType.ARRAY, exp.DType.MAP, exp.DType.STRUCT):
        if is_nested(one.type, dtype):
            return str(dtype.value).lower()
    return kind_of(one).value
