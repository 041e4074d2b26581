"""Trino's file-based access control; what each check asks of the rules is that of Trino's class of this name."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from catalog.access_control.file_rules import Rule, Rules, read_rules
from connector_spi.names import CatalogSchemaTableName
from connector_spi.security import Identity, Principal, Privilege, SystemAccessControl, ViewExpression

__all__ = ["FileAccessControl"]

_INFORMATION_SCHEMA = "information_schema"
_REFERENCE = re.compile(r"\$(\d)")
_IMPLIED = {"all": {"all", "read-only"}, "read-only": {"read-only"}, "owner": {"owner", "all", "read-only"}}
_READS = {"SELECT", "GRANT_SELECT"}


class FileAccessControl(SystemAccessControl):
    """Rules of a file.

    Args:
        path: Trino's ``rules.json``.
        pointer: Where in it the rules are (RFC 6901).
        refresh_seconds: The file is read again after this; ``None`` is never. One that cannot be read denies all.

    Raises:
        InvalidPropertyError: The file cannot be read or is not understood.
    """

    def __init__(self, path: Path, pointer: str = "", refresh_seconds: float | None = None) -> None:
        self._path = path
        self._pointer = pointer
        self._refresh_seconds = refresh_seconds
        self._lock = threading.Lock()
        self._read_at = time.monotonic()
        self._read = read_rules(path, pointer)

    def check_can_impersonate_user(self, identity: Identity, user: str) -> None:
        for rule in self._section("impersonation") or ():
            found = _becomes(rule, identity, user)
            if found is not None:
                if found:
                    return
                break
        super().check_can_impersonate_user(identity, user)

    def check_can_execute_query(self, identity: Identity) -> None:
        if not self._may_query(identity, None, "execute"):
            super().check_can_execute_query(identity)

    def can_view_query_owned_by(self, identity: Identity, owner: str) -> bool:
        return identity.user == owner or self._may_query(identity, owner, "view")

    def check_can_kill_query_owned_by(self, identity: Identity, owner: str) -> None:
        if identity.user != owner and not self._may_query(identity, owner, "kill"):
            super().check_can_kill_query_owned_by(identity, owner)

    def check_can_read_system_information(self, identity: Identity) -> None:
        if "read" not in _first(self._section("system_information") or (), identity):
            super().check_can_read_system_information(identity)

    def can_access_catalog(self, identity: Identity, catalog: str) -> bool:
        return self._has_access(identity, catalog, "read-only")

    def filter_catalogs(self, identity: Identity, catalogs: Collection[str]) -> Collection[str]:
        return [catalog for catalog in catalogs if self._sees(identity, catalog=catalog)]

    def check_can_set_catalog_session_property(self, identity: Identity, catalog: str, name: str) -> None:
        rules = self._section("catalog_session_properties")
        allowed = rules is None or bool(_first(rules, identity, catalog=catalog, property=name))
        if not (allowed and self.can_access_catalog(identity, catalog)):
            super().check_can_set_catalog_session_property(identity, catalog, name)

    def filter_schemas(self, identity: Identity, catalog: str, schemas: Collection[str]) -> Collection[str]:
        return [schema for schema in schemas if self._sees(identity, catalog=catalog, schema=schema)]

    def check_can_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, catalog, schema):
            super().check_can_create_schema(identity, catalog, schema)

    def check_can_drop_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, catalog, schema):
            super().check_can_drop_schema(identity, catalog, schema)

    def check_can_set_schema_properties(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, catalog, schema):
            super().check_can_set_schema_properties(identity, catalog, schema)

    def check_can_show_create_schema(self, identity: Identity, catalog: str, schema: str) -> None:
        if not self._owns_schema(identity, catalog, schema):
            super().check_can_show_create_schema(identity, catalog, schema)

    def filter_tables(
        self, identity: Identity, catalog: str, tables: Collection[CatalogSchemaTableName]
    ) -> Collection[CatalogSchemaTableName]:
        return [
            table
            for table in tables
            if self._owns_schema(identity, catalog, table.schema) or self._privileges(identity, table)
        ]

    def check_can_show_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._privileges(identity, table):
            super().check_can_show_columns(identity, table)

    def filter_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> Collection[str]:
        privileges = self._privileges(identity, table)
        if not privileges:
            return ()
        rule = self._table_rule(identity, table)
        if rule is None or privileges - _READS:
            return columns
        return [column for column in columns if column.lower() not in rule.denied_columns]

    def check_can_show_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_show_create_table(identity, table)

    def check_can_create_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_create_table(identity, table)

    def check_can_drop_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_drop_table(identity, table)

    def check_can_rename_table(
        self, identity: Identity, table: CatalogSchemaTableName, new_name: CatalogSchemaTableName
    ) -> None:
        if not (self._owns(identity, table) and self._owns(identity, new_name)):
            super().check_can_rename_table(identity, table, new_name)

    def check_can_set_table_properties(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_set_table_properties(identity, table)

    def check_can_set_column_comment(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._owns(identity, table):
            super().check_can_set_column_comment(identity, table)

    def check_can_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        rule = self._table_rule(identity, table)
        denied = frozenset() if rule is None else rule.denied_columns
        asked = {column for column in columns if column.lower() in denied}
        if asked or not self._privileges(identity, table) & _READS:
            super().check_can_select_from_columns(identity, table, asked or columns)

    def check_can_insert_into_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may_write(identity, table, "INSERT"):
            super().check_can_insert_into_table(identity, table)

    def check_can_delete_from_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may_write(identity, table, "DELETE"):
            super().check_can_delete_from_table(identity, table)

    def check_can_truncate_table(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may_write(identity, table, "DELETE"):
            super().check_can_truncate_table(identity, table)

    def check_can_update_table_columns(self, identity: Identity, table: CatalogSchemaTableName) -> None:
        if not self._may_write(identity, table, "UPDATE"):
            super().check_can_update_table_columns(identity, table)

    def check_can_execute_procedure(self, identity: Identity, procedure: CatalogSchemaTableName) -> None:
        names = {"catalog": procedure.catalog, "schema": procedure.schema, "procedure": procedure.table}
        # Without the section only procedures of Trino itself may be called, and a catalog has none.
        allowed = "EXECUTE" in _first(self._section("procedures") or (), identity, **names)
        if not (allowed and self.can_access_catalog(identity, procedure.catalog)):
            super().check_can_execute_procedure(identity, procedure)

    def check_can_create_view_with_select_from_columns(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> None:
        self.check_can_select_from_columns(identity, table, columns)
        if "GRANT_SELECT" not in self._privileges(identity, table):
            super().check_can_create_view_with_select_from_columns(identity, table, columns)

    def check_can_grant_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        if not self._owns(identity, table):
            super().check_can_grant_table_privilege(identity, privilege, table, grantee)

    def check_can_revoke_table_privilege(
        self, identity: Identity, privilege: Privilege, table: CatalogSchemaTableName, grantee: Principal
    ) -> None:
        if not self._owns(identity, table):
            super().check_can_revoke_table_privilege(identity, privilege, table, grantee)

    def check_can_create_role(self, identity: Identity, catalog: str, role: str) -> None:
        if not self._has_access(identity, catalog, "all"):
            super().check_can_create_role(identity, catalog, role)

    def check_can_drop_role(self, identity: Identity, catalog: str, role: str) -> None:
        if not self._has_access(identity, catalog, "all"):
            super().check_can_drop_role(identity, catalog, role)

    def check_can_grant_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        if not self._has_access(identity, catalog, "all"):
            super().check_can_grant_roles(identity, catalog, roles, grantees)

    def check_can_revoke_roles(
        self, identity: Identity, catalog: str, roles: Collection[str], grantees: Collection[Principal]
    ) -> None:
        if not self._has_access(identity, catalog, "all"):
            super().check_can_revoke_roles(identity, catalog, roles, grantees)

    def check_can_set_role(self, identity: Identity, catalog: str, role: str) -> None:
        if not self.can_access_catalog(identity, catalog):
            super().check_can_set_role(identity, catalog, role)

    def check_can_show_roles(self, identity: Identity, catalog: str) -> None:
        if not self.can_access_catalog(identity, catalog):
            super().check_can_show_roles(identity, catalog)

    def get_row_filters(self, identity: Identity, table: CatalogSchemaTableName) -> Sequence[ViewExpression]:
        rule = self._table_rule(identity, table)
        return () if rule is None or rule.row_filter is None else (rule.row_filter,)

    def get_column_masks(
        self, identity: Identity, table: CatalogSchemaTableName, columns: Collection[str]
    ) -> Mapping[str, ViewExpression]:
        rule = self._table_rule(identity, table)
        known = {} if rule is None else rule.columns
        masks = {column: known[column.lower()].mask for column in columns if column.lower() in known}
        return {column: mask for column, mask in masks.items() if mask is not None}

    def _section(self, name: str) -> tuple[Rule, ...] | None:
        return self._rules().section(name)

    def _rules(self) -> Rules:
        with self._lock:
            now = time.monotonic()
            if self._refresh_seconds is not None and now - self._read_at >= self._refresh_seconds:
                self._read = read_rules(self._path, self._pointer)
                self._read_at = now
            return self._read

    def _may_query(self, identity: Identity, owner: str | None, word: str) -> bool:
        rules = self._section("queries")
        if rules is None:
            return True
        for rule in rules:
            # A statement that does not run yet has no owner that a pattern could match.
            about_owner = "queryOwner" not in rule.patterns if owner is None else True
            if about_owner and rule.matches(identity, **({} if owner is None else {"queryOwner": owner})):
                return word in rule.allow
        return False

    def _has_access(self, identity: Identity, catalog: str, least: str) -> bool:
        rules = self._section("catalogs")
        if rules is None:
            return least in _IMPLIED["all"]
        found = next((rule for rule in rules if rule.matches(identity, catalog=catalog)), None)
        if found is None:
            # Trino leaves its own catalog open, so that a server can be looked after.
            return catalog == "system"
        return any(least in _IMPLIED.get(word, ()) for word in found.allow)

    def _sees(self, identity: Identity, **names: str) -> bool:
        """Whether anything in a catalog, or in a schema of it, could be seen."""
        if not self._has_access(identity, names["catalog"], "read-only"):
            return False
        if "schema" not in names and self._has_access(identity, names["catalog"], "owner"):
            return True
        if names.get("schema") == _INFORMATION_SCHEMA:
            return True
        sections = ["schemas", "tables", "procedures"]
        if "schema" not in names:
            sections.append("catalog_session_properties")
        for section in sections:
            rules = self._section(section)
            # Sections that are missing allow all, but for procedures.
            if rules is None and section in ("schemas", "tables"):
                return True
            if any(rule.allow and rule.matches(identity, **names) for rule in rules or ()):
                return True
        return False

    def _owns_schema(self, identity: Identity, catalog: str, schema: str) -> bool:
        rules = self._section("schemas")
        owns = rules is None or bool(_first(rules, identity, catalog=catalog, schema=schema))
        return owns and self._has_access(identity, catalog, "all")

    def _owns(self, identity: Identity, table: CatalogSchemaTableName) -> bool:
        return self._may_write(identity, table, "OWNERSHIP")

    def _may_write(self, identity: Identity, table: CatalogSchemaTableName, privilege: str) -> bool:
        if not self._has_access(identity, table.catalog, "all"):
            return False
        return privilege in self._privileges(identity, table)

    def _privileges(self, identity: Identity, table: CatalogSchemaTableName) -> frozenset[str]:
        if not self.can_access_catalog(identity, table.catalog):
            return frozenset()
        if table.schema == _INFORMATION_SCHEMA:
            return frozenset({"SELECT"})
        if self._section("tables") is None:
            return frozenset({"SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP", "GRANT_SELECT"})
        rule = self._table_rule(identity, table)
        return frozenset() if rule is None else rule.allow

    def _table_rule(self, identity: Identity, table: CatalogSchemaTableName) -> Rule | None:
        if table.schema == _INFORMATION_SCHEMA:
            return None
        names = {"catalog": table.catalog, "schema": table.schema, "table": table.table}
        return next((rule for rule in self._section("tables") or () if rule.matches(identity, **names)), None)


def _first(rules: Sequence[Rule], identity: Identity, **names: str) -> frozenset[str]:
    """What the first rule allows that matches; nothing where none does."""
    return next((rule.allow for rule in rules if rule.matches(identity, **names)), frozenset())


def _becomes(rule: Rule, identity: Identity, user: str) -> bool | None:
    """Whether a rule lets an identity become a user; ``None`` where it is not about the two."""
    patterns = rule.patterns
    roles = patterns.get("original_role")
    if roles is not None and not any(roles.fullmatch(role) for role in identity.roles):
        return None
    match = patterns.get("original_user", re.compile(".*")).fullmatch(identity.user)
    if match is None:
        return None

    def group(reference: re.Match[str]) -> str:
        number = int(reference[1])
        return re.escape(match[number] or "") if number <= len(match.groups()) else reference[0]

    wanted = _REFERENCE.sub(group, patterns["new_user"].pattern)
    return bool(rule.allow) if re.fullmatch(wanted, user) else None
