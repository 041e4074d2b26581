"""Which rows of a table are replaced: whole partitions, by a condition on their keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import pyarrow as pa

from catalog.resolver import ResolvedTable, resolve_column
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.writing import Overwrite
from lakeport.arrow.filters.conditions import ColumnTest, RowTest
from lakeport.arrow.filters.where import Condition, parse_where

__all__ = ["PartitionsWhere", "check_whole_partitions", "overwrite_of", "why_no_whole_partitions"]

PartitionsWhere: TypeAlias = str | Sequence[Condition | Sequence[Condition]]
"""SQL on partition keys, such as ``"ds = '2024-01-01'"``, or conditions as in ``Where``."""


def overwrite_of(table: ResolvedTable, where: PartitionsWhere | None, *, dynamic: bool) -> Overwrite:
    """Reads which rows of a table are replaced.

    Args:
        table: The table.
        where: Selects whole partitions; ``None`` is all rows.
        dynamic: Only of partitions that new rows go to.

    Raises:
        InvalidArgumentError: The condition is not understood, or is given though ``dynamic`` says it all.
        ColumnNotFoundError: The table has no such column.
        NotSupportedError: It selects other rows than those of whole partitions.
    """
    if where is None:
        return Overwrite(dynamic=dynamic)
    if dynamic:
        raise InvalidArgumentError(
            f"rows of {table.name} are to be replaced where {where!r:.200} and by partition of the new rows (dynamic); "
            "expected one of both"
        )

    def find(written: str) -> tuple[str, pa.DataType]:
        handle = resolve_column(table, written)
        return handle.name, handle.type

    test = parse_where(where, find)
    if test is None:
        return Overwrite()
    check_whole_partitions(table.name, table.table.partitioned_by, test.columns, where, exact=_is_exact(test.needed))
    return Overwrite(test.domain())


def check_whole_partitions(
    table: CatalogSchemaTableName, keys: Sequence[str], columns: Iterable[str], condition: object, *, exact: bool
) -> None:
    """Refuses a condition that does not select whole partitions.

    Args:
        table: The table.
        keys: Its partition keys.
        columns: The columns that the condition looks at.
        condition: As written, for the message.
        exact: It is said by a set of values for each key.

    Raises:
        NotSupportedError: It does not.
    """
    problem = why_no_whole_partitions(keys, columns, exact=exact)
    if problem is not None:
        raise NotSupportedError(
            f"rows of {table} cannot be replaced where {condition!s:.200}: {problem}, since whole partitions are "
            "replaced; or replace all rows by a query that has those that stay, too"
        )


def why_no_whole_partitions(keys: Sequence[str], columns: Iterable[str], *, exact: bool) -> str | None:
    """What keeps a condition from selecting whole partitions, and what is expected; ``None`` where it does.

    Args:
        keys: The table's partition keys.
        columns: The columns that the condition looks at.
        exact: It is said by a set of values for each key.
    """
    others = [name for name in columns if name not in keys]
    if exact and not others:
        return None
    what = f"'{others[0]}' is no partition key" if others else "it is more than values of single keys, joined by AND"
    expected = f"a condition on {', '.join(keys)}" if keys else "no condition, since it has no partitions"
    return f"{what}; expected {expected}"


def _is_exact(test: RowTest) -> bool:
    """Whether the test's domain has no row for which it does not hold."""
    if isinstance(test, ColumnTest):
        return not test.path and test.operator not in ("like", "not like")
    alone = test.every or len(test.parts) == 1 or len(test.columns) == 1
    return alone and all(map(_is_exact, test.parts))
