"""Selects the partitions that a scan reads: names, typed values, filters, and last their entries. Driver side."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import FieldSchema, Partition
from catalog.metastore.partitions.names import parse_partition_name
from catalog.metastore.types import hive_type_text
from connector_spi.errors import ExternalError, MetastoreError
from connector_spi.handles import ColumnHandle
from connector_spi.partition_names import DEFAULT_PARTITION, unescape_path_name
from connector_spi.predicate import Domain, TupleDomain, Value
from connectors.hive import error_codes
from connectors.hive.formats.coercions.rules import ROW_RULES
from connectors.hive.handles import HiveTableHandle
from connectors.hive.schema.text_types import TextRule, apply_text_rule
from connectors.toolkit.partition_values import partition_value
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import adaptation

__all__ = [
    "PartitionName",
    "PrunedPartitions",
    "fetch_partitions",
    "get_partitions",
    "key_value",
    "prune_partitions",
]

_BATCH = 1000
_LONGEST_BATCH = 5000
_FIELDS_IN_A_BATCH = 500_000
_CALLS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class PartitionName:
    """A partition whose entry is not fetched yet.

    Attributes:
        name: Such as ``ds=2024-01-01/region=a%2Fb``.
        values: Typed value of each key, by the key's name.
    """

    name: str
    values: tuple[tuple[str, Value | None], ...]


@dataclass(frozen=True, slots=True)
class PrunedPartitions:
    """The partitions that a filter selects, sorted by name.

    Attributes:
        kept: The partitions.
        total: Number of all partitions of the table; ``None`` where the metastore returned only those that may match.
        by_metastore: The metastore can select these partitions by itself.
    """

    kept: tuple[PartitionName, ...]
    total: int | None
    by_metastore: bool = False


def prune_partitions(
    client: MetastoreClient, table: HiveTableHandle, constraint: TupleDomain[ColumnHandle], *, count_all: bool = False
) -> PrunedPartitions:
    """Selects partitions by their names alone: exactly those whose keys satisfy the constraint.

    The metastore filters where it can. Otherwise all names are fetched in one call, which the scans of a query share;
    then the number of all partitions is known, too.

    Args:
        client: The metastore.
        table: The table.
        constraint: What rows have to satisfy.
        count_all: Fetch all names, so that their number is known from the one call.

    Raises:
        MetastoreError: A partition's name does not fit the table's keys.
        ExternalError: A value cannot be read as its key's type.
    """
    schema, name = table.name.schema, table.name.table
    names_of_keys = {key.name for key in table.partition_keys}
    domains = {column.name: domain for column, domain in dict(constraint.domains or {}).items()}
    domains = {key: domain for key, domain in domains.items() if key in names_of_keys}
    predicate = TupleDomain[str].with_column_domains(domains)
    keys = _key_fields(table)
    if constraint.is_none:
        return PrunedPartitions((), len(client.get_partition_names(schema, name)))
    by_metastore, total = client.filters_partitions(predicate, keys), None
    if by_metastore and not count_all:
        names = client.get_partition_names_by_filter(schema, name, predicate, keys)
    else:
        names = client.get_partition_names(schema, name)
        total = len(names)
    reader = _NameReader(table, domains)
    kept = tuple(one for one in map(reader.read, names) if one is not None)
    return PrunedPartitions(kept, total, by_metastore)


def get_partitions(client: MetastoreClient, table: HiveTableHandle, names: Iterable[str]) -> list[Partition]:
    """The entries of partitions, in the order of the names.

    Raises:
        ExternalError: A partition was dropped since its name was listed (code ``HIVE_PARTITION_DROPPED``).
    """
    wanted = list(names)
    found = client.get_partitions_by_names(table.name.schema, table.name.table, wanted)
    if len(found) != len(wanted):
        present = {partition.values for partition in found}
        missing = [name for name in wanted if tuple(value for _, value in parse_partition_name(name)) not in present]
        raise ExternalError(
            f"partition {(missing or wanted)[0]} of {table.name} was dropped while the query was planned; run it again",
            error_codes.HIVE_PARTITION_DROPPED,
        )
    return found


def fetch_partitions(
    client: MetastoreClient, table: HiveTableHandle, names: Sequence[PartitionName]
) -> Iterator[tuple[PartitionName, Partition]]:
    """The entries of partitions, in order, fetched a few batches ahead of the consumer.

    A metastore looks entries up in one thread per call, so several calls run at once.

    Raises:
        ExternalError: As in ``get_partitions``.
    """
    size = _batch_size(table, len(names))
    batches = [names[start : start + size] for start in range(0, len(names), size)]
    if len(batches) < 2:
        yield from zip(names, get_partitions(client, table, [name.name for name in names]), strict=True)
        return
    pool = ThreadPoolExecutor(_CALLS_AT_ONCE, thread_name_prefix="hive-partitions")
    try:
        asked: deque[tuple[Sequence[PartitionName], Future[list[Partition]]]] = deque()
        for batch in batches:
            asked.append((batch, pool.submit(get_partitions, client, table, [name.name for name in batch])))
            if len(asked) > _CALLS_AT_ONCE:
                done, answer = asked.popleft()
                yield from zip(done, answer.result(), strict=True)
        for done, answer in asked:
            yield from zip(done, answer.result(), strict=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def key_value(text: str, arrow: pa.DataType, where: str) -> Value | None:
    """The value of a partition key: its text cast to the key's type by Hive's rules for rows.

    A text that is not a value of the type is NULL. So is a number out of range, where Hive returns its lower bits.

    Args:
        text: Unescaped; ``DEFAULT_PARTITION`` is NULL.
        arrow: Type of the key.
        where: The key and partition, for the message.

    Raises:
        ExternalError: The value is a time that Python cannot represent (code ``BAD_PARTITION_VALUE``).
        NotSupportedError: A key cannot have the type.
    """
    if text == DEFAULT_PARTITION:
        return None
    try:
        # The usual spellings mean the same to all readers, and parse faster this way.
        if text == text.strip():
            return partition_value(text, arrow, where)
    except ExternalError:
        pass
    function = adaptation(pa.string(), arrow, TimeConventions(), where, rules=ROW_RULES)
    found = pa.array([text], pa.string())
    try:
        value: Value | None = (function(found) if function else found)[0].as_py()
    except (ValueError, OverflowError):
        return partition_value(text, arrow, where)
    return value


class _NameReader:
    """Parses names of partitions and evaluates the filter; each distinct part of a name is parsed once.

    Keys in the filter come first: where they do not match, the other keys are not parsed.
    """

    def __init__(self, table: HiveTableHandle, domains: dict[str, Domain]) -> None:
        self._table = table
        keys = list(enumerate(table.partition_keys))
        keys.sort(key=lambda numbered: numbered[1].name not in domains)
        rules = dict(table.text_rules)
        self._readers = [
            (position, _KeyReader(table, key, domains.get(key.name), rules.get(key.name))) for position, key in keys
        ]

    def read(self, name: str) -> PartitionName | None:
        """The partition; ``None`` where it does not match the filter."""
        parts = name.split("/")
        if len(parts) != len(self._readers):
            raise _bad_name(self._table, name)
        values: list[tuple[str, Value | None]] = [_NOT_READ] * len(parts)
        for position, reader in self._readers:
            value = reader.read(parts[position], name)
            if value is None:
                return None
            values[position] = value
        return PartitionName(name, tuple(values))


class _KeyReader:
    def __init__(self, table: HiveTableHandle, key: ColumnHandle, domain: Domain | None, rule: TextRule | None) -> None:
        self._table = table
        self._key = key
        self._domain = domain
        self._rule = rule
        self._known: dict[str, tuple[str, Value | None] | None] = {}

    def read(self, part: str, name: str) -> tuple[str, Value | None] | None:
        """Key and value of a part such as ``ds=2024-01-01``; ``None`` where the value does not match the filter."""
        if part not in self._known:
            value = self._type(part, name)
            fits = self._domain is None or self._domain.includes_value(value)
            self._known[part] = (self._key.name, value) if fits else None
        return self._known[part]

    def _type(self, part: str, name: str) -> Value | None:
        written, _, text = part.partition("=")
        if unescape_path_name(written).lower() != self._key.name:
            raise _bad_name(self._table, name)
        where = f"key '{self._key.name}' of partition {name} of {self._table.name}"
        value = key_value(unescape_path_name(text), self._key.type, where)
        if self._rule is None or value is None:
            return value
        # Values of char and varchar keys are padded and cut.
        padded: str = apply_text_rule(pa.array([value], pa.string()), self._rule)[0].as_py()
        return padded


def _batch_size(table: HiveTableHandle, count: int) -> int:
    """Number of entries to fetch per call.

    Long batches cost a metastore less per entry, but there must be enough batches for all concurrent calls. Each entry
    repeats the table's columns, and a response must stay well below the maximum message size.
    """
    longest = min(_LONGEST_BATCH, _FIELDS_IN_A_BATCH // max(1, len(table.data_columns)))
    return max(_BATCH, min(longest, -(-count // _CALLS_AT_ONCE)))


def _key_fields(table: HiveTableHandle) -> tuple[FieldSchema, ...]:
    """The keys with their metastore types, as far as filters need them."""
    ruled = {name for name, _ in table.text_rules}
    return tuple(
        FieldSchema(key.name, "char" if key.name in ruled else hive_type_text(key.type)) for key in table.partition_keys
    )


def _bad_name(table: HiveTableHandle, name: str) -> MetastoreError:
    return MetastoreError(
        f"partition {name!r} of {table.name} does not fit the partition keys "
        f"{', '.join(key.name for key in table.partition_keys)}; drop the partition",
        error_codes.HIVE_BAD_PARTITION,
    )


_NOT_READ: tuple[str, Value | None] = ("", None)
