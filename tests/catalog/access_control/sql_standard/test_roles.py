"""Which roles count; expected is what Trino's ``ThriftMetastoreUtil`` says of the same grants."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from catalog.access_control.sql_standard.roles import applicable_roles, enabled_roles, is_applicable
from connector_spi.security import Identity, Principal, RoleGrant

GRANTS = [
    RoleGrant("outer", Principal.user("ann")),
    RoleGrant("inner", Principal.role("outer")),
    RoleGrant("deepest", Principal.role("inner")),
    RoleGrant("admin", Principal.user("ann")),
    RoleGrant("within_admin", Principal.role("admin")),
]


def roles_of(principal: Principal) -> Sequence[RoleGrant]:
    return [one for one in GRANTS if one.grantee == principal]


def enabled(role: str, user: str = "ann") -> set[str]:
    return set(enabled_roles(Identity(user, catalog_role=role), roles_of))


def test_all_roles_count_but_admin() -> None:
    # As in Trino, what admin itself has counts.
    assert enabled("all") == {"public", "outer", "inner", "deepest", "within_admin"}
    assert enabled("none") == {"public"}
    assert enabled("all", "bob") == {"public"}


def test_a_selected_role_counts_with_those_within() -> None:
    assert enabled("inner") == {"public", "inner", "deepest"}
    assert enabled("admin") == {"public", "admin", "within_admin"}


def test_a_role_is_ones_own_directly_or_through_others() -> None:
    assert all(is_applicable(Identity("ann"), role, roles_of) for role in ("deepest", "admin", "public"))
    assert not is_applicable(Identity("bob"), "outer", roles_of)
    assert is_applicable(Identity("bob"), "public", roles_of)


_NAMES = st.sampled_from("abcde")


@given(st.lists(st.tuples(_NAMES, _NAMES), max_size=12))
def test_roles_within_each_other_end(pairs: list[tuple[str, str]]) -> None:
    """Against the closure by repeated joining."""

    def find(principal: Principal) -> list[RoleGrant]:
        return [RoleGrant(role, principal) for role, to in pairs if Principal.role(to) == principal]

    expected: set[str] = {"a"}
    for _ in pairs:
        expected |= {role for role, to in pairs if to in expected}
    found = {one.role for one in applicable_roles(Principal.role("a"), find)}
    assert found | {"a"} == expected
