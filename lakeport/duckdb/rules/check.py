"""Which parts of a query surely mean the same in Spark and in DuckDB; all else is refused by name.

Spark means Spark 4 with its default settings (``spark.sql.ansi.enabled``), in the time zone UTC.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.expressions import Expr
from sqlglot.optimizer.scope import Scope, traverse_scope

from lakeport.duckdb.functions import FUNCTION_NAMES, call_checked, call_rewritten
from lakeport.duckdb.functions.spelling import SPELLINGS
from lakeport.duckdb.kinds import Kind, kind_of_type, of_type, shared_type, wider_whole
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.aggregates import CHOSEN, GROUPS, LISTS, SUMS
from lakeport.duckdb.rules.chars import plain_text
from lakeport.duckdb.rules.choices import CHOICES
from lakeport.duckdb.rules.comparisons import COMPARISONS, wider_decimal
from lakeport.duckdb.rules.conditions import CONDITIONS
from lakeport.duckdb.rules.constructors import CONSTRUCTORS
from lakeport.duckdb.rules.exploding import EXPLODING, lateral_type
from lakeport.duckdb.rules.lambdas import LAMBDAS, give_parameters_types, lambdas_of
from lakeport.duckdb.rules.nested import NESTED
from lakeport.duckdb.rules.numbers import NUMBERS_RULES
from lakeport.duckdb.rules.rule import Rule, Rules
from lakeport.duckdb.rules.texts import TEXTS
from lakeport.duckdb.rules.times import TIMES
from lakeport.duckdb.rules.windows import WINDOWS
from lakeport.duckdb.rules.zeros import normalize_zeros

__all__ = ["FUNCTIONS", "checked"]

_PLAIN: tuple[type[Expr], ...] = (
    exp.Select, exp.From, exp.Order, exp.Limit, exp.Offset, exp.Distinct, exp.With, exp.CTE, exp.TableAlias, exp.Table,
    exp.Identifier, exp.Alias, exp.Column, exp.Boolean, exp.Null, exp.Literal, exp.Star,
    exp.DataType, exp.DataTypeParam, exp.Tuple, exp.Var, exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank,
    exp.CumeDist, exp.Rollup, exp.Cube, exp.GroupingSets,
)  # fmt: skip
_RULES: Rules = {
    **CONDITIONS,
    **COMPARISONS,
    **NUMBERS_RULES,
    **CHOICES,
    **TEXTS,
    **TIMES,
    **CHOSEN,
    **GROUPS,
    **LISTS,
    **SUMS,
    **WINDOWS,
    **NESTED,
    **EXPLODING,
    **CONSTRUCTORS,
    **LAMBDAS,
}
# Names that Spark does not know, and words of its grammar.
_SQLGLOTS_OWN = {
    "array_filter", "array_unique_agg", "arg_max", "arg_min", "argmax", "argmin", "booland_agg", "boolor_agg", "case",
    "cast", "countif", "extract", "generate_series", "group_concat", "iif", "logical_and", "logical_or", "stdev",
    "try_cast", "ts_or_ds_to_date", "var_map", "variance_pop", "variance_samp",
}  # fmt: skip
# Names that sqlglot has others for.
_SPARKS_OWN = ("collect_list", "collect_set", "exists", "listagg", "map_from_arrays", "named_struct", "sequence")
FUNCTIONS: list[str] = sorted(
    {
        name.lower()
        for kind in (*_RULES, *_PLAIN)
        if issubclass(kind, exp.Func) and not issubclass(kind, exp.Connector)
        for name in kind.sql_names()
    }
    - _SQLGLOTS_OWN
    | {*FUNCTION_NAMES, *SPELLINGS, *_SPARKS_OWN}
)
"""Names of the functions that run, in lower case; operators, and names of sqlglot's own, are none."""
_CALLED = Rule(lambda node: call_checked(node, FUNCTIONS), call_rewritten)


def checked(query: Expr) -> Expr:
    """The query in DuckDB's words, if all parts of it mean the same in both engines.

    Args:
        query: Spark's SQL with qualified columns and types; changed.

    Raises:
        NotSupportedError: A part may mean something else; the message names it.
    """
    for scope in traverse_scope(query):
        nodes = list(scope.walk())
        ordered = {id(node) for order in scope.find_all(exp.Order) for node in order.walk()}
        _give_types(scope, (one for one in nodes if id(one) not in ordered))
        _check(one for one in nodes if id(one) not in ordered)
        # An order names results, whose types are known by now.
        _give_types(scope, (one for one in nodes if id(one) in ordered))
        _check(one for one in nodes if id(one) in ordered)
        if isinstance(scope.expression, exp.Query) and scope.expression.selects:
            scope.expression.type = scope.expression.selects[0].unalias().type
    for node in reversed(list(query.walk())):
        rule = _rule(node)
        in_window = isinstance(node.parent, exp.Window) and node.parent.this is node
        if rule is not None and rule.rewrite is not None and not in_window:
            parent, key, index = node.parent, node.arg_key, node.index
            made = rule.rewrite(node)
            if made is not node and parent is not None and key is not None:
                parent.set(key, made, index)
    normalize_zeros(query)
    return query


def _rule(node: Expr) -> Rule | None:
    return _CALLED if isinstance(node, exp.Anonymous) else _RULES.get(type(node))


def _check(nodes: Iterable[Expr]) -> None:
    """Applies the rules, to parts before the whole."""
    found = list(nodes)
    has_functions = any(isinstance(node, exp.Lambda) for node in found)
    for node in reversed(found):
        if not has_functions or node.find_ancestor(exp.Lambda) is None:
            _check_one(node)


def _check_one(node: Expr) -> None:
    """Applies its rule; a function of elements is checked when the type of the elements is known."""
    for function in lambdas_of(node):
        give_parameters_types(node, function)
        for part in reversed(list(function.this.walk())):
            if part.find_ancestor(exp.Lambda) is function:
                _check_one(part)
    rule = _rule(node)
    if rule is not None:
        rule.check(node)
    elif not isinstance(node, _PLAIN):
        raise refused(node, "it is not known to mean the same in both engines")


def _give_types(scope: Scope, nodes: Iterable[Expr]) -> None:
    """Gives columns that subqueries compute the types that were found there."""
    for node in nodes:
        if not isinstance(node, exp.Column):
            continue
        source = scope.expression if not node.table else _source(scope, node.table)
        if isinstance(source, Scope):
            source = source.expression
        names: list[str] = []
        if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Subquery):
            names = [one.name for one in source.args["alias"].columns]
            source = source.this.unnest()
        elif isinstance(source, exp.Lateral):
            node.type = lateral_type(source, node.name)
        if not isinstance(source, exp.Query):
            continue
        names = names or [one.alias_or_name for one in source.selects]
        named = zip(names, source.selects, strict=False)
        found = [one for name, one in named if name.lower() == node.name.lower()]
        if len(found) == 1 and found[0].unalias() is not node:
            node.type = _result_type(source, found[0])


def _result_type(query: exp.Query, result: Expr) -> exp.DataType | None:
    """The type of a result; that of a set operation is known where both sides have the same."""
    if not isinstance(query, exp.SetOperation):
        return plain_text(result.unalias())
    at = [one.alias_or_name for one in query.selects].index(result.alias_or_name)
    sides = [_side_type(side, side.selects[at]) for side in (query.this.unnest(), query.expression.unnest())]
    return _common_type([one for one in sides if one is None or one.this is not exp.DType.NULL])


def _side_type(query: exp.Query, result: Expr) -> exp.DataType | None:
    is_null = isinstance(query, exp.Select) and isinstance(result.unalias(), exp.Null)
    return exp.DataType.build("NULL") if is_null else _result_type(query, result)


def _common_type(types: list[exp.DataType | None]) -> exp.DataType | None:
    """The type of values of which each has one of some types, without those that are NULL."""
    known = [one for one in types if one is not None]
    if not types:
        return exp.DataType.build("NULL")
    if len(known) < len(types) or all(one == known[0] for one in known):
        return known[0] if len(known) == len(types) else None
    kinds = {kind_of_type(one) for one in known}
    found: exp.DataType | None = None
    if kinds == {Kind.INTEGER}:
        found = wider_whole(known)
    elif kinds == {Kind.DECIMAL}:
        found = wider_decimal(of_type(one) for one in known)
    elif kinds == {Kind.OTHER}:
        found = shared_type(known)
    return found or exp.DataType.build("UNKNOWN")


def _source(scope: Scope, name: str) -> object:
    found: Scope | None = scope
    while found is not None:
        if name in found.sources:
            return found.sources[name]
        found = found.parent
    return None
