"""Views as the queries that they are, in place of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.definitions import ViewDefinition
from lakeport.duckdb.kinds import KEEPS_SCALE, Kind, column_type, kind_of_type
from lakeport.duckdb.query.named_table import VIEW_OWNER
from lakeport.duckdb.query.queries import is_common, parsed
from lakeport.duckdb.refusal import refused
from lakeport.sql.view_text import SparkView, spark_view

__all__ = ["FindView", "NamedView", "expand_views"]

_MOST_DEPTH = 32
_ANSI = "spark.sql.ansi.enabled"
_KEEPS_SCALE = "spark.sql.decimalOperations.allowPrecisionLoss"
# What changes the meaning of SQL. Views keep the settings of the session that made them.
_MEANING = ("spark.sql.legacy.", "spark.sql.ansi.", "spark.sql.decimalOperations.", "spark.sql.caseSensitive",
            "spark.sql.timestampType", "spark.sql.session.timeZone", "spark.sql.mapKeyDedupPolicy",
            "spark.sql.groupBy", "spark.sql.orderBy")  # fmt: skip
_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
# Without spark.sql.ansi.enabled they give something else, and not only where the engine fails.
_OTHER_WITHOUT_ANSI = frozenset({"size", "cardinality"})


@dataclass(frozen=True, slots=True)
class NamedView:
    """A view that a statement names.

    Attributes:
        name: Full name.
        view: The view.
        owner: Whose rights count for the tables in it; ``None``: those of who asks.
    """

    name: CatalogSchemaTableName
    view: ViewDefinition
    owner: str | None = None


FindView: TypeAlias = Callable[[tuple[str, ...], str | None], NamedView | None]
"""The view that parts of a name mean to the owner of the view around it, or to who asks; ``None`` where they mean a
table, or a view that is read as one."""


def expand_views(statement: Expr, find: FindView, depth: int = 0) -> Expr:
    """Puts queries in place of views, also of views in these; returns the changed statement.

    Args:
        statement: In Spark's SQL.
        find: Finds views.
        depth: Of views around it.

    Raises:
        NotSupportedError: A view may mean something else here; the message names it.
    """
    for table in list(statement.find_all(exp.Table)):
        parts = tuple(part.name.lower() for part in table.parts)
        is_name = isinstance(table.this, exp.Identifier) and not table.args.get("version")
        if not is_name or (len(parts) == 1 and is_common(table)):
            continue
        named = find(parts, table.meta.get(VIEW_OWNER))
        if named is None:
            continue
        if depth == _MOST_DEPTH:
            raise refused(str(named.name), f"a view of more than {_MOST_DEPTH} views, one in the other")
        made = exp.Subquery(this=_query(named, find, depth), alias=exp.TableAlias(this=_alias(table)))
        for key in ("joins", "pivots"):
            made.set(key, table.args.get(key))
        if table.args.get("sample"):
            raise refused(table, "sample of a view")
        table.replace(made)
    return statement


def _query(named: NamedView, find: FindView, depth: int) -> exp.Select:
    read = spark_view(named.name.catalog, named.view)
    body = parsed(read.text)
    if not isinstance(body, exp.Query):
        raise refused(str(named.name), "the text of the view is no query")
    for table in list(body.find_all(exp.Table)):
        if named.owner is not None:
            table.meta[VIEW_OWNER] = named.owner
        if isinstance(table.this, exp.Identifier) and not (len(table.parts) == 1 and is_common(table)):
            missing = [read.catalog, read.schema][: 3 - len(table.parts)]
            names = [*missing, *(part.name for part in table.parts)]
            for key, name in zip(("catalog", "db", "this"), names[-3:], strict=True):
                if key != "this" and table.args.get(key) is None:
                    table.set(key, exp.to_identifier(name, quoted=True))
            if table.args.get("alias") is None:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
    _check_settings(named, read, body)
    return _shown(named, read, expand_views(body, find, depth + 1))


def _shown(named: NamedView, read: SparkView, body: Expr) -> exp.Select:
    """The view's columns with its types, as Spark casts them."""
    asked = read.query_columns or tuple(column.name for column in named.view.columns)
    results = []
    for name, column in zip(asked, named.view.columns, strict=True):
        value: Expr = exp.column(exp.to_identifier(name, quoted=True))
        if (column.declared_type or "").lower().startswith("char"):
            raise refused(f"{named.name}.{column.name}", "a char of a view, at whose end blanks do not count")
        kind = column_type(column.type)
        if kind_of_type(kind) is not Kind.OTHER:
            value = exp.Cast(this=value, to=kind)
        results.append(exp.alias_(value, column.name, quoted=True))
    inner = exp.Subquery(this=body, alias=exp.TableAlias(this=exp.to_identifier("lakeport_view")))
    return exp.Select(expressions=results).from_(inner)


def _check_settings(named: NamedView, read: SparkView, body: Expr) -> None:
    settings: Mapping[str, str] = dict(read.settings)
    for key, value in settings.items():
        known = key in (_ANSI, _KEEPS_SCALE) or (key == "spark.sql.session.timeZone" and value in _UTC)
        if key.startswith(_MEANING) and not known:
            raise refused(str(named.name), f"the view keeps the setting {key} = {value}")
    if settings.get(_ANSI, "true").lower() != "true":
        _check_without_ansi(named, body)
    if settings.get(_KEEPS_SCALE, "true").lower() != "true":
        for node in body.find_all(exp.Binary):
            node.meta[KEEPS_SCALE] = True


def _check_without_ansi(named: NamedView, body: Expr) -> None:
    """What fails here is NULL there, which is no other row; what gives another value is refused."""
    for node in body.find_all(exp.Anonymous, exp.Cast, exp.TryCast):
        if isinstance(node, exp.Anonymous) and node.name.lower() in _OTHER_WITHOUT_ANSI:
            raise _without_ansi(named, node)
        if isinstance(node, exp.Cast) and kind_of_type(node.args["to"]) is Kind.TEXT:
            raise _without_ansi(named, node)


def _without_ansi(named: NamedView, node: Expr) -> NotSupportedError:
    return refused(node, f"the view {named.name} was made without spark.sql.ansi.enabled, where it gives another value")


def _alias(table: exp.Table) -> exp.Identifier:
    return exp.to_identifier(table.alias or table.name, quoted=True)
