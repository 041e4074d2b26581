"""Parameters of lambdas, and functions of pairs of values as those of single ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.refusal import refused

__all__ = ["FIELD_NAME", "PAIRED", "parameter_uses"]

FIELD_NAME = "lakeport_written_name"
"""What a field of a struct is marked by: its name in the letters that it is written in."""
_ONE = "lakeport_pair"


def parameter_uses(function: exp.Lambda, position: int = 0) -> list[exp.Identifier]:
    """Where a function uses one of its parameters."""
    name = function.expressions[position].name.lower()
    found = function.this.find_all(exp.Identifier)
    return [one for one in found if one.name.lower() == name and _is_value(one) and not _is_hidden(one, function)]


def _is_hidden(used: exp.Identifier, function: exp.Lambda) -> bool:
    """Whether a function inside of a function has a parameter of that name."""
    inner = used.find_ancestor(exp.Lambda)
    while inner is not None and inner is not function:
        if any(one.name.lower() == used.name.lower() for one in inner.expressions):
            return True
        inner = inner.find_ancestor(exp.Lambda)
    return False


def _is_value(used: exp.Identifier) -> bool:
    """Whether an identifier is a value, and not the name of a field, of a column or of a parameter."""
    parent, key = used.parent, used.arg_key
    if isinstance(parent, exp.Column | exp.ColumnDef | exp.Alias):
        return isinstance(parent, exp.Alias) and key == "this"
    if isinstance(parent, exp.Dot):
        return key == "this"
    if isinstance(parent, exp.PropertyEQ):
        return key == "expression"
    return not (isinstance(parent, exp.Lambda) and key == "expressions")


def _zip_with(given: list[Expr]) -> Expr:
    """Both end the shorter array in NULL."""
    left, right, function = given
    # In parentheses a column gives the field no name.
    pairs = exp.ArraysZip(expressions=[exp.paren(left), exp.paren(right)])
    return exp.Transform(this=pairs, expression=_of_pairs(function, ("0", "1")))


def _map_filter(given: list[Expr]) -> Expr:
    kept = exp.ArrayFilter(this=_entries(given[0]), expression=_of_pairs(given[1], ("key", "value")))
    return exp.Anonymous(this="map_from_entries", expressions=[kept])


def _transform_keys(given: list[Expr]) -> Expr:
    return _transformed(given, "key")


def _transform_values(given: list[Expr]) -> Expr:
    return _transformed(given, "value")


def _transformed(given: list[Expr], changed: str) -> Expr:
    function = _of_pairs(given[1], ("key", "value"))
    fields = []
    for name in ("key", "value"):
        field = exp.PropertyEQ(
            this=exp.to_identifier(name), expression=function.this if name == changed else _field(name)
        )
        field.meta[FIELD_NAME] = name
        fields.append(field)
    function.set("this", exp.Struct(expressions=fields))
    made = exp.Transform(this=_entries(given[0]), expression=function)
    return exp.Anonymous(this="map_from_entries", expressions=[made])


def _entries(given: Expr) -> Expr:
    return exp.Anonymous(this="map_entries", expressions=[given])


def _of_pairs(function: Expr, names: tuple[str, str]) -> exp.Lambda:
    """A function of two values as one of a struct."""
    if not isinstance(function, exp.Lambda) or len(function.expressions) != len(names):
        raise refused(function, "a function that is not written as (one, other) -> value")
    uses = [(used, name) for position, name in enumerate(names) for used in parameter_uses(function, position)]
    for used, name in uses:
        if used.parent is function:
            function.set("this", _field(name))
        else:
            used.replace(_field(name))
    return exp.Lambda(this=function.this, expressions=[exp.to_identifier(_ONE, quoted=True)])


def _field(name: str) -> Expr:
    return exp.Dot(this=exp.to_identifier(_ONE, quoted=True), expression=exp.to_identifier(name, quoted=True))


PAIRED: Mapping[str, tuple[tuple[int, ...], Callable[[list[Expr]], Expr]]] = {
    "zip_with": ((3,), _zip_with),
    "map_filter": ((2,), _map_filter),
    "transform_keys": ((2,), _transform_keys),
    "transform_values": ((2,), _transform_values),
}
"""Functions that are given functions of pairs: how many arguments they take, and the same of them."""
