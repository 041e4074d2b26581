"""Queries in Spark's SQL: the tables that they name, and the same in DuckDB's SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Expr
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from connector_spi.properties import closest
from lakeport.duckdb.functions.generators import split_generators
from lakeport.duckdb.functions.spelling import respell, rows_as_queries
from lakeport.duckdb.kinds import column_type
from lakeport.duckdb.query.changes import with_changes_as_versions
from lakeport.duckdb.query.column_paths import resolve_paths
from lakeport.duckdb.query.dialect import LocalSpark
from lakeport.duckdb.query.literals import type_whole_numbers, write_types
from lakeport.duckdb.query.named_table import NamedTable
from lakeport.duckdb.query.named_windows import write_out_windows
from lakeport.duckdb.query.ordered_lists import mark_ordered_lists
from lakeport.duckdb.query.pivots import expand_pivots
from lakeport.duckdb.query.result_names import kept_letters, name_results
from lakeport.duckdb.query.strict_names import check_names
from lakeport.duckdb.query.table_use import TableUse, table_uses
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules import checked, keep_field_names

__all__ = ["Query", "TableUse", "Translated", "is_common", "parsed"]

_ARGUMENT = re.compile(r"Required keyword: '\w+' missing for <class '(?:\w+\.)*(\w+)'>")
_MISSING = re.compile(r"Column '([^']+)' could not be resolved")


def parsed(text: str) -> Expr:
    """A statement in Spark's SQL.

    Raises:
        InvalidArgumentError: It is none.
    """
    try:
        found = sqlglot.parse_one(with_changes_as_versions(text), dialect=LocalSpark)
    except SqlglotError as error:
        reason = _ARGUMENT.sub(r"an argument of \1 is missing", str(error).splitlines()[0])
        raise InvalidArgumentError(f"the statement is not understood: {reason}") from error
    for hint in list(found.find_all(exp.Hint)):
        hint.pop()  # it says how Spark joins
    return found


@dataclass(frozen=True, slots=True)
class Translated:
    """A query for DuckDB.

    Attributes:
        text: In its SQL.
        names: Of the results.
        uses: What it needs of its tables, by the names of the views.
    """

    text: str
    names: list[str]
    uses: Mapping[str, TableUse]


@dataclass(slots=True)
class Query:
    """A query whose tables have the names of views, which have to be made before it is run.

    Attributes:
        tree: The query.
        tables: The tables, by the names of the views.
    """

    tree: Expr
    tables: dict[str, NamedTable]

    @classmethod
    def of(cls, statement: Expr, prefix: str = "lakeport_") -> Query:
        """The query of a statement.

        Args:
            statement: In Spark's SQL.
            prefix: Begins the names of the views.

        Raises:
            NotSupportedError: It reads something else than tables.
        """
        if any(one.args.get("recursive") for one in statement.find_all(exp.With)):
            raise refused("WITH RECURSIVE", "recursion")
        statement = rows_as_queries(statement)
        split_generators(statement)
        write_out_windows(statement)
        keep_field_names(statement)
        views: dict[NamedTable, str] = {}
        prefix = _free_prefix(statement, prefix)
        for table in list(statement.find_all(exp.Table)):
            pivots = table.args.get("pivots")
            table.set("pivots", None)
            named = NamedTable.of(table)
            table.set("pivots", pivots)
            if len(named.parts) == 1 and named.is_plain and is_common(table):
                continue
            view = views.setdefault(named, f"{prefix}{len(views)}")
            alias = table.alias or table.name
            found = exp.alias_(exp.table_(view), alias, table=True)
            found.set("joins", table.args.get("joins"))
            found.set("pivots", pivots)
            table.replace(found)
        resolve_paths(statement)
        return cls(statement, {view: named for named, view in views.items()})

    def hidden(self, schemas: Mapping[str, pa.Schema]) -> set[str]:
        """Names that may be those of hidden columns: nothing in the query or in the visible columns has them.

        Args:
            schemas: The visible columns of the views.
        """
        known = {name.lower() for found in schemas.values() for name in found.names}
        known.update(one.alias.lower() for one in self.tree.find_all(exp.Alias))
        known.update(one.name.lower() for alias in self.tree.find_all(exp.TableAlias) for one in alias.columns)
        return {one.name for one in self.tree.find_all(exp.Column) if one.name.lower() not in known and one.name != "*"}

    def expand_stars(self, schemas: Mapping[str, pa.Schema]) -> None:
        """Writes out the columns that ``*`` means, before hidden ones are added to the views."""
        expand_pivots(self.tree, _schema(schemas))
        self.tree = qualify(
            self.tree, dialect="spark", schema=_schema(schemas), quote_identifiers=True, validate_qualify_columns=False
        )

    def in_duckdb(
        self, schemas: Mapping[str, pa.Schema], chars: Mapping[str, Mapping[str, int]] = MappingProxyType({})
    ) -> Translated:
        """The query in DuckDB's SQL.

        Args:
            schemas: The columns of the views.
            chars: Lengths of those that are ``char``, by view and by name in lower case.

        Raises:
            NotSupportedError: A part of it may mean something else in DuckDB.
            InvalidArgumentError: It names a column that is not there, or one that is there twice.
        """
        schema = _schema(schemas, chars)
        expand_pivots(self.tree, schema)
        write_types(self.tree)
        check_names(self.tree, schema)
        name_results(self.tree)
        mark_ordered_lists(self.tree)
        respell(self.tree)
        letters = kept_letters(self.tree, schemas.values())
        selects = self.tree.selects if isinstance(self.tree, exp.Query) else []
        written = {one.alias_or_name.lower(): one.alias_or_name for one in selects if not one.is_star}
        try:
            tree = qualify(self.tree, dialect="spark", schema=schema, quote_identifiers=True)
        except SqlglotError as error:
            missing = _MISSING.search(str(error))
            if missing is not None:
                known = [name for found in schemas.values() for name in found.names]
                if missing[1].lower() in (name.lower() for name in known):
                    raise InvalidArgumentError(
                        f"the column '{missing[1]}' is not known here, or several tables have it; write "
                        f"table.{missing[1]}"
                    ) from error
                raise ColumnNotFoundError(f"no column '{missing[1]}'{closest(missing[1], known)}") from error
            raise InvalidArgumentError(f"the query is not understood: {str(error).splitlines()[0]}") from error
        _keep_case(tree, letters, written)
        typed = annotate_types(tree, schema=schema, dialect="spark")
        type_whole_numbers(typed)
        shown = typed.selects if isinstance(typed, exp.Query) else []
        for one in shown:
            if one.is_star:
                raise refused(one, "two of its columns have one name; name the columns")
        names = [one.alias_or_name for one in shown]
        uses = table_uses(typed, schemas)
        return Translated(checked(typed).sql(dialect="duckdb", comments=False), names, uses)


def _schema(
    schemas: Mapping[str, pa.Schema], chars: Mapping[str, Mapping[str, int]] = MappingProxyType({})
) -> MappingSchema:
    columns: dict[str, object] = {
        view: {one.name.lower(): column_type(one.type) for one in found}
        | {name: exp.DataType.build(f"CHAR({length})") for name, length in chars.get(view, {}).items()}
        for view, found in schemas.items()
    }
    # Its dialect says in which order a star shows columns that are joined by name.
    return MappingSchema(columns, dialect="spark", normalize=False)


def _keep_case(tree: Expr, letters: Mapping[str, str], written: Mapping[str, str]) -> None:
    """Gives results the letters that they were written with, and columns those of the table or subquery."""
    for one in tree.selects if isinstance(tree, exp.Query) else []:
        if isinstance(one, exp.Alias) and one.alias in written:
            one.set("alias", exp.to_identifier(written[one.alias], quoted=True))
        elif isinstance(one, exp.Alias) and _is_column(one.this, one.alias):
            one.set("alias", exp.to_identifier(letters.get(one.alias, one.alias), quoted=True))


def _is_column(node: Expr, name: str) -> bool:
    """Whether it is a column of this name, or what ``USING`` makes of those of several tables."""
    parts = [node.this, *node.expressions] if isinstance(node, exp.Coalesce) else [node]
    return all(isinstance(one, exp.Column) and one.name == name for one in parts)


def _free_prefix(statement: Expr, prefix: str) -> str:
    """What no name of a ``WITH`` begins with, since such a name would take the place of a table."""
    names = [one.alias.lower() for one in statement.find_all(exp.CTE)]
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    return prefix


def is_common(table: exp.Table) -> bool:
    """Whether a name is one of a ``WITH`` that holds where it stands: of its own, those before it alone."""
    below: Expr = table
    above = table.parent
    while above is not None:
        known = above if isinstance(above, exp.With) else above.args.get("with_")
        names = [] if known is None or known is below else [one.alias.lower() for one in known.expressions]
        if isinstance(above, exp.With):
            names = names[: next(at for at, one in enumerate(above.expressions) if one is below)]
        if table.name.lower() in names:
            return True
        below, above = above, above.parent
    return False
