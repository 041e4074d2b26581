"""What an identity may do in a whole session or server; whatever is not overridden is denied."""

from __future__ import annotations

from collections.abc import Collection

from connector_spi.security.connector_access_control import ConnectorAccessControl, denied
from connector_spi.security.identity import Identity

__all__ = ["SystemAccessControl"]


class SystemAccessControl(ConnectorAccessControl):
    """The access control of all catalogs, and of queries, users and the server itself."""

    def check_can_impersonate_user(self, identity: Identity, user: str) -> None:
        """May statements be run as another user?"""
        denied(f"User {identity.user} cannot impersonate user {user}")

    def check_can_execute_query(self, identity: Identity) -> None:
        """May any statement be run?"""
        denied("Cannot execute query")

    def can_view_query_owned_by(self, identity: Identity, owner: str) -> bool:
        """Whether queries of a user are shown."""
        return False

    def check_can_kill_query_owned_by(self, identity: Identity, owner: str) -> None:
        """May queries of a user be ended?"""
        denied("Cannot kill query")

    def check_can_read_system_information(self, identity: Identity) -> None:
        """May tables about the process be read, such as those of metastore calls?"""
        denied("Cannot read system information")

    def can_access_catalog(self, identity: Identity, catalog: str) -> bool:
        """Whether anything may be done in a catalog."""
        return False

    def check_can_access_catalog(self, identity: Identity, catalog: str) -> None:
        """May anything be done in a catalog? Asks ``can_access_catalog``."""
        if not self.can_access_catalog(identity, catalog):
            denied(f"Cannot access catalog {catalog}")

    def filter_catalogs(self, identity: Identity, catalogs: Collection[str]) -> Collection[str]:
        """Those of some catalogs that are shown."""
        return ()
