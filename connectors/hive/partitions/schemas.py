"""The columns that a partition declares, where they differ from its table's. Driver side."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from catalog.metastore.model import Partition, Table
from catalog.metastore.types import holds_union, parse_hive_type
from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.definitions.read_columns import read_columns
from connectors.hive.schema.text_types import TextRule, stored_text_rule
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["check_unions", "partition_columns", "partition_text_rules", "partition_types"]

_NESTED = (pa.types.is_struct, pa.types.is_map, pa.types.is_list)


def check_unions(partition: Partition, table: Table, name: str, asked: Collection[str]) -> None:
    """Refuses columns with a ``uniontype`` in the partition and another type in the table, or the reverse.

    Where both have a union, a value is cast from its type in the partition's union to the type with the same ordinal in
    the table's (``ObjectInspectorConverters.UnionConverter``).

    Args:
        partition: The partition.
        table: Its table.
        name: The partition's name, for messages.
        asked: Names of the table's columns that are read.

    Raises:
        NotSupportedError: One of them is such a column (code ``HIVE_UNSUPPORTED_TYPE``).
    """
    own, of_table = read_columns(partition.storage), read_columns(table.storage)
    if own == of_table or not any(holds_union(field.type) for field in (*own, *of_table)):
        return
    names = [field.name.lower() for field in of_table]
    for column, mine, field in zip(names, own, of_table, strict=False):
        if column in asked and _unlike(parse_hive_type(mine.type), parse_hive_type(field.type)):
            raise NotSupportedError(
                f"column '{column}' of partition {name} of {table.database}.{table.name} is {mine.type}; "
                f"expected {field.type} as in the table, or a type with unions at the same positions: leave the column "
                "out, or write the partition again",
                error_codes.HIVE_UNSUPPORTED_TYPE,
            )


def partition_columns(partition: Partition, table: Table) -> tuple[str, ...] | None:
    """The partition's own column names, in order; ``None`` where they are the table's."""
    own = tuple(field.name.lower() for field in partition.storage.columns)
    return None if own == tuple(field.name.lower() for field in table.storage.columns) else own


def partition_types(partition: Partition, table: Table, name: str) -> tuple[pa.DataType, ...] | None:
    """The partition's own column types, in order; ``None`` where they are the table's.

    Raises:
        NotSupportedError: A type is not supported (code ``HIVE_UNSUPPORTED_TYPE``).
    """
    own, of_table = read_columns(partition.storage), read_columns(table.storage)
    if [field.type.lower() for field in own] == [field.type.lower() for field in of_table]:
        return None
    try:
        return tuple(parse_hive_type(field.type) for field in own)
    except NotSupportedError as error:
        raise NotSupportedError(
            f"partition {name} of {table.database}.{table.name}: {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
        ) from error


def partition_text_rules(partition: Partition, table: Table) -> tuple[tuple[str, TextRule], ...]:
    """Rules for the partition's own char and varchar columns, by its names, applied before casts to the table's types.

    Empty where the types are the table's. Only files that do not record types need them.
    """
    own, of_table = read_columns(partition.storage), read_columns(table.storage)
    if [field.type.lower() for field in own] == [field.type.lower() for field in of_table]:
        return ()
    rules = ((field.name.lower(), stored_text_rule(field.type)) for field in own)
    return tuple((name, rule) for name, rule in rules if rule is not None)


def _unlike(own: pa.DataType, of_table: pa.DataType) -> bool:
    """Whether a union would become another type, or another type a union."""
    if is_union_struct(own) != is_union_struct(of_table):
        return True
    kinds = next((is_kind for is_kind in _NESTED if is_kind(own) and is_kind(of_table)), None)
    if kinds is pa.types.is_struct:
        return any(_unlike(mine.type, field.type) for mine, field in zip(own, of_table, strict=False))
    inner = range(own.num_fields if kinds else 0)
    return any(_unlike(own.field(at).type, of_table.field(at).type) for at in inner)
