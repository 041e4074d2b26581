"""``INSERT INTO`` and ``INSERT OVERWRITE table [PARTITION (keys)] [(columns)] query``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.writing import Overwrite
from lakeport.arrow.filters.where import Condition
from lakeport.arrow.write.inserting import InsertTarget, insert_rows
from lakeport.arrow.write.overwriting import overwrite_of
from lakeport.duckdb.refusal import refused
from lakeport.type_names import type_name

__all__ = ["Insert"]

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_READ = ("this", "expression", "overwrite")
_FORM = "INSERT INTO or OVERWRITE table [PARTITION (keys)] [(columns)] and a query are run"


@dataclass(frozen=True, slots=True)
class Insert:
    """An insert as written.

    Attributes:
        table: Parts of the table's name.
        columns: Those that are named; none where all are meant.
        query: Gives the rows.
        keys: Values of the partition keys that ``PARTITION`` gives, as texts; the query has no columns for them.
        overwrites: The rows replace others: those of the partitions of ``keys``, or all.
    """

    table: tuple[str, ...]
    columns: tuple[str, ...]
    query: exp.Query | exp.Values
    keys: tuple[tuple[str, str | None], ...] = ()
    overwrites: bool = False

    @classmethod
    def of(cls, written: exp.Insert) -> Insert:
        """The insert of a parsed statement.

        Raises:
            NotSupportedError: It has more parts, such as ``BY NAME`` and ``REPLACE WHERE``.
        """
        schema = written.this if isinstance(written.this, exp.Schema) else None
        table = written.this if schema is None else schema.this
        query = written.expression
        more = [name for name, value in written.args.items() if value and name not in _READ]
        parts = [part.name for part in table.parts] if isinstance(table, exp.Table) else []
        if more or not parts or not isinstance(query, exp.Query | exp.Values):
            raise refused(written, _FORM)
        columns = () if schema is None else tuple(column.name for column in schema.expressions)
        keys = _keys(written, table.args.get("partition"))
        return cls(tuple(parts), columns, query, keys, overwrites=bool(written.args.get("overwrite")))

    def run(self, target: InsertTarget, open_rows: Callable[[exp.Query], pa.RecordBatchReader]) -> None:
        """Adds or replaces rows; they are visible when the statement of the target commits.

        Args:
            target: The table.
            open_rows: Runs the query, whose columns are meant by their order.

        Raises:
            InvalidArgumentError: There are other columns than the table's, or values that do not fit.
            ConnectorError: The table takes no rows, or its storage failed.
        """
        given = _key_values(self.keys, target)
        names = self.columns or tuple(column.name for column in target.columns if column.name not in given)
        query = _rows(self.query, _types(names, target)) if isinstance(self.query, exp.Values) else self.query
        with open_rows(query) as rows:
            if len(rows.schema) != len(names):
                raise InvalidArgumentError(
                    f"the query has {len(rows.schema)} columns, and {len(names)} of {target.name} are to be filled: "
                    f"{', '.join(names)}"
                )
            fields = [field.with_name(column) for field, column in zip(rows.schema, names, strict=True)]
            schema = pa.schema([*fields, *(pa.field(name, value.type) for name, value in given.items())])
            renamed = (
                pa.RecordBatch.from_arrays(
                    [*batch.columns, *(pa.repeat(value, batch.num_rows) for value in given.values())], schema=schema
                )
                for batch in rows
            )
            insert_rows(target, pa.RecordBatchReader.from_batches(schema, renamed), self._overwrite(target, given))

    def _overwrite(self, target: InsertTarget, given: Mapping[str, pa.Scalar]) -> Overwrite | None:
        if not self.overwrites:
            return None
        where: list[Condition] = [
            (name, "=", value.as_py()) if value.is_valid else (name, "is null") for name, value in given.items()
        ]
        return overwrite_of(target.table, where or None, dynamic=False)


def _keys(written: exp.Insert, partition: Expr | None) -> tuple[tuple[str, str | None], ...]:
    """The keys of ``PARTITION`` that have a value. Others have their column in the query, as all have without it."""
    found: list[tuple[str, str | None]] = []
    for key in [] if partition is None else partition.expressions:
        if isinstance(key, exp.EQ) and isinstance(key.this, exp.Column):
            found.append((key.this.name.lower(), _key_text(written, key.expression)))
        elif not isinstance(key, exp.Column):
            raise refused(written, _FORM)
    return tuple(found)


def _key_text(written: exp.Insert, value: Expr) -> str | None:
    if isinstance(value, exp.Null):
        return None
    if isinstance(value, exp.Boolean):
        return "true" if value.this else "false"
    if isinstance(value, exp.Cast) and isinstance(value.this, exp.Literal) and value.is_type("date"):
        return str(value.this.this)
    number = value.this if isinstance(value, exp.Neg) else value
    if isinstance(number, exp.Literal) and number.name.isdigit() and not number.is_string:
        # As the number, not as it is written, such as 007.
        return str(int(number.name) * (-1 if number is not value else 1))
    if not isinstance(value, exp.Literal) or not value.is_string:
        raise refused(written, f"{_FORM}; a key's value is a text, a whole number, a date, a boolean or NULL")
    return str(value.this)


def _key_values(keys: Sequence[tuple[str, str | None]], target: InsertTarget) -> Mapping[str, pa.Scalar]:
    known = {column.name: column.type for column in target.columns if column.name in target.table.table.partitioned_by}
    found: dict[str, pa.Scalar] = {}
    for name, text in keys:
        if name not in known:
            raise InvalidArgumentError(
                f"PARTITION names '{name}', which is no partition key of {target.name}; expected some of: "
                f"{', '.join(known) or 'none, as it has none'}"
            )
        try:
            found[name] = pa.scalar(text, pa.string()).cast(known[name])
        except pa.ArrowInvalid as error:
            raise InvalidArgumentError(f"PARTITION has {name} = '{text}', which is no {known[name]}") from error
    return found


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
