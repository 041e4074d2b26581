"""Names that sqlglot resolves in another way than Spark."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Expr
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import walk_in_scope
from sqlglot.schema import MappingSchema

from connector_spi.errors import ColumnNotFoundError
from lakeport.duckdb.refusal import refused

__all__ = ["check_names"]

_OUTER = ("RIGHT", "FULL")
_PLAIN = "lakeport_plain"


def check_names(tree: Expr, schema: MappingSchema) -> None:
    """Refuses names that would mean something else.

    Args:
        tree: A query whose columns have the names that were written.
        schema: The columns of its tables.

    Raises:
        ColumnNotFoundError: A ``WHERE`` names a result of its query, which Spark does not know there.
        NotSupportedError: Tables are joined by columns of one name behind a join that may fill them with NULL.
    """
    for select in tree.find_all(exp.Select):
        _check_joins(select)
    if any(True for select in tree.find_all(exp.Select) for _ in _named_results(select)):
        _check_results(tree, schema)


def _check_joins(select: exp.Select) -> None:
    """Of columns that are joined by name, sqlglot takes that of the first table, which such joins make NULL."""
    joins = select.args.get("joins") or []
    nested = [one for join in joins for one in join.this.find_all(exp.Join)]
    has_outer = any(one.side in _OUTER for one in nested)
    for join in (*joins, *nested):
        if has_outer and (join.args.get("using") or join.method):
            raise refused(join, "columns of one name behind a RIGHT or FULL JOIN; write ON")
        has_outer = has_outer or join.side in _OUTER
        _check_stars(select, join)


def _check_stars(select: exp.Select, join: exp.Join) -> None:
    """Spark shows the columns that tables are joined by first, also of a table alone; sqlglot by ``*`` only."""
    if join.args.get("using") or join.method:
        for one in select.selects:
            if one.is_star and (isinstance(one, exp.Column) or join.is_semi_or_anti_join):
                raise refused(one, "a star beside USING that is not of all tables; write ON, or name the columns")


def _named_results(select: exp.Select) -> Iterator[exp.Column]:
    """Columns without a table in the ``WHERE`` of a query that have the name of one of its results."""
    where = select.args.get("where")
    if where is None:
        return
    names = {one.alias.lower() for one in select.selects if isinstance(one, exp.Alias)}
    for node in walk_in_scope(where):
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in names:
            yield node


def _check_results(tree: Expr, schema: MappingSchema) -> None:
    for select in tree.find_all(exp.Select):
        for column in _named_results(select):
            column.meta[_PLAIN] = True
    try:
        strict = qualify(
            tree.copy(), dialect="spark", schema=schema, expand_alias_refs=False, validate_qualify_columns=False
        )
    except SqlglotError:
        return  # it is said when the query itself is qualified
    for column in strict.find_all(exp.Column):
        if column.meta.get(_PLAIN) and column.table not in _own_tables(column):
            raise ColumnNotFoundError(
                f"no column '{column.name}': WHERE does not know the names of results; write the expression, or "
                "table.column for one of a query around it"
            )


def _own_tables(column: exp.Column) -> set[str]:
    """Names of what the query of a column reads."""
    select = column.find_ancestor(exp.Select)
    assert select is not None
    parts = [select.args.get("from_"), *(select.args.get("joins") or []), *(select.args.get("laterals") or [])]
    held = (exp.Table, exp.Subquery, exp.Lateral)
    return {one.alias_or_name for part in parts if part for one in walk_in_scope(part) if isinstance(one, held)}
