"""The metastore over Thrift: reads, for Hive 2.3, 3.1 and 4.x."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes
from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Partition, Table
from catalog.metastore.partitions.names import in_batches, partition_values, prune_partition_names
from catalog.metastore.partitions.patterns import partition_patterns
from catalog.metastore.thrift.connections.connection import (
    ABILITIES,
    ENGINE,
    IDENTIFIER,
    ThriftConnections,
)
from catalog.metastore.thrift.convert import PartitionReader, database_from_thrift, table_from_thrift
from catalog.metastore.thrift.errors import no_database, no_table
from catalog.metastore.thrift.statistics import statistics_from_thrift
from connector_spi.errors import MetastoreError, SchemaNotFoundError, TableNotFoundError

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["ThriftMetastore", "fetch_table"]

ResultT = TypeVar("ResultT")

_FEWEST_NAMES = 50
"""A call for so many partitions that is refused is not made again for fewer."""
_TABLES_AT_ONCE = 300
"""What Hive's own client asks for at once (``metastore.batch.retrieve.max``)."""


class ThriftMetastore(MetastoreClient):
    """Reads of a metastore over Thrift.

    Args:
        connections: The pool; closed with this client.
        partition_batch_size: Most partitions asked for in one call.
        canonical_keys: All values of integral keys and dates are written as Hive writes them.
    """

    def __init__(
        self, connections: ThriftConnections, partition_batch_size: int = 5000, canonical_keys: bool = False
    ) -> None:
        self._connections = connections
        self._partition_batch_size = partition_batch_size
        self._canonical_keys = canonical_keys

    def get_databases(self) -> list[str]:
        return self._connections.call("get_all_databases", lambda client: sorted(client.get_all_databases()))

    def get_database(self, name: str) -> Database | None:
        try:
            return self._connections.call(
                "get_database",
                lambda client: database_from_thrift(client.get_database(name.lower())),
                SchemaNotFoundError,
            )
        except SchemaNotFoundError:
            return None

    def get_table_names(self, database: str) -> list[str]:
        within = database.lower()
        names = self._connections.call("get_all_tables", lambda client: sorted(client.get_all_tables(within)))
        # The metastore answers "none" for a database that is not there.
        if not names and self.get_database(database) is None:
            raise no_database(database)
        return names

    def get_table(self, database: str, name: str) -> Table | None:
        return fetch_table(self._connections, database, name, table_from_thrift)

    def get_tables(self, database: str, names: Sequence[str]) -> list[Table]:
        found: list[Table] = []
        for batch in in_batches([name.lower() for name in names], _TABLES_AT_ONCE):
            try:
                found += self._get_tables(database.lower(), batch)
            except SchemaNotFoundError:
                return []
            except MetastoreError as error:
                if error.code != error_codes.REFUSED_REQUEST:
                    raise
                # One of them may be kept from us, of which Hive makes an error of all.
                found += super().get_tables(database, batch)
        return found

    def get_partition_names(self, database: str, table: str) -> list[str]:
        within = database.lower()
        names = self._list_partitions(
            database,
            table,
            "get_partition_names",
            lambda client: client.get_partition_names(within, table.lower(), -1),
        )
        return names or self._nothing_in(database, table)

    def filters_partitions(self, predicate: TupleDomain[str], partition_keys: Sequence[FieldSchema]) -> bool:
        return partition_patterns(predicate, partition_keys, self._canonical_keys) is not None

    def get_partition_names_by_filter(
        self,
        database: str,
        table: str,
        predicate: TupleDomain[str],
        partition_keys: Sequence[FieldSchema] = (),
    ) -> list[str]:
        if predicate.is_none:
            return self._nothing_in(database, table)
        patterns = partition_patterns(predicate, partition_keys, self._canonical_keys)
        if patterns is None:
            return prune_partition_names(self.get_partition_names(database, table), predicate)
        names: set[str] = set()
        for pattern in patterns:
            names.update(self._match_partitions(database, table, pattern))
        return prune_partition_names(sorted(names or self._nothing_in(database, table)), predicate)

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        wanted = list(names)
        found: dict[tuple[str, ...], Partition] = {}
        reader = PartitionReader()
        for batch in in_batches(dict.fromkeys(wanted), self._partition_batch_size):
            for partition in self._get_partitions(database, table, batch, reader):
                found[partition.values] = partition
        if wanted and not found:
            return self._nothing_in(database, table)
        ordered = (found.get(partition_values(name)) for name in wanted)
        return [partition for partition in ordered if partition is not None]

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        names = [column.lower() for column in columns]
        if not names:
            return []
        request = ttypes.TableStatsRequest(database.lower(), table.lower(), names, engine=ENGINE)
        found = self._connections.call(
            "get_table_statistics_req",
            lambda client: _in_order(client.get_table_statistics_req(request).tableStats, names),
            lambda _: no_table(database, table),
        )
        return found or self._nothing_in(database, table)

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        names = [column.lower() for column in columns]
        found: dict[str, list[ColumnStatistics]] = {}
        if not names:
            return found
        for batch in in_batches(partitions, self._partition_batch_size):
            request = ttypes.PartitionsStatsRequest(database.lower(), table.lower(), names, batch, engine=ENGINE)
            found.update(self._get_partition_statistics(request))
        if partitions and not found:
            self._nothing_in(database, table)
        return {name: found[name] for name in partitions if name in found}

    def close(self) -> None:
        self._connections.close()

    def _match_partitions(self, database: str, table: str, pattern: list[str]) -> list[str]:
        within = database.lower()
        return self._list_partitions(
            database,
            table,
            "get_partition_names_ps",
            lambda client: client.get_partition_names_ps(within, table.lower(), pattern, -1),
        )

    def _get_tables(self, database: str, names: list[str]) -> list[Table]:
        request = ttypes.GetTablesRequest(
            database,
            names,
            ttypes.ClientCapabilities([ttypes.ClientCapability.INSERT_ONLY_TABLES]),
            processorCapabilities=ABILITIES,
            processorIdentifier=IDENTIFIER,
        )

        def read(tables: Iterable[ttypes.Table]) -> list[Table]:
            return [table_from_thrift(one) for one in tables]

        # As of get_table: Hive 1.2 lacks the first, Hive 4.1 and later the second.
        return self._connections.call_first_known(
            (
                "get_table_objects_by_name_req",
                lambda client: read(client.get_table_objects_by_name_req(request).tables),
            ),
            ("get_table_objects_by_name", lambda client: read(client.get_table_objects_by_name(database, names))),
            lambda _: no_database(database),
        )

    def _list_partitions(
        self, database: str, table: str, method: str, request: Callable[[ThriftHiveMetastore.Client], list[str]]
    ) -> list[str]:
        with self._about_table(database, table):
            return self._connections.call(
                method, lambda client: sorted(request(client)), lambda _: no_table(database, table)
            )

    @contextmanager
    def _about_table(self, database: str, table: str) -> Iterator[None]:
        """Says it in words when the table is not there; Hive 2 and 4 have other errors for that, even internal ones."""
        try:
            yield
        except MetastoreError as error:
            if error.code == error_codes.REFUSED_REQUEST and self.get_table(database, table) is None:
                raise no_table(database, table) from error
            raise

    def _get_partition_statistics(self, request: ttypes.PartitionsStatsRequest) -> Mapping[str, list[ColumnStatistics]]:
        def ask(client: ThriftHiveMetastore.Client) -> Mapping[str, list[ColumnStatistics]]:
            raw = client.get_partitions_statistics_req(request).partStats
            return {name: _in_order(columns, request.colNames) for name, columns in raw.items() if columns}

        return self._connections.call(
            "get_partitions_statistics_req", ask, lambda _: no_table(request.dbName, request.tblName)
        )

    def _get_partitions(self, database: str, table: str, names: list[str], reader: PartitionReader) -> list[Partition]:
        with self._about_table(database, table):
            return fetch_partitions(self._connections, database, table, names, reader.read_all)

    def _nothing_in(self, database: str, table: str) -> list[ResultT]:
        """An empty list, once it is sure that the table is there: metastores answer "none" also where it is not."""
        if self.get_table(database, table) is None:
            raise no_table(database, table)
        return []


def fetch_partitions(
    connections: ThriftConnections,
    database: str,
    table: str,
    names: list[str],
    read: Callable[[list[ttypes.Partition]], list[ResultT]],
) -> list[ResultT]:
    """What ``read`` makes of the entries of partitions; those that are not there are left out.

    A call for too many is made again for fewer: one condition for each name is more than some databases take, and Hive
    4.0's own query of a thousand that are missing ends in a ``StackOverflowError``.

    Args:
        connections: The pool.
        database: Name of the database.
        table: Name of the table.
        names: Names of the partitions.
        read: As of ``fetch_table``.
    """
    try:
        return _fetch_partitions(connections, database.lower(), table.lower(), names, read)
    except MetastoreError as error:
        if error.code != error_codes.REFUSED_REQUEST or len(names) <= _FEWEST_NAMES:
            raise
    batches = in_batches(names, max(_FEWEST_NAMES, len(names) // 4))
    return [one for batch in batches for one in fetch_partitions(connections, database, table, batch, read)]


def _fetch_partitions(
    connections: ThriftConnections,
    within: str,
    name: str,
    names: list[str],
    read: Callable[[list[ttypes.Partition]], ResultT],
) -> ResultT:
    request = ttypes.GetPartitionsByNamesRequest(
        within, name, names, processorCapabilities=ABILITIES, processorIdentifier=IDENTIFIER, engine=ENGINE
    )
    return connections.call_first_known(
        ("get_partitions_by_names", lambda client: read(client.get_partitions_by_names(within, name, names))),
        (
            "get_partitions_by_names_req",
            lambda client: read(client.get_partitions_by_names_req(request).partitions),
        ),
        lambda _: no_table(within, name),
    )


def fetch_table(
    connections: ThriftConnections, database: str, name: str, read: Callable[[ttypes.Table], ResultT]
) -> ResultT | None:
    """What ``read`` makes of the entry of a table or view; ``None`` when it or its database is missing.

    Args:
        connections: The pool.
        database: Name of the database.
        name: Name of the table.
        read: Called with the entry; what it raises, but for a ``ConnectorError``, is the metastore's fault.
    """
    within, table = database.lower(), name.lower()
    request = ttypes.GetTableRequest(
        within,
        table,
        ttypes.ClientCapabilities([ttypes.ClientCapability.INSERT_ONLY_TABLES]),
        processorCapabilities=ABILITIES,
        processorIdentifier=IDENTIFIER,
    )
    try:
        # Hive 1.2 has get_table only, Hive 4.0.1 and later get_table_req only (HIVE-26537).
        return connections.call_first_known(
            ("get_table_req", lambda client: read(client.get_table_req(request).table)),
            ("get_table", lambda client: read(client.get_table(within, table))),
            TableNotFoundError,
        )
    except TableNotFoundError:
        return None


def _in_order(raw: Iterable[ttypes.ColumnStatisticsObj], names: Sequence[str]) -> list[ColumnStatistics]:
    found = {one.column: one for one in map(statistics_from_thrift, raw)}
    return [found[name] for name in names if name in found]
