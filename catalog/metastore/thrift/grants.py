"""The metastore over Thrift: privileges and roles, for Hive 2.3, 3.1 and 4.x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.grants import OWNERS_PRIVILEGES, PUBLIC, GrantClient
from catalog.metastore.thrift.connections.connection import ThriftConnections
from connector_spi.names import SchemaTableName
from connector_spi.security import Principal, PrincipalKind, Privilege, PrivilegeGrant, RoleGrant

__all__ = ["ThriftGrants"]

_KINDS = {PrincipalKind.USER: ttypes.PrincipalType.USER, PrincipalKind.ROLE: ttypes.PrincipalType.ROLE}
_KINDS_BACK = {raw: kind for kind, raw in _KINDS.items()}
# What wrote a grant, since Hive 3; HiveServer2 and Trino write the same.
_AUTHORIZER = "SQL"


class ThriftGrants(GrantClient):
    """Grants of a metastore over Thrift.

    Args:
        connections: The pool, closed with the client of reads.
    """

    def __init__(self, connections: ThriftConnections) -> None:
        self._connections = connections

    def list_table_privileges(self, table: SchemaTableName, grantee: Principal | None = None) -> list[PrivilegeGrant]:
        return [one for raw in self._raw_privileges(table, grantee) for one in _privileges(table, raw)]

    def grant_table_privileges(self, grants: Sequence[PrivilegeGrant]) -> None:
        bag = ttypes.PrivilegeBag([_raw_privilege(one) for one in grants])
        request = ttypes.GrantRevokePrivilegeRequest(ttypes.GrantRevokeType.GRANT, bag)
        self._change_privileges(request)

    def revoke_table_privileges(self, grants: Sequence[PrivilegeGrant], *, grant_option: bool) -> None:
        # Metastores compare the words as they were written, which differ between those who grant.
        found: list[ttypes.HiveObjectPrivilege] = []
        for table, grantee in dict.fromkeys((one.table, one.grantee) for one in grants):
            wanted = {one.privilege for one in grants if (one.table, one.grantee) == (table, grantee)}
            for raw in self._raw_privileges(table, grantee):
                if any(one.privilege in wanted for one in _privileges(table, raw)):
                    found.append(raw)
        request = ttypes.GrantRevokePrivilegeRequest(
            ttypes.GrantRevokeType.REVOKE, ttypes.PrivilegeBag(found), grant_option
        )
        self._change_privileges(request)

    def list_roles(self) -> list[str]:
        return self._connections.call("get_role_names", lambda client: sorted(client.get_role_names()))

    def create_role(self, role: str, owner: str) -> None:
        raw = ttypes.Role(role, 0, owner)
        self._connections.call("create_role", lambda client: client.create_role(raw))

    def drop_role(self, role: str) -> None:
        self._connections.call("drop_role", lambda client: client.drop_role(role))

    def list_role_grants(self, grantee: Principal) -> list[RoleGrant]:
        request = ttypes.GetRoleGrantsForPrincipalRequest(grantee.name, _KINDS[grantee.kind])

        def read(raw: list[ttypes.RolePrincipalGrant]) -> list[RoleGrant]:
            found = (RoleGrant(one.roleName.lower(), grantee, bool(one.grantOption)) for one in raw)
            # The metastore adds it for users.
            return [one for one in found if one.role != PUBLIC]

        return self._connections.call(
            "get_role_grants_for_principal",
            lambda client: read(client.get_role_grants_for_principal(request).principalGrants),
        )

    def list_role_members(self, role: str) -> list[RoleGrant]:
        request = ttypes.GetPrincipalsInRoleRequest(role)

        def read(raw: list[ttypes.RolePrincipalGrant]) -> list[RoleGrant]:
            known = [one for one in raw if one.principalType in _KINDS_BACK]
            return [
                RoleGrant(role, _principal(one.principalType, one.principalName), bool(one.grantOption))
                for one in known
            ]

        return self._connections.call(
            "get_principals_in_role", lambda client: read(client.get_principals_in_role(request).principalGrants)
        )

    def grant_role(self, grant: RoleGrant, grantor: Principal) -> None:
        request = _role_request(ttypes.GrantRevokeType.GRANT, grant)
        request.grantor, request.grantorType = grantor.name, _KINDS[grantor.kind]
        request.grantOption = grant.admin_option
        self._change_role(request)

    def revoke_role(self, grant: RoleGrant, *, admin_option: bool) -> None:
        request = _role_request(ttypes.GrantRevokeType.REVOKE, grant)
        request.grantOption = admin_option
        self._change_role(request)

    def _raw_privileges(self, table: SchemaTableName, grantee: Principal | None) -> list[ttypes.HiveObjectPrivilege]:
        whose = (None, None) if grantee is None else (grantee.name, _KINDS[grantee.kind])
        what = _object(table)
        return self._connections.call("list_privileges", lambda client: list(client.list_privileges(*whose, what)))

    def _change_privileges(self, request: ttypes.GrantRevokePrivilegeRequest) -> None:
        self._connections.call(
            "grant_revoke_privileges",
            lambda client: _done(client.grant_revoke_privileges(request).success),
        )

    def _change_role(self, request: ttypes.GrantRevokeRoleRequest) -> None:
        self._connections.call("grant_revoke_role", lambda client: _done(client.grant_revoke_role(request).success))


def _privileges(table: SchemaTableName, raw: ttypes.HiveObjectPrivilege) -> Iterator[PrivilegeGrant]:
    """What a grant means here: nothing where it is of a group, of a column, or of a kind that no check asks for."""
    info = raw.grantInfo
    if raw.principalType not in _KINDS_BACK or raw.hiveObject.objectType != ttypes.HiveObjectType.TABLE:
        return
    word = (info.privilege or "").upper()
    meant = OWNERS_PRIVILEGES if word == "ALL" else [one for one in Privilege if one == word]
    grantor = _principal(info.grantorType, info.grantor) if info.grantorType in _KINDS_BACK else None
    for one in meant:
        yield PrivilegeGrant(
            table, one, _principal(raw.principalType, raw.principalName), grantor, bool(info.grantOption)
        )


def _raw_privilege(grant: PrivilegeGrant) -> ttypes.HiveObjectPrivilege:
    grantor = grant.grantor or grant.grantee
    info = ttypes.PrivilegeGrantInfo(grant.privilege, 0, grantor.name, _KINDS[grantor.kind], grant.grant_option)
    grantee = grant.grantee
    return ttypes.HiveObjectPrivilege(_object(grant.table), grantee.name, _KINDS[grantee.kind], info, _AUTHORIZER)


def _object(table: SchemaTableName) -> ttypes.HiveObjectRef:
    return ttypes.HiveObjectRef(ttypes.HiveObjectType.TABLE, table.schema, table.table)


def _principal(kind: int, name: str) -> Principal:
    return Principal.role(name) if _KINDS_BACK[kind] is PrincipalKind.ROLE else Principal.user(name)


def _role_request(kind: int, grant: RoleGrant) -> ttypes.GrantRevokeRoleRequest:
    return ttypes.GrantRevokeRoleRequest(kind, grant.role, grant.grantee.name, _KINDS[grant.grantee.kind])


def _done(success: bool | None) -> None:
    if not success:
        raise ttypes.MetaException("it was not done")
