"""Plugins, connector factories and connectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import ConnectorMetadata
from connector_spi.optional.page_sink import PageSinkProvider
from connector_spi.optional.procedures import Procedure
from connector_spi.page_source import PageSourceProvider
from connector_spi.properties import PropertyMetadata, PropertyValues
from connector_spi.security.connector_access_control import ConnectorAccessControl
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from connector_spi.system_tables import SystemTable

__all__ = ["SPI_VERSION", "Connector", "ConnectorContext", "ConnectorFactory", "Plugin", "version_problem"]

SPI_VERSION = 2
"""Rises when a plugin that was written for the version before could break. A plugin writes the number itself."""


@dataclass(frozen=True, slots=True)
class ConnectorContext:
    """What the engine lends to a connector.

    Attributes:
        spi_version: The engine's ``SPI_VERSION``.
        engine_version: Version of Lakeport, for agent names and messages.
    """

    spi_version: int
    engine_version: str


class Connector(ABC):
    """A live catalog. Made on first use; used by several threads."""

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        """Starts a transaction. The engine ends it by exactly one of commit and rollback, also after a read.

        By default it has no state, as a connector needs that reads what never changes.
        """
        return ConnectorTransaction()

    @abstractmethod
    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        """The metadata seen by a transaction of this connector; the same object each time."""

    @property
    @abstractmethod
    def split_manager(self) -> SplitManager:
        """Makes splits."""

    @property
    @abstractmethod
    def page_source_provider(self) -> PageSourceProvider:
        """Opens splits in tasks; picklable."""

    @property
    def page_sink_provider(self) -> PageSinkProvider | None:
        """Opens sinks in tasks; picklable. ``None`` where no metadata of the connector ``SupportsInsert``."""
        return None

    @property
    def procedures(self) -> Sequence[Procedure]:
        """Procedures of ``CALL catalog.system.name``."""
        return ()

    @property
    def system_tables(self) -> Sequence[SystemTable]:
        """Tables about the catalog itself, in a schema such as ``system``; they hide others of their names."""
        return ()

    @property
    def access_control(self) -> ConnectorAccessControl | None:
        """What may be done in this catalog, beside what the system's access control says; ``None`` adds nothing."""
        return None

    @property
    def session_properties(self) -> Sequence[PropertyMetadata[object]]:
        """What ``SET spark.lakeport.<catalog>.<property>`` may set."""
        return ()

    def with_credentials(self, credentials: tuple[tuple[str, str], ...]) -> Connector:
        """The same catalog as a user reaches it who gives credentials along; by default nothing is made of them.

        What is made is not shut down: it lives on what this connector owns. It must not share with this one, nor with
        that of other credentials, anything that was read with them.

        Args:
            credentials: ``Identity.extra_credentials``, by name; there may be names for other connectors.

        Raises:
            InvalidPropertyError: They do not fit together. The message must show no value.
        """
        return self

    def shutdown(self) -> None:
        """Frees connections, threads and files; called once, when the catalog is dropped or the engine ends."""


class ConnectorFactory(ABC):
    """Makes connectors of one kind."""

    @property
    @abstractmethod
    def spi_version(self) -> int:
        """The ``SPI_VERSION`` that the connector was written for, as a number: ``spi_version = 2`` in the class.

        An engine of another version refuses it. The constant itself would be the engine's version, whatever that is.
        """

    @property
    @abstractmethod
    def name(self) -> str:
        """What ``connector.name`` says in a catalog file."""

    @property
    def aliases(self) -> Sequence[str]:
        """Other values of ``connector.name`` that mean the same."""
        return ()

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        """Properties that a catalog file of this connector may hold, ``connector.name`` left out."""
        return ()

    @property
    def column_options(self) -> frozenset[str]:
        """Names in lower case of the read options that can choose a table's columns, and of all that these need.

        An engine that has to know the columns before the scan applies these alone first, and all options later.
        """
        return frozenset()

    @abstractmethod
    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> Connector:
        """Makes a connector; opens nothing that is slow.

        Args:
            catalog: Name of the catalog.
            properties: A typed value for each of ``config_properties``, read by its descriptor.
            context: What the engine lends.

        Raises:
            InvalidPropertyError: Properties that do not fit together.
        """


class Plugin(ABC):
    """What the entry-point group ``connector_spi.plugins`` names: a class with no arguments, or an instance.

    A plugin of one connector needs none: the entry point may name the ``ConnectorFactory``.
    """

    @property
    @abstractmethod
    def spi_version(self) -> int:
        """As ``ConnectorFactory.spi_version``; asked before the factories are."""

    @abstractmethod
    def connector_factories(self) -> Iterable[ConnectorFactory]:
        """The kinds of connectors that the plugin brings."""


def version_problem(plugin: object) -> str | None:
    """Why a plugin is refused for its version; ``None`` if it was written for this one.

    Args:
        plugin: Any class or object that an entry point names; its ``spi_version`` is asked.
    """
    version = getattr(plugin, "spi_version", None)
    if version == SPI_VERSION:
        return None
    # An abstract property, or none at all: it says no number.
    if not isinstance(version, int):
        name = (plugin if isinstance(plugin, type) else type(plugin)).__qualname__
        return (
            f"{name} does not say for which version of the SPI it was written; expected a line such as "
            f"'spi_version = {SPI_VERSION}' in the class; install a release of the plugin that has it"
        )
    return (
        f"it was written for version {version} of the SPI, this is version {SPI_VERSION}; "
        "install a release of the plugin for this version"
    )
