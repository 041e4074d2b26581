"""Types of the parts of a query in Trino's SQL, where they are certain."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa
from sqlglot import exp
from sqlglot.dialects.trino import Trino
from sqlglot.expressions import Expr
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from lakeport.trino.coercion import annotate
from lakeport.trino.columns_of import ColumnsOf
from lakeport.trino.decimals import with_decimal_digits
from lakeport.trino.joins import check_joins, named_joins
from lakeport.trino.results import RESULTS, with_result_types

__all__ = ["Kind", "keep_kind", "keep_kinds", "kind_of", "with_types"]

_STAND_IN = "lakeport_table_"


class Kind(Enum):
    """The kinds of types that a translation distinguishes."""

    INTEGER = "integer"
    FLOAT = "double"
    DECIMAL = "decimal"
    TEXT = "varchar"
    DATE = "date"
    TIMESTAMP = "timestamp"
    ZONED = "timestamp with time zone"
    BOOLEAN = "boolean"
    ARRAY = "array"
    MAP = "map"
    ROW = "row"
    JSON = "json"
    OTHER = "another type"
    UNKNOWN = "unknown"


_KINDS = {
    Kind.INTEGER: "TINYINT SMALLINT INT BIGINT",
    Kind.FLOAT: "FLOAT DOUBLE",
    Kind.DECIMAL: "DECIMAL",
    Kind.TEXT: "VARCHAR TEXT",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP TIMESTAMPNTZ",
    Kind.ZONED: "TIMESTAMPTZ TIMESTAMPLTZ",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.ARRAY: "ARRAY",
    Kind.MAP: "MAP",
    Kind.ROW: "STRUCT",
    Kind.JSON: "JSON",
    Kind.UNKNOWN: "UNKNOWN NULL UNDEFINED",
}
_BY_NAME = {name: kind for kind, names in _KINDS.items() for name in names.split()}
# sqlglot's types of these are Trino's; those of other functions may be other engines'.
_TYPED = (
    exp.Literal, exp.Cast, exp.TryCast, exp.Column, exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div,
    exp.Count, exp.Length, exp.Boolean, exp.Connector, exp.Predicate, exp.Not, exp.Lower, exp.Upper, exp.Concat,
    exp.DPipe, exp.Array, exp.Year, exp.Month, exp.Day, exp.CurrentDate, exp.Min, exp.Max, exp.Coalesce, exp.Case,
    exp.If, exp.Subquery, exp.Sum, exp.Avg, exp.Substring, exp.Trim, exp.Window, exp.Filter, exp.IgnoreNulls,
    exp.Greatest, exp.Least, exp.Round, exp.Identifier, exp.Map,
)  # fmt: skip
_KIND = "trino_kind"


def kind_of(node: Expr) -> Kind:
    """The kind of an expression's type; of a translated part that of the original."""
    kept = node.meta.get(_KIND)
    return kept if isinstance(kept, Kind) else _kind_by_class(node)


def keep_kinds(query: Expr) -> None:
    """Notes the kinds of all parts of a query with types, so that they survive translation."""
    for node in query.walk():
        node.meta[_KIND] = _kind_by_class(node)


def keep_kind(made: Expr, node: Expr) -> None:
    """Gives a translated part the type of the original."""
    made.meta[_KIND] = kind_of(node)
    if node.type is not None:
        made.type = node.type


def with_types(query: Expr, columns_of: ColumnsOf) -> Expr:
    """The query with qualified columns, Trino's names of unnamed results, and types.

    Raises:
        SqlglotError: Its names cannot be resolved.
        UntranslatableError: It has a join that Spark reads in another way.
    """
    _plain_values(query)
    ordinals = _without_ordinals(query)
    _name_star_values(query)
    _name_results(query)
    check_joins(query)
    by_name = named_joins(query)
    tables, schema = _stand_ins(query, columns_of)
    qualified = qualify(
        query,
        dialect="trino",
        schema=schema,
        validate_qualify_columns=False,
        quote_identifiers=False,
        identify=False,
        expand_stars=False,
        expand_alias_refs=False,
    )
    for join in by_name:
        join.restore()
    _qualify_having(qualified)
    rules = with_decimal_digits(with_result_types(Trino.EXPRESSION_METADATA))
    typed = annotate(qualified, schema, rules)
    for ordinal in ordinals:
        ordinal.set("this", ordinal.this.this)
    for table in typed.find_all(exp.Table):
        if table.name in tables:
            original = tables[table.name]
            for key in ("this", "db", "catalog"):
                table.set(key, original.args.get(key))
    return typed


def _plain_values(query: Expr) -> None:
    """Gives literals their types, and words that are functions without parentheses their classes."""
    for literal in list(query.find_all(exp.Literal)):
        # Such literals are decimals in Trino and Spark, but not in sqlglot.
        is_plain = not literal.is_string and "." in literal.name and "e" not in literal.name.lower()
        if is_plain and not isinstance(literal.parent, exp.DataTypeParam):
            literal.replace(exp.cast(exp.Literal.string(literal.name), _decimal(literal.name)))
    for column in list(query.find_all(exp.Column)):
        # Functions without parentheses, which sqlglot parses as columns.
        made = {"current_schema": exp.CurrentSchema, "current_catalog": exp.CurrentCatalog}.get(column.name.lower())
        if made is not None and not column.table and not column.this.quoted:
            column.replace(made())


def _name_results(query: Expr) -> None:
    """Names results that have no name as Trino does."""
    for select in query.find_all(exp.Select):
        for position, projection in enumerate(select.expressions):
            if not isinstance(projection, exp.Alias | exp.Column | exp.Star | exp.Dot):
                projection.replace(exp.alias_(projection.copy(), f"_col{position}"))


def _kind_by_class(node: Expr) -> Kind:
    if not isinstance(node, (*_TYPED, *RESULTS)) or node.type is None:
        return Kind.UNKNOWN
    return _BY_NAME.get(node.type.this.name, Kind.OTHER)


def _decimal(text: str) -> str:
    whole, _, fraction = text.partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    return f"DECIMAL({max(digits, 1)}, {len(fraction)})"


def _name_star_values(query: Expr) -> None:
    """Writes the one column of a common table where ``(SELECT * FROM it)`` is a value, so that its type is known."""
    for subquery in query.find_all(exp.Subquery):
        select = subquery.this
        if isinstance(subquery.parent, exp.From | exp.Join) or not isinstance(select, exp.Select):
            continue
        source = select.args.get("from_")
        if not select.is_star or len(select.expressions) != 1 or source is None or select.args.get("joins"):
            continue
        for cte in query.find_all(exp.CTE):
            names = cte.this.named_selects if isinstance(cte.this, exp.Select) and not cte.this.is_star else []
            if len(names) == 1 and isinstance(source.this, exp.Table) and cte.alias == source.this.name:
                select.set("expressions", [exp.column(names[0], quoted=True)])


def _qualify_having(query: Expr) -> None:
    """Gives columns in HAVING, which sqlglot leaves alone, the table that the same name has in the select list."""
    for having in query.find_all(exp.Having):
        select = having.parent
        known: dict[str, set[str]] = {}
        for value in select.expressions if select is not None else []:
            for column in value.find_all(exp.Column):
                if column.table and column.parent_select is select:
                    known.setdefault(column.name, set()).add(column.table)
        for column in having.find_all(exp.Column):
            tables = known.get(column.name, set())
            # Of several tables it is what they are joined by, which has the name of a result.
            if not column.table and column.parent_select is select and len(tables) == 1:
                column.set("table", exp.to_identifier(next(iter(tables))))


def _without_ordinals(query: Expr) -> list[Expr]:
    """Hides ``ORDER BY 1`` of ``SELECT *`` from sqlglot, which cannot resolve it; Spark can."""
    hidden: list[Expr] = []
    for select in query.find_all(exp.Select):
        order = select.args.get("order")
        if order is None or not select.is_star:
            continue
        for one in order.expressions:
            if isinstance(one.this, exp.Literal) and not one.this.is_string:
                one.set("this", exp.Paren(this=one.this))
                hidden.append(one)
    return hidden


def _stand_ins(query: Expr, columns_of: ColumnsOf) -> tuple[dict[str, exp.Table], MappingSchema]:
    """Gives each table a name of one part, since a schema of sqlglot needs names of equal length."""
    common = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    tables: dict[str, exp.Table] = {}
    schema = MappingSchema(dialect="trino")
    for table in list(query.find_all(exp.Table)):
        parts = tuple(part.name.lower() for part in table.parts)
        if not isinstance(table.this, exp.Identifier) or (len(parts) == 1 and parts[0] in common):
            continue
        name = f"{_STAND_IN}{len(tables)}"
        tables[name] = table.copy()
        columns = columns_of(parts)
        if columns:
            schema.add_table(name, {column: _type_name(kind) for column, kind in columns.items()})
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))
        table.set("this", exp.to_identifier(name))
        table.set("db", None)
        table.set("catalog", None)
    return tables, schema


def _type_name(arrow: pa.DataType) -> str:
    types = pa.types
    named = {
        "TINYINT": types.is_int8, "SMALLINT": types.is_int16, "INT": types.is_int32, "BIGINT": types.is_int64,
        "REAL": types.is_float32, "DOUBLE": types.is_float64, "VARCHAR": types.is_string, "DATE": types.is_date,
        "BOOLEAN": types.is_boolean, "VARBINARY": types.is_binary,
    }  # fmt: skip
    for name, is_it in named.items():
        if is_it(arrow):
            return name
    if types.is_decimal(arrow):
        return f"DECIMAL({arrow.precision}, {arrow.scale})"
    if types.is_timestamp(arrow):
        return "TIMESTAMP"
    if types.is_list(arrow):
        return f"ARRAY({_type_name(arrow.value_type)})"
    if types.is_map(arrow):
        return f"MAP({_type_name(arrow.key_type)}, {_type_name(arrow.item_type)})"
    if types.is_struct(arrow):
        fields = ", ".join(f"{exp.to_identifier(one.name, quoted=True).sql()} {_type_name(one.type)}" for one in arrow)
        return f"ROW({fields})" if len(arrow) else "UNKNOWN"
    return "UNKNOWN"
