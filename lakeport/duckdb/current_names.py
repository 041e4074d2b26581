"""What names without a catalog or schema belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from lakeport.transactions.statement import PropertySource

__all__ = ["CurrentNames"]


@dataclass(slots=True)
class CurrentNames:
    """The catalog and schema of names that say none; empty before ``USE``.

    Attributes:
        catalog: The catalog.
        schema: The schema.
        properties: Gives the session properties that are set for a catalog.
    """

    catalog: str = ""
    schema: str = ""
    properties: PropertySource | None = None

    def full(self, parts: Sequence[str]) -> CatalogSchemaTableName:
        """A table's full name, in lower case.

        Raises:
            InvalidArgumentError: The name says no catalog, and none is selected, or it has too many parts.
        """
        missing = 3 - len(parts)
        given = (self.catalog, self.schema)[: max(missing, 0)]
        if missing < 0 or not all(given):
            raise InvalidArgumentError(
                f"'{'.'.join(parts)}' names no catalog; expected catalog.schema.table, or USE a schema first"
            )
        return CatalogSchemaTableName(*(part.lower() for part in (*given, *parts)))
