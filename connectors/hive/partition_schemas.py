"""What a partition says of the columns in its files, where that is not what its table says. Driver side."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from catalog.metastore.model import Partition, Table
from catalog.metastore.types import holds_union, parse_hive_type
from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.file_columns import file_sources
from connectors.hive.text_types import TextRule, stored_text_rule

__all__ = ["check_unions", "partition_columns", "partition_text_rules", "partition_types"]


def check_unions(partition: Partition, table: Table, name: str, asked: Collection[str]) -> None:
    """Refuses columns of ``uniontype`` whose types in the partition are not the table's.

    Args:
        partition: The partition.
        table: Its table.
        name: The partition's name, for messages.
        asked: Names of the table's columns that are read.

    Raises:
        NotSupportedError: There is one among those asked (code ``HIVE_UNSUPPORTED_TYPE``).
    """
    own, of_table = partition.storage.columns, table.storage.columns
    if own == of_table or not any(holds_union(field.type) for field in (*own, *of_table)):
        return
    types = [[parse_hive_type(field.type) for field in fields] for fields in (own, of_table)]
    names = [field.name.lower() for field in of_table]
    places = file_sources(pa.schema([]), names, [field.name.lower() for field in own], by_name=False)
    for at, field in enumerate(of_table):
        place = places[names[at]]
        if names[at] not in asked or not isinstance(place, int) or types[0][place] == types[1][at]:
            continue
        if holds_union(field.type) or holds_union(own[place].type):
            raise NotSupportedError(
                f"column '{names[at]}' of partition {name} of {table.database}.{table.name} is {own[place].type}; "
                f"expected {field.type} as in the table, since unions are not converted: leave the column out, or "
                "write the partition again",
                error_codes.HIVE_UNSUPPORTED_TYPE,
            )


def partition_columns(partition: Partition, table: Table) -> tuple[str, ...] | None:
    """The partition's own names of the columns in its files, where they or their number are not the table's."""
    own = tuple(field.name.lower() for field in partition.storage.columns)
    return None if own == tuple(field.name.lower() for field in table.storage.columns) else own


def partition_types(partition: Partition, table: Table, name: str) -> tuple[pa.DataType, ...] | None:
    """The partition's own types of the columns in its files, where they or their number are not the table's.

    Raises:
        NotSupportedError: One is not supported (code ``HIVE_UNSUPPORTED_TYPE``).
    """
    own, of_table = partition.storage.columns, table.storage.columns
    if [field.type.lower() for field in own] == [field.type.lower() for field in of_table]:
        return None
    try:
        return tuple(parse_hive_type(field.type) for field in own)
    except NotSupportedError as error:
        raise NotSupportedError(
            f"partition {name} of {table.database}.{table.name}: {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
        ) from error


def partition_text_rules(partition: Partition, table: Table) -> tuple[tuple[str, TextRule], ...]:
    """What happens to texts of a partition's char and varchar columns before they become the table's, by its names.

    None where the types are the table's. Only values in files that do not tell their types want this.
    """
    own, of_table = partition.storage.columns, table.storage.columns
    if [field.type.lower() for field in own] == [field.type.lower() for field in of_table]:
        return ()
    rules = ((field.name.lower(), stored_text_rule(field.type)) for field in own)
    return tuple((name, rule) for name, rule in rules if rule is not None)
