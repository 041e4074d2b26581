"""``GRANT``, ``REVOKE``, ``SHOW GRANTS`` and roles in ``spark.sql``, whose own parser refuses them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import ClassVar, TypeAlias

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.registry import CatalogRegistry
from lakeport.spark.bridge.compiled.delegation import VERSION, delegating_methods
from lakeport.spark.bridge.compiled.java_classes import class_jar, first_line, load_class, source
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.sql.grants.call import grant_call
from lakeport.sql.grants.request import GrantKind, grant_request
from lakeport.sql.grants.running import catalog_of
from lakeport.transactions.engine_settings import ROLE
from lakeport.transactions.session_properties import PREFIX

__all__ = ["GrantParsers", "grant_parsers"]

Reword: TypeAlias = Callable[[JavaObject, str], str]
"""Is given a session and a statement, and gives the one to run."""

_log = logging.getLogger(__name__)
_REFUSED = "spark.sql does not know GRANT and REVOKE here, session.sql does: %s"
_CLASS = "GrantStatements"
_WORDS = "GRANT|REVOKE|ROLE|GRANTS|ROLES"
_OTHER_WORDS = "TABLES|VIEWS|DESC|DESCRIBE"
"""What a statement has in it that Python is to look at."""
_PARSER = "org.apache.spark.sql.catalyst.parser.ParserInterface"


class GrantStatementsProxy(Proxy):
    """Rewords statements.

    Args:
        jvm: The JVM.
        registry: The catalogs.
        others: Rewords other statements of a session.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.BiFunction"]

    def __init__(self, jvm: Jvm, registry: CatalogRegistry, others: Reword | None) -> None:
        super().__init__(jvm)
        self._registry = registry
        self._others = others

    def apply(self, session: JavaObject, words: str) -> str:
        """The statement that Spark runs in the place of one about privileges; others as they are.

        Args:
            session: In which the statement is to run.
            words: The statement.
        """
        request = None if self._registry.is_closed else grant_request(words)
        if request is None:
            return words if self._others is None else self._others(session, words)
        manager = session.sessionState().catalogManager()
        current = str(manager.currentCatalog().name()), ".".join(self._jvm.texts(manager.currentNamespace()))
        catalog = catalog_of(request, current)
        if catalog not in self._registry.names():
            return words  # Spark's own words say that it knows none
        if request.kind is GrantKind.SET_ROLE:
            return f"SET {PREFIX}{catalog}.{ROLE.name}={request.roles[0]}"
        return grant_call(catalog, words, current)


class GrantParsers:
    """Parsers of Spark sessions that accept these statements of a registry's catalogs.

    Args:
        jvm: The JVM.
        registry: The catalogs.
        others: Rewords other statements of a session: those that list and describe tables.

    Attributes:
        java: Makes a parser around another, as ``SparkSessionExtensions.injectParser`` takes it.

    Raises:
        Py4JError: This Spark's parsers are of another form.
    """

    def __init__(self, jvm: Jvm, registry: CatalogRegistry, others: Reword | None = None) -> None:
        text = source(_CLASS)
        jar = class_jar(jvm, _CLASS, f"{VERSION} {text}", lambda: _completed(jvm, text))
        [constructor] = jvm.items(load_class(jvm, jar, _CLASS).getConstructors())
        words = _WORDS if others is None else f"{_WORDS}|{_OTHER_WORDS}"
        given = jvm.array("java.lang.Object", [GrantStatementsProxy(jvm, registry, others), words])
        self.java: JavaObject = constructor.newInstance(given)

    def put_into(self, session: JavaObject) -> None:
        """Puts one around the parser of a Java session that has its parser already."""
        try:
            self.java.putInto(session)
        except Py4JError as error:
            _log.warning(_REFUSED, first_line(error))

    def take_from(self, session: JavaObject) -> None:
        """Gives a session its own parser back, unless someone has put another one around ours."""
        self.java.takeFrom(session)


def grant_parsers(jvm: Jvm, registry: CatalogRegistry) -> GrantParsers | None:
    """``GrantParsers``; ``None`` where this Spark has parsers of another form, so that it refuses these statements."""
    try:
        return GrantParsers(jvm, registry)
    except (Py4JError, OSError) as error:
        _log.warning(_REFUSED, first_line(error))
        return None


def _completed(jvm: Jvm, text: str) -> str:
    methods = delegating_methods(jvm, [_PARSER], "parser", without=())
    return text.replace("    // METHODS\n", re.sub(r"\.(parsePlan\w*)\(a0", r".\1(reworded(a0)", methods))
