"""Privileges and roles of the embedded metastore.

Their tables are made with the first grant, so that files without one stay as they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from catalog.metastore import error_codes
from catalog.metastore.embedded.rows import need_table
from catalog.metastore.embedded.sqlite_store import SqliteStore
from catalog.metastore.grants import ADMIN, OWNERS_PRIVILEGES, PUBLIC, GrantClient
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.security import Principal, PrincipalKind, Privilege, PrivilegeGrant, RoleGrant

__all__ = ["EmbeddedGrants", "grant_owner"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS roles (name TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS role_grants (
    role TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, admin_option INTEGER NOT NULL,
    grantor_kind TEXT NOT NULL, grantor TEXT NOT NULL,
    PRIMARY KEY (role, kind, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS table_privileges (
    database TEXT NOT NULL, table_name TEXT NOT NULL, privilege TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    grantor_kind TEXT NOT NULL, grantor TEXT NOT NULL, grant_option INTEGER NOT NULL,
    PRIMARY KEY (database, table_name, privilege, kind, name),
    FOREIGN KEY (database, table_name) REFERENCES tables ON UPDATE CASCADE ON DELETE CASCADE) WITHOUT ROWID
"""
_BUILT_IN = (ADMIN, PUBLIC)


class EmbeddedGrants(GrantClient):
    """Grants in the file of an embedded metastore.

    Args:
        store: What ``open_store`` gave.
        administrators: Users who have the role ``admin`` without a grant.
    """

    def __init__(self, store: SqliteStore, administrators: Sequence[str] = ()) -> None:
        self._store = store
        self._administrators = tuple(administrators)

    def list_table_privileges(self, table: SchemaTableName, grantee: Principal | None = None) -> list[PrivilegeGrant]:
        query = "SELECT privilege, kind, name, grantor_kind, grantor, grant_option FROM table_privileges "
        query += "WHERE database = ? AND table_name = ?"
        with self._store.read("list_privileges") as connection:
            rows = connection.execute(query, (table.schema, table.table)).fetchall() if _has(connection) else []
        found = [
            PrivilegeGrant(table, Privilege(word), _principal(kind, name), _principal(by, grantor), bool(option))
            for word, kind, name, by, grantor, option in rows
        ]
        return [one for one in found if grantee in (None, one.grantee)]

    def grant_table_privileges(self, grants: Sequence[PrivilegeGrant]) -> None:
        with self._write("grant_privileges") as connection:
            for one in grants:
                need_table(connection, one.table.schema, one.table.table)
            _insert_privileges(connection, grants)

    def revoke_table_privileges(self, grants: Sequence[PrivilegeGrant], *, grant_option: bool) -> None:
        verb = "UPDATE table_privileges SET grant_option = 0" if grant_option else "DELETE FROM table_privileges"
        which = "WHERE database = ? AND table_name = ? AND privilege = ? AND kind = ? AND name = ?"
        keys = [
            (one.table.schema, one.table.table, one.privilege, one.grantee.kind, one.grantee.name) for one in grants
        ]
        with self._write("revoke_privileges") as connection:
            connection.executemany(f"{verb} {which}", keys)

    def list_roles(self) -> list[str]:
        with self._store.read("list_roles") as connection:
            made = connection.execute("SELECT name FROM roles").fetchall() if _has(connection) else []
        return sorted({*_BUILT_IN, *(row[0] for row in made)})

    def create_role(self, role: str, owner: str) -> None:
        with self._write("create_role") as connection:
            if role in _BUILT_IN:
                raise sqlite3.IntegrityError
            connection.execute("INSERT INTO roles VALUES (?, ?)", (role, owner))

    def drop_role(self, role: str) -> None:
        with self._write("drop_role") as connection:
            connection.execute("DELETE FROM roles WHERE name = ?", (role,))
            connection.execute("DELETE FROM role_grants WHERE role = ? OR kind = 'ROLE' AND name = ?", (role, role))
            connection.execute("DELETE FROM table_privileges WHERE kind = 'ROLE' AND name = ?", (role,))

    def list_role_grants(self, grantee: Principal) -> list[RoleGrant]:
        with self._store.read("list_role_grants") as connection:
            query = "SELECT role, admin_option FROM role_grants WHERE kind = ? AND name = ? ORDER BY role"
            key = (grantee.kind, grantee.name)
            rows = connection.execute(query, key).fetchall() if _has(connection) else []
        found = [RoleGrant(role, grantee, bool(option)) for role, option in rows]
        born = grantee.kind is PrincipalKind.USER and grantee.name in self._administrators
        return [RoleGrant(ADMIN, grantee, True), *(one for one in found if one.role != ADMIN)] if born else found

    def list_role_members(self, role: str) -> list[RoleGrant]:
        with self._store.read("list_role_members") as connection:
            query = "SELECT kind, name, admin_option FROM role_grants WHERE role = ? ORDER BY kind, name"
            rows = connection.execute(query, (role,)).fetchall() if _has(connection) else []
        found = [RoleGrant(role, _principal(kind, name), bool(option)) for kind, name, option in rows]
        born = [Principal.user(name) for name in self._administrators] if role == ADMIN else []
        return [*(RoleGrant(role, one, True) for one in born), *(one for one in found if one.grantee not in born)]

    def grant_role(self, grant: RoleGrant, grantor: Principal) -> None:
        if grant.role not in self.list_roles():
            raise MetastoreError(f"the metastore has no role {grant.role}", error_codes.REFUSED_REQUEST)
        grantee = grant.grantee
        row = (grant.role, grantee.kind, grantee.name, grant.admin_option, grantor.kind, grantor.name)
        with self._write("grant_role") as connection:
            connection.execute("INSERT INTO role_grants VALUES (?, ?, ?, ?, ?, ?)", row)

    def revoke_role(self, grant: RoleGrant, *, admin_option: bool) -> None:
        verb = "UPDATE role_grants SET admin_option = 0" if admin_option else "DELETE FROM role_grants"
        key = (grant.role, grant.grantee.kind, grant.grantee.name)
        with self._write("revoke_role") as connection:
            done = connection.execute(f"{verb} WHERE role = ? AND kind = ? AND name = ?", key).rowcount
        if done == 0:
            raise MetastoreError(
                f"{grant.grantee} has the role {grant.role} by hive.metastore.embedded.users-in-admin-role, not by a "
                "grant; change the property",
                error_codes.REFUSED_REQUEST,
            )

    @contextmanager
    def _write(self, method: str) -> Iterator[sqlite3.Connection]:
        with self._store.write(method) as connection:
            _make_tables(connection)
            try:
                yield connection
            except sqlite3.IntegrityError as error:
                raise MetastoreError(f"{method}: it is there already", error_codes.ALREADY_EXISTS) from error


def grant_owner(connection: sqlite3.Connection, table: SchemaTableName, owner: str) -> None:
    """Grants the owner of a new table what Hive and Trino grant."""
    _make_tables(connection)
    user = Principal.user(owner)
    _insert_privileges(connection, [PrivilegeGrant(table, one, user, user, True) for one in OWNERS_PRIVILEGES])


def _insert_privileges(connection: sqlite3.Connection, grants: Sequence[PrivilegeGrant]) -> None:
    rows = []
    for one in grants:
        grantee, grantor = one.grantee, one.grantor or one.grantee
        by_whom = (grantor.kind, grantor.name, one.grant_option)
        rows.append((one.table.schema, one.table.table, one.privilege, grantee.kind, grantee.name, *by_whom))
    connection.executemany("INSERT INTO table_privileges VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _make_tables(connection: sqlite3.Connection) -> None:
    if not _has(connection):
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)


def _has(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'table_privileges'").fetchone()
    return bool(found[0])


def _principal(kind: str, name: str) -> Principal:
    return Principal(PrincipalKind(kind), name)
