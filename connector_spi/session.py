"""What a connector may know of the query that it serves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar, cast

from connector_spi.errors import InternalError
from connector_spi.properties import PropertyMetadata
from connector_spi.security.grants import ALL_ROLES
from connector_spi.security.identity import Identity
from connector_spi.serializable import Serializable

__all__ = ["ConnectorSession"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConnectorSession(Serializable):
    """One query's facts; it travels to the tasks.

    Attributes:
        query_id: Unique in the process.
        user: Who asks.
        time_zone: IANA name of the session's zone, such as ``Europe/Berlin``.
        start: When the query began, aware, UTC.
        properties: Session properties of this catalog, typed, each exactly once.
        is_explained: Someone wants to know what is skipped: numbers that cost a further call may be asked for.
        groups: Groups of the user.
        roles: Roles that the user has enabled.
        catalog_role: As of ``Identity``.
        for_others: As of ``Identity``.
        opened_formats: Formats such as ``parquet`` whose native files the engine opens by
            ``SupportsFileOpening.open_file``, and not by paths.
    """

    query_id: str
    user: str
    time_zone: str
    start: datetime
    properties: tuple[tuple[str, object], ...] = ()
    is_explained: bool = False
    groups: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    catalog_role: str = ALL_ROLES
    for_others: bool = False
    opened_formats: frozenset[str] = frozenset()

    @property
    def identity(self) -> Identity:
        """Who asks, without credentials: the session travels."""
        return Identity(self.user, self.groups, self.roles, catalog_role=self.catalog_role, for_others=self.for_others)

    def get(self, prop: PropertyMetadata[T]) -> T:
        """The value of a session property that the connector declares.

        Args:
            prop: The session property, or the property of the catalog that it overrides.

        Raises:
            InternalError: The connector does not declare it.
        """
        name = prop.name_in_session
        for known, value in self.properties:
            if known == name:
                return cast(T, value)
        raise InternalError(f"session property '{name}' is not declared by the connector")
