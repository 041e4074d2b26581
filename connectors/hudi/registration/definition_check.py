"""Whether ``CREATE TABLE`` says of a Hudi table what the table itself says. Driver side."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.metastore.model import Table
from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import TableMetadata
from connectors.hudi.registration.registered_table import hive_column_type

__all__ = ["check_definition"]


def check_definition(definition: TableDefinition, entry: Table, described: TableMetadata) -> None:
    """Checks all that a definition says beside the location.

    Args:
        definition: What ``CREATE TABLE`` says.
        entry: The table for the metastore.
        described: The table as it is shown.

    Raises:
        InvalidArgumentError: It says something that the table at the location does not have.
    """
    for said, found in _differences(definition, entry, described):
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} says {said}, but the Hudi table at {definition.location} has {found}; "
            "say USING hudi and LOCATION alone: columns, partitions and properties come from the table"
        )


def _differences(definition: TableDefinition, entry: Table, described: TableMetadata) -> Iterator[tuple[str, str]]:
    types = {field.name: field.type for field in (*entry.storage.columns, *entry.partition_keys)}
    for column in definition.columns:
        name, wanted = column.name.lower(), hive_column_type(column.type)
        if name not in types:
            yield f"column '{column.name}'", f"the columns {', '.join(types)}"
        elif types[name] != wanted:
            yield f"column '{column.name}' of type {wanted}", f"the type {types[name]}"
    shown = {column.name.lower() for column in described.visible_columns()}
    missing = sorted(shown - {column.name.lower() for column in definition.columns}) if definition.columns else []
    if missing:
        yield "other columns", f"the column '{missing[0]}', too"
    keys = [key.lower() for key in described.partitioned_by]
    if definition.partitioned_by and [key.lower() for key in definition.partitioned_by] != keys:
        yield f"PARTITIONED BY ({', '.join(definition.partitioned_by)})", f"the keys ({', '.join(keys)})"
    if definition.buckets is not None:
        yield f"CLUSTERED BY ({', '.join(definition.buckets.columns)})", "no buckets of Hive"
    properties = dict(described.properties)
    for key, value in (*definition.properties, *definition.storage):
        if properties.get(key) != value:
            yield f"'{key}' = '{value}'", f"'{key}' = '{properties[key]}'" if key in properties else f"no '{key}'"
    if definition.comment is not None and definition.comment != described.comment:
        yield f"COMMENT '{definition.comment}'", "no comment of its own"
