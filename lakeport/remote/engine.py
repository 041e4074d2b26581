"""A server as the engine of a session: it knows the catalogs, and runs every statement as it is."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext

import pyarrow as pa
from pyspark.sql.connect.session import SparkSession

from connector_spi.errors import NotSupportedError
from connector_spi.names import quote_identifier
from lakeport.engine import Engine, FunctionUsage, Parameters, Work
from lakeport.remote.connection import connect_to_server, shown_address
from lakeport.remote.result import RemoteResult, RemoteWork
from lakeport.sql.explain.request import ExplainRequest
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.session_properties import PREFIX

__all__ = ["RemoteEngine"]

_numbers = itertools.count(1)


class RemoteEngine(Engine[RemoteResult]):
    """Runs statements in a session of a server.

    Args:
        address: See ``connect_to_server``, whose errors it raises.
    """

    name = "server"
    title = "a server"
    own_catalogs = ("spark_catalog",)

    def __init__(self, address: str) -> None:
        self._address = shown_address(address)
        self._session = connect_to_server(address)
        self.title = self._address

    @property
    def session(self) -> SparkSession:
        """The session of Spark Connect."""
        return self._session

    @property
    def is_started(self) -> bool:
        return True

    def start(self) -> None:
        """Does nothing: it is connected."""

    def close(self) -> None:
        self._session.stop()

    def facts(self) -> list[str]:
        return [f"Server: {self._address}, Spark {self._session.version}"]

    def catalogs(self) -> list[str]:
        """Names of the server's catalogs."""
        return sorted(one.name for one in self._session.catalog.listCatalogs())

    def setting(self, name: str) -> str | None:
        return self._session.conf.get(name, None)

    def session_properties(self) -> dict[str, str]:
        settings = self._session.conf.getAll
        return {key.removeprefix(PREFIX): text for key, text in settings.items() if key.startswith(PREFIX)}

    def keep_session_properties(self, properties: Mapping[str, str]) -> None:
        for name in self.session_properties().keys() - properties.keys():
            self._session.conf.unset(PREFIX + name)
        for name, text in properties.items():
            self._session.conf.set(PREFIX + name, text)

    def plan(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> RemoteResult:
        given = dict(args) if isinstance(args, Mapping) else None if args is None else list(args)
        return RemoteResult(self._session.sql(text, args=given))

    def table(self, name: str, lease: ReadLease | None = None) -> RemoteResult:
        return RemoteResult(self._session.table(name))

    def show_stats(self, name: str, lease: ReadLease | None = None) -> RemoteResult:
        raise NotSupportedError("SHOW STATS is not run by a server; use lakeport sql with --catalogs")

    def rows_of(self, table: pa.Table) -> RemoteResult:
        return RemoteResult(self._session.createDataFrame(table))

    def explain(self, request: ExplainRequest, lease: ReadLease | None = None) -> RemoteResult:
        return self.plan(f"EXPLAIN {request.query}")

    def block(self, lease: ReadLease) -> AbstractContextManager[None]:
        return nullcontext()

    def work(self, label: str) -> Work:
        return RemoteWork(self._session, f"lakeport-{os.getpid()}-{next(_numbers)}")

    def current_catalog(self) -> str:
        return str(self._session.catalog.currentCatalog())

    def current_schema(self) -> str:
        return str(self._session.catalog.currentDatabase())

    def function_names(self) -> list[str]:
        return self.texts("SHOW SYSTEM FUNCTIONS", 0)

    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        return [FunctionUsage(name, "", "") for name in names]

    def texts(self, statement: str, column: int) -> list[str]:
        """The texts of a column of a statement's rows."""
        return [str(row[column]) for row in self._session.sql(statement).collect()]

    def schemas(self, catalog: str) -> list[str]:
        """Names of the schemas of a catalog."""
        return self.texts(f"SHOW SCHEMAS IN {quote_identifier(catalog)}", 0)

    def tables(self, catalog: str, schema: str) -> list[str]:
        """Names of the tables and views of a schema, without temporary views."""
        name = f"{quote_identifier(catalog)}.{quote_identifier(schema)}"
        rows = self._session.sql(f"SHOW TABLES IN {name}").collect()
        return sorted(str(row["tableName"]) for row in rows if not row["isTemporary"])
