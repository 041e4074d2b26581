"""Which partitions a scan reads: names first, values typed, filters evaluated, entries last. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Partition, Table
from catalog.metastore.partition_names import parse_partition_name, prune_partition_names
from catalog.metastore.types import parse_hive_type
from connector_spi.errors import ExternalError, MetastoreError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connectors.hive import error_codes
from connectors.hive.handles import HiveTableHandle
from connectors.hive.text_types import TextRule, apply_text_rule
from connectors.toolkit.partition_values import partition_value

__all__ = [
    "PartitionName",
    "PrunedPartitions",
    "get_partitions",
    "partition_columns",
    "partition_types",
    "prune_partitions",
]


@dataclass(frozen=True, slots=True)
class PartitionName:
    """A partition that is not yet fetched.

    Attributes:
        name: Such as ``ds=2024-01-01/region=a%2Fb``.
        values: Typed value of each key, by the key's name.
    """

    name: str
    values: tuple[tuple[str, Value | None], ...]


@dataclass(frozen=True, slots=True)
class PrunedPartitions:
    """The partitions that a filter leaves, sorted by name, and how many there are in all."""

    kept: tuple[PartitionName, ...]
    total: int


def prune_partitions(
    client: MetastoreClient, table: HiveTableHandle, constraint: TupleDomain[ColumnHandle]
) -> PrunedPartitions:
    """Chooses partitions by their names alone: exactly those whose keys are in the constraint.

    All names are fetched, in one call, rather than those of a filter: most filters are evaluated on this side anyway,
    several scans of a query share the names, and the user is told how many partitions there are.

    Raises:
        MetastoreError: A partition's name does not fit the table's keys.
        ExternalError: A value cannot be read as its key's type.
    """
    names = client.get_partition_names(table.name.schema, table.name.table)
    rules = dict(table.text_rules)
    keys = {key.name: key for key in table.partition_keys}
    domains = {column.name: domain for column, domain in dict(constraint.domains or {}).items() if column.name in keys}
    # The values of char and varchar keys change by reading, so the texts of names say little.
    by_text = TupleDomain.with_column_domains({key: domain for key, domain in domains.items() if key not in rules})
    candidates = [] if constraint.is_none else prune_partition_names(names, by_text)
    reader = _ValueReader(table, rules)
    kept = []
    for name in candidates:
        values = reader.read(name)
        if all(domain.includes_value(values[key]) for key, domain in domains.items()):
            kept.append(PartitionName(name, tuple(values.items())))
    return PrunedPartitions(tuple(kept), len(names))


def get_partitions(client: MetastoreClient, table: HiveTableHandle, names: Iterable[str]) -> list[Partition]:
    """The entries of partitions, in the order of the names.

    Raises:
        ExternalError: A partition was dropped since its name was listed (code ``HIVE_PARTITION_DROPPED``).
    """
    wanted = list(names)
    found = client.get_partitions_by_names(table.name.schema, table.name.table, wanted)
    if len(found) != len(wanted):
        present = {partition.values for partition in found}
        absent = [name for name in wanted if tuple(value for _, value in parse_partition_name(name)) not in present]
        raise ExternalError(
            f"partition {(absent or wanted)[0]} of {table.name} was dropped while the query was planned; run it again",
            error_codes.HIVE_PARTITION_DROPPED,
        )
    return found


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


class _ValueReader:
    """Reads values from names; each distinct text of a key is read once."""

    def __init__(self, table: HiveTableHandle, rules: Mapping[str, TextRule]) -> None:
        self._table = table
        self._rules = rules
        self._keys = table.partition_keys
        self._known: dict[tuple[str, str], Value | None] = {}

    def read(self, name: str) -> dict[str, Value | None]:
        pairs = parse_partition_name(name)
        if [key.lower() for key, _ in pairs] != [key.name for key in self._keys]:
            raise MetastoreError(
                f"partition {name!r} of {self._table.name} does not fit the partition keys "
                f"{', '.join(key.name for key in self._keys)}; drop the partition",
                error_codes.HIVE_BAD_PARTITION,
            )
        values = {}
        for key, (_, text) in zip(self._keys, pairs, strict=True):
            if (key.name, text) not in self._known:
                self._known[key.name, text] = self._type(key, text, name)
            values[key.name] = self._known[key.name, text]
        return values

    def _type(self, key: ColumnHandle, text: str, name: str) -> Value | None:
        value = partition_value(text, key.type, f"key '{key.name}' of partition {name} of {self._table.name}")
        rule = self._rules.get(key.name)
        if rule is None or value is None:
            return value
        padded: str = apply_text_rule(pa.array([value], pa.string()), rule)[0].as_py()
        return padded
