"""Reads the rules of Trino's file-based access control (``rules.json``).

Rules of a section are tried in their order, and the first that matches counts. Patterns are regular expressions that
match a whole name; one that is missing matches all. Sections, fields and defaults are those of Trino's page
"File-based access control". Unlike Trino, a field that is not known is refused: a misspelled ``filter`` would filter
nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import closest
from connector_spi.security import Identity, ViewExpression

__all__ = ["ColumnRule", "Rule", "Rules", "read_rules"]

_WHO = ("user", "role", "group")
_PRIVILEGES = ("SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP", "GRANT_SELECT")
_EXECUTE = ("EXECUTE", "GRANT_EXECUTE", "OWNERSHIP")
_ACCESS = ("all", "read-only", "none", "owner")
_NOT_SUPPORTED = {"principals": "map names where users are authenticated"}


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """What holds for a column.

    Attributes:
        allowed: It may be read.
        mask: What is shown in its place.
    """

    allowed: bool = True
    mask: ViewExpression | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of any section.

    Attributes:
        patterns: By field, such as ``user`` and ``table``.
        allow: What it allows: words of ``allow``, privileges, or ``true``.
        columns: By name in lower case.
        row_filter: What rows have to meet.
    """

    patterns: Mapping[str, re.Pattern[str]]
    allow: frozenset[str]
    columns: Mapping[str, ColumnRule]
    row_filter: ViewExpression | None = None

    def matches(self, identity: Identity, **names: str) -> bool:
        """Whether it is about an identity, and about things of these names; fields that are not named do not count."""
        patterns = self.patterns
        if "user" in patterns and not patterns["user"].fullmatch(identity.user):
            return False
        for field, having in (("role", identity.roles), ("group", identity.groups)):
            if field in patterns and not any(patterns[field].fullmatch(one) for one in having):
                return False
        return all(field not in patterns or patterns[field].fullmatch(name) for field, name in names.items())

    @property
    def denied_columns(self) -> frozenset[str]:
        """Names of the columns that may not be read."""
        return frozenset(name for name, column in self.columns.items() if not column.allowed)


@dataclass(frozen=True, slots=True)
class Rules:
    """All sections by name; ``None`` for one that the file does not have."""

    sections: Mapping[str, tuple[Rule, ...] | None]

    def section(self, name: str) -> tuple[Rule, ...] | None:
        """The rules of a section."""
        return self.sections[name]


@dataclass(frozen=True, slots=True)
class _Section:
    """The fields of a section: patterns beside those of identities, and the one that says what is allowed."""

    patterns: tuple[str, ...]
    allow: str
    words: tuple[str, ...]
    who: tuple[str, ...] = _WHO
    default: object = None


_YES = ("true",)
_SECTIONS = {
    "catalogs": _Section(("catalog",), "allow", _ACCESS, default="none"),
    "schemas": _Section(("catalog", "schema"), "owner", _YES, default=False),
    "tables": _Section(("catalog", "schema", "table"), "privileges", _PRIVILEGES),
    "functions": _Section(("catalog", "schema", "function"), "privileges", _EXECUTE),
    "procedures": _Section(("catalog", "schema", "procedure"), "privileges", _EXECUTE),
    "system_session_properties": _Section(("property",), "allow", _YES),
    "catalog_session_properties": _Section(("catalog", "property"), "allow", _YES),
    "queries": _Section(("queryOwner",), "allow", ("execute", "view", "kill")),
    "impersonation": _Section(("original_user", "original_role", "new_user"), "allow", _YES, (), default=True),
    "system_information": _Section((), "allow", ("read", "write"), ("user", "role")),
    "authorization": _Section(
        ("original_user", "original_role", "original_group", "new_user", "new_role"), "allow", _YES, (), default=True
    ),
}


def read_rules(path: Path, pointer: str = "") -> Rules:
    """Reads a file of rules.

    Args:
        path: The file.
        pointer: Where in it the rules are (RFC 6901); empty is the whole.

    Raises:
        InvalidPropertyError: It cannot be read, or holds what is not understood; names the place.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidPropertyError(f"the rules {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidPropertyError(f"the rules {path} are no JSON: {error}") from error
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(document, dict) or name not in document:
            raise InvalidPropertyError(f"the rules {path} have nothing at security.json-pointer={pointer}")
        document = document[name]
    fields = _mapping(document, f"the rules {path}")
    _refuse_others(fields, (*_SECTIONS, *_NOT_SUPPORTED), f"the rules {path}")
    for name, way_out in _NOT_SUPPORTED.items():
        if name in fields:
            raise InvalidPropertyError(f"the rules {path} have the section '{name}', which is not supported; {way_out}")
    return Rules({name: _section(fields.get(name), name, f"{path}, {name}") for name in _SECTIONS})


def _section(given: object, name: str, where: str) -> tuple[Rule, ...] | None:
    if given is None:
        return None
    return tuple(_rule(one, name, f"{where}[{index}]") for index, one in enumerate(_list(given, where)))


def _rule(given: object, name: str, where: str) -> Rule:
    section, fields = _SECTIONS[name], _mapping(given, where)
    patterns = (*section.who, *section.patterns)
    others = ("columns", "filter", "filter_environment") if name == "tables" else ()
    _refuse_others(fields, (*patterns, section.allow, *others), where)
    allow = _allowed(fields.get(section.allow, section.default), section, where)
    found = {key: _pattern(fields[key], f"{where}.{key}") for key in patterns if fields.get(key) is not None}
    if name == "impersonation" and "new_user" not in found:
        raise InvalidPropertyError(f"{where}: new_user is missing, a pattern of the users to become")
    if name == "queries" and "queryOwner" in found and "execute" in allow:
        raise InvalidPropertyError(f"{where}: queryOwner and 'execute' together; a query has an owner once it runs")
    columns = {}
    for index, one in enumerate(_list(fields.get("columns") or [], f"{where}.columns")):
        column, rule = _column(one, f"{where}.columns[{index}]")
        if column in columns:
            raise InvalidPropertyError(f"{where}.columns: '{column}' is there twice; keep one")
        columns[column] = rule
    return Rule(found, allow, columns, _expression(fields, "filter", where))


def _column(given: object, where: str) -> tuple[str, ColumnRule]:
    fields = _mapping(given, where)
    _refuse_others(fields, ("name", "allow", "mask", "mask_environment"), where)
    allowed = fields.get("allow", True)
    if not isinstance(allowed, bool):
        raise InvalidPropertyError(f"{where}.allow is {allowed!r}; expected true or false")
    return _text(fields.get("name"), f"{where}.name").lower(), ColumnRule(allowed, _expression(fields, "mask", where))


def _expression(fields: Mapping[str, object], name: str, where: str) -> ViewExpression | None:
    environment = fields.get(f"{name}_environment")
    user = None
    if environment is not None:
        known = _mapping(environment, f"{where}.{name}_environment")
        _refuse_others(known, ("user",), f"{where}.{name}_environment")
        user = None if known.get("user") is None else _text(known["user"], f"{where}.{name}_environment.user")
    if fields.get(name) is None:
        return None
    return ViewExpression(_text(fields[name], f"{where}.{name}"), user)


def _allowed(given: object, section: _Section, where: str) -> frozenset[str]:
    """The words that a rule allows."""
    if section.words == _ACCESS and isinstance(given, bool):
        return frozenset({"all" if given else "none"})  # Trino's older form
    if section.words == _YES:
        if not isinstance(given, bool):
            raise InvalidPropertyError(f"{where}.{section.allow} is {given!r}; expected true or false")
        return frozenset(_YES if given else ())
    listed = [given] if section.words == _ACCESS else _list(given, f"{where}.{section.allow}")
    by_word = {word.lower(): word for word in section.words}
    for word in listed:
        if not isinstance(word, str) or word.lower() not in by_word:
            raise InvalidPropertyError(f"{where}.{section.allow} has {word!r}; expected {', '.join(section.words)}")
    return frozenset(by_word[str(word).lower()] for word in listed)


def _pattern(given: object, where: str) -> re.Pattern[str]:
    text = _text(given, where)
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidPropertyError(f"{where} is no regular expression that is understood: {text!r}: {error}") from error


def _mapping(given: object, where: str) -> Mapping[str, object]:
    if not isinstance(given, dict):
        raise InvalidPropertyError(f"{where}: met {given!r:.80}, expected an object")
    return given


def _list(given: object, where: str) -> Sequence[object]:
    if not isinstance(given, list):
        raise InvalidPropertyError(f"{where}: met {given!r:.80}, expected a list")
    return given


def _text(given: object, where: str) -> str:
    if not isinstance(given, str):
        raise InvalidPropertyError(f"{where}: met {given!r:.80}, expected a text")
    return given


def _refuse_others(fields: Mapping[str, object], known: Sequence[str], where: str) -> None:
    for name in fields:
        if name not in known:
            raise InvalidPropertyError(
                f"{where}: unknown field '{name}'{closest(name, known)}; expected {', '.join(known)}"
            )
