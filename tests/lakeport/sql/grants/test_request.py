"""Statements about grants as Trino's grammar has them."""

from __future__ import annotations

import pytest

from connector_spi.errors import InvalidArgumentError
from connector_spi.security import Principal, Privilege
from lakeport.sql.grants.request import GrantKind, GrantRequest, full_name, grant_request

BOB, ADA, CLERKS = Principal.user("bob"), Principal.user("Ada@x"), Principal.role("clerks")
SELECT, INSERT, UPDATE, DELETE = Privilege.SELECT, Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE
TABLE = ("hive", "s", "t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "GRANT SELECT, insert ON TABLE hive.s.t TO USER bob WITH GRANT OPTION;",
            GrantRequest(GrantKind.GRANT, TABLE, privileges=(SELECT, INSERT), grantees=(BOB,), option=True),
        ),
        (
            "grant all privileges on t to role CLERKS",
            GrantRequest(GrantKind.GRANT, ("t",), privileges=(SELECT, INSERT, UPDATE, DELETE), grantees=(CLERKS,)),
        ),
        (
            'GRANT SELECT ON `a.b`.t TO "Ada@x"',
            GrantRequest(GrantKind.GRANT, ("a.b", "t"), privileges=(SELECT,), grantees=(ADA,)),
        ),
        (
            "GRANT SELECT ON SCHEMA s TO bob",
            GrantRequest(GrantKind.GRANT, ("s",), is_schema=True, privileges=(SELECT,), grantees=(BOB,)),
        ),
        (
            "REVOKE GRANT OPTION FOR DELETE ON t FROM bob",
            GrantRequest(GrantKind.REVOKE, ("t",), privileges=(DELETE,), grantees=(BOB,), option=True),
        ),
        (
            "-- roles\nGRANT clerks, Heads TO bob, ROLE clerks WITH ADMIN OPTION IN hive",
            GrantRequest(
                GrantKind.GRANT_ROLES,
                roles=("clerks", "heads"),
                grantees=(BOB, CLERKS),
                option=True,
                catalog="hive",
            ),
        ),
        (
            "REVOKE ADMIN OPTION FOR clerks FROM USER bob",
            GrantRequest(GrantKind.REVOKE_ROLES, roles=("clerks",), grantees=(BOB,), option=True),
        ),
        ("REVOKE clerks FROM bob", GrantRequest(GrantKind.REVOKE_ROLES, roles=("clerks",), grantees=(BOB,))),
        ("CREATE ROLE Clerks IN hive", GrantRequest(GrantKind.CREATE_ROLE, roles=("clerks",), catalog="hive")),
        ("DROP ROLE IF EXISTS clerks", GrantRequest(GrantKind.DROP_ROLE, roles=("clerks",), if_exists=True)),
        ("SET ROLE admin IN hive", GrantRequest(GrantKind.SET_ROLE, roles=("admin",), catalog="hive")),
        ("SET ROLE NONE", GrantRequest(GrantKind.SET_ROLE, roles=("none",))),
        ("SHOW GRANTS", GrantRequest(GrantKind.SHOW_GRANTS)),
        ("SHOW GRANTS ON TABLE hive.s.t", GrantRequest(GrantKind.SHOW_GRANTS, TABLE)),
        ("SHOW GRANTS ON SCHEMA hive.s", GrantRequest(GrantKind.SHOW_GRANTS, ("hive", "s"), is_schema=True)),
        ("SHOW ROLES FROM hive", GrantRequest(GrantKind.SHOW_ROLES, catalog="hive")),
        ("SHOW CURRENT ROLES", GrantRequest(GrantKind.SHOW_CURRENT_ROLES)),
        ("SHOW /* mine */ ROLE GRANTS IN hive", GrantRequest(GrantKind.SHOW_ROLE_GRANTS, catalog="hive")),
    ],
)
def test_what_statements_ask_for(text: str, expected: GrantRequest) -> None:
    assert grant_request(text) == expected


@pytest.mark.parametrize(
    "text",
    ["SELECT 1", "SET spark.sql.ansi.enabled = true", "SHOW TABLES", "CREATE TABLE role (a INT)", "DROP TABLE grants",
     "SET role_of = 1", "SHOW ROLESX"],
)  # fmt: skip
def test_other_statements_are_left_alone(text: str) -> None:
    assert grant_request(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GRANT SELECT ON t", "at its end; expected TO"),
        ("GRANT OWNERSHIP ON t TO bob", "one of SELECT, INSERT, UPDATE, DELETE or ALL PRIVILEGES, not OWNERSHIP"),
        ("GRANT SELECT ON t TO bob WITH", "before 'WITH'; expected nothing more"),
        ("GRANT SELECT (a) ON t TO bob", r"not understood before '\(a\) ON t TO bob'"),
        ("GRANT clerks TO bob GRANTED BY ann", "no GRANTED BY"),
        ("SET ROLE", "expected a name"),
        ("REVOKE SELECT ON t TO bob", "before 'TO bob'; expected FROM"),
    ],
)
def test_other_forms_are_refused_with_the_place(text: str, expected: str) -> None:
    with pytest.raises(InvalidArgumentError, match=expected):
        grant_request(text)


def test_names_in_full() -> None:
    assert full_name(("T",), ("hive", "s"), is_schema=False) == ("hive", "s", "t")
    assert full_name(("S",), ("hive", ""), is_schema=True) == ("hive", "s", None)
    for parts, is_schema in ((("a", "b", "c", "d"), False), (("t",), False), (("a", "b", "c"), True)):
        with pytest.raises(InvalidArgumentError, match="expected catalog"):
            full_name(parts, ("hive", ""), is_schema=is_schema)
