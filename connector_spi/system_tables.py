"""Tables about tables, such as ``orders$partitions``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import pyarrow as pa

from connector_spi.predicate import TupleDomain
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession

__all__ = ["SystemTable"]


class SystemTable(ABC):
    """A small table made on the driver."""

    @property
    @abstractmethod
    def metadata(self) -> TableMetadata:
        """Name and columns."""

    @property
    def is_local(self) -> bool:
        """Whether its rows are so few that the engine should take them from the driver, without a task."""
        return False

    @property
    def checks_access(self) -> bool:
        """Whether it looks itself at what its reader may see; else who may read system information reads all of it."""
        return False

    @abstractmethod
    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        """The rows, with all columns in the metadata's order.

        Args:
            session: The query.
            constraint: By column name; rows outside of it are not needed, but may be given.
        """
