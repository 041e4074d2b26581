"""Fields of structs, and elements of arrays and maps."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, is_nested, kind_of, kind_of_type, of_type, whole_digits
from lakeport.duckdb.macros import ITEM, VALUE
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["NESTED"]

_OF_ARRAY = "lakeport_of_array"
_INDEXES = ("TINYINT", "SMALLINT", "INT")
# Kinds that both engines compare alike as keys: of floating-point numbers NaN and -0.0 are apart.
_KEYS = frozenset({Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.BOOLEAN})


def _field(node: Expr) -> None:
    """A field is found in any letters, as long as one alone fits."""
    holder = node.this.type
    of_array = is_nested(holder, exp.DType.ARRAY) and is_nested(holder.expressions[0], exp.DType.STRUCT)
    if of_array:
        holder = holder.expressions[0]
    if not is_nested(holder, exp.DType.STRUCT):
        raise refused(node, "a field of what is no struct")
    found = [one for one in holder.expressions if one.name.lower() == node.expression.name.lower()]
    if len(found) != 1:
        names = ", ".join(one.name for one in holder.expressions)
        raise refused(node, f"expected one field of this name among {names}")
    node.set("expression", exp.to_identifier(found[0].name, quoted=True))
    kind = found[0].args["kind"]
    node.meta[_OF_ARRAY] = of_array
    node.type = exp.DataType(this=exp.DType.ARRAY, expressions=[kind], nested=True) if of_array else kind


def _named_field(node: Expr) -> Expr:
    """Of an array of structs, the array of their fields (``GetArrayStructFields``)."""
    name = exp.Literal.string(node.expression.name)
    if node.meta[_OF_ARRAY]:
        one = exp.to_identifier("lakeport_one")
        field = exp.Anonymous(this="struct_extract", expressions=[one, name])
        return _call(node, "list_transform", node.this, exp.Lambda(this=field, expressions=[one.copy()]))
    return _call(node, "struct_extract", node.this, exp.Literal.string(node.expression.name))


def _element(node: Expr) -> None:
    holder, places = node.this.type, node.expressions
    if node.args.get("offset") or node.args.get("safe"):
        raise refused(node, "an element that is counted from another number than 0")
    if len(places) != 1 or isinstance(places[0], exp.Slice):
        raise refused(node, "a range of elements")
    [place] = places
    if is_nested(holder, exp.DType.ARRAY):
        if not _is_index(place):
            raise refused(node, "an element of an array by something else than an int")
        node.type = holder.expressions[0]
    elif is_nested(holder, exp.DType.MAP):
        _check_key(node, holder.expressions[0], place)
        node.type = holder.expressions[1]
    else:
        raise refused(node, "an element of what is no array or map")


def _check_key(node: Expr, key: exp.DataType, place: Expr) -> None:
    """Spark casts the asked key to the type of the keys, where it is wider."""
    kinds = kind_of_type(key), kind_of(place)
    if kinds[0] is not kinds[1] or kinds[0] not in _KEYS:
        raise refused(node, f"a key of the kind {kinds[1].value} in a map by {kinds[0].value}")
    if kinds[0] is Kind.INTEGER:
        most, asked = whole_digits(of_type(key)), whole_digits(place)
        if most is None or asked is None or asked > most:
            raise refused(node, "a key of a wider type than the keys of the map")


def _is_index(place: Expr) -> bool:
    return place.type is not None and place.type.this.name in _INDEXES


def _found_element(node: Expr) -> Expr:
    [place] = node.expressions
    is_array = is_nested(node.this.type, exp.DType.ARRAY)
    return _call(node, ITEM if is_array else VALUE, node.this, place)


def _call(node: Expr, function: str, *arguments: Expr) -> Expr:
    """A function in place of a part, with its type: what is around it may ask for that."""
    made = exp.Anonymous(this=function, expressions=list(arguments))
    made.type = node.type
    return made


NESTED: Rules = {
    exp.Dot: Rule(_field, _named_field),
    exp.Bracket: Rule(_element, _found_element),
}
