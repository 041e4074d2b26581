"""``INSERT INTO table [(columns)] query``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError
from lakeport.arrow.write.inserting import InsertTarget, insert_rows
from lakeport.duckdb.refusal import refused
from lakeport.type_names import type_name

__all__ = ["Insert"]

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_READ = ("this", "expression")
_FORM = "INSERT INTO table [(columns)] and a query are run"


@dataclass(frozen=True, slots=True)
class Insert:
    """An insert as written.

    Attributes:
        table: Parts of the table's name.
        columns: Those that are named; none where all are meant.
        query: Gives the rows.
    """

    table: tuple[str, ...]
    columns: tuple[str, ...]
    query: exp.Query | exp.Values

    @classmethod
    def of(cls, written: exp.Insert) -> Insert:
        """The insert of a parsed statement.

        Raises:
            NotSupportedError: It has more parts, such as ``OVERWRITE`` and ``PARTITION``.
        """
        schema = written.this if isinstance(written.this, exp.Schema) else None
        table = written.this if schema is None else schema.this
        query = written.expression
        more = [name for name, value in written.args.items() if value and name not in _READ]
        parts = [part.name for part in table.parts] if isinstance(table, exp.Table) else []
        if more or not parts or not isinstance(query, exp.Query | exp.Values):
            raise refused(written, _FORM)
        columns = () if schema is None else tuple(column.name for column in schema.expressions)
        return cls(tuple(parts), columns, query)

    def run(self, target: InsertTarget, open_rows: Callable[[exp.Query], pa.RecordBatchReader]) -> None:
        """Adds rows; they are visible when the statement of the target commits.

        Args:
            target: The table.
            open_rows: Runs the query, whose columns are meant by their order.

        Raises:
            InvalidArgumentError: There are other columns than the table's, or values that do not fit.
            ConnectorError: The table takes no rows, or its storage failed.
        """
        names = self.columns or tuple(column.name for column in target.columns)
        query = _rows(self.query, _types(names, target)) if isinstance(self.query, exp.Values) else self.query
        with open_rows(query) as rows:
            if len(rows.schema) != len(names):
                raise InvalidArgumentError(
                    f"the query has {len(rows.schema)} columns, and {len(names)} of {target.name} are to be filled: "
                    f"{', '.join(names)}"
                )
            schema = pa.schema([field.with_name(column) for field, column in zip(rows.schema, names, strict=True)])
            renamed = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in rows)
            insert_rows(target, pa.RecordBatchReader.from_batches(schema, renamed))


def _types(names: Sequence[str], target: InsertTarget) -> list[str | None]:
    """Spark's types of the columns to be filled; ``None`` for a name that the table lacks."""
    known = {column.name.lower(): type_name(column) for column in target.columns}
    return [known.get(name.lower()) for name in names]


def _rows(values: exp.Values, types: Sequence[str | None]) -> exp.Query:
    """Rows that are written out, as queries of one row each; NULL and numbers have the types of their columns."""
    queries = []
    for row in values.expressions:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        typed = [_typed(cell, kind) for cell, kind in zip_longest(cells, types[: len(cells)])]
        queries.append(exp.select(*typed))
    return queries[0] if len(queries) == 1 else exp.union(*queries, distinct=False)


def _typed(cell: Expr, kind: str | None) -> Expr:
    """A value of a column's type, where it is NULL or a number that has it."""
    if isinstance(cell, exp.Neg):
        return exp.Neg(this=_typed(cell.this, kind))
    if kind is not None and isinstance(cell, exp.Null):
        return exp.cast(cell, kind, dialect="spark")
    if kind is None or not isinstance(cell, exp.Literal) or cell.is_string:
        return cell
    if kind in ("float", "double"):
        return exp.cast(cell, "double", dialect="spark")
    return exp.cast(cell, kind, dialect="spark") if cell.name.isdigit() and kind in _WHOLE else cell
