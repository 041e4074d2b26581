"""``hive.security=sql-standard`` over a real Hive metastore, beside another client of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from connector_spi.errors import AccessDeniedError
from lakeport.catalog_session import AnySession
from tests.hms import HiveMetastoreServer
from tests.lakeport.access_control.granting_sessions import rows, sessions

pytestmark = pytest.mark.spark

USER, ROLE = ttypes.PrincipalType.USER, ttypes.PrincipalType.ROLE


class OtherClient:
    """Another client of the metastore, which makes and reads grants."""

    def __init__(self, raw: ThriftHiveMetastore.Client, schema: str) -> None:
        self.raw = raw
        self.about = ttypes.HiveObjectRef(ttypes.HiveObjectType.TABLE, schema, "t")

    def grant(self, word: str, user: str) -> None:
        """Grants a privilege on the table."""
        info = ttypes.PrivilegeGrantInfo(word, 0, "ann", USER, False)
        bag = ttypes.PrivilegeBag([ttypes.HiveObjectPrivilege(self.about, user, USER, info, "SQL")])
        request = ttypes.GrantRevokePrivilegeRequest(ttypes.GrantRevokeType.GRANT, bag)
        assert self.raw.grant_revoke_privileges(request).success

    def give_role(self, role: str, user: str) -> None:
        """Makes a role, and grants it."""
        assert self.raw.create_role(ttypes.Role(role, 0, "ann"))
        request = ttypes.GrantRevokeRoleRequest(ttypes.GrantRevokeType.GRANT, role, user, USER, "ann", USER, False)
        assert self.raw.grant_revoke_role(request).success

    def privileges(self, user: str) -> set[str]:
        """What a user was granted on the table."""
        return {one.grantInfo.privilege for one in self.raw.list_privileges(user, USER, self.about)}


@pytest.fixture
def other(hive_metastore_server: HiveMetastoreServer) -> Iterator[OtherClient]:
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", hive_metastore_server.port))
    transport.open()
    with closing(transport):
        yield OtherClient(ThriftHiveMetastore.Client(TBinaryProtocol(transport)), f"db_{uuid4().hex[:12]}")


def soon(ask: Callable[[], bool]) -> bool:
    """Whether something comes true some moments after another client did it."""
    end = time.monotonic() + 20
    while not ask() and time.monotonic() < end:
        time.sleep(0.1)
    return ask()


def reads(session: AnySession, table: str) -> bool:
    try:
        session.arrow(table).read_all()
    except AccessDeniedError:
        return False
    return True


@pytest.mark.slow
def test_grants_of_both_clients_count_for_both(
    hive_metastore_server: HiveMetastoreServer, other: OtherClient, tmp_path: Path
) -> None:
    schema = other.about.dbName
    keepers, readers = f"{schema}_keepers", f"{schema}_readers"
    other.raw.create_database(ttypes.Database(schema, None, (tmp_path / "db").as_uri(), {}, None, keepers, ROLE))
    catalogs = tmp_path / "catalog"
    catalogs.mkdir()
    (catalogs / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore.uri={hive_metastore_server.uri}\nhive.security=sql-standard\n"
    )
    table, data = f"hive.{schema}.t", pa.table({"id": [1, 2]})
    with sessions(catalogs) as connect:
        ann, bob = connect("ann"), connect("bob")
        # The schema belongs to a role, which ann gets.
        with pytest.raises(AccessDeniedError, match="Cannot create table"):
            ann.create_table_as(table, data)
        other.give_role(keepers, "ann")
        assert soon(lambda: keepers in str(rows(ann, "SHOW CURRENT ROLES IN hive")))
        ann.create_table_as(table, data)
        assert other.privileges("ann") == {"SELECT", "INSERT", "UPDATE", "DELETE"}
        # Theirs, in small letters as Trino writes it.
        assert not reads(bob, table)
        other.grant("select", "bob")
        assert soon(lambda: reads(bob, table))
        rows(ann, f"REVOKE SELECT ON {table} FROM bob")
        assert not reads(bob, table)
        assert other.privileges("bob") == set()
        # Ours, to a role of theirs.
        other.give_role(readers, "bob")
        rows(ann, f"GRANT SELECT ON {table} TO ROLE {readers}")
        found = other.raw.get_privilege_set(other.about, "bob", [])
        assert [one.privilege for one in found.rolePrivileges[readers]] == ["SELECT"]
        assert soon(lambda: reads(bob, table))
        rows(bob, "SET ROLE NONE IN hive")
        assert not reads(bob, table)
