"""Functions of arrays that are given a function of their elements, such as ``transform(a, x -> x + 1)``."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.parameters import parameter_uses
from lakeport.duckdb.kinds import Kind, as_typed, is_nested, kind_of, kind_of_type, nested_type
from lakeport.duckdb.macros import ANY_TRUE
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["LAMBDAS", "give_parameters_types", "lambdas_of"]

_CALLS = (exp.Transform, exp.ArrayFilter, exp.Exists)


def lambdas_of(call: Expr) -> list[exp.Lambda]:
    """The functions that a function of arrays is given, in the order in which they are used."""
    names = ("expression",) if isinstance(call, _CALLS) else ("merge", "finish") if isinstance(call, exp.Reduce) else ()
    return [one for one in map(call.args.get, names) if isinstance(one, exp.Lambda)]


def give_parameters_types(call: Expr, function: exp.Lambda) -> None:
    """Gives the parameters of a function, where they are used, their types.

    Raises:
        NotSupportedError: It is no array, or the function has another number of parameters.
    """
    if not is_nested(call.this.type, exp.DType.ARRAY):
        raise refused(call, "of what is no array")
    types = [call.this.type.expressions[0]]
    if isinstance(call, exp.Reduce):
        state = call.args["initial"].type
        types = [state] if function is call.args.get("finish") else [state, *types]
    if len(function.expressions) != len(types):
        raise refused(call, f"a function of other than {len(types)} parameters")
    for position, kind in enumerate(types):
        for used in parameter_uses(function, position):
            used.type = kind


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
    functions = lambdas_of(node)
    if not functions:
        raise refused(node, "a function that is not written as parameter -> value")
    body: Expr = functions[-1].this
    return body


def _reduced(node: Expr) -> None:
    """Spark wants one type of its state, which is what it begins with."""
    functions, state = lambdas_of(node), node.args["initial"].type
    if not functions or len(functions) < 2 - (node.args.get("finish") is None):
        raise refused(node, "functions that are not written as (state, element) -> state and state -> value")
    if state is None or kind_of_type(state) is Kind.OTHER or functions[0].this.type != state:
        raise refused(node, f"a state that begins as {state} and becomes {functions[0].this.type}")
    found = _body(node).type
    if found is None or kind_of_type(found) is Kind.OTHER:
        raise refused(node, "a function that gives values of an unknown type")
    node.type = found


def _as_reduced(node: Expr) -> Expr:
    """Of NULL both are NULL."""
    array, initial, finish = node.this, as_typed(node.args["initial"]), node.args.get("finish")
    state = exp.Anonymous(this="list_reduce", expressions=[array, node.args["merge"], initial])
    if finish is None or finish.this == finish.expressions[0]:
        return as_typed(_call(node, "list_reduce", *state.expressions))
    states = exp.Anonymous(this="list_transform", expressions=[exp.Array(expressions=[state]), finish])
    value = exp.Anonymous(this="list_extract", expressions=[states, exp.Literal.number(1)])
    is_null = exp.Is(this=exp.paren(array.copy()), expression=exp.Null())
    made = exp.Case(ifs=[exp.If(this=exp.Not(this=is_null), true=value)])
    made.type = node.type
    return made


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
    if node.parent is None or not any(one is node for one in lambdas_of(node.parent)):
        raise refused(node, "a function as a value")


LAMBDAS: Rules = {
    exp.ArrayFilter: _called("list_filter"),
    exp.Exists: Rule(_exists, _any_true),
    exp.Lambda: Rule(_function),
    exp.Reduce: Rule(_reduced, _as_reduced),
    exp.Transform: _called("list_transform"),
}
