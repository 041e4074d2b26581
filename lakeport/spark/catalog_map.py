"""The map of catalogs in a Spark session, and how to share Lakeport's catalogs with a cloned session."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_SPARK_VERSION
from lakeport.spark.bridge.jvm import Jvm
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.statement import Statement

__all__ = [
    "add_for_statement",
    "catalog_map",
    "drop_for_statement",
    "keep_catalogs",
    "names_of_statements",
    "share_catalogs",
    "used_by_statement",
]

_HELD_SECONDS = 30.0
"""Spark does not say when an analysis has ended. One that loads nothing for this long has."""


@dataclass(slots=True)
class _Added:
    """Catalogs of one statement, which they keep alive: it may have no table yet."""

    statement: Statement
    used: float
    places: list[tuple[JavaObject, str]]


_of_statements: dict[str, _Added] = {}
"""By the ids of the queries."""


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
        statement: The statement.
        made: The catalogs by their names.
    """
    session = jvm.cls("org.apache.spark.sql.classic.SparkSession").active()
    catalogs = catalog_map(session, jvm.version)
    for name, catalog in made.items():
        catalogs.put(name, catalog)
    added = _of_statements.setdefault(statement.query_id, _Added(statement, time.monotonic(), []))
    added.places += [(catalogs, name) for name in made]
    CLEANUP.after(_HELD_SECONDS, partial(_expire, statement.query_id))


def names_of_statements() -> frozenset[str]:
    """Names of the catalogs that are there for one statement."""
    return frozenset(name for added in list(_of_statements.values()) for _, name in list(added.places))


def used_by_statement(query_id: str) -> None:
    """Says that a catalog of the statement was asked for something."""
    added = _of_statements.get(query_id)
    if added is not None:
        added.used = time.monotonic()


def drop_for_statement(query_id: str) -> None:
    """Takes the catalogs of a statement out again."""
    added = _of_statements.pop(query_id, None)
    # Spark may be gone, and its catalogs with it.
    with suppress(Py4JError):
        for catalogs, name in () if added is None else added.places:
            catalogs.remove(name)


def share_catalogs(jvm: Jvm, registry: CatalogRegistry, session: JavaObject) -> None:
    """Puts the current catalogs of a registry into a session that Spark has cloned, such as a stream's."""
    known = jvm.shared.get(("catalogs of", id(registry)))
    if known is None:
        return
    catalogs = catalog_map(session, jvm.version)
    for name in registry.names():
        if known.contains(name):
            catalogs.put(name, known.apply(name))


def _expire(query_id: str) -> None:
    added = _of_statements.get(query_id)
    if added is None:
        return
    left = added.used + _HELD_SECONDS - time.monotonic()
    if left > 0:
        CLEANUP.after(left, partial(_expire, query_id))
    else:
        drop_for_statement(query_id)
