"""What rules of Trino's file-based access control mean; expected is what Trino's page and its class say."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from catalog.access_control.configuration import load_security
from catalog.access_control.file_access_control import FileAccessControl
from connector_spi.errors import AccessDeniedError, InvalidPropertyError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.security import Identity, ViewExpression

Make: TypeAlias = Callable[[Mapping[str, object]], FileAccessControl]
ALICE, ADMIN = Identity("alice", frozenset({"finance"})), Identity("root", roles=frozenset({"admin"}))
ORDERS = CatalogSchemaTableName("hive", "sales", "orders")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def control(rules: Mapping[str, object]) -> FileAccessControl:
        path = tmp_path / "rules.json"
        path.write_text(json.dumps(rules))
        return FileAccessControl(path)

    return control


def may(check: Callable[..., None], *arguments: object) -> bool:
    try:
        check(*arguments)
    except AccessDeniedError:
        return False
    return True


def test_missing_sections_allow_all_but_procedures_impersonation_and_system_information(make: Make) -> None:
    control = make({})
    assert control.can_access_catalog(ALICE, "hive")
    for check in (
        control.check_can_drop_table,
        control.check_can_insert_into_table,
        control.check_can_delete_from_table,
        control.check_can_truncate_table,
        control.check_can_show_create_table,
    ):
        assert may(check, ALICE, ORDERS)
    assert may(control.check_can_create_schema, ALICE, "hive", "sales")
    assert may(control.check_can_set_catalog_session_property, ALICE, "hive", "x")
    assert may(control.check_can_execute_query, ALICE)
    assert may(control.check_can_kill_query_owned_by, ALICE, "bob")
    assert not may(control.check_can_execute_procedure, ALICE, CatalogSchemaTableName("hive", "system", "flush"))
    assert not may(control.check_can_impersonate_user, ALICE, "bob")
    assert not may(control.check_can_read_system_information, ALICE)


def test_empty_sections_allow_nothing(make: Make) -> None:
    control = make({"catalogs": [], "schemas": [], "tables": [], "queries": []})
    assert not control.can_access_catalog(ALICE, "hive")
    assert control.can_access_catalog(ALICE, "system")
    assert not may(control.check_can_execute_query, ALICE)
    control = make({"schemas": [], "tables": []})
    assert not may(control.check_can_select_from_columns, ALICE, ORDERS, ["id"])
    assert list(control.filter_schemas(ALICE, "hive", ["sales"])) == []


def test_the_first_matching_rule_counts_and_patterns_match_whole_names(make: Make) -> None:
    control = make(
        {
            "tables": [
                {"user": "banned", "privileges": []},
                {"table": "ord", "privileges": ["OWNERSHIP"]},
                {"group": "fin.*", "table": "orders|items", "privileges": ["SELECT"]},
                {"role": "admin", "privileges": ["SELECT", "DELETE"]},
            ]
        }
    )
    assert may(control.check_can_select_from_columns, ALICE, ORDERS, ["id"])
    assert not may(control.check_can_drop_table, ALICE, ORDERS)
    assert not may(control.check_can_select_from_columns, Identity("banned", ALICE.groups), ORDERS, [])
    assert not may(control.check_can_select_from_columns, Identity("bob"), ORDERS, [])
    assert may(control.check_can_truncate_table, ADMIN, ORDERS)
    assert not may(control.check_can_insert_into_table, ADMIN, ORDERS)


def test_a_catalog_that_is_read_only_takes_no_rows(make: Make) -> None:
    control = make({"catalogs": [{"catalog": "hive", "allow": "read-only"}, {"user": "bob", "allow": True}]})
    assert may(control.check_can_select_from_columns, ALICE, ORDERS, ["id"])
    for check in (control.check_can_insert_into_table, control.check_can_drop_table):
        assert not may(check, ALICE, ORDERS)
    assert not may(control.check_can_create_schema, ALICE, "hive", "x")
    assert not control.can_access_catalog(ALICE, "hudi")
    assert may(control.check_can_insert_into_table, Identity("bob"), CatalogSchemaTableName("hudi", "s", "t"))


def test_columns_are_denied_masked_and_rows_filtered_by_the_first_rule(make: Make) -> None:
    control = make(
        {
            "tables": [
                {
                    "user": "alice",
                    "privileges": ["SELECT"],
                    "columns": [
                        {"name": "address", "allow": False},
                        {"name": "SSN", "mask": "'X'", "mask_environment": {"user": "keeper"}},
                    ],
                    "filter": "owner = current_user",
                    "filter_environment": {"user": "system_user"},
                },
                {"privileges": ["SELECT", "INSERT"], "columns": [{"name": "address", "allow": False}]},
            ]
        }
    )
    assert list(control.filter_columns(ALICE, ORDERS, ["id", "address", "ssn"])) == ["id", "ssn"]
    with pytest.raises(AccessDeniedError) as met:
        control.check_can_select_from_columns(ALICE, ORDERS, ["id", "address"])
    assert met.value.message == (
        "Access Denied: Cannot select from columns [address] in table or view hive.sales.orders"
    )
    assert met.value.code.name == "PERMISSION_DENIED"
    assert control.get_row_filters(ALICE, ORDERS) == (ViewExpression("owner = current_user", "system_user"),)
    assert control.get_column_masks(ALICE, ORDERS, ["id", "ssn"]) == {"ssn": ViewExpression("'X'", "keeper")}
    # Whoever may write sees the names of all columns, and still does not read them.
    bob = Identity("bob")
    assert list(control.filter_columns(bob, ORDERS, ["id", "address"])) == ["id", "address"]
    assert not may(control.check_can_select_from_columns, bob, ORDERS, ["address"])
    assert control.get_row_filters(bob, ORDERS) == ()


def test_grant_select_reads_as_select_does(make: Make) -> None:
    control = make({"tables": [{"privileges": ["GRANT_SELECT"]}]})
    assert may(control.check_can_select_from_columns, ALICE, ORDERS, ["id"])


def test_catalogs_schemas_and_tables_are_shown_by_any_privilege_below(make: Make) -> None:
    control = make(
        {
            "schemas": [{"user": "alice", "schema": "own", "owner": True}],
            "tables": [
                {"user": "alice", "catalog": "hive", "schema": "sales", "table": "orders", "privileges": ["INSERT"]},
                {"user": "alice", "schema": "none", "privileges": []},
            ],
        }
    )
    assert set(control.filter_schemas(ALICE, "hive", ["sales", "own", "none", "other"])) == {"sales", "own"}
    assert list(control.filter_catalogs(ALICE, ["hive"])) == ["hive"]
    assert list(control.filter_catalogs(Identity("bob"), ["hive"])) == []
    other, mine = CatalogSchemaTableName("hive", "sales", "x"), CatalogSchemaTableName("hive", "own", "x")
    assert list(control.filter_tables(ALICE, "hive", [ORDERS, other, mine])) == [ORDERS, mine]


def test_owners_of_schemas(make: Make) -> None:
    control = make({"schemas": [{"user": "guest", "owner": False}, {"schema": "default", "owner": True}]})
    assert may(control.check_can_drop_schema, ALICE, "hive", "default")
    assert not may(control.check_can_drop_schema, ALICE, "hive", "sales")
    assert not may(control.check_can_drop_schema, Identity("guest"), "hive", "default")


def test_queries(make: Make) -> None:
    control = make(
        {
            "queries": [
                {"role": "admin", "allow": ["execute", "kill", "view"]},
                {"user": "alice", "allow": ["execute", "kill"]},
                {"group": "contractors", "queryOwner": "alice|dave", "allow": ["view"]},
                {"allow": ["execute"]},
            ]
        }
    )
    contractor = Identity("carl", frozenset({"contractors"}))
    assert may(control.check_can_kill_query_owned_by, ADMIN, "bob")
    assert may(control.check_can_kill_query_owned_by, ALICE, "bob")
    assert not control.can_view_query_owned_by(ALICE, "bob")
    assert control.can_view_query_owned_by(contractor, "dave")
    assert not control.can_view_query_owned_by(contractor, "bob")
    assert control.can_view_query_owned_by(contractor, "carl")
    assert not may(control.check_can_kill_query_owned_by, contractor, "dave")
    assert may(control.check_can_execute_query, contractor)


def test_impersonation(make: Make) -> None:
    control = make(
        {
            "impersonation": [
                {"original_user": "alice", "new_user": "bob", "allow": False},
                {"original_role": "admin", "new_user": ".*"},
                {"new_user": "test"},
                {"original_user": "(.*)_backend", "new_user": "$1_sandbox"},
            ]
        }
    )
    assert not may(control.check_can_impersonate_user, ALICE, "bob")
    assert may(control.check_can_impersonate_user, ADMIN, "bob")
    assert may(control.check_can_impersonate_user, ALICE, "test")
    assert may(control.check_can_impersonate_user, Identity("team_backend"), "team_sandbox")
    assert not may(control.check_can_impersonate_user, Identity("team_backend"), "other_sandbox")


def test_procedures_session_properties_and_system_information(make: Make) -> None:
    control = make(
        {
            "procedures": [{"user": "alice", "schema": "system", "procedure": "flush.*", "privileges": ["EXECUTE"]}],
            "catalog_session_properties": [{"catalog": "hive", "property": "a", "allow": True}],
            "system_information": [{"user": "alice", "allow": ["read"]}],
        }
    )
    assert may(control.check_can_execute_procedure, ALICE, CatalogSchemaTableName("hive", "system", "flush_cache"))
    assert not may(control.check_can_execute_procedure, ALICE, CatalogSchemaTableName("hive", "system", "register"))
    assert may(control.check_can_set_catalog_session_property, ALICE, "hive", "a")
    assert not may(control.check_can_set_catalog_session_property, ALICE, "hive", "b")
    assert may(control.check_can_read_system_information, ALICE)
    assert not may(control.check_can_read_system_information, Identity("bob"))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"table": []}, "unknown field 'table'; did you mean '?tables"),
        ({"tables": [{"privileges": ["SELECT"], "fliter": "x"}]}, r"tables\[0\]: unknown field 'fliter'"),
        ({"tables": [{"privileges": ["READ"]}]}, "has 'READ'; expected SELECT"),
        ({"tables": [{}]}, "expected a list"),
        ({"tables": [{"privileges": [], "user": "("}]}, "no regular expression"),
        ({"catalogs": [{"allow": "some"}]}, "has 'some'"),
        ({"schemas": [{"owner": "yes"}]}, "expected true or false"),
        ({"principals": []}, "'principals', which is not supported"),
        ({"queries": [{"queryOwner": "a", "allow": ["execute"]}]}, "queryOwner and 'execute' together"),
        ({"impersonation": [{"original_user": "a"}]}, "new_user is missing"),
        ({"tables": {}}, "expected a list"),
    ],
)
def test_what_is_not_understood_is_refused(make: Make, rules: Mapping[str, object], words: str) -> None:
    with pytest.raises(InvalidPropertyError, match=words):
        make(rules)


def test_who_may_impersonate_without_rules(tmp_path: Path) -> None:
    """As in Trino: no one where nothing is configured, everyone with ``allow-all``."""
    for name, allowed in ((None, False), ("allow-all", True), ("read-only", False)):
        if name is not None:
            (tmp_path / "access-control.properties").write_text(f"access-control.name={name}\n")
        security = load_security(tmp_path)
        assert may(security.access_control.check_can_impersonate_user, ALICE, "bob") is allowed
        assert security.is_open is (name != "read-only")


def test_configuration_beside_the_catalogs(tmp_path: Path) -> None:
    assert load_security(tmp_path).is_open
    (tmp_path / "rules.json").write_text('{"data": {"tables": []}}')
    (tmp_path / "groups.txt").write_text("finance: alice, bob\nhr:alice\n")
    (tmp_path / "access-control.properties").write_text(
        f"access-control.name=file\nsecurity.config-file={tmp_path}/rules.json\nsecurity.json-pointer=/data\n"
        "security.refresh-period=10s\n"
    )
    (tmp_path / "group-provider.properties").write_text(
        f"group-provider.name=file\nfile.group-file={tmp_path}/groups.txt\n"
    )
    found = load_security(tmp_path)
    assert found.identity("alice").groups == {"finance", "hr"}
    assert found.identity("carl").groups == frozenset()
    assert not may(found.access_control.check_can_select_from_columns, ALICE, ORDERS, [])


def test_credentials_of_users(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    file.touch(0o600)
    file.write_text('{"alice": {"s3.aws-secret-key": "hush", "s3.aws-access-key": "a"}, "bob": {}}')
    (tmp_path / "credential-provider.properties").write_text(
        f"credential-provider.name=file\nfile.credential-file={file}\nfile.refresh-period=1ms\n"
    )
    found = load_security(tmp_path)
    given = (("s3.aws-access-key", "a"), ("s3.aws-secret-key", "hush"))
    assert found.identity("alice").extra_credentials == given
    assert found.identity("bob").extra_credentials == found.identity("carl").extra_credentials == ()
    assert "hush" not in repr(found)
    own = replace(found, own=Identity("alice", extra_credentials=(("s3.aws-access-key", "b"),)))
    assert own.identity("alice").extra_credentials == (("s3.aws-access-key", "b"),)
    for broken in ('{"alice": "hush"}', '{"alice": {"a": 1}}', '{"alice": {"a": "hush", "a": "b"}}', "hush"):
        file.write_text(broken)
        time.sleep(0.002)
        with pytest.raises(InvalidPropertyError, match="is not understood") as refused:
            found.identity("alice")
        assert "hush" not in str(refused.value)
        assert refused.value.__cause__ is None
    file.chmod(0o640)
    with pytest.raises(InvalidPropertyError, match="chmod 600"):
        load_security(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("access-control.name=fiel\n", "did you mean '?file"),
        ("security.config-file=x\n", "access-control.name is missing"),
        ("access-control.name=file\n", "security.config-file"),
        ("access-control.name=file\nsecurity.config-file=/not/there.json\n", "cannot be read"),
        ("access-control.name=read-only\nsecurity.config-file=x\n", "security.config-file"),
    ],
)
def test_a_broken_configuration_opens_nothing(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "access-control.properties").write_text(text)
    with pytest.raises(InvalidPropertyError, match=words):
        load_security(tmp_path)


def test_read_only(tmp_path: Path) -> None:
    (tmp_path / "access-control.properties").write_text("access-control.name=read-only\n")
    control = load_security(tmp_path).access_control
    assert may(control.check_can_select_from_columns, ALICE, ORDERS, ["id"])
    for check in (control.check_can_insert_into_table, control.check_can_create_table, control.check_can_drop_table):
        assert not may(check, ALICE, ORDERS)
    assert not may(control.check_can_execute_procedure, ALICE, ORDERS)
