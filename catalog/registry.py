"""Catalogs by name: registered at any time, built on first use, released by ``shutdown``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from catalog.access_control.security import Security
from catalog.config import BrokenCatalog, CatalogConfig, load_catalog_directory
from catalog.entry import CatalogEntry
from catalog.guard.connector import guard
from catalog.plugins import PluginSet
from connector_spi.connector import SPI_VERSION, Connector, ConnectorContext
from connector_spi.errors import (
    CatalogNotFoundError,
    ConnectorError,
    ErrorCode,
    ErrorType,
    InvalidArgumentError,
    UserError,
)
from connector_spi.properties import closest
from connector_spi.security import ConnectorAccessControl

__all__ = ["CATALOG_ALREADY_EXISTS", "SESSION_CLOSED", "CatalogCheck", "CatalogEvent", "CatalogRegistry"]

CATALOG_ALREADY_EXISTS = ErrorCode("CATALOG_ALREADY_EXISTS", ErrorType.USER_ERROR)
"""A catalog of this name exists. Choose another name, or remove the catalog first."""
SESSION_CLOSED = ErrorCode("SESSION_CLOSED", ErrorType.USER_ERROR)
"""The session is closed. Connect again."""


class CatalogEvent(StrEnum):
    """The events that listeners receive; equal to their texts."""

    REGISTERED = "registered"
    DROPPED = "dropped"


Listener = Callable[[CatalogEvent, str], None]


@dataclass(frozen=True, slots=True)
class CatalogCheck:
    """Whether a catalog can be built.

    Attributes:
        name: The catalog.
        connector_name: Its connector; ``None`` where its file cannot be read.
        error: Why it cannot be built; ``None`` where it can.
    """

    name: str
    connector_name: str | None
    error: ConnectorError | None


class CatalogRegistry:
    """All catalogs of one engine. Thread-safe.

    Args:
        plugins: The installed connectors, or a function that finds them at first use, since loading them is slow.
        engine_version: Passed to the connectors.
        security: Who asks, and the access control; ``None`` allows everything.

    Attributes:
        security: As given. Connectors that ``get`` and ``sibling`` return obey it.
    """

    def __init__(
        self,
        plugins: PluginSet | Callable[[], PluginSet],
        engine_version: str,
        security: Security | None = None,
    ) -> None:
        self.security = security or Security()
        self._plugins = plugins
        self._finding_plugins = threading.Lock()
        self._context = ConnectorContext(SPI_VERSION, engine_version)
        self._entries: dict[str, CatalogEntry] = {}
        self._closed = False
        self._listeners: list[Listener] = []
        # Guards the three above; only for short sections, never while a connector or a listener runs.
        self._lock = threading.Lock()
        # Covers a change and its listeners, so that they see changes in order; re-entrant for listeners that make
        # changes themselves.
        self._changing = threading.RLock()

    @property
    def plugins(self) -> PluginSet:
        """The installed connectors."""
        with self._finding_plugins:
            if not isinstance(self._plugins, PluginSet):
                self._plugins = self._plugins()
            return self._plugins

    def register(self, name: str, connector_name: str, properties: Mapping[str, str]) -> None:
        """Adds a catalog; its connector and properties are checked now, the catalog is built on first use.

        Raises:
            InvalidPropertyError: The name, the connector or a property is invalid.
            InvalidArgumentError: A catalog of this name exists.
        """
        config = CatalogConfig.from_mapping(name, connector_name, properties)
        factory = self.plugins.factory(connector_name, f"catalog '{name}'")
        config.typed_properties(factory.config_properties)
        self.register_config(config)

    def register_connector(self, name: str, connector: Connector) -> None:
        """Adds a catalog of the engine's own, whose connector is there; it is shut down with the catalog.

        Raises:
            InvalidPropertyError: The name is invalid.
            InvalidArgumentError: A catalog of this name exists.
        """
        self._register(CatalogConfig.from_mapping(name, name, {}), connector)

    def register_config(self, config: CatalogConfig | BrokenCatalog) -> None:
        """Adds a catalog from its file; errors in it are raised when the catalog is used.

        Raises:
            InvalidArgumentError: A catalog of this name exists.
        """
        self._register(config, None)

    def register_directory(self, folder: str | os.PathLike[str]) -> None:
        """Adds all catalog files of a directory.

        Raises:
            InvalidPropertyError: The directory does not exist.
            InvalidArgumentError: A catalog of one of the names exists.
        """
        for config in load_catalog_directory(folder):
            self.register_config(config)

    def drop(self, name: str) -> None:
        """Removes a catalog and shuts its connector down; queries that still run on it may fail.

        Raises:
            CatalogNotFoundError: The catalog does not exist.
        """
        entry = None
        try:
            with self._changing:
                with self._lock:
                    entry = self._find(name)
                    del self._entries[name]
                self._notify(CatalogEvent.DROPPED, name)
        finally:
            if entry is not None:
                entry.close()

    def names(self) -> list[str]:
        """Names of all catalogs, sorted."""
        with self._lock:
            self._refuse_if_closed()
            return sorted(self._entries)

    def shown_names(self) -> list[str]:
        """Names of the catalogs that are shown to who asks where no client does, sorted."""
        return self._shown(self.names())

    def connector_name(self, name: str) -> str | None:
        """Value of a catalog's ``connector.name``; ``None`` where its file cannot be read.

        Raises:
            CatalogNotFoundError: The catalog does not exist.
        """
        with self._lock:
            return self._find(name).connector_name

    def config(self, name: str) -> CatalogConfig | BrokenCatalog:
        """The configuration of a catalog.

        Raises:
            CatalogNotFoundError: The catalog does not exist.
        """
        with self._lock:
            return self._find(name).config

    def get(self, name: str) -> Connector:
        """The connector of a catalog, built by the first call; a failed build is retried by the next call.

        Raises:
            CatalogNotFoundError: The catalog does not exist; the message names similar ones.
            ConnectorError: It cannot be built; the error of its file or its connector.
        """
        with self._lock:
            entry = self._find(name)
        return self._guarded(name, entry.connector(self.plugins, self._context))

    def sibling(self, name: str, connector_name: str, properties: Mapping[str, str]) -> Connector:
        """A connector of another kind behind a catalog, for tables that the catalog's own cannot read.

        Built by the first call with these properties; shut down with the catalog.

        Args:
            name: The catalog.
            connector_name: Kind of the other connector.
            properties: Its properties, as in a catalog file, with placeholders replaced.

        Raises:
            CatalogNotFoundError: The catalog does not exist.
            InvalidPropertyError: No such connector is installed, or it does not have the properties.
        """
        with self._lock:
            entry = self._find(name)
        own = entry.connector(self.plugins, self._context).access_control
        return self._guarded(name, entry.sibling(connector_name, properties, self.plugins, self._context), own)

    def check(self) -> tuple[CatalogCheck, ...]:
        """Builds every catalog and reports the result of each, sorted by name."""
        return tuple(self._check(name) for name in self.names())

    def add_listener(self, listener: Listener) -> None:
        """Calls ``listener(event, name)`` after each register, and before a dropped connector shuts down.

        It runs in the caller's thread. If it raises on a register, the listeners notified before it are notified of a
        drop, the register is undone, and the error goes to the caller.
        """
        with self._lock:
            self._listeners.append(listener)

    @property
    def is_closed(self) -> bool:
        """Whether ``shutdown`` was called: there are no catalogs any more."""
        return self._closed

    def shutdown(self) -> None:
        """Shuts all connectors down and refuses every later call; a second shutdown does nothing.

        Raises:
            ConnectorError: The error of the first connector that failed to shut down, after all were tried.
        """
        with self._changing, self._lock:
            self._closed = True
            entries = list(self._entries.values())
            self._entries.clear()
            self._listeners.clear()
        errors: list[Exception] = []
        for entry in entries:
            try:
                entry.close()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _register(self, config: CatalogConfig | BrokenCatalog, connector: Connector | None) -> None:
        with self._changing:
            with self._lock:
                self._refuse_if_closed()
                if config.name in self._entries:
                    raise InvalidArgumentError(
                        f"catalog '{config.name}' exists already; drop it first", CATALOG_ALREADY_EXISTS
                    )
                entry = self._entries[config.name] = CatalogEntry(config, connector)
            try:
                self._notify(CatalogEvent.REGISTERED, config.name)
            except BaseException:
                with self._lock:
                    self._entries.pop(config.name, None)
                # A listener may have built it.
                entry.close()
                raise

    def _check(self, name: str) -> CatalogCheck:
        connector_name = None
        try:
            connector_name = self.connector_name(name)
            self.get(name)
        except ConnectorError as error:
            return CatalogCheck(name, connector_name, error)
        return CatalogCheck(name, connector_name, None)

    def _guarded(self, name: str, connector: Connector, of_catalog: ConnectorAccessControl | None = None) -> Connector:
        own = [one for one in (of_catalog, connector.access_control) if one is not None]
        if self.security.is_open and not own:
            return connector
        return guard(name, connector, self.security.access_control, tuple(own))

    def _shown(self, names: Iterable[str]) -> list[str]:
        security = self.security
        if security.is_open:
            return sorted(names)
        return sorted(security.access_control.filter_catalogs(security.identity(security.own_user), list(names)))

    def _find(self, name: str) -> CatalogEntry:
        self._refuse_if_closed()
        entry = self._entries.get(name)
        if entry is None:
            raise _not_found(name, self._shown(self._entries))
        return entry

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UserError("the session and its catalogs are closed; connect again", SESSION_CLOSED)

    def _notify(self, event: CatalogEvent, name: str) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for number, listener in enumerate(listeners):
            try:
                listener(event, name)
            except BaseException:
                if event is CatalogEvent.REGISTERED:
                    for notified in listeners[:number]:
                        notified(CatalogEvent.DROPPED, name)
                raise


def _not_found(name: str, known: Iterable[str]) -> CatalogNotFoundError:
    names = sorted(known)
    there_are = f"there are: {', '.join(names)}" if names else "there are no catalogs"
    return CatalogNotFoundError(f"no catalog '{name}'{closest(name, names)}; {there_are}")
