"""Which statement a table belongs to that Spark asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.registry import CatalogRegistry
from connector_spi.optional.event_listener import TableReadEvent
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.session_settings import StatementSettings, exchange_property, read_statement_settings
from lakeport.spark.catalog_map import drop_for_statement
from lakeport.spark.queries import query_reads
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.session_properties import PREFIX
from lakeport.transactions.statement import Statement, new_query_id

__all__ = ["STATEMENT_PROPERTY", "java_statement", "new_statement", "observe_scans", "statement_of_thread"]

STATEMENT_PROPERTY = "lakeport.transactions.statement"
"""The local property of a thread that names its statement."""
ScanListener: TypeAlias = Callable[[tuple[str, ...], TableReadEvent], None]
_ANALYSIS = "org.apache.spark.sql.catalyst.analysis.AnalysisContext"
_named: dict[str, Statement] = {}
"""Those that some thread is in."""
_analysed: WeakValueDictionary[tuple[int, int], Statement] = WeakValueDictionary()
_scan_listeners: WeakKeyDictionary[Jvm, ScanListener] = WeakKeyDictionary()
_analyses: WeakKeyDictionary[Statement, JavaObject] = WeakKeyDictionary()


def observe_scans(jvm: Jvm, listener: ScanListener) -> None:
    """Has a listener called with each scan of the statements to come, and what Spark has its thread's jobs by."""
    _scan_listeners[jvm] = listener


def statement_of_thread(jvm: Jvm, registry: CatalogRegistry, name: str | None = None) -> Statement:
    """The statement that this thread is in.

    With plain ``spark.sql`` it is that of Spark's analysis: tables that are resolved together share one. Where the
    analysis is unknown, each table gets a statement of its own.

    Args:
        jvm: The JVM.
        registry: The catalogs.
        name: What the thread's local property says, where it was asked.
    """
    # Java calls back into another Python thread than the one that called it; its own thread is the same one.
    found = _named.get(name or jvm.context.getLocalProperty(STATEMENT_PROPERTY) or "")
    return _statement_of_analysis(jvm, registry) if found is None else found


@contextmanager
def java_statement(
    jvm: Jvm, registry: CatalogRegistry, lease: ReadLease | None, session: JavaObject
) -> Iterator[Statement]:
    """A new statement, to which tables belong that this thread's Java thread loads in the block.

    After the block the local property of the thread may still name it: a name means nothing outside of its block, and
    to take it away is a round trip.

    Args:
        jvm: The door to the JVM.
        registry: The catalogs.
        lease: On transactions to read in; ``None`` for one of its own.
        session: The Spark session, which is made the active one.
    """
    name = new_query_id()
    settings = read_statement_settings(jvm, PREFIX, session, (STATEMENT_PROPERTY, name))
    try:
        statement = _statement(jvm, registry, settings, lease, query_id=name)
        _named[name] = statement
        yield statement
    finally:
        _named.pop(name, None)
        drop_for_statement(name)
        if settings.before in _named:
            exchange_property(jvm, STATEMENT_PROPERTY, settings.before)


def new_statement(
    jvm: Jvm,
    registry: CatalogRegistry,
    lease: ReadLease | None = None,
    *,
    session: JavaObject | None = None,
    ended_by_maker: bool = False,
) -> Statement:
    """A statement with the settings of the Spark session that is active in this thread, of the client of this thread.

    Args:
        jvm: The door to the JVM.
        registry: The catalogs.
        lease: On transactions to read in; ``None`` for one of its own.
        session: The session to make active first.
        ended_by_maker: Whoever makes it says when it has ended; queries that read in it are not looked at.
    """
    settings = read_statement_settings(jvm, PREFIX, session)
    return _statement(jvm, registry, settings, lease, ended_by_maker=ended_by_maker)


def _statement(
    jvm: Jvm,
    registry: CatalogRegistry,
    settings: StatementSettings,
    lease: ReadLease | None,
    *,
    query_id: str | None = None,
    ended_by_maker: bool = False,
) -> Statement:
    def properties(catalog: str) -> dict[str, str]:
        prefix = catalog + "."
        return {key[len(prefix) :]: text for key, text in settings.given.items() if key.startswith(prefix)}

    on_read = None if ended_by_maker else lambda lease: query_reads(jvm, lease)
    user = registry.security.own_user if settings.user is None else settings.user
    made = Statement(registry, user, settings.zone, properties, lease=lease, on_read=on_read, query_id=query_id)
    listener = _scan_listeners.get(jvm)
    if listener is not None:
        made.on_scan = partial(listener, settings.jobs)
    return made


def _statement_of_analysis(jvm: Jvm, registry: CatalogRegistry) -> Statement:
    """Spark makes a new cache of relations for each analysis, and shares it with the views and subqueries in it."""
    try:
        cache = jvm.cls(_ANALYSIS).get().relationCache()
        key = (id(registry), int(jvm.cls("java.lang.System").identityHashCode(cache)))
        found = _analysed.get(key)
        # Two objects may have one hash, and the cache must not live on for us to compare: it holds whole plans.
        if found is not None and _analyses[found].refersTo(cache):
            return found
        reference = jvm.cls("java.lang.ref.WeakReference")(cache)
    except Py4JError:
        return new_statement(jvm, registry)
    statement = new_statement(jvm, registry)
    _analyses[statement] = reference
    _analysed[key] = statement
    return statement
