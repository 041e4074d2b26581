"""What a connector's code raises that is no ``ConnectorError``: whose code it is, and what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.connector import Connector
from connector_spi.errors import ConnectorError, InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession

__all__ = ["ConnectorOrigin", "NamedPageSource", "table_words"]

_BUILT_IN = "connectors"
_MOST_WORDS = 200
_NOT_OF_CONNECTORS = ("py4j", "pyspark")
"""Spark is called in the same blocks, and its errors are shown in its own words."""


@dataclass(frozen=True, slots=True)
class ConnectorOrigin(Serializable):
    """Whose code a connector is.

    Attributes:
        catalog: Name of the catalog.
        connector: Value of its ``connector.name``.
        is_built_in: It comes with Lakeport.
    """

    catalog: str
    connector: str
    is_built_in: bool

    @classmethod
    def of(cls, catalog: str, connector_name: str | None, connector: Connector) -> ConnectorOrigin:
        """The origin of a live catalog."""
        # Behind an access control there is the one whose code it is.
        module = type(getattr(connector, "guarded", connector)).__module__
        return cls(catalog, connector_name or module, module.partition(".")[0] == _BUILT_IN)

    @contextmanager
    def errors(self, asked: str) -> Iterator[None]:
        """Errors of the block that name no one become an InternalError that does.

        Args:
            asked: What the connector does in the block, as in "failed to ...".

        Raises:
            InternalError: The block raised something other than a ConnectorError.
        """
        try:
            yield
        except Exception as error:
            if self.is_silent(error):
                raise self.error(asked, error) from error
            raise

    def is_silent(self, error: BaseException | None) -> bool:
        """Whether an error does not say itself what is wrong, and where."""
        if not isinstance(error, Exception) or isinstance(error, (ConnectorError, MemoryError, StopIteration)):
            return False
        return type(error).__module__.partition(".")[0] not in _NOT_OF_CONNECTORS

    def error(self, asked: str, error: Exception) -> InternalError:
        """The error that names the connector, what it was asked, and who can mend it."""
        known = error if isinstance(error, ConnectorError) else None
        # Errors are found again in Spark's stack traces line by line.
        met = known.message if known else f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        way_out = "this is a defect: please report it" if self.is_built_in else "report it to the connector's author"
        message = f"connector '{self.connector}' of catalog '{self.catalog}' failed to {asked}: {met}; {way_out}"
        return InternalError(message, known.code if known else None)

    def open_split(
        self,
        provider: PageSourceProvider,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
    ) -> PageSource:
        """Opens a split, whose errors name it. What a runtime filter excludes was not planned; rows are all read."""
        asked = f"read {_cut(split)} of table {table_words(table)}"
        with self.errors(asked):
            everything = TupleDomain[ColumnHandle].all()
            return NamedPageSource(self, asked, provider.create_page_source(session, split, table, columns, everything))


class NamedPageSource(PageSource):
    """A connector's page source, whose errors name connector, table and split.

    Args:
        origin: Whose it is.
        asked: As in ``ConnectorOrigin.errors``.
        source: The connector's.
    """

    def __init__(self, origin: ConnectorOrigin, asked: str, source: PageSource) -> None:
        self._origin = origin
        self._asked = asked
        self._source = source

    @property
    def schema(self) -> pa.Schema:
        return self._source.schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        try:
            return next(self._source)
        except Exception as error:
            # An InternalError is one of the SPI's own classes, which do not know what they serve.
            if isinstance(error, InternalError) or self._origin.is_silent(error):
                raise self._origin.error(self._asked, error) from error
            raise

    def close(self) -> None:
        with self._origin.errors(f"close what it opened to {self._asked}"):
            self._source.close()


def table_words(table: TableHandle) -> str:
    """The name that a handle holds; else the whole handle, cut."""
    held = [getattr(table, name) for name in getattr(table, "__dataclass_fields__", ())]
    return next((str(value) for value in held if isinstance(value, SchemaTableName)), _cut(table))


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}..."
