"""Rows as a table takes them: its columns, in its order and with its types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from connector_spi.properties import closest
from connector_spi.schema import ColumnMetadata

__all__ = ["RowAssignment", "assign_columns"]

_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BINARIES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


@dataclass(frozen=True, slots=True)
class RowAssignment:
    """Where each column of a table comes from.

    Attributes:
        columns: The table's columns, in its order.
        sources: The position of each in the given rows; ``None`` where they lack it: it is NULL.
    """

    columns: tuple[ColumnMetadata, ...]
    sources: tuple[int | None, ...]

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows with the table's columns.

        Raises:
            InvalidArgumentError: A value does not fit its column, or is NULL where there may be none.
        """
        arrays = [
            pa.nulls(batch.num_rows, column.type) if source is None else _cast(batch.column(source), column)
            for column, source in zip(self.columns, self.sources, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the table's columns."""
        return pa.schema([(column.name, column.type) for column in self.columns])


def assign_columns(columns: Sequence[ColumnMetadata], given: pa.Schema, table: object) -> RowAssignment:
    """Finds the table's columns among those of given rows, by name; case does not count.

    A type is taken where every value keeps its meaning: numbers become wider or, value by value, narrower ones; texts
    are no numbers, and times with a zone are no times without.

    Args:
        columns: The table's visible columns.
        given: Names and types of the rows.
        table: Its name, for messages.

    Raises:
        ColumnNotFoundError: The rows have a column that the table lacks.
        InvalidArgumentError: A type does not fit, a column is there twice, or one is lacking that may not be NULL.
    """
    positions: dict[str, int] = {}
    by_lower = {column.name.lower(): column for column in columns}
    for position, name in enumerate(given.names):
        if name.lower() not in by_lower:
            names = [column.name for column in columns]
            raise ColumnNotFoundError(
                f"table {table} has no column '{name}'{closest(name, names)}; it has {', '.join(names)}"
            )
        if name.lower() in positions:
            raise InvalidArgumentError(f"the rows have the column '{name}' twice; expected it once")
        positions[name.lower()] = position
    for column in columns:
        found = positions.get(column.name.lower())
        if found is None and not column.nullable:
            raise InvalidArgumentError(
                f"the rows lack the column '{column.name}' of {table}, which may not be NULL; add it"
            )
        if found is not None and not _is_assignable(given.field(found).type, column.type):
            raise InvalidArgumentError(
                f"column '{column.name}' of {table} is {column.type}, the rows have {given.field(found).type}; "
                "cast it before"
            )
    return RowAssignment(tuple(columns), tuple(positions.get(column.name.lower()) for column in columns))


def _cast(array: pa.Array, column: ColumnMetadata) -> pa.Array:
    if array.null_count and not column.nullable:
        raise InvalidArgumentError(f"column '{column.name}' holds {array.null_count} NULLs, and may hold none")
    if array.type.equals(column.type):
        return array
    try:
        if pa.types.is_integer(array.type) and pa.types.is_decimal(column.type):
            # Arrow asks for the digits of the type, not of the values; 20 hold every integer.
            array = array.cast(pa.decimal128(20, 0))
        made = array.cast(column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        said = str(error).partition("\n")[0]
        raise InvalidArgumentError(
            f"a value of column '{column.name}' does not fit {column.type}: {said}; correct or cast it before"
        ) from error
    if pa.types.is_floating(array.type) and pc.any(pc.and_(pc.is_finite(array), pc.is_inf(made))).as_py():
        raise InvalidArgumentError(
            f"a value of column '{column.name}' does not fit {column.type}: it is larger than all of these numbers; "
            "correct or cast it before"
        )
    return made


def _is_assignable(given: pa.DataType, wanted: pa.DataType) -> bool:
    if given.equals(wanted) or pa.types.is_null(given):
        return True
    if pa.types.is_dictionary(given):
        return _is_assignable(given.value_type, wanted)
    if pa.types.is_struct(wanted):
        # Arrow's cast goes by the names, and would fill those that lack with NULL.
        return (
            pa.types.is_struct(given)
            and [field.name for field in given] == [field.name for field in wanted]
            and all(_is_assignable(mine.type, theirs.type) for mine, theirs in zip(given, wanted, strict=True))
        )
    if pa.types.is_map(wanted):
        return (
            pa.types.is_map(given)
            and _is_assignable(given.key_type, wanted.key_type)
            and _is_assignable(given.item_type, wanted.item_type)
        )
    if _is_any(wanted, _LISTS):
        return _is_any(given, _LISTS) and _is_assignable(given.value_type, wanted.value_type)
    return _is_flat_assignable(given, wanted)


def _is_flat_assignable(given: pa.DataType, wanted: pa.DataType) -> bool:
    for kinds in (_TEXTS, _BINARIES):
        if _is_any(wanted, kinds):
            return _is_any(given, kinds)
    if pa.types.is_integer(wanted):
        return bool(pa.types.is_integer(given))
    if pa.types.is_decimal(wanted):
        return bool(pa.types.is_integer(given) or pa.types.is_decimal(given))
    if pa.types.is_floating(wanted):
        return bool(pa.types.is_integer(given) or pa.types.is_floating(given) or pa.types.is_decimal(given))
    if pa.types.is_date(wanted):
        return bool(pa.types.is_date(given))
    if pa.types.is_timestamp(wanted):
        return bool(pa.types.is_timestamp(given) and (given.tz is None) == (wanted.tz is None))
    return False


def _is_any(data_type: pa.DataType, kinds: Sequence[Callable[[pa.DataType], bool]]) -> bool:
    return any(kind(data_type) for kind in kinds)
