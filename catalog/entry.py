"""One catalog of a registry: its configuration, and its connectors once built."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from contextlib import ExitStack

from catalog.config import CONNECTOR_NAME, BrokenCatalog, CatalogConfig
from catalog.plugins import PluginSet
from connector_spi.connector import Connector, ConnectorContext
from connector_spi.errors import CatalogNotFoundError, ConnectorError, InternalError

__all__ = ["CatalogEntry"]


class CatalogEntry:
    """One catalog. It has its own lock, so that several can be built at the same time.

    Args:
        config: Its configuration.
        connector: Its connector, where it is there already.
    """

    def __init__(self, config: CatalogConfig | BrokenCatalog, connector: Connector | None = None) -> None:
        self._config = config
        self._connector = connector
        self._siblings: dict[tuple[str, tuple[tuple[str, str], ...]], Connector] = {}
        self._closed = False
        self._lock = threading.Lock()

    @property
    def config(self) -> CatalogConfig | BrokenCatalog:
        """The catalog's configuration."""
        return self._config

    @property
    def connector_name(self) -> str | None:
        """Value of ``connector.name``; ``None`` where the file cannot be read."""
        return self._config.connector_name if isinstance(self._config, CatalogConfig) else None

    def connector(self, plugins: PluginSet, context: ConnectorContext) -> Connector:
        """The connector, built by the first call."""
        with self._lock:
            self._refuse_if_closed()
            if self._connector is None:
                self._connector = _build(self._config, plugins, context)
            return self._connector

    def sibling(
        self, connector_name: str, properties: Mapping[str, str], plugins: PluginSet, context: ConnectorContext
    ) -> Connector:
        """A connector of another kind under the same name, built by the first call with these properties."""
        key = (connector_name, tuple(sorted(properties.items())))
        with self._lock:
            self._refuse_if_closed()
            if key not in self._siblings:
                # The values come from a connector, with placeholders replaced: a secret may look like a placeholder.
                config = CatalogConfig.from_mapping(self._config.name, connector_name, properties, literal=True)
                self._siblings[key] = _build(config, plugins, context)
            return self._siblings[key]

    def close(self) -> None:
        """Shuts all connectors down, even if one fails to."""
        with self._lock:
            self._closed = True
            connectors = [*self._siblings.values(), *([self._connector] if self._connector is not None else [])]
            self._siblings, self._connector = {}, None
        with ExitStack() as stack:
            for connector in connectors:
                stack.callback(connector.shutdown)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise CatalogNotFoundError(f"catalog '{self._config.name}' was dropped just now")


def _build(config: CatalogConfig | BrokenCatalog, plugins: PluginSet, context: ConnectorContext) -> Connector:
    if isinstance(config, BrokenCatalog):
        # A copy: an error raised repeatedly would collect the tracebacks of all its uses.
        raise copy.copy(config.error)
    factory = plugins.factory(config.connector_name, config.where(CONNECTOR_NAME))
    properties = config.typed_properties(factory.config_properties)
    try:
        return factory.create(config.name, properties, context)
    except ConnectorError:
        raise
    except Exception as error:
        raise InternalError(
            f"connector '{factory.name}' failed to create catalog '{config.name}': {type(error).__name__}: {error}"
        ) from error
