"""Has the Thrift server answer what JDBC asks about catalogs from the catalogs, as each client may see them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.registry import CatalogRegistry
from connector_spi.errors import InternalError
from lakeport.planning.redirection import list_catalog
from lakeport.server.jdbc.answers import Row, column_rows, schema_rows, table_rows
from lakeport.server.jdbc.content import CatalogContent, LakeportContent, SparkContent
from lakeport.server.spark_support import needed_of_spark
from lakeport.spark.bridge.compiled.java_classes import new_instance
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.statements import new_statement
from lakeport.transactions.statement import Statement, statement_scope

__all__ = ["answer_metadata_calls"]

_CLASS = "MetadataOperations"


def answer_metadata_calls(jvm: Jvm, session_manager: JavaObject, registry: CatalogRegistry) -> None:
    """Replaces what makes the operations of a Thrift server; sessions that are opened from now on have it.

    Args:
        jvm: The JVM.
        session_manager: Spark's ``SparkSQLSessionManager``.
        registry: The catalogs.

    Raises:
        NotSupportedError: This Spark's operations are made otherwise.
    """
    with needed_of_spark(jvm, "operations"):
        new_instance(jvm, _CLASS, MetadataProxy(jvm, registry)).replace(session_manager)


class MetadataProxy(Proxy):
    """Answers the metadata calls of clients.

    Args:
        jvm: The JVM.
        registry: The catalogs.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.BiFunction"]

    def __init__(self, jvm: Jvm, registry: CatalogRegistry) -> None:
        super().__init__(jvm)
        self._registry = registry

    def apply(self, session: JavaObject, words: str) -> str:
        """The rows of a call as JSON.

        Args:
            session: That of the client, whose user the thread has.
            words: The kind of the call, and its arguments in JDBC's order.
        """
        kind, *arguments = json.loads(words)
        with statement_scope(new_statement(self._jvm, self._registry, session=session)) as statement:
            found = list(self._rows(statement, session.sessionState().catalogManager(), kind, arguments))
            statement.commit()
        return json.dumps(found)

    def _rows(self, statement: Statement, manager: JavaObject, kind: str, arguments: list[object]) -> Iterator[Row]:
        if kind == "catalogs":
            return iter([[name] for name in self._names(statement, manager)])
        catalog, *patterns = arguments
        contents = self._contents(statement, manager, None if catalog is None else str(catalog))
        rows = {"schemas": schema_rows, "tables": table_rows, "columns": column_rows}.get(kind)
        if rows is None:
            raise InternalError(f"JDBC asks for {kind}, which this version does not have")
        return rows(contents, *patterns)  # type: ignore[operator, no-any-return]

    def _contents(self, statement: Statement, manager: JavaObject, asked: str | None) -> dict[str, CatalogContent]:
        """The catalogs that a call is about: all, the current one (an empty name), or the one of a name."""
        wanted = str(manager.currentCatalog().name()) if asked == "" else asked
        return {
            name: self._content(statement, manager, name)
            for name in self._names(statement, manager)
            if wanted is None or name.lower() == wanted.lower()
        }

    def _content(self, statement: Statement, manager: JavaObject, name: str) -> CatalogContent:
        if name in self._registry.names():
            return LakeportContent(list_catalog(statement.access(name)))
        return SparkContent(self._jvm, manager.catalog(name))

    def _names(self, statement: Statement, manager: JavaObject) -> list[str]:
        """The catalogs of the session that its user may see."""
        listed = manager.listCatalogs(self._jvm.none)
        there, ours = {str(listed.apply(index)) for index in range(listed.length())}, self._registry.names()
        control = self._registry.security.access_control
        return sorted({*(there - {*ours}), *control.filter_catalogs(statement.identity, ours)})
