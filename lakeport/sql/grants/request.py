"""Statements about privileges and roles as they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from connector_spi.errors import InvalidArgumentError
from connector_spi.security import Principal, Privilege
from lakeport.sql.statement_patterns import BLANK, FLAGS

__all__ = ["GrantKind", "GrantRequest", "full_name", "grant_request"]

_HEAD = re.compile(
    rf"{BLANK}*(?:(?:GRANT|REVOKE)\b|(?:CREATE|DROP|SET){BLANK}+ROLE\b"
    rf"|SHOW{BLANK}+(?:GRANTS|ROLES|CURRENT{BLANK}+ROLES|ROLE{BLANK}+GRANTS)\b)",
    FLAGS,
)
_TOKEN = re.compile(rf"""{BLANK}*(`(?:[^`]|``)*`|"(?:[^"]|"")*"|\w+|[.,;])""", FLAGS)
_TABLE_PRIVILEGES = (Privilege.SELECT, Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE)
_WITHIN = ("IN", "FROM")


class GrantKind(StrEnum):
    """Kinds of statements; equal to how they begin."""

    GRANT = "GRANT"
    REVOKE = "REVOKE"
    GRANT_ROLES = "GRANT role"
    REVOKE_ROLES = "REVOKE role"
    CREATE_ROLE = "CREATE ROLE"
    DROP_ROLE = "DROP ROLE"
    SET_ROLE = "SET ROLE"
    SHOW_GRANTS = "SHOW GRANTS"
    SHOW_ROLES = "SHOW ROLES"
    SHOW_CURRENT_ROLES = "SHOW CURRENT ROLES"
    SHOW_ROLE_GRANTS = "SHOW ROLE GRANTS"


@dataclass(frozen=True, slots=True)
class GrantRequest:
    """A statement.

    Attributes:
        kind: What it is.
        name: Parts of the name of a table, or of a schema; empty where there is none.
        is_schema: The name is of a schema.
        catalog: Of roles, as written; ``None`` is the current one.
        privileges: On the table.
        roles: In lower case; of ``SET ROLE`` the one, ``all`` or ``none``.
        grantees: Who gets or loses something.
        option: The right to grant further, too; of ``REVOKE`` that alone.
        if_exists: Something that is missing is no error.
    """

    kind: GrantKind
    name: tuple[str, ...] = ()
    is_schema: bool = False
    catalog: str | None = None
    privileges: tuple[Privilege, ...] = ()
    roles: tuple[str, ...] = ()
    grantees: tuple[Principal, ...] = ()
    option: bool = False
    if_exists: bool = False


def grant_request(text: str) -> GrantRequest | None:
    """What a statement asks for; ``None`` where it is about something else.

    Raises:
        InvalidArgumentError: It begins like one of these, and has another form.
    """
    return None if _HEAD.match(text) is None else _Reader(text).statement()


def full_name(parts: Sequence[str], current: tuple[str, str], *, is_schema: bool) -> tuple[str, str, str | None]:
    """Catalog, schema and table of a name in lower case.

    Args:
        parts: As written.
        current: Catalog and schema of names that say none.
        is_schema: It is of a schema, and the table is ``None``.

    Raises:
        InvalidArgumentError: It has too many parts, or names no catalog or schema and none is selected.
    """
    most = 2 if is_schema else 3
    full = [*current[: max(most - len(parts), 0)], *(part.lower() for part in parts)]
    if len(full) != most or not all(full):
        form = "catalog.schema" if is_schema else "catalog.schema.table"
        raise InvalidArgumentError(f"'{'.'.join(parts)}' is not understood; expected {form}")
    return full[0], full[1], None if is_schema else full[2]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())
        self._tokens = _tokens(text, self._text)

    def statement(self) -> GrantRequest:
        made = self._statement()
        self._take(";")
        if self._tokens:
            raise self._unclear("nothing more")
        return made

    def _statement(self) -> GrantRequest:
        if self._take("SHOW"):
            return self._show()
        if self._take("CREATE", "ROLE"):
            return GrantRequest(GrantKind.CREATE_ROLE, roles=(self._role(),), catalog=self._within())
        if self._take("DROP", "ROLE"):
            missing = self._take("IF", "EXISTS")
            return GrantRequest(GrantKind.DROP_ROLE, roles=(self._role(),), catalog=self._within(), if_exists=missing)
        if self._take("SET", "ROLE"):
            return GrantRequest(GrantKind.SET_ROLE, roles=(self._role(),), catalog=self._within())
        return self._change(revokes=not self._take("GRANT") and self._take("REVOKE"))

    def _show(self) -> GrantRequest:
        if self._take("GRANTS"):
            if not self._take("ON"):
                return GrantRequest(GrantKind.SHOW_GRANTS)
            is_schema = self._object()
            return GrantRequest(GrantKind.SHOW_GRANTS, self._name(), is_schema)
        if self._take("ROLE", "GRANTS"):
            return GrantRequest(GrantKind.SHOW_ROLE_GRANTS, catalog=self._within())
        kind = GrantKind.SHOW_CURRENT_ROLES if self._take("CURRENT") else GrantKind.SHOW_ROLES
        self._need("ROLES")
        return GrantRequest(kind, catalog=self._within())

    def _change(self, *, revokes: bool) -> GrantRequest:
        """What follows the verb: privileges on a table, or roles."""
        option = revokes and self._take("GRANT", "OPTION", "FOR")
        is_about_roles = revokes and not option and self._take("ADMIN", "OPTION", "FOR")
        option = option or is_about_roles
        words = [self._role()]
        if words == ["all"] and self._take("PRIVILEGES"):
            words = [one.lower() for one in _TABLE_PRIVILEGES]
        while self._take(","):
            words.append(self._role())
        if is_about_roles or not self._take("ON"):
            return self._roles(tuple(words), revokes=revokes, option=option)
        is_schema = self._object()
        name = self._name()
        self._need("FROM" if revokes else "TO")
        grantees = (self._grantee(),)
        if not revokes:
            option = self._take("WITH", "GRANT", "OPTION")
        kind = GrantKind.REVOKE if revokes else GrantKind.GRANT
        privileges = tuple(map(self._privilege, words))
        return GrantRequest(kind, name, is_schema=is_schema, privileges=privileges, grantees=grantees, option=option)

    def _roles(self, roles: tuple[str, ...], *, revokes: bool, option: bool) -> GrantRequest:
        self._need("FROM" if revokes else "TO")
        grantees = [self._grantee()]
        while self._take(","):
            grantees.append(self._grantee())
        if self._take("GRANTED", "BY"):
            raise self._unclear("no GRANTED BY: who grants is who runs the statement")
        if not revokes:
            option = self._take("WITH", "ADMIN", "OPTION")
        kind = GrantKind.REVOKE_ROLES if revokes else GrantKind.GRANT_ROLES
        return GrantRequest(kind, roles=roles, grantees=tuple(grantees), option=option, catalog=self._within())

    def _object(self) -> bool:
        """Whether the name that follows is of a schema."""
        if self._take("SCHEMA"):
            return True
        self._take("TABLE")
        return False

    def _privilege(self, word: str) -> Privilege:
        known = {one.lower(): one for one in _TABLE_PRIVILEGES}
        if word not in known:
            raise self._unclear(f"one of {', '.join(_TABLE_PRIVILEGES)} or ALL PRIVILEGES, not {word.upper()}")
        return known[word]

    def _grantee(self) -> Principal:
        if self._take("ROLE"):
            return Principal.role(self._identifier())
        self._take("USER")
        return Principal.user(self._identifier())

    def _within(self) -> str | None:
        return self._identifier().lower() if any(self._take(word) for word in _WITHIN) else None

    def _role(self) -> str:
        return self._identifier().lower()

    def _name(self) -> tuple[str, ...]:
        parts = [self._identifier()]
        while self._take("."):
            parts.append(self._identifier())
        return tuple(parts)

    def _identifier(self) -> str:
        if not self._tokens or self._tokens[0] in (".", ",", ";"):
            raise self._unclear("a name")
        token = self._tokens.pop(0)
        quote = token[0]
        return token[1:-1].replace(quote * 2, quote) if quote in '`"' else token

    def _take(self, *words: str) -> bool:
        """Takes words away that come next; whether they do."""
        if [one.upper() for one in self._tokens[: len(words)]] != list(words):
            return False
        del self._tokens[: len(words)]
        return True

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._unclear(word)

    def _unclear(self, expected: str) -> InvalidArgumentError:
        before = f"before '{' '.join(self._tokens[:3])}'" if self._tokens else "at its end"
        return InvalidArgumentError(f"{self._text:.200} is not understood {before}; expected {expected}")


def _tokens(text: str, shown: str) -> list[str]:
    found: list[str] = []
    position = 0
    blank = re.compile(rf"{BLANK}*", FLAGS)
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            break
        found.append(match.group(1))
        position = match.end()
    end = blank.match(text, position)
    if end is None or end.end() != len(text):
        raise InvalidArgumentError(f"{shown:.200} is not understood before '{text[position:].strip():.20}'")
    return found
