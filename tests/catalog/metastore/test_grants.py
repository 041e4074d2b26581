"""Privileges and roles as metastores keep them: of each kind the same, and as another client wrote and reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from uuid import uuid4

import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from catalog.metastore.factory import Metastore
from catalog.metastore.grants import OWNERS_PRIVILEGES, GrantClient
from catalog.metastore.model import Database, Table
from catalog.metastore.testing.objects import STORAGE
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.security import Principal, Privilege, PrivilegeGrant, RoleGrant
from tests.hms import HiveMetastoreServer

OWNER, BOB = Principal.user("Owner"), Principal.user("bob")


@pytest.fixture
def grants(metastore: Metastore) -> GrantClient:
    assert metastore.grants is not None
    return metastore.grants


@pytest.fixture
def table(metastore: Metastore) -> SchemaTableName:
    """A new table of ``Owner``."""
    return make_table(metastore)


@pytest.fixture
def role(grants: GrantClient) -> str:
    made = f"r_{uuid4().hex[:12]}"
    grants.create_role(made, "Owner")
    return made


@pytest.fixture
def other_client(hive_metastore_server: HiveMetastoreServer) -> Iterator[ThriftHiveMetastore.Client]:
    """A client of Hive 3's own Thrift interface."""
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", hive_metastore_server.port))
    transport.open()
    with closing(transport):
        yield ThriftHiveMetastore.Client(TBinaryProtocol(transport))


def make_table(metastore: Metastore) -> SchemaTableName:
    name = SchemaTableName(f"db_{uuid4().hex[:12]}", "t")
    metastore.writes.create_database(Database(name.schema, owner="Owner"))
    metastore.writes.create_table(Table(name.schema, name.table, STORAGE, owner="Owner"))
    return name


def short(found: list[PrivilegeGrant]) -> set[tuple[str, str, bool]]:
    return {(str(one.grantee), str(one.privilege), one.grant_option) for one in found}


OWNERS = {("user Owner", str(one), True) for one in OWNERS_PRIVILEGES}


def test_a_new_table_is_its_makers(grants: GrantClient, table: SchemaTableName) -> None:
    assert short(grants.list_table_privileges(table)) == OWNERS
    assert grants.list_table_privileges(SchemaTableName(table.schema, "missing")) == []


def test_privileges_are_granted_and_taken_back(grants: GrantClient, table: SchemaTableName, role: str) -> None:
    select = PrivilegeGrant(table, Privilege.SELECT, BOB, OWNER, grant_option=True)
    insert = PrivilegeGrant(table, Privilege.INSERT, Principal.role(role), OWNER)
    grants.grant_table_privileges([select, insert])
    given = {("user bob", "SELECT", True), (f"role {role}", "INSERT", False)}
    assert short(grants.list_table_privileges(table)) == OWNERS | given
    assert grants.list_table_privileges(table, BOB) == [select]
    grants.revoke_table_privileges([select], grant_option=True)
    assert grants.list_table_privileges(table, BOB) == [replace(select, grant_option=False)]
    grants.revoke_table_privileges([replace(select, grant_option=False)], grant_option=False)
    assert grants.list_table_privileges(table, BOB) == []
    assert grants.list_table_privileges(table, Principal.role(role)) == [insert]


def test_grants_go_with_a_table_and_its_name(metastore: Metastore, grants: GrantClient, table: SchemaTableName) -> None:
    grants.grant_table_privileges([PrivilegeGrant(table, Privilege.UPDATE, BOB, OWNER)])
    entry = metastore.reads.get_table(table.schema, table.table)
    assert entry is not None
    metastore.writes.alter_table(table.schema, table.table, replace(entry, name="u"))
    renamed = SchemaTableName(table.schema, "u")
    assert short(grants.list_table_privileges(renamed, BOB)) == {("user bob", "UPDATE", False)}
    metastore.writes.drop_table(renamed.schema, renamed.table)
    metastore.writes.create_table(replace(entry, owner="eve"))
    assert {one.grantee.name for one in grants.list_table_privileges(table)} == {"eve"}


def test_roles_are_granted_to_users_and_roles(grants: GrantClient, role: str) -> None:
    inner = f"{role}_i"
    grants.create_role(inner, "Owner")
    assert {role, inner, "admin", "public"} <= set(grants.list_roles())
    grants.grant_role(RoleGrant(role, BOB, admin_option=True), OWNER)
    grants.grant_role(RoleGrant(inner, Principal.role(role)), OWNER)
    assert RoleGrant(role, BOB, admin_option=True) in grants.list_role_grants(BOB)
    assert grants.list_role_grants(Principal.role(role)) == [RoleGrant(inner, Principal.role(role))]
    assert grants.list_role_members(role) == [RoleGrant(role, BOB, admin_option=True)]
    grants.revoke_role(RoleGrant(role, BOB), admin_option=True)
    assert grants.list_role_members(role) == [RoleGrant(role, BOB)]
    grants.revoke_role(RoleGrant(role, BOB), admin_option=False)
    assert grants.list_role_members(role) == []
    grants.drop_role(inner)
    assert grants.list_role_grants(Principal.role(role)) == []


def test_what_is_there_or_missing_is_refused(grants: GrantClient, role: str) -> None:
    with pytest.raises(MetastoreError):
        grants.create_role(role, "Owner")
    with pytest.raises(MetastoreError):
        grants.grant_role(RoleGrant(f"{role}_missing", BOB), OWNER)


@pytest.mark.spark
def test_another_client_reads_what_we_grant(
    thrift_metastore: Metastore, other_client: ThriftHiveMetastore.Client
) -> None:
    table, grants = make_table(thrift_metastore), thrift_metastore.grants
    assert grants is not None
    made = f"r_{uuid4().hex[:12]}"
    grants.create_role(made, "Owner")
    grants.grant_role(RoleGrant(made, BOB), OWNER)
    grants.grant_table_privileges(
        [
            PrivilegeGrant(table, Privilege.SELECT, BOB, OWNER, grant_option=True),
            PrivilegeGrant(table, Privilege.DELETE, Principal.role(made), OWNER),
        ]
    )
    about = ttypes.HiveObjectRef(ttypes.HiveObjectType.TABLE, table.schema, table.table)
    found = other_client.list_privileges(None, None, about)
    told = {(one.principalName, one.grantInfo.privilege, one.grantInfo.grantOption) for one in found}
    owners = {("Owner", str(one), True) for one in OWNERS_PRIVILEGES}
    assert told == owners | {("bob", "SELECT", True), (made, "DELETE", False)}
    # What HiveServer2 asks before it lets a statement run.
    whole = other_client.get_privilege_set(about, "bob", [])
    assert [one.privilege for one in whole.userPrivileges["bob"]] == ["SELECT"]
    assert [one.privilege for one in whole.rolePrivileges[made]] == ["DELETE"]
    asked = ttypes.GetPrincipalsInRoleRequest(made)
    assert [one.principalName for one in other_client.get_principals_in_role(asked).principalGrants] == ["bob"]


@pytest.mark.spark
def test_we_read_and_take_back_what_another_client_grants(
    thrift_metastore: Metastore, other_client: ThriftHiveMetastore.Client
) -> None:
    table, grants = make_table(thrift_metastore), thrift_metastore.grants
    assert grants is not None
    user, kind = ttypes.PrincipalType.USER, ttypes.HiveObjectType.TABLE
    about = ttypes.HiveObjectRef(kind, table.schema, table.table)
    # Trino writes small letters, HiveServer2 capital ones.
    words = {word: ttypes.PrivilegeGrantInfo(word, 0, "Owner", user, word == "select") for word in ("select", "INSERT")}
    bag = [ttypes.HiveObjectPrivilege(about, "bob", user, info) for info in words.values()]
    request = ttypes.GrantRevokePrivilegeRequest(ttypes.GrantRevokeType.GRANT, ttypes.PrivilegeBag(bag))
    assert other_client.grant_revoke_privileges(request).success
    expected = {("user bob", "SELECT", True), ("user bob", "INSERT", False)}
    assert short(grants.list_table_privileges(table, BOB)) == expected
    grants.revoke_table_privileges(grants.list_table_privileges(table, BOB), grant_option=False)
    assert [one.principalName for one in other_client.list_privileges("bob", user, about)] == []
