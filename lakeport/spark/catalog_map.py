"""The map of catalogs in a Spark session, and how to share Lakeport's catalogs with a cloned session."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import partial

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_SPARK_VERSION
from lakeport.spark.bridge.jvm import Jvm
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.statement import Statement

__all__ = ["add_for_statement", "catalog_map", "drop_for_statement", "keep_catalogs", "share_catalogs"]

_of_statements: dict[str, list[weakref.finalize[..., ReadLease]]] = {}
"""What takes the catalogs of statements out, by the ids of their queries."""


def catalog_map(session: JavaObject, version: str) -> JavaObject:
    """The map by name in a session's ``CatalogManager``, which has no public way to add catalogs.

    Args:
        session: The Java session.
        version: Spark's version, for the message.

    Raises:
        NotSupportedError: The ``CatalogManager`` has no such map.
    """
    manager = session.sessionState().catalogManager()
    try:
        field = manager.getClass().getDeclaredField("catalogs")
        field.setAccessible(True)
        return field.get(manager)
    except Py4JError as error:
        raise NotSupportedError(
            f"Spark {version} keeps its catalogs where Lakeport does not find them "
            "(CatalogManager has no map 'catalogs'); use Spark 4.0 to 4.3",
            UNSUPPORTED_SPARK_VERSION,
        ) from error


def keep_catalogs(jvm: Jvm, registry: CatalogRegistry, catalogs: JavaObject) -> None:
    """Stores a map that has the catalogs of a registry, for ``share_catalogs``."""
    jvm.shared["catalogs of", id(registry)] = catalogs


def add_for_statement(jvm: Jvm, statement: Statement, made: Mapping[str, JavaObject]) -> None:
    """Puts catalogs of one statement into the session that is active in the thread, until the statement is analysed.

    Args:
        jvm: The JVM.
        statement: The statement; where its end is not said, they go with it.
        made: The catalogs by their names.
    """
    session = jvm.cls("org.apache.spark.sql.classic.SparkSession").active()
    catalogs = catalog_map(session, jvm.version)
    for name, catalog in made.items():
        catalogs.put(name, catalog)
    # Not at once where it is collected: that may be in any thread, within a call of Java's.
    gone = weakref.finalize(statement.lease, CLEANUP.later, partial(_remove, statement.query_id, catalogs, tuple(made)))
    gone.atexit = False
    _of_statements.setdefault(statement.query_id, []).append(gone)


def drop_for_statement(query_id: str) -> None:
    """Takes the catalogs of a statement out again."""
    for gone in _of_statements.pop(query_id, ()):
        found = gone.detach()
        if found is not None:
            _, _, (remove,), _ = found
            remove()


def share_catalogs(jvm: Jvm, registry: CatalogRegistry, session: JavaObject) -> None:
    """Puts the current catalogs of a registry into a session that Spark has cloned, such as a stream's."""
    known = jvm.shared.get(("catalogs of", id(registry)))
    if known is None:
        return
    catalogs = catalog_map(session, jvm.version)
    for name in registry.names():
        if known.contains(name):
            catalogs.put(name, known.apply(name))


def _remove(query_id: str, catalogs: JavaObject, names: tuple[str, ...]) -> None:
    _of_statements.pop(query_id, None)
    for name in names:
        catalogs.remove(name)
