"""``GRANT``, ``REVOKE``, ``SHOW GRANTS`` and roles in the statements of clients, which Spark's parser refuses."""

from __future__ import annotations

import re
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.registry import CatalogRegistry
from lakeport.server.spark_support import needed_of_spark
from lakeport.spark.bridge.compiled.delegation import VERSION, delegating_methods
from lakeport.spark.bridge.compiled.java_classes import class_jar, load_class, source
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.catalog.procedures import grant_call
from lakeport.sql.grants.request import GrantKind, grant_request
from lakeport.sql.grants.running import catalog_of
from lakeport.transactions.engine_settings import ROLE
from lakeport.transactions.session_properties import PREFIX

__all__ = ["accept_grant_statements"]

_CLASS = "GrantStatements"
_PARSER = "org.apache.spark.sql.catalyst.parser.ParserInterface"


class GrantStatementsProxy(Proxy):
    """Rewords statements.

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
        """The statement that Spark runs in the place of one about privileges; others as they are.

        Args:
            session: In which the statement is to run.
            words: The statement.
        """
        request = grant_request(words)
        if request is None:
            return words
        manager = session.sessionState().catalogManager()
        current = str(manager.currentCatalog().name()), ".".join(self._jvm.texts(manager.currentNamespace()))
        catalog = catalog_of(request, current)
        if catalog not in self._registry.names():
            return words  # Spark's own words say that it knows none
        if request.kind is GrantKind.SET_ROLE:
            return f"SET {PREFIX}{catalog}.{ROLE.name}={request.roles[0]}"
        return grant_call(catalog, words, current)


def accept_grant_statements(jvm: Jvm, session: JavaObject, registry: CatalogRegistry) -> None:
    """Has the parsers of all sessions that come from a session accept these statements.

    Args:
        jvm: The JVM.
        session: The Java session.
        registry: The catalogs.

    Raises:
        NotSupportedError: This Spark's parsers are of another form.
    """
    text = source(_CLASS)
    with needed_of_spark(jvm, "parsers"):
        jar = class_jar(jvm, _CLASS, f"{VERSION} {text}", lambda: _completed(jvm, text))
        given = jvm.array("java.lang.Object", [GrantStatementsProxy(jvm, registry)])
        [constructor] = jvm.items(load_class(jvm, jar, _CLASS).getConstructors())
        session.extensions().injectParser(constructor.newInstance(given))


def _completed(jvm: Jvm, text: str) -> str:
    methods = delegating_methods(jvm, [_PARSER], "parser", without=())
    return text.replace("    // METHODS\n", re.sub(r"\.(parsePlan\w*)\(a0", r".\1(reworded(a0)", methods))
