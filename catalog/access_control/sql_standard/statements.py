"""What ``GRANT``, ``REVOKE``, ``CREATE ROLE`` and their likes do in a metastore, for connectors over one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from catalog.access_control.sql_standard.known_grants import KnownGrants
from catalog.access_control.sql_standard.roles import is_applicable
from catalog.metastore import error_codes
from catalog.metastore.grants import ADMIN, OWNERS_PRIVILEGES, PUBLIC, GrantClient
from connector_spi.errors import NotSupportedError, TableNotFoundError, UserError
from connector_spi.names import SchemaTableName
from connector_spi.properties import closest
from connector_spi.security import ALL_ROLES, NO_ROLES, Principal, PrincipalKind, Privilege, PrivilegeGrant, RoleGrant
from connector_spi.security.connector_access_control import denied
from connector_spi.session import ConnectorSession

__all__ = ["MetastoreGrants"]

_RESERVED = (ALL_ROLES, NO_ROLES, "default")


class MetastoreGrants:
    """``SupportsGrants`` over a metastore.

    Args:
        grants: What the metastore knows.
    """

    def __init__(self, grants: KnownGrants) -> None:
        self._grants = grants

    def grant_table_privileges(
        self,
        session: ConnectorSession,
        table: SchemaTableName,
        privileges: Collection[Privilege],
        grantee: Principal,
        grant_option: bool,
    ) -> None:
        """See ``SupportsGrants``."""
        self._check_writable(session, "grant privileges")
        known = {one.privilege: one for one in self._granted(session, table, privileges, grantee)}
        weaker = sorted(one for one in privileges if one in known and grant_option and not known[one].grant_option)
        if weaker:
            raise NotSupportedError(
                f"{weaker[0]} on {table} cannot be granted WITH GRANT OPTION, since {grantee} has it without; revoke "
                "it first"
            )
        grantor = Principal.user(session.user)
        new = [PrivilegeGrant(table, one, grantee, grantor, grant_option) for one in privileges if one not in known]
        if new:
            self._kept(session).grant_table_privileges(new)
        self._grants.forget()

    def revoke_table_privileges(
        self,
        session: ConnectorSession,
        table: SchemaTableName,
        privileges: Collection[Privilege],
        grantee: Principal,
        grant_option: bool,
    ) -> None:
        """See ``SupportsGrants``."""
        self._check_writable(session, "revoke privileges")
        known = self._granted(session, table, privileges, grantee)
        left = [one for one in known if one.privilege in privileges and (one.grant_option or not grant_option)]
        if left:
            self._kept(session).revoke_table_privileges(left, grant_option=grant_option)
        self._grants.forget()

    def list_table_privileges(
        self, session: ConnectorSession, tables: Sequence[SchemaTableName]
    ) -> Sequence[PrivilegeGrant]:
        """See ``SupportsGrants``: all where ``admin`` is selected, else those of the user and the roles that count."""
        identity = session.identity
        # It may be selected by a setting alone.
        self.check_role(session, identity.catalog_role)
        mine = self._grants.enabled_principals(identity)
        found = [one for table in tables for one in self._grants.privileges(identity, table)]
        return found if identity.catalog_role == ADMIN else [one for one in found if one.grantee in mine]

    def create_role(self, session: ConnectorSession, role: str) -> None:
        """See ``SupportsGrants``."""
        self._check_writable(session, "create a role")
        if role in _RESERVED or role in self._kept(session).list_roles():
            what = "has a meaning of its own" if role in _RESERVED else "exists already"
            raise UserError(f"the role {role} {what}; choose another name", error_codes.ALREADY_EXISTS)
        self._kept(session).create_role(role, session.user)
        self._grants.forget()

    def drop_role(self, session: ConnectorSession, role: str) -> None:
        """See ``SupportsGrants``."""
        self._check_writable(session, "drop a role")
        self._need_roles(session, [role])
        if role in (ADMIN, PUBLIC):
            raise UserError(f"the role {role} cannot be dropped: each metastore has it", error_codes.REFUSED_ROLE)
        self._kept(session).drop_role(role)
        self._grants.forget()

    def list_roles(self, session: ConnectorSession) -> Sequence[str]:
        """See ``SupportsGrants``."""
        return self._kept(session).list_roles()

    def grant_roles(
        self, session: ConnectorSession, roles: Collection[str], grantees: Collection[Principal], admin_option: bool
    ) -> None:
        """See ``SupportsGrants``."""
        self._check_writable(session, "grant roles")
        self._need_roles(session, [*roles, *(one.name for one in grantees if one.kind is PrincipalKind.ROLE)])
        client, grantor = self._kept(session), Principal.user(session.user)
        try:
            for grantee in grantees:
                known = {one.role: one for one in client.list_role_grants(grantee)}
                for role in roles:
                    old = known.get(role)
                    if old is not None and (old.admin_option or not admin_option):
                        continue
                    self._refuse_cycle(session, role, grantee)
                    if old is not None:
                        raise NotSupportedError(
                            f"the role {role} cannot be granted WITH ADMIN OPTION, since {grantee} has it without; "
                            "revoke it first"
                        )
                    client.grant_role(RoleGrant(role, grantee, admin_option), grantor)
        finally:
            self._grants.forget()

    def revoke_roles(
        self, session: ConnectorSession, roles: Collection[str], grantees: Collection[Principal], admin_option: bool
    ) -> None:
        """See ``SupportsGrants``."""
        self._check_writable(session, "revoke roles")
        self._need_roles(session, roles)
        client = self._kept(session)
        try:
            for grantee in grantees:
                for grant in client.list_role_grants(grantee):
                    if grant.role in roles and (grant.admin_option or not admin_option):
                        client.revoke_role(grant, admin_option=admin_option)
        finally:
            self._grants.forget()

    def list_role_grants(self, session: ConnectorSession) -> Sequence[RoleGrant]:
        """See ``SupportsGrants``; ``public`` is everyone's."""
        user = Principal.user(session.user)
        return [*self._kept(session).list_role_grants(user), RoleGrant(PUBLIC, user)]

    def list_enabled_roles(self, session: ConnectorSession) -> Sequence[str]:
        """See ``SupportsGrants``."""
        return sorted(self._grants.enabled_roles(session.identity))

    def check_role(self, session: ConnectorSession, role: str) -> None:
        """See ``SupportsGrants``."""
        identity = session.identity
        if role not in (ALL_ROLES, NO_ROLES) and not is_applicable(identity, role, self._grants.roles_of(identity)):
            denied(f"Cannot set role {role}")

    def _check_writable(self, session: ConnectorSession, what: str) -> None:
        self._grants.metastore.as_user(session.user).writes.check_allowed(what)

    def _kept(self, session: ConnectorSession) -> GrantClient:
        return self._grants.client(session.identity)

    def _granted(
        self, session: ConnectorSession, table: SchemaTableName, privileges: Collection[Privilege], grantee: Principal
    ) -> list[PrivilegeGrant]:
        """What the grantee was granted on a table that is there."""
        strange = sorted(set(privileges).difference(OWNERS_PRIVILEGES))
        if strange:
            raise NotSupportedError(
                f"{strange[0]} is not granted: it is its owner's alone; {', '.join(OWNERS_PRIVILEGES)} are granted"
            )
        if self._grants.metastore.as_user(session.user).reads.get_table(table.schema, table.table) is None:
            raise TableNotFoundError(f"the metastore has no table {table}")
        if grantee.kind is PrincipalKind.ROLE:
            self._need_roles(session, [grantee.name])
        return self._kept(session).list_table_privileges(table, grantee)

    def _need_roles(self, session: ConnectorSession, roles: Collection[str]) -> None:
        known = self._kept(session).list_roles()
        missing = sorted(set(roles).difference(known))
        if missing:
            raise UserError(f"no role '{missing[0]}'{closest(missing[0], known)}", error_codes.ROLE_NOT_FOUND)

    def _refuse_cycle(self, session: ConnectorSession, role: str, grantee: Principal) -> None:
        """A role within itself would never end."""
        if grantee.kind is not PrincipalKind.ROLE:
            return
        below, waiting = {role}, [role]
        while waiting:
            for one in self._kept(session).list_role_grants(Principal.role(waiting.pop())):
                if one.role not in below:
                    below.add(one.role)
                    waiting.append(one.role)
        if grantee.name in below:
            raise UserError(
                f"the role {role} cannot be granted to {grantee}, which it has itself", error_codes.REFUSED_ROLE
            )
