"""Functions of arrays that are given a function of their elements, such as ``transform(a, x -> x + 1)``."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.parameters import parameter_uses
from lakeport.duckdb.kinds import Kind, is_nested, kind_of, nested_type
from lakeport.duckdb.macros import ANY_TRUE
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["LAMBDAS", "give_parameters_types", "lambda_of"]

_CALLS = (exp.Transform, exp.ArrayFilter, exp.Exists)


def lambda_of(call: Expr) -> exp.Lambda | None:
    """The function that a function of arrays is given; ``None`` for other expressions."""
    given = call.args.get("expression") if isinstance(call, _CALLS) else None
    return given if isinstance(given, exp.Lambda) else None


def give_parameters_types(call: Expr, function: exp.Lambda) -> None:
    """Gives the parameter of a function, where it is used, the type of the array's elements.

    Raises:
        NotSupportedError: It is no array, or the function has several parameters.
    """
    if not is_nested(call.this.type, exp.DType.ARRAY):
        raise refused(call, "of what is no array")
    if len(function.expressions) != 1:
        raise refused(call, "a function of other than one parameter")
    for used in parameter_uses(function):
        used.type = call.this.type.expressions[0]


def _transformed(node: Expr) -> None:
    body = _body(node)
    if body.type is None or kind_of(body) is Kind.NULL or (kind_of(body) is Kind.OTHER and not body.type.expressions):
        raise refused(node, "a function that gives values of an unknown type")
    node.type = nested_type(exp.DType.ARRAY, body.type)


def _filtered(node: Expr) -> None:
    _check_condition(node)
    node.type = node.this.type


def _exists(node: Expr) -> None:
    """``EXISTS`` of a query has no function."""
    if node.args.get("expression") is not None:
        _check_condition(node)
    node.type = exp.DataType.build("BOOLEAN")


def _check_condition(node: Expr) -> None:
    body = _body(node)
    if kind_of(body) is not Kind.BOOLEAN:
        raise refused(node, f"a condition that is {kind_of(body).value}")


def _body(node: Expr) -> Expr:
    function = lambda_of(node)
    if function is None:
        raise refused(node, "a function that is not written as parameter -> value")
    body: Expr = function.this
    return body


def _called(name: str) -> Rule:
    check = _transformed if name == "list_transform" else _filtered
    return Rule(check, lambda node: _call(node, name, node.this, node.expression))


def _any_true(node: Expr) -> Expr:
    """Spark's is NULL where no element passes, and of one that is not known."""
    if node.args.get("expression") is None:
        return node
    return _call(node, ANY_TRUE, exp.Anonymous(this="list_transform", expressions=[node.this, node.expression]))


def _call(node: Expr, function: str, *given: Expr) -> Expr:
    made = exp.Anonymous(this=function, expressions=list(given))
    made.type = node.type
    return made


def _function(node: Expr) -> None:
    if node.parent is None or lambda_of(node.parent) is not node:
        raise refused(node, "a function as a value")


LAMBDAS: Rules = {
    exp.ArrayFilter: _called("list_filter"),
    exp.Exists: Rule(_exists, _any_true),
    exp.Lambda: Rule(_function),
    exp.Transform: _called("list_transform"),
}
