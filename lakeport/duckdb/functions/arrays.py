"""Functions of arrays and maps."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.function import Function, Functions, error_text
from lakeport.duckdb.kinds import Kind, is_nested, kind_of, kind_of_type, nested_type
from lakeport.duckdb.refusal import refused

__all__ = ["ARRAYS"]

_ALIKE = frozenset({Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.INSTANT})
_ORDERED = _ALIKE | {Kind.DOUBLE, Kind.FLOAT, Kind.DECIMAL}
_ZERO = error_text("INVALID_INDEX_OF_ZERO", "elements are counted from 1")
_EITHER_NULL = "CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE"
_REPEATED = "CASE WHEN b IS NULL THEN NULL ELSE list_transform(range(greatest(CAST(b AS BIGINT), 0)), lambda x: a) END"
# The place of an element in the second array, also of NULL.
_IN_SECOND = "coalesce(list_position(b, x), 0) > 0"
_OUTSIDE = error_text("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "the array has no element there")


def _held(arguments: Sequence[Expr], at: int = 0) -> exp.DataType:
    assert arguments[0].type is not None
    found: exp.DataType = arguments[0].type.expressions[at]
    return found


def _keys(arguments: Sequence[Expr]) -> exp.DataType:
    return nested_type(exp.DType.ARRAY, _held(arguments))


def _values(arguments: Sequence[Expr]) -> exp.DataType:
    return nested_type(exp.DType.ARRAY, _held(arguments, 1))


def _same(arguments: Sequence[Expr]) -> exp.DataType:
    assert arguments[0].type is not None
    return arguments[0].type


def _check_held(node: exp.Anonymous) -> None:
    """Elements that are compared have to be those that both engines compare alike."""
    kind = kind_of_type(_held(node.expressions))
    if kind not in _ORDERED:
        raise refused(node, f"elements of {kind.value}")


def _check_alike(node: exp.Anonymous) -> None:
    kind = kind_of_type(_held(node.expressions))
    if kind not in _ALIKE | {Kind.DECIMAL}:
        raise refused(node, f"elements of {kind.value}")


def _check_texts(node: exp.Anonymous) -> None:
    kind = kind_of_type(_held(node.expressions))
    if kind is not Kind.TEXT:
        raise refused(node, f"elements of {kind.value}")


def _check_arrays(node: exp.Anonymous) -> None:
    if not is_nested(_held(node.expressions), exp.DType.ARRAY):
        raise refused(node, "of other than an array of arrays")


def _check_like_arrays(node: exp.Anonymous) -> None:
    """Both arrays have elements of one type, by which they are found again."""
    left, right = node.expressions
    if left.type != right.type:
        raise refused(node, "arrays of different types")
    _check_alike(node)


def _check_element(node: exp.Anonymous) -> None:
    held, element = _held(node.expressions), node.expressions[1]
    if kind_of(element) is not Kind.NULL and element.type != held:
        raise refused(node, f"{element.type} in an array of {held}")


def _check_removed(node: exp.Anonymous) -> None:
    _check_alike(node)
    _check_element(node)


def _check_repeated(node: exp.Anonymous) -> None:
    if kind_of(node.expressions[0]) is Kind.NULL:
        raise refused(node, "NULL without a type")


def _of_first(arguments: Sequence[Expr]) -> exp.DataType:
    assert arguments[0].type is not None
    return nested_type(exp.DType.ARRAY, arguments[0].type)


def _check_asked(node: exp.Anonymous) -> None:
    kind, asked = kind_of_type(_held(node.expressions)), node.expressions[1]
    if kind not in _ALIKE or (kind is not kind_of(asked) and kind_of(asked) is not Kind.NULL):
        raise refused(node, f"{kind_of(asked).value} among {kind.value}")


def _entries(arguments: Sequence[Expr]) -> exp.DataType:
    fields = [
        exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=_held(arguments, at).copy())
        for at, name in enumerate(("key", "value"))
    ]
    return nested_type(exp.DType.ARRAY, nested_type(exp.DType.STRUCT, *fields))


def _map_of(arguments: Sequence[Expr]) -> exp.DataType:
    return nested_type(exp.DType.MAP, *(field.args["kind"] for field in _held(arguments).expressions))


def _check_entries(node: exp.Anonymous) -> None:
    """Both engines fail where a key is NULL, or is there twice."""
    held = _held(node.expressions)
    kinds = [field.args["kind"] for field in held.expressions] if is_nested(held, exp.DType.STRUCT) else []
    if len(kinds) != 2 or kind_of_type(kinds[0]) not in _ALIKE:
        raise refused(node, "of other than pairs whose keys both engines compare alike")


def _check_maps(node: exp.Anonymous) -> None:
    left, right = node.expressions
    if left.type != right.type or kind_of_type(_held(node.expressions)) not in _ALIKE:
        raise refused(node, "maps of different types, or whose keys the engines compare apart")


def _check_key(node: exp.Anonymous) -> None:
    _check_asked(node)
    if kind_of(node.expressions[1]) is Kind.NULL:
        raise refused(node, "the key NULL")


def _from_first(node: exp.Anonymous) -> None:
    if any(isinstance(one, exp.Neg) for one in node.expressions) or not int(node.expressions[1].name):
        raise refused(node, "a start before 1, or a length below 0")


ARRAYS: Functions = {
    **dict.fromkeys(
        ("size", "cardinality"), (Function("A", "INT", "len(a)"), Function("M", "INT", "len(map_keys(a))"))
    ),
    "array_size": (Function("A", "INT", "len(a)"),),
    "array_contains": (
        Function("A*", "BOOLEAN", "CASE WHEN b IS NULL THEN NULL WHEN list_contains(a, b) THEN true "
                 "WHEN len(a) > list_count(a) THEN NULL WHEN a IS NULL THEN NULL ELSE false END", check=_check_asked),
    ),
    "array_position": (
        Function("A*", "BIGINT", "CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE coalesce(list_position(a, b), 0) "
                 "END", check=_check_asked),
    ),
    "array_max": (Function("A", _held, "list_max(a)", check=_check_held),),
    "array_min": (Function("A", _held, "list_min(a)", check=_check_held),),
    "sort_array": (Function("A", _same, "list_sort(a, 'ASC', 'NULLS FIRST')", check=_check_held),),
    "array_sort": (Function("A", _same, "list_sort(a, 'ASC', 'NULLS LAST')", check=_check_held),),
    "array_distinct": (
        Function("A", _same, "list_filter(a, lambda x, i: list_position(a, x) IS NOT DISTINCT FROM i)",
                 check=_check_alike),
    ),
    "array_union": (
        Function("AA", _same, f"{_EITHER_NULL} lakeport_array_distinct_0(list_concat(a, b)) END",
                 check=_check_like_arrays),
    ),
    "array_except": (
        Function("AA", _same, f"{_EITHER_NULL} lakeport_array_distinct_0(list_filter(a, lambda x: NOT {_IN_SECOND})) "
                 "END", check=_check_like_arrays),
    ),
    "array_intersect": (
        Function("AA", _same, f"{_EITHER_NULL} lakeport_array_distinct_0(list_filter(a, lambda x: {_IN_SECOND})) END",
                 check=_check_like_arrays),
    ),
    # Not known where one is NULL, and none is in both.
    "arrays_overlap": (
        Function("AA", "BOOLEAN", f"{_EITHER_NULL} CASE WHEN list_has_any(a, b) THEN true WHEN len(a) = 0 "
                 "OR len(b) = 0 OR (len(a) = list_count(a) AND len(b) = list_count(b)) THEN false END END",
                 check=_check_like_arrays),
    ),
    "array_append": (
        Function("A*", _same, "CASE WHEN a IS NULL THEN NULL ELSE list_append(a, b) END", check=_check_element),
    ),
    "array_prepend": (
        Function("A*", _same, "CASE WHEN a IS NULL THEN NULL ELSE list_prepend(b, a) END", check=_check_element),
    ),
    "array_remove": (
        Function("A*", _same, f"{_EITHER_NULL} list_filter(a, lambda x: x IS DISTINCT FROM b) END",
                 check=_check_removed),
    ),
    "array_repeat": (
        Function("*i", _of_first, _REPEATED, check=_check_repeated), Function("Ai", _of_first, _REPEATED),
    ),
    "array_join": (
        Function("As", "VARCHAR", "CASE WHEN a IS NULL OR b IS NULL THEN NULL "
                 "ELSE coalesce(array_to_string(a, b), '') END",
                 check=_check_texts),
    ),
    "array_compact": (Function("A", _same, "list_filter(a, lambda x: x IS NOT NULL)"),),
    "flatten": (
        Function("A", _held, "CASE WHEN len(a) > list_count(a) THEN NULL ELSE flatten(a) END", check=_check_arrays),
    ),
    "reverse": (Function("A", _same, "list_reverse(a)"),),
    "slice": (
        Function("AII", _same, "CASE WHEN a IS NULL THEN NULL ELSE list_slice(a, b, b + c - 1) END",
                 check=_from_first),
    ),
    "element_at": (
        Function("Ai", _held, f"CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN b = 0 THEN {_ZERO} "
                 f"WHEN abs(b) > len(a) THEN {_OUTSIDE} ELSE list_extract(a, b) END"),
        Function("M*", lambda arguments: _held(arguments, 1), "list_extract(map_extract(a, b), 1)", check=_check_key),
    ),
    "try_element_at": (
        Function("Ai", _held, f"CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN b = 0 THEN {_ZERO} "
                 "ELSE list_extract(a, b) END"),
        Function("M*", lambda arguments: _held(arguments, 1), "list_extract(map_extract(a, b), 1)", check=_check_key),
    ),
    "get": (
        Function("Ai", _held, "CASE WHEN a IS NULL OR b IS NULL OR b < 0 THEN NULL ELSE list_extract(a, b + 1) END"),
    ),
    "map_contains_key": (Function("M*", "BOOLEAN", "map_contains(a, b)", check=_check_key),),
    "map_concat": (
        Function("MM", _same, "CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE "
                 "map_from_entries(list_concat(map_entries(a), map_entries(b))) END", check=_check_maps),
    ),
    "map_entries": (Function("M", _entries, "map_entries(a)"),),
    "map_from_entries": (
        Function("A", _map_of, "CASE WHEN len(a) > list_count(a) THEN NULL ELSE map_from_entries(a) END",
                 check=_check_entries),
    ),
    "map_keys": (Function("M", _keys, "map_keys(a)"),),
    "map_values": (Function("M", _values, "map_values(a)"),),
}  # fmt: skip
"""Functions of arrays and maps."""
