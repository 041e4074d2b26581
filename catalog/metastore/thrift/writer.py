"""The metastore over Thrift: writes, for Hive 2.3, 3.1 and 4.x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.client import MetastoreClient, MetastoreWriter
from catalog.metastore.model import ColumnStatistics, Database, Parameters, Partition, Table
from catalog.metastore.partitions.names import make_partition_name
from catalog.metastore.thrift.client import fetch_partitions, fetch_table
from catalog.metastore.thrift.connections.connection import ABILITIES, IDENTIFIER, ThriftConnections
from catalog.metastore.thrift.convert import (
    changed_database,
    changed_table,
    database_to_thrift,
    owner_privileges,
    partition_to_thrift,
    table_to_thrift,
)
from catalog.metastore.thrift.errors import no_database, no_table
from catalog.metastore.thrift.new_tables import creation_request, planned_location
from catalog.metastore.thrift.statistics_writes import (
    drop_partition_statistics,
    drop_table_statistics,
    set_statistics,
)
from connector_spi.errors import ConnectorError, MetastoreError, SchemaNotFoundError

__all__ = ["ThriftMetastoreWriter"]

# StatsSetupConst.DO_NOT_UPDATE_STATS: else some metastores list the table's directory to count its files.
_KEEP_STATISTICS = {"DO_NOT_UPDATE_STATS": "true"}


class ThriftMetastoreWriter(MetastoreWriter):
    """Writes of a metastore over Thrift.

    Args:
        connections: The pool, which ``reads`` closes.
        reads: Tells why a write failed: metastores often do not say.
        username: Owner of tables that name none.
    """

    def __init__(self, connections: ThriftConnections, reads: MetastoreClient, username: str) -> None:
        self._connections = connections
        self._reads = reads
        self._username = username

    def create_database(self, database: Database) -> None:
        raw = database_to_thrift(database)
        self._connections.call("create_database", lambda client: client.create_database(raw))

    def alter_database(self, database: Database) -> None:
        name = database.name.lower()
        # Some metastores pass over a database that is missing in silence; this one raises an error.
        raw = self._connections.call(
            "get_database",
            lambda client: changed_database(client.get_database(name), database),
            lambda _: no_database(name),
        )
        self._connections.call(
            "alter_database", lambda client: client.alter_database(name, raw), lambda _: no_database(name)
        )

    def create_table(self, table: Table) -> None:
        raw = table_to_thrift(table, self._username)
        # Whoever makes a table may use it where others check such grants (Hive's and Trino's SQL standard).
        raw.privileges = owner_privileges(raw.owner)
        if table.table_type == "EXTERNAL_TABLE":
            # The metastore goes by the property, and would make a managed table without it.
            raw.parameters["EXTERNAL"] = "TRUE"
        request = creation_request(raw)
        try:
            self._connections.call_first_known(
                ("create_table_req", lambda client: client.create_table_req(request)),
                ("create_table", lambda client: client.create_table(raw)),
                SchemaNotFoundError,
            )
        except MetastoreError as error:
            # Hive 2 and 3 complain of an "invalid object" instead.
            if error.code == error_codes.REFUSED_REQUEST and self._reads.get_database(table.database) is None:
                raise no_database(table.database) from error
            raise

    def planned_location(self, table: Table) -> str:
        return planned_location(self._connections, creation_request(table_to_thrift(table, self._username)))

    def alter_table(self, database: str, name: str, table: Table) -> None:
        raw = fetch_table(self._connections, database, name, lambda found: changed_table(found, table))
        if raw is None:
            raise no_table(database, name)
        context = ttypes.EnvironmentContext(dict(_KEEP_STATISTICS))
        request = ttypes.AlterTableRequest(
            dbName=database.lower(),
            tableName=name.lower(),
            table=raw,
            environmentContext=context,
            processorCapabilities=ABILITIES,
            processorIdentifier=IDENTIFIER,
        )
        try:
            self._connections.call_first_known(
                ("alter_table_req", lambda client: client.alter_table_req(request)),
                (
                    "alter_table_with_environment_context",
                    lambda client: client.alter_table_with_environment_context(
                        database.lower(), name.lower(), raw, context
                    ),
                ),
                lambda _: no_table(database, name),
            )
        except MetastoreError as error:
            # Metastores call a table that is not there an invalid operation.
            if error.code == error_codes.REFUSED_REQUEST:
                self._check_table(database, name)
            raise

    def drop_table(self, database: str, name: str, delete_data: bool = False, purge: bool = False) -> None:
        schema, table = database.lower(), name.lower()
        context = ttypes.EnvironmentContext({"ifPurge": "TRUE"})
        if purge:
            self._connections.call(
                "drop_table_with_environment_context",
                lambda client: client.drop_table_with_environment_context(schema, table, delete_data, context),
                lambda _: no_table(database, name),
            )
            return
        self._connections.call(
            "drop_table",
            lambda client: client.drop_table(schema, table, delete_data),
            lambda _: no_table(database, name),
        )

    def drop_database(self, name: str, cascade: bool = False) -> None:
        try:
            self._connections.call(
                "drop_database",
                lambda client: client.drop_database(name.lower(), False, cascade),
                lambda _: no_database(name),
            )
        except MetastoreError as error:
            # Hive 2 meets a database that is not there with a NullPointerException.
            if self._reads.get_database(name) is None:
                raise no_database(name) from error
            raise

    def add_partitions(self, database: str, table: str, partitions: Sequence[Partition]) -> None:
        request = ttypes.AddPartitionsRequest(
            database.lower(), table.lower(), [partition_to_thrift(one) for one in partitions], False, needResult=False
        )
        try:
            self._connections.call(
                "add_partitions_req",
                lambda client: client.add_partitions_req(request),
                lambda _: no_table(database, table),
            )
        except MetastoreError as error:
            if error.code == error_codes.REFUSED_REQUEST:
                self._check_table(database, table)
            raise

    def drop_partitions(self, database: str, table: str, names: Sequence[str]) -> None:
        if not names:
            return
        request = ttypes.DropPartitionsRequest(
            dbName=database.lower(),
            tblName=table.lower(),
            parts=ttypes.RequestPartsSpec(names=list(names)),
            deleteData=False,
            ifExists=False,
            needResult=False,
        )

        def missing(said: str) -> ConnectorError:
            return MetastoreError(said, error_codes.REFUSED_REQUEST)

        try:
            self._connections.call("drop_partitions_req", lambda client: client.drop_partitions_req(request), missing)
        except MetastoreError as error:
            if error.code == error_codes.REFUSED_REQUEST:
                self._check_table(database, table)
            raise

    def set_partition_parameters(self, database: str, table: str, parameters: Mapping[str, Parameters]) -> None:
        if not parameters:
            return
        schema, name = database.lower(), table.lower()
        owner = self._reads.get_table(schema, name)
        if owner is None:
            raise no_table(database, table)
        raw = fetch_partitions(self._connections, schema, name, list(parameters), list)
        keys = [key.name for key in owner.partition_keys]
        by_name = {make_partition_name(keys, one.values): one for one in raw}
        missing = sorted(set(parameters).difference(by_name))
        if missing:
            raise MetastoreError(f"table {schema}.{name} has no partition {missing[0]}", error_codes.REFUSED_REQUEST)
        for partition, entries in parameters.items():
            by_name[partition].parameters = dict(entries)
        self._alter_partitions(schema, name, [by_name[partition] for partition in parameters])

    def _alter_partitions(self, schema: str, name: str, partitions: list[ttypes.Partition]) -> None:
        context = ttypes.EnvironmentContext(dict(_KEEP_STATISTICS))
        request = ttypes.AlterPartitionsRequest(
            dbName=schema, tableName=name, partitions=partitions, environmentContext=context
        )
        self._connections.call_first_known(
            ("alter_partitions_req", lambda client: client.alter_partitions_req(request)),
            (
                "alter_partitions_with_environment_context",
                lambda client: client.alter_partitions_with_environment_context(schema, name, partitions, context),
            ),
        )

    def set_table_statistics(self, database: str, table: str, statistics: Sequence[ColumnStatistics]) -> None:
        description = ttypes.ColumnStatisticsDesc(True, database.lower(), table.lower())
        self._set_statistics("update_table_column_statistics", description, statistics)

    def set_partition_statistics(
        self, database: str, table: str, statistics: Mapping[str, Sequence[ColumnStatistics]]
    ) -> None:
        for name, columns in statistics.items():
            description = ttypes.ColumnStatisticsDesc(False, database.lower(), table.lower(), name)
            self._set_statistics("update_partition_column_statistics", description, columns)

    def drop_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> None:
        drop_table_statistics(self._connections, database.lower(), table.lower(), columns)

    def drop_partition_statistics(
        self, database: str, table: str, columns: Sequence[str], partitions: Sequence[str]
    ) -> None:
        drop_partition_statistics(self._connections, database.lower(), table.lower(), columns, partitions)

    def _set_statistics(
        self, method: str, description: ttypes.ColumnStatisticsDesc, statistics: Sequence[ColumnStatistics]
    ) -> None:
        try:
            set_statistics(self._connections, method, description, statistics)
        except MetastoreError:
            self._check_table(description.dbName, description.tableName)
            raise

    def _check_table(self, database: str, table: str) -> None:
        if self._reads.get_table(database, table) is None:
            raise no_table(database, table)
