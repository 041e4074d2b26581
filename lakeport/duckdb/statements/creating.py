"""``CREATE TABLE table [clauses] AS query``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.names import CatalogSchemaTableName, SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import TableBuckets
from lakeport.duckdb.refusal import refused

__all__ = ["CreateTableAs"]

_FORM = (
    "CREATE TABLE table [USING or STORED AS format] [PARTITIONED BY (names)] [CLUSTERED BY (names) [SORTED BY (names)] "
    "INTO n BUCKETS] [COMMENT text] [TBLPROPERTIES (...)] AS and a query are run"
)
_READ = ("this", "kind", "expression", "properties")


@dataclass(frozen=True, slots=True)
class CreateTableAs:
    """A table of a query as written.

    Attributes:
        table: Parts of the table's name.
        query: Gives the rows.
        said: What is said of the table, whose name is found later.
    """

    table: tuple[str, ...]
    query: exp.Query
    said: TableDefinition

    @classmethod
    def of(cls, written: exp.Create) -> CreateTableAs:
        """The table of a parsed statement.

        Raises:
            NotSupportedError: It is another ``CREATE``, or has more parts, such as ``OR REPLACE`` and ``LOCATION``.
        """
        more = [name for name, value in written.args.items() if value and name not in _READ]
        table, query = written.this, written.expression
        if more or written.kind != "TABLE" or not isinstance(table, exp.Table) or not isinstance(query, exp.Query):
            raise refused(written, _FORM)
        properties = written.args.get("properties")
        said = _Said(TableDefinition(SchemaTableName("unknown", "unknown"), ()))
        for clause in [] if properties is None else properties.expressions:
            if not said.take(clause):
                raise refused(written, _FORM)
        return cls(tuple(part.name for part in table.parts), query, said.definition)

    def definition(self, name: CatalogSchemaTableName) -> TableDefinition:
        """The table without its columns."""
        return replace(self.said, name=name.schema_table)


@dataclass(slots=True)
class _Said:
    definition: TableDefinition

    def take(self, clause: Expr) -> bool:
        """Whether a clause is understood."""
        made = self.definition
        if isinstance(clause, exp.FileFormatProperty):
            self.definition = replace(made, provider=clause.this.name.lower())
        elif isinstance(clause, exp.PartitionedByProperty) and _are_names(clause.this.expressions):
            self.definition = replace(made, partitioned_by=tuple(key.name for key in clause.this.expressions))
        elif isinstance(clause, exp.ClusteredByProperty):
            buckets = _buckets(clause)
            self.definition = replace(made, buckets=buckets)
            return buckets is not None
        elif isinstance(clause, exp.SchemaCommentProperty):
            self.definition = replace(made, comment=str(clause.this.this))
        elif type(clause) is exp.Property:
            self.definition = replace(
                made, properties=(*made.properties, (clause.this.name, clause.args["value"].name))
            )
        else:
            return False
        return True


def _buckets(clause: exp.ClusteredByProperty) -> TableBuckets | None:
    """What ``CLUSTERED BY`` says; ``None`` where Spark refuses it."""
    columns, order = clause.expressions, clause.args.get("sorted_by") or []
    ordered = [one.this if isinstance(one, exp.Ordered) and not one.args.get("desc") else None for one in order]
    count = clause.args.get("buckets")
    named = all(isinstance(one, exp.Column) and len(one.parts) == 1 for one in (*columns, *ordered))
    if not named or not isinstance(count, exp.Literal) or not count.name.isdigit():
        return None
    return TableBuckets(tuple(one.name for one in columns), int(count.name), tuple(one.name for one in ordered if one))


def _are_names(keys: list[Expr]) -> bool:
    return all(isinstance(key, exp.Identifier) for key in keys)
