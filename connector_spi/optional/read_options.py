"""Options of one use of a table, such as ``spark.read.option(...).table(...)``. Driver side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from connector_spi.handles import TableHandle
from connector_spi.session import ConnectorSession

__all__ = ["SupportsReadOptions"]


@runtime_checkable
class SupportsReadOptions(Protocol):
    """Metadata whose tables are read in other ways by options. Without it the engine refuses every option."""

    def apply_read_options(
        self, session: ConnectorSession, table: TableHandle, options: Mapping[str, str]
    ) -> TableHandle:
        """The table as the options ask for it.

        Args:
            session: The query.
            table: The handle as it came from the metadata; nothing was pushed into it yet.
            options: Never empty; names in lower case.

        Returns:
            A handle at the same snapshot or one before it. Its columns may be others, where options of
            ``ConnectorFactory.column_options`` are among the given ones.

        Raises:
            InvalidArgumentError: An option that is not known (one that is passed over could change the rows), or a
                value that is not understood.
            NotSupportedError: Options that are understood, and that the table cannot be read with.
        """
