"""What checks ask a metastore of grants and owners, kept for a moment: one statement asks for the same many times."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar, cast

from catalog.access_control.sql_standard.roles import enabled_principals, enabled_roles
from catalog.metastore.cache.registry import flush_caches, register_cache
from catalog.metastore.factory import Metastore
from catalog.metastore.grants import GrantClient
from catalog.metastore.model import Database
from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.security import Identity, Principal, Privilege, PrivilegeGrant, RoleGrant

__all__ = ["KEPT_SECONDS", "KnownGrants"]

AnswerT = TypeVar("AnswerT")
KEPT_SECONDS = 1.0
"""What others grant and revoke counts after this at the latest; what is granted through here at once."""
_MOST = 10_000


class KnownGrants:
    """Answers about grants. May be used by several threads.

    What is changed through a catalog of this process, grants and tables, is asked anew at once.

    Args:
        metastore: Is asked; as the user of an identity, where users are impersonated.
        kept_seconds: How long an answer counts.

    Raises:
        NotSupportedError: The metastore has no grants.
    """

    def __init__(self, metastore: Metastore, kept_seconds: float = KEPT_SECONDS) -> None:
        if metastore.grants is None:
            raise NotSupportedError(
                f"hive.security=sql-standard needs grants, and the metastore ({metastore.description}) keeps none; use "
                "another metastore, or hive.security=file"
            )
        self.metastore = metastore
        self._kept_seconds = kept_seconds
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[float, object]] = {}
        self._flushes = 0
        register_cache(self, metastore.addresses)

    def client(self, identity: Identity) -> GrantClient:
        """The metastore's own client, for changes."""
        found = self.metastore.as_user(identity.user).grants
        assert found is not None, "users are impersonated in the same kind of metastore"
        return found

    def privileges(self, identity: Identity, table: SchemaTableName) -> Sequence[PrivilegeGrant]:
        """All privileges on a table, that of its owner included."""
        return self._of_table(identity, table) or ()

    def is_missing(self, identity: Identity, table: SchemaTableName) -> bool:
        """Whether there is no such table."""
        return self._of_table(identity, table) is None

    def roles_of(self, identity: Identity) -> Callable[[Principal], Sequence[RoleGrant]]:
        """What gives the roles that were granted to someone, as an identity may ask for it."""

        def find(principal: Principal) -> Sequence[RoleGrant]:
            client = self.client(identity)
            return self._get(identity, ("roles", principal), lambda: client.list_role_grants(principal))

        return find

    def enabled_roles(self, identity: Identity) -> frozenset[str]:
        """The roles that count for an identity."""
        return enabled_roles(identity, self.roles_of(identity))

    def enabled_principals(self, identity: Identity) -> frozenset[Principal]:
        """Those whose privileges an identity has."""
        return enabled_principals(identity, self.roles_of(identity))

    def database(self, identity: Identity, name: str) -> Database | None:
        """A database, with its owner."""
        reads = self.metastore.as_user(identity.user).reads
        return self._get(identity, ("database", name), lambda: reads.get_database(name))

    def forget(self) -> None:
        """Has all catalogs of this process over the metastore ask anew."""
        flush_caches(self.metastore.addresses)

    def flush(self, database: str | None = None, table: str | None = None, partition: str | None = None) -> int:
        """Asks anew from now on, of whatever; see ``flush_caches``."""
        with self._lock:
            self._kept.clear()
            self._flushes += 1
        return 0

    def _of_table(self, identity: Identity, table: SchemaTableName) -> Sequence[PrivilegeGrant] | None:
        return self._get(identity, ("privileges", table), lambda: self._privileges(identity, table))

    def _privileges(self, identity: Identity, table: SchemaTableName) -> Sequence[PrivilegeGrant] | None:
        entry = self.metastore.as_user(identity.user).reads.get_table(table.schema, table.table)
        if entry is None:
            return None
        found = self.client(identity).list_table_privileges(table)
        if not entry.owner:
            return found
        owner = Principal.user(entry.owner)
        return [PrivilegeGrant(table, Privilege.OWNERSHIP, owner, owner, grant_option=True), *found]

    def _get(self, identity: Identity, asked: Hashable, ask: Callable[[], AnswerT]) -> AnswerT:
        # Where users are impersonated, one may see what another may not.
        key = (None if self.metastore.users is None else identity.user, asked)
        now = time.monotonic()
        with self._lock:
            kept, flushes = self._kept.get(key), self._flushes
        if kept is not None and now - kept[0] < self._kept_seconds:
            return cast(AnswerT, kept[1])
        answer = ask()
        with self._lock:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            if self._flushes == flushes:
                # As old as the question: the answer may be from before what came meanwhile.
                self._kept[key] = (now, answer)
        return answer
