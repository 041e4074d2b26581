"""The transactions of one statement, one for each catalog that it meets."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from catalog.registry import CatalogRegistry
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InvalidPropertyError
from connector_spi.metadata import ConnectorMetadata, TableRedirection
from connector_spi.optional.definitions import ViewDefinition
from connector_spi.optional.event_listener import TableReadEvent
from connector_spi.properties import parse_properties
from connector_spi.security import ALL_ROLES, Identity
from connector_spi.session import ConnectorSession
from lakeport.plugin_errors import ConnectorOrigin
from lakeport.scan_facts import ScanObserver
from lakeport.transactions.catalog_transactions import TransactionKey
from lakeport.transactions.engine_settings import ENGINE_PROPERTIES, ROLE, EngineSettings
from lakeport.transactions.kept_tables import BegunTransaction, KeptTables
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.metadata_lock import MetadataLock

__all__ = [
    "CatalogAccess",
    "PropertySource",
    "Statement",
    "new_query_id",
    "statement_scope",
]

PropertySource = Callable[[str], dict[str, str]]
"""From a catalog's name to the texts of its session properties."""

_counter = itertools.count(1)


@dataclass(frozen=True, slots=True)
class CatalogAccess:
    """One catalog as one statement sees it.

    Attributes:
        catalog: Its name.
        connector: The live catalog.
        begun: The transaction in it.
        session: The query's facts with this catalog's session properties.
        engine: The engine's own settings.
        statement: Owns a lease on the transactions, for as long as this object lives.
    """

    catalog: str
    connector: Connector
    begun: BegunTransaction
    session: ConnectorSession
    engine: EngineSettings
    statement: Statement

    @property
    def transaction(self) -> ConnectorTransaction:
        """The transaction."""
        return self.begun.transaction

    @property
    def metadata(self) -> ConnectorMetadata:
        """Answers inside of the transaction; guarded by ``lock``."""
        return self.begun.metadata

    @property
    def lock(self) -> MetadataLock:
        """Held around each call of ``metadata``, which serves one thread at a time."""
        return self.begun.lock

    @property
    def origin(self) -> ConnectorOrigin:
        """Whose code the connector is, for errors in it."""
        return self.begun.lock.origin

    @property
    def tables(self) -> KeptTables:
        """The tables that were resolved, each once."""
        return self.begun.tables

    @contextmanager
    def redefining(self, schema: str, table: str | None = None) -> Iterator[None]:
        """Has later statements of the same transactions see what is defined in the block, or what is left of it."""
        try:
            with self.lock:
                yield
        finally:
            self.statement.lease.redefined(self.catalog, schema, table)

    def within(self, begun: BegunTransaction) -> CatalogAccess:
        """The same in another transaction of the catalog, in which a table was resolved."""
        return replace(self, begun=begun)


@dataclass(frozen=True, slots=True)
class _MetCatalog:
    """What a statement keeps of a catalog; not an access, which refers to the statement: neither would ever die."""

    connector: Connector
    session: ConnectorSession
    engine: EngineSettings


class Statement:
    """One statement: every table of a catalog in it shares one transaction.

    Tables made in a statement keep it alive. The transactions are committed when the last of them is gone, rolled back
    by ``fail``: exactly one of the two, also when the process ends.

    Args:
        registry: The catalogs.
        user: Who asks.
        time_zone: IANA name of the session's zone.
        properties: Gives the session properties that are set for a catalog.
        lease: Of other statements, to read in their transactions; ``None`` for one of its own.
        on_read: Called before splits of a table are planned.
        query_id: One of ``new_query_id``; ``None`` for another one.
    """

    def __init__(
        self,
        registry: CatalogRegistry,
        user: str,
        time_zone: str,
        properties: PropertySource,
        lease: ReadLease | None = None,
        on_read: Callable[[ReadLease], None] | None = None,
        query_id: str | None = None,
    ) -> None:
        self.query_id = new_query_id() if query_id is None else query_id
        self._registry = registry
        self._user = user
        self._identity = registry.security.identity(user)
        self._time_zone = time_zone
        self._properties = properties
        self._start = datetime.now(UTC)
        self._lock = threading.Lock()
        self._met: dict[TransactionKey, _MetCatalog] = {}
        self._on_read = on_read
        self._is_alone = lease is None
        self.lease = ReadLease(registry) if lease is None else lease
        self.observer: ScanObserver | None = None
        """Who wants to know of the statement's scans; set before the first catalog is met."""
        self.on_scan: Callable[[TableReadEvent], None] | None = None
        """Called when a scan is about to run."""
        self._of_owners: dict[str, Statement] = {}

    @property
    def identity(self) -> Identity:
        """Who asks, with groups and credentials."""
        return self._identity

    def access(self, catalog: str) -> CatalogAccess:
        """The catalog inside of this statement; its transaction begins at the first call.

        Raises:
            AccessDeniedError: The user may not access it.
            CatalogNotFoundError: No such catalog.
            InvalidPropertyError: A session property that is set is unknown or wrong.
            UserError: The statement has ended.
        """
        return self._access(catalog, None)

    def redirected(self, catalog: str, redirection: TableRedirection) -> CatalogAccess:
        """The connector of another kind that reads a table of a catalog; it has a transaction of its own.

        Raises:
            InvalidPropertyError: The connector is not installed.
        """
        return self._access(catalog, redirection)

    @property
    def view_owner(self) -> str | None:
        """Who lends the rights to read, as the owner of a view; ``None`` outside of views that do."""
        return self._user if self._identity.for_others else None

    def of_owner(self, owner: str | None) -> Statement:
        """The same statement inside of a view, with the rights of the view's owner.

        Args:
            owner: Who that is; ``None`` for the statement itself.
        """
        if owner is None or owner == self.view_owner:
            return self
        given = self._properties

        def properties(catalog: str) -> dict[str, str]:
            # What the user has selected is none of the owner's roles.
            return {name: text for name, text in given(catalog).items() if name != ROLE.name}

        with self._lock:
            found = self._of_owners.get(owner)
            if found is None:
                # It must not refer to this one, which lives as long as its tables.
                found = Statement(
                    registry=self._registry,
                    user=owner,
                    time_zone=self._time_zone,
                    properties=properties,
                    lease=self.lease,
                    on_read=self._on_read,
                    query_id=self.query_id,
                )
                # Storage is reached by who reads, as the metastore is: the transactions are shared.
                credentials = self._identity.extra_credentials
                found._identity = replace(found._identity, for_others=True, extra_credentials=credentials)
                found.observer, found.on_scan = self.observer, self.on_scan
                self._of_owners[owner] = found
            return found

    def below(self, access: CatalogAccess, view: ViewDefinition) -> Statement:
        """The statement in which tables below a view are read: that of its owner, where access is controlled at all.

        Source of the rule: Trino's ``StatementAnalyzer.analyzeView``.

        Args:
            access: The view's catalog, in this statement.
            view: The view.
        """
        is_controlled = not self._registry.security.is_open or access.connector.access_control is not None
        if not is_controlled or view.run_as_invoker or view.owner is None or view.owner == self._user:
            return self
        return self.of_owner(view.owner)

    def apart(self) -> Statement:
        """A statement of the same user and settings that has transactions of its own."""
        return Statement(self._registry, self._user, self._time_zone, self._properties)

    def writing(self) -> Statement:
        """The statement to write rows in: its transactions are not those that are read in, which may go on.

        In a block of several statements all of them write in the same ones, which end with the block.
        """
        block = self.shared_lease
        if block is None or block.of_one_statement:
            return self.apart()
        return Statement(self._registry, self._user, self._time_zone, self._properties, block.writes())

    @property
    def shared_lease(self) -> ReadLease | None:
        """The lease that others read in, too; ``None`` where the statement has one of its own."""
        return None if self._is_alone else self.lease

    def accesses(self) -> list[CatalogAccess]:
        """The catalogs that the statement has met."""
        with self._lock:
            met = list(self._met.items())
        return [self._access_of(key, one) for key, one in met]

    def about_to_read(self) -> None:
        """To be called before splits of a table are planned."""
        if self._on_read is not None:
            self._on_read(self.lease)

    def commit(self) -> None:
        """Ends the statement now; in transactions that others share, nothing but its part in them."""
        if self._is_alone:
            self.lease.commit()

    def fail(self) -> None:
        """Rolls back: the statement could not be analysed, failed, or was cancelled."""
        if self._is_alone:
            self.lease.rollback()

    def _access(self, catalog: str, redirection: TableRedirection | None) -> CatalogAccess:
        key = (catalog, None if redirection is None else (redirection.connector_name, redirection.properties))
        with self._lock:
            found = self._met.get(key)
            if found is None:
                found = self._met[key] = self._meet(catalog, redirection)
        return self._access_of(key, found)

    def _access_of(self, key: TransactionKey, met: _MetCatalog) -> CatalogAccess:
        return CatalogAccess(
            catalog=key[0],
            connector=met.connector,
            begun=self.lease.begin(key, met.connector, met.session),
            session=met.session,
            engine=met.engine,
            statement=self,
        )

    def _meet(self, catalog: str, redirection: TableRedirection | None) -> _MetCatalog:
        if redirection is None:
            connector = self._registry.get(catalog)
            control = self._registry.security.access_control
            control.check_can_execute_query(self._identity)
            control.check_can_access_catalog(self._identity, catalog)
        else:
            properties = dict(redirection.properties)
            connector = self._registry.sibling(catalog, redirection.connector_name, properties)
        if self._identity.extra_credentials:
            connector = connector.with_credentials(self._identity.extra_credentials)
        session, engine = self._session(catalog, connector, redirection is not None)
        return _MetCatalog(connector, session, engine)

    def _session(self, catalog: str, connector: Connector, is_sibling: bool) -> tuple[ConnectorSession, EngineSettings]:
        def where(name: str) -> str:
            return f"session property spark.lakeport.{catalog}.{name}"

        descriptors = [*ENGINE_PROPERTIES, *connector.session_properties]
        given = self._properties(catalog)
        if not self._identity.for_others:
            self._check_settings(catalog, connector, given)
        if is_sibling:
            # The catalog's own connector has checked the names; the sibling knows some of them.
            known = {descriptor.name for descriptor in descriptors}
            given = {name: text for name, text in given.items() if name in known}
        try:
            values = parse_properties(descriptors, given, where).as_dict()
        except InvalidPropertyError as error:
            # spark.sql and Spark's configuration take any text.
            raise InvalidPropertyError(f"{error.message}; RESET takes a setting back", error.code) from error
        engine = EngineSettings.of({one.name: values.pop(one.name) for one in ENGINE_PROPERTIES})
        session = ConnectorSession(
            query_id=self.query_id,
            user=self._user,
            time_zone=self._time_zone,
            start=self._start,
            properties=tuple(values.items()),
            is_explained=self.observer is not None,
            groups=self._identity.groups,
            roles=self._identity.roles,
            catalog_role=engine.role,
            for_others=self._identity.for_others,
        )
        return session, engine

    def _check_settings(self, catalog: str, connector: Connector, given: Mapping[str, str]) -> None:
        """A role is the user's or not, which is checked where it counts; settings of the engine are no catalog's."""
        control, own = self._registry.security.access_control, connector.access_control
        role = given.get(ROLE.name, ALL_ROLES).strip().lower()
        engines = {descriptor.name for descriptor in ENGINE_PROPERTIES}
        for name in given:
            control.check_can_set_catalog_session_property(self._identity, catalog, name)
            if own is not None and name not in engines:
                own.check_can_set_catalog_session_property(replace(self._identity, catalog_role=role), catalog, name)


def new_query_id() -> str:
    """What tells a statement from all others of this machine."""
    return f"{os.getpid()}_{next(_counter)}"


@contextmanager
def statement_scope(statement: Statement) -> Iterator[Statement]:
    """Rolls ``statement`` back when the block fails; else it ends with the last of its tables."""
    try:
        yield statement
    except BaseException:
        statement.fail()
        raise
