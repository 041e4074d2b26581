"""The catalog ``system`` of a server: ``runtime.queries`` and ``runtime.kill_query``, with Trino's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.handles import TableHandle
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain, Value
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.security import SystemAccessControl
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from connector_spi.system_tables import SystemTable
from lakeport.server.queries.history import KILLED, QueryHistory
from lakeport.server.queries.operations import QueryOperations
from lakeport.server.queries.query import ServedQuery

__all__ = ["CATALOG", "SystemConnector"]

CATALOG = "system"
_RUNTIME = "runtime"
_TIME = pa.timestamp("us", "UTC")
_COLUMNS = {
    "query_id": pa.string(),
    "state": pa.string(),
    "user": pa.string(),
    "source": pa.string(),
    "query": pa.string(),
    "created": _TIME,
    "started": _TIME,
    "end": _TIME,
    "error_code": pa.string(),
    "error_message": pa.string(),
    "output_rows": pa.int64(),
}


class SystemConnector(Connector):
    """The server about itself; it has nothing but tables that are made on the driver.

    Args:
        history: The queries.
        operations: Ends them.
        control: Says whose queries are shown and ended.
    """

    def __init__(self, history: QueryHistory, operations: QueryOperations, control: SystemAccessControl) -> None:
        self._history = history
        self._operations = operations
        self._control = control

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        return _NoTables()

    @property
    def split_manager(self) -> SplitManager:
        raise InternalError("the catalog 'system' has no tables to scan")

    @property
    def page_source_provider(self) -> PageSourceProvider:
        raise InternalError("the catalog 'system' has no tables to scan")

    @property
    def system_tables(self) -> Sequence[SystemTable]:
        return (_QueriesTable(self._history, self._operations, self._control),)

    @property
    def procedures(self) -> Sequence[Procedure]:
        arguments = (
            ProcedureArgument("query_id", pa.string(), "Of the query."),
            ProcedureArgument("message", pa.string(), "Why; its client reads it.", required=False, default=""),
        )
        result = pa.schema([("query_id", pa.string()), ("state", pa.string())])
        return (
            Procedure(
                _RUNTIME,
                "kill_query",
                "Ends a query of a client.",
                arguments=arguments,
                result=result,
                function=self._kill,
                checks_access=True,
            ),
        )

    def _kill(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        query_id, message = str(arguments["query_id"]), str(arguments["message"] or "")
        self._operations.settle()
        query = self._history.get(query_id)
        if query is None or not _is_shown(self._control, session, query):
            raise InvalidArgumentError(f"no query '{query_id}'; SELECT * FROM system.runtime.queries lists them")
        if query.state.is_done:
            raise InvalidArgumentError(f"the query '{query_id}' does not run: it is {query.state.value}")
        if query.user != session.user:
            self._control.check_can_kill_query_owned_by(session.identity, query.user)
        said = f": {message}" if message else ""
        self._operations.kill(query, f"[{KILLED}] the query was killed by user '{session.user}'{said}")
        self._operations.settle()
        found = self._history.get(query_id) or query
        return pa.table({"query_id": [query_id], "state": [found.state.value]})


class _NoTables(ConnectorMetadata):
    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return ()

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        return ()

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        return None

    def get_table_metadata(self, session: ConnectorSession, table: TableHandle) -> TableMetadata:
        raise InternalError(f"{table} is no table of the catalog 'system'")


class _QueriesTable(SystemTable):
    """The queries that run, and the last that ended, oldest first."""

    def __init__(self, history: QueryHistory, operations: QueryOperations, control: SystemAccessControl) -> None:
        self._history = history
        self._operations = operations
        self._control = control

    @property
    def checks_access(self) -> bool:
        return True

    @property
    def metadata(self) -> TableMetadata:
        columns = tuple(ColumnMetadata(name, kind) for name, kind in _COLUMNS.items())
        return TableMetadata(
            SchemaTableName(_RUNTIME, "queries"),
            columns,
            comment="The queries that run, and the last",
        )

    @property
    def is_local(self) -> bool:
        # It has to be read when all tasks of Spark are taken by what is to be killed.
        return True

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        self._operations.settle()
        rows = [
            {
                "query_id": query.query_id,
                "state": query.state.value,
                "user": query.user,
                "source": query.source,
                "query": query.text,
                "created": query.created,
                "started": query.started,
                "end": query.end,
                "error_code": query.error_code,
                "error_message": query.error,
                "output_rows": query.rows,
            }
            for query in self._history.queries()
            if _is_shown(self._control, session, query)
        ]
        yield pa.RecordBatch.from_pylist(rows, pa.schema(_COLUMNS.items()))


def _is_shown(control: SystemAccessControl, session: ConnectorSession, query: ServedQuery) -> bool:
    return query.user == session.user or control.can_view_query_owned_by(session.identity, query.user)
