"""Catalogs by name: registered at any time, built on first use, freed by ``shutdown``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from catalog.config import BrokenCatalog, CatalogConfig, load_catalog_directory
from catalog.entry import CatalogEntry
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

__all__ = ["CATALOG_ALREADY_EXISTS", "SESSION_CLOSED", "CatalogCheck", "CatalogEvent", "CatalogRegistry"]

CATALOG_ALREADY_EXISTS = ErrorCode("CATALOG_ALREADY_EXISTS", ErrorType.USER_ERROR)
"""There is a catalog of that name. Choose another one, or remove it first."""
SESSION_CLOSED = ErrorCode("SESSION_CLOSED", ErrorType.USER_ERROR)
"""The session was closed. Connect anew."""


class CatalogEvent(StrEnum):
    """What a listener is told of; equal to its text."""

    REGISTERED = "registered"
    DROPPED = "dropped"


Listener = Callable[[CatalogEvent, str], None]


@dataclass(frozen=True, slots=True)
class CatalogCheck:
    """Whether a catalog can be built.

    Attributes:
        name: The catalog.
        connector_name: Its connector; ``None`` where the file does not say.
        error: What is wrong, or ``None``.
    """

    name: str
    connector_name: str | None
    error: ConnectorError | None


class CatalogRegistry:
    """All catalogs of one engine. Every method may be called from any thread.

    Args:
        plugins: The connectors that are installed, or what finds them when they are needed first: to load them all
            takes a while.
        engine_version: Told to the connectors.
    """

    def __init__(self, plugins: PluginSet | Callable[[], PluginSet], engine_version: str) -> None:
        self._plugins = plugins
        self._finding_plugins = threading.Lock()
        self._context = ConnectorContext(SPI_VERSION, engine_version)
        self._entries: dict[str, CatalogEntry] = {}
        self._closed = False
        self._listeners: list[Listener] = []
        # Guards the three above; held for moments only, never while a connector or a listener runs.
        self._lock = threading.Lock()
        # Held over a change and its listeners, so that they see changes in order; re-entrant for listeners that
        # change something themselves.
        self._changing = threading.RLock()

    @property
    def plugins(self) -> PluginSet:
        """The connectors that are installed."""
        with self._finding_plugins:
            if not isinstance(self._plugins, PluginSet):
                self._plugins = self._plugins()
            return self._plugins

    def register(self, name: str, connector_name: str, properties: Mapping[str, str]) -> None:
        """Adds a catalog; its connector and properties are checked now, the catalog is built on first use.

        Raises:
            InvalidPropertyError: The name, the connector or a property is wrong.
            InvalidArgumentError: There is a catalog of this name.
        """
        config = CatalogConfig.from_mapping(name, connector_name, properties)
        factory = self.plugins.factory(connector_name, f"catalog '{name}'")
        config.typed_properties(factory.config_properties)
        self.register_config(config)

    def register_config(self, config: CatalogConfig | BrokenCatalog) -> None:
        """Adds a catalog as its file says; what is wrong with it is raised when it is used.

        Raises:
            InvalidArgumentError: There is a catalog of this name.
        """
        with self._changing:
            with self._lock:
                self._refuse_if_closed()
                if config.name in self._entries:
                    raise InvalidArgumentError(
                        f"there is a catalog '{config.name}' already; drop it first", CATALOG_ALREADY_EXISTS
                    )
                entry = self._entries[config.name] = CatalogEntry(config)
            try:
                self._tell(CatalogEvent.REGISTERED, config.name)
            except BaseException:
                with self._lock:
                    self._entries.pop(config.name, None)
                # A listener may have built it.
                entry.close()
                raise

    def register_directory(self, folder: str | os.PathLike[str]) -> None:
        """Adds all catalog files of a folder.

        Raises:
            InvalidPropertyError: The folder is not there.
            InvalidArgumentError: There is a catalog of one of the names.
        """
        for config in load_catalog_directory(folder):
            self.register_config(config)

    def drop(self, name: str) -> None:
        """Takes a catalog away and shuts its connector down; queries that still run on it may fail.

        Raises:
            CatalogNotFoundError: There is none of this name.
        """
        entry = None
        try:
            with self._changing:
                with self._lock:
                    entry = self._find(name)
                    del self._entries[name]
                self._tell(CatalogEvent.DROPPED, name)
        finally:
            if entry is not None:
                entry.close()

    def names(self) -> list[str]:
        """All catalogs, sorted."""
        with self._lock:
            self._refuse_if_closed()
            return sorted(self._entries)

    def connector_name(self, name: str) -> str | None:
        """What ``connector.name`` of a catalog says; ``None`` where its file is broken.

        Raises:
            CatalogNotFoundError: There is none of this name.
        """
        with self._lock:
            return self._find(name).connector_name

    def config(self, name: str) -> CatalogConfig | BrokenCatalog:
        """What was written down of a catalog.

        Raises:
            CatalogNotFoundError: There is none of this name.
        """
        with self._lock:
            return self._find(name).config

    def get(self, name: str) -> Connector:
        """The connector of a catalog, built by the first call; a build that failed is tried again.

        Raises:
            CatalogNotFoundError: There is none of this name; says what exists that is close.
            ConnectorError: It cannot be built: whatever its file or its connector says.
        """
        with self._lock:
            entry = self._find(name)
        return entry.connector(self.plugins, self._context)

    def sibling(self, name: str, connector_name: str, properties: Mapping[str, str]) -> Connector:
        """A connector of another kind behind a catalog, for tables that the catalog's own cannot read.

        Built by the first call with these properties; shut down with the catalog.

        Args:
            name: The catalog.
            connector_name: Kind of the other connector.
            properties: Its properties, as a catalog file has them, placeholders filled.

        Raises:
            CatalogNotFoundError: There is no catalog of this name.
            InvalidPropertyError: No such connector is installed, or the properties are not its own.
        """
        with self._lock:
            entry = self._find(name)
        return entry.sibling(connector_name, properties, self.plugins, self._context)

    def check(self) -> tuple[CatalogCheck, ...]:
        """Builds every catalog, and says what is wrong with those that cannot be built; sorted by name."""
        return tuple(self._check(name) for name in self.names())

    def add_listener(self, listener: Listener) -> None:
        """Has ``listener(event, name)`` called after each register and before each dropped connector shuts down.

        It runs in the thread of the caller. When it raises on a register, those told before are told of a drop, the
        register is undone, and the error goes to the caller.
        """
        with self._lock:
            self._listeners.append(listener)

    def shutdown(self) -> None:
        """Shuts all connectors down and refuses every later call; a second shutdown does nothing.

        Raises:
            ConnectorError: The first connector that failed to; the others were shut down nevertheless.
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

    def _check(self, name: str) -> CatalogCheck:
        connector_name = None
        try:
            connector_name = self.connector_name(name)
            self.get(name)
        except ConnectorError as error:
            return CatalogCheck(name, connector_name, error)
        return CatalogCheck(name, connector_name, None)

    def _find(self, name: str) -> CatalogEntry:
        self._refuse_if_closed()
        entry = self._entries.get(name)
        if entry is None:
            raise _not_found(name, self._entries)
        return entry

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise UserError("the session was closed, and its catalogs with it; connect again", SESSION_CLOSED)

    def _tell(self, event: CatalogEvent, name: str) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for number, listener in enumerate(listeners):
            try:
                listener(event, name)
            except BaseException:
                if event is CatalogEvent.REGISTERED:
                    for told in listeners[:number]:
                        told(CatalogEvent.DROPPED, name)
                raise


def _not_found(name: str, known: Iterable[str]) -> CatalogNotFoundError:
    names = sorted(known)
    there_are = f"there are: {', '.join(names)}" if names else "there are no catalogs"
    return CatalogNotFoundError(f"no catalog '{name}'{closest(name, names)}; {there_are}")
