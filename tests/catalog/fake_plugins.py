"""A connector that does nothing but count, for tests of the registry and of plugins."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from connector_spi.connector import SPI_VERSION, Connector, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.page_source import PageSourceProvider
from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    duration_property,
    integer_property,
    string_property,
)
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager


class CountingConnector(Connector):
    """Knows how often it was shut down; everything else is out of reach of the registry."""

    def __init__(self, catalog: str, properties: Mapping[str, object]) -> None:
        self.catalog = catalog
        self.properties = properties
        self.shutdowns = 0

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        raise InternalError("not for queries")

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        raise InternalError("not for queries")

    @property
    def split_manager(self) -> SplitManager:
        raise InternalError("not for queries")

    @property
    def page_source_provider(self) -> PageSourceProvider:
        raise InternalError("not for queries")

    def shutdown(self) -> None:
        self.shutdowns += 1
        if self.properties["fail"] == "shutdown":
            raise RuntimeError("cannot stop")


class CountingFactory(ConnectorFactory):
    """Makes CountingConnectors; ``gate`` holds every build back until it is set."""

    spi_version = SPI_VERSION

    def __init__(self) -> None:
        self.made: list[CountingConnector] = []
        self.gates: dict[str, threading.Event] = {}

    @property
    def name(self) -> str:
        return "counting"

    @property
    def aliases(self) -> Sequence[str]:
        return ("counting-hadoop2",)

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        return (
            string_property("server.uri", "Where the server is."),
            string_property("server.password", "The password.", sensitive=True),
            duration_property("server.timeout", "How long to wait.", 10.0),
            integer_property("server.retries", "How often to try.", 3, minimum=0, maximum=9),
            string_property("fail", "What to fail at."),
        )

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> CountingConnector:
        gate = self.gates.get(catalog)
        if gate is not None:
            assert gate.wait(60)
        if properties.as_dict()["fail"] == "create":
            raise RuntimeError("out of tea")
        connector = CountingConnector(catalog, properties.as_dict())
        self.made.append(connector)
        return connector


class CountingPlugin(Plugin):
    """Brings one factory, which the test keeps."""

    spi_version = SPI_VERSION

    def __init__(self) -> None:
        self.factory = CountingFactory()

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (self.factory,)


class OldPlugin(Plugin):
    """Written for an SPI that is no more."""

    spi_version = 0

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (CountingFactory(),)


class SilentPlugin(Plugin):
    """Does not say what it was written for."""

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (CountingFactory(),)


class OldFactory(CountingFactory):
    """Written for an SPI that is no more."""

    spi_version = 0


class SilentFactory(ConnectorFactory):
    """Does not say what it was written for."""

    name = "silent"

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> CountingConnector:
        raise NotImplementedError


class OldFactoryPlugin(CountingPlugin):
    """Says that it is for this SPI, and brings a connector that is not."""

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (OldFactory(),)


class ExitingPlugin(Plugin):
    """Ends the process where nobody stops it."""

    spi_version = SPI_VERSION

    def __init__(self) -> None:
        raise SystemExit(3)

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return ()
