"""Arrays, maps and structs that are made of values, and those that are made of arrays."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.parameters import FIELD_NAME
from lakeport.duckdb.kinds import Kind, as_typed, is_nested, kind_of, kind_of_type, nested_type, whole_digits
from lakeport.duckdb.macros import DAYS_BETWEEN, NUMBERS_BETWEEN
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.comparisons import same_type
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["CONSTRUCTORS", "keep_field_names"]

# Kinds that both engines compare alike as keys: of floating-point numbers NaN and -0.0 are apart.
_KEYS = frozenset({Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.BOOLEAN})
_DAYS = {"DAY": 1, "WEEK": 7}
_INT_DIGITS = 10


def keep_field_names(statement: Expr) -> None:
    """Notes the names of fields in the letters that they are written in, before sqlglot makes them small ones."""
    for field in statement.find_all(exp.PropertyEQ):
        if isinstance(field.this, exp.Identifier):
            field.meta[FIELD_NAME] = field.this.name


def _array(node: Expr) -> None:
    if any(isinstance(one, exp.Query) for one in node.expressions):
        raise refused(node, "the rows of a query as an array")
    node.type = nested_type(exp.DType.ARRAY, same_type(node, node.expressions) or exp.DataType.build("NULL"))


def _typed_array(node: Expr) -> Expr:
    """DuckDB gives an empty array the type of what it meets."""
    return node if kind_of_type(_element(node)) is Kind.NULL else as_typed(node)


def _element(array: Expr) -> exp.DataType:
    """The type of the elements of an array."""
    assert array.type is not None
    found: exp.DataType = array.type.expressions[0]
    return found


def _map(node: Expr) -> None:
    """Both engines fail where a key is NULL, or is there twice."""
    keys, values = (node.args.get(name) for name in ("keys", "values"))
    parts = [] if keys is None or values is None else [keys, values]
    if not parts or not all(is_nested(one.type, exp.DType.ARRAY) for one in parts):
        raise refused(node, "a map of other than arrays of keys and of values")
    held = [one.type.expressions[0] for one in parts]
    if kind_of_type(held[0]) not in _KEYS or kind_of_type(held[1]) is Kind.NULL:
        raise refused(node, f"a map of {kind_of_type(held[0]).value} to {kind_of_type(held[1]).value}")
    node.type = nested_type(exp.DType.MAP, *held)


def _made_map(node: Expr) -> Expr:
    return _call("lakeport_map", node, node.args["keys"], node.args["values"])


def _struct(node: Expr) -> None:
    fields = []
    for one in node.expressions:
        name, value = one.meta.get(FIELD_NAME), one.expression
        if name is None or value.type is None or kind_of(value) is Kind.NULL:
            raise refused(node, "a struct whose fields have no names that are written out, or no types")
        if kind_of(value) is Kind.OTHER and not value.type.expressions:
            raise refused(value, "a field of an unknown type")
        fields.append(exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=value.type.copy()))
    if len({field.name.lower() for field in fields}) < len(fields) or not fields:
        raise refused(node, "a struct without fields, or with two of one name")
    node.type = nested_type(exp.DType.STRUCT, *fields)


def _field(node: Expr) -> None:
    """Its value was checked."""


def _named_field(node: Expr) -> Expr:
    node.set("this", exp.to_identifier(node.meta.get(FIELD_NAME, node.name), quoted=True))
    return node


def _zipped(node: Expr) -> None:
    if not node.expressions or not all(is_nested(one.type, exp.DType.ARRAY) for one in node.expressions):
        raise refused(node, "of what is no array")
    fields = []
    for number, one in enumerate(node.expressions):
        # Spark gives columns and fields their own names.
        name = one.name if isinstance(one, exp.Column | exp.Dot) else str(number)
        kind = one.type.expressions[0].copy()
        fields.append(exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=kind))
    if len({field.name.lower() for field in fields}) < len(fields):
        raise refused(node, "two columns of one name")
    node.type = nested_type(exp.DType.ARRAY, nested_type(exp.DType.STRUCT, *fields))


def _zip(node: Expr) -> Expr:
    """Shorter arrays end in NULL in both; of a NULL Spark makes NULL."""
    fields = _element(node).expressions
    missing = exp.or_(*(exp.Is(this=exp.paren(one.copy()), expression=exp.Null()) for one in node.expressions))
    one = exp.to_identifier("lakeport_one")
    parts = [
        exp.PropertyEQ(
            this=exp.to_identifier(field.name, quoted=True),
            expression=exp.Anonymous(this="struct_extract_at", expressions=[one.copy(), exp.Literal.number(number)]),
        )
        for number, field in enumerate(fields, 1)
    ]
    rows = exp.Anonymous(this="list_zip", expressions=[value.copy() for value in node.expressions])
    made = exp.Lambda(this=exp.Struct(expressions=parts), expressions=[one])
    listed = exp.Anonymous(this="list_transform", expressions=[rows, made])
    case = exp.Case(ifs=[exp.If(this=exp.not_(exp.paren(missing)), true=listed)])
    case.type = node.type
    return case


def _sequence(node: Expr) -> None:
    bounds, step = [node.args["start"], node.args["end"]], node.args.get("step")
    kinds = {kind_of(one) for one in bounds}
    if kinds == {Kind.DATE} and _days(step) is not None:
        node.type = nested_type(exp.DType.ARRAY, exp.DataType.build("DATE"))
        return
    if kinds != {Kind.INTEGER} or not (step is None or _number(step)):
        raise refused(node, "a sequence of other than whole numbers, or of dates by whole days that are written out")
    digits = max((whole_digits(one) or (0, 0))[0] for one in bounds)
    node.type = nested_type(exp.DType.ARRAY, exp.DataType.build("INT" if digits <= _INT_DIGITS else "BIGINT"))
    if digits < _INT_DIGITS:
        raise refused(node, "a sequence of smaller numbers than int")


def _counted(node: Expr) -> Expr:
    bounds, step = [node.args["start"], node.args["end"]], node.args.get("step")
    if kind_of_type(_element(node)) is Kind.DATE:
        return _call(DAYS_BETWEEN, node, *bounds, exp.Literal.number(_days(step)))
    zero = exp.Literal.number(0)
    return as_typed(_call(NUMBERS_BETWEEN, node, *bounds, zero if step is None else step))


def _days(step: Expr | None) -> int | None:
    """The days of an interval; ``None`` for others."""
    if not isinstance(step, exp.Interval) or not isinstance(step.this, exp.Literal) or not step.this.name.isdigit():
        return None
    unit = str(step.args.get("unit") or "").upper().removesuffix("S")
    return int(step.this.name) * _DAYS[unit] if unit in _DAYS and int(step.this.name) else None


def _number(step: Expr) -> bool:
    number = step.this if isinstance(step, exp.Neg) else step
    return isinstance(number, exp.Literal) and number.name.isdigit() and int(number.name) > 0


def _call(name: str, node: Expr, *given: Expr) -> Expr:
    made = exp.Anonymous(this=name, expressions=[one.copy() for one in given])
    made.type = node.type
    return made


CONSTRUCTORS: Rules = {
    exp.Array: Rule(_array, _typed_array),
    exp.ArraysZip: Rule(_zipped, _zip),
    exp.GenerateSeries: Rule(_sequence, _counted),
    **dict.fromkeys((exp.Map, exp.VarMap), Rule(_map, _made_map)),
    exp.PropertyEQ: Rule(_field, _named_field),
    exp.Struct: Rule(_struct, as_typed),
}
