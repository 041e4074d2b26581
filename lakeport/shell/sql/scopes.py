"""The tables and queries whose columns an expression at the cursor can name.

Uses only what the text alone determines: aliases, lists of columns, and the expansion of ``*``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakeport.shell.sql.nesting import (
    Item,
    is_name_at,
    is_query,
    may_be_alias_at,
    nested,
    split_at_commas,
    word_at,
)
from lakeport.shell.sql.pieces import CURSOR, Piece, is_name, may_be_alias

__all__ = ["TABLE_FOLLOWS", "Query", "Relation", "Scope", "is_called", "scope_at_cursor"]

TABLE_FOLLOWS = frozenset({"FROM", "JOIN", "INTO", "TABLE", "DESCRIBE", "DESC", "VIEW", "CHANGES"})
"""Words before a table's name."""

_FUNCTION_FOLLOWS = frozenset({"FROM", "JOIN", "VIEW", ","})
_FROM_ENDS = frozenset({"SELECT", "WHERE", "ON", "HAVING", "BY", "SET", "LIMIT", "WITH", "VALUES", "USING", "WINDOW"})
_LIST_ENDS = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "WINDOW"}
)
_SET_OPERATIONS = frozenset({"UNION", "EXCEPT", "INTERSECT", "MINUS"})
_VERSIONS = frozenset({"VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME"})


@dataclass(frozen=True, slots=True)
class Query:
    """The named columns of a query's result.

    Attributes:
        names: Names as written.
        stars: Relations whose visible columns ``*`` includes.
    """

    names: tuple[str, ...]
    stars: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, subquery or function that a query reads.

    Attributes:
        name: Parts of its name in lower case; empty for a subquery.
        alias: Its alias in the query; ``None`` without one.
        query: The result of a subquery, a name of WITH, or a function; ``None`` for a table of a catalog.
    """

    name: tuple[str, ...]
    alias: str | None
    query: Query | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that can be used at the cursor.

    Attributes:
        relations: Relations of the query, followed by those of surrounding queries.
        queries: Names defined by WITH.
    """

    relations: tuple[Relation, ...] = ()
    queries: tuple[str, ...] = ()


def scope_at_cursor(pieces: Sequence[Piece]) -> Scope:
    """The scope at the cursor of an unfinished statement.

    Args:
        pieces: The statement, with ``CURSOR`` in place of the name being typed.
    """
    reader = _Reader()
    reader.query(nested(pieces), {}, ())
    return reader.scope


def is_called(relation: Relation, name: tuple[str, ...]) -> bool:
    """Whether a name in lower case refers to the relation; it may omit catalog and schema."""
    if relation.alias is not None:
        return name == (relation.alias,)
    return bool(name) and relation.name[-len(name) :] == name


class _Reader:
    """Reads queries from the outside in; sets ``scope`` when it reaches the cursor."""

    def __init__(self) -> None:
        self.scope = Scope()

    def query(self, items: Sequence[Item], known: Mapping[str, Query], outer: tuple[Relation, ...]) -> Query:
        """The result of a query, given names of WITH and the relations of surrounding queries."""
        items, known = self._definitions(items, known)
        first, *_ = [self._select(branch, known, outer) for branch in _branches(items)]
        return first

    def _definitions(
        self, items: Sequence[Item], known: Mapping[str, Query]
    ) -> tuple[Sequence[Item], Mapping[str, Query]]:
        """Reads the WITH of a query; returns the query without it, and the known names."""
        begin = next((at for at in range(len(items)) if word_at(items, at) == "WITH"), None)
        if begin is None:
            return items, known
        defined = dict(known)
        at = begin + (2 if word_at(items, begin + 1) == "RECURSIVE" else 1)
        while at < len(items) and is_name_at(items, at):
            name = word_at(items, at).strip("`").lower()
            at += 1
            columns = _columns_in(items, at)
            at += 1 if columns else 0
            body = items[at + 1] if word_at(items, at) == "AS" and at + 1 < len(items) else None
            if not isinstance(body, tuple):
                break
            result = self.query(body, defined, ())
            defined[name] = Query(columns) if columns else result
            at += 2
            if word_at(items, at) != ",":
                break
            at += 1
        return (*items[:begin], *items[at:]), defined

    def _select(self, items: Sequence[Item], known: Mapping[str, Query], outer: tuple[Relation, ...]) -> Query:
        relations, tables = self._relations(items, known)
        seen = (*relations, *outer)
        self._look_into([item for at, item in enumerate(items) if at not in tables], known, seen)
        return _result(items, relations)

    def _look_into(self, items: Sequence[Item], known: Mapping[str, Query], seen: tuple[Relation, ...]) -> None:
        for item in items:
            if item is CURSOR:
                self.scope = Scope(seen, tuple(known))
            elif isinstance(item, tuple):
                if is_query(item):
                    self.query(item, known, seen)
                else:
                    self._look_into(item, known, seen)

    def _relations(self, items: Sequence[Item], known: Mapping[str, Query]) -> tuple[tuple[Relation, ...], set[int]]:
        """The relations that a query reads, and the positions of the subqueries among them."""
        found: list[Relation] = []
        tables: set[int] = set()
        at, in_from = 0, False
        while at < len(items):
            word = word_at(items, at)
            at += 1
            if word in TABLE_FOLLOWS or (word == "," and in_from):
                in_from = in_from or word == "FROM"
                follows = word_at(items, at)
                if follows == "LATERAL" or (follows == "STREAM" and may_be_alias_at(items, at + 1)):
                    at += 1
                if at < len(items) and isinstance(items[at], tuple):
                    relations, at = self._in_parentheses(items, at, known, tables)
                    found += relations
                    continue
                relation, at = _named(items, at, known, may_be_function=word in _FUNCTION_FOLLOWS)
                found += [relation] if relation is not None else []
            elif word in _FROM_ENDS:
                in_from = False
        return tuple(found), tables

    def _in_parentheses(
        self, items: Sequence[Item], at: int, known: Mapping[str, Query], tables: set[int]
    ) -> tuple[Sequence[Relation], int]:
        inner = items[at]
        assert isinstance(inner, tuple)
        if not is_query(inner):
            # Joined tables; conditions among them belong to the surrounding query.
            return self._relations((Piece("FROM", "FROM"), *inner), known)[0], at + 1
        tables.add(at)
        result = self.query(inner, known, ())
        alias, at = _alias(items, at + 1)
        columns = _columns_in(items, at) if alias is not None else ()
        return [Relation((), alias, Query(columns) if columns else result)], at


def _branches(items: Sequence[Item]) -> list[Sequence[Item]]:
    """The queries that UNION and other set operations combine."""
    found: list[Sequence[Item]] = []
    begin = 0
    for at in range(len(items)):
        follows = items[at + 1] if at + 1 < len(items) else None
        # The EXCEPT of ``* EXCEPT (a, b)`` is not a set operation.
        if word_at(items, at) in _SET_OPERATIONS and (not isinstance(follows, tuple) or is_query(follows)):
            found.append(items[begin:at])
            begin = at + 1
    return [*found, items[begin:]]


def _named(
    items: Sequence[Item], at: int, known: Mapping[str, Query], *, may_be_function: bool
) -> tuple[Relation | None, int]:
    parts: list[str] = []
    while at < len(items) and (is_name_at(items, at) if parts else may_be_alias_at(items, at)):
        parts.append(word_at(items, at).strip("`").lower())
        at += 1
        if word_at(items, at) != ".":
            break
        at += 1
    if not parts:
        return None, at
    query = known.get(parts[0]) if len(parts) == 1 else None
    if may_be_function and at < len(items) and isinstance(items[at], tuple):
        query, at = Query(()), at + 1
    alias, at = _alias(items, _after_version(items, at))
    columns = _columns_in(items, at) if alias is not None and may_be_function else ()
    return Relation(tuple(parts), alias, Query(columns) if columns else query), at


def _alias(items: Sequence[Item], at: int) -> tuple[str | None, int]:
    if word_at(items, at) == "AS":
        at += 1
    if may_be_alias_at(items, at):
        return word_at(items, at).strip("`").lower(), at + 1
    return None, at


def _after_version(items: Sequence[Item], at: int) -> int:
    """The position after ``VERSION AS OF 5``, if that is next."""
    begin = at + 1 if word_at(items, at) == "FOR" else at
    words = [word_at(items, index) for index in range(begin, begin + 3)]
    return begin + 4 if words[0] in _VERSIONS and words[1:] == ["AS", "OF"] else at


def _result(items: Sequence[Item], relations: tuple[Relation, ...]) -> Query:
    begin = next((at + 1 for at in range(len(items)) if word_at(items, at) == "SELECT"), None)
    if begin is None:
        return Query((), relations)
    if word_at(items, begin) in ("DISTINCT", "ALL"):
        begin += 1
    end = next((at for at in range(begin, len(items)) if word_at(items, at) in _LIST_ENDS), len(items))
    names: list[str] = []
    stars: list[Relation] = []
    for column in split_at_commas(items[begin:end]):
        if word_at(column, 0) == "*":
            stars += relations
        elif len(column) > 2 and word_at(column, len(column) - 1) == "*" and word_at(column, len(column) - 2) == ".":
            path = tuple(word_at(column, at).strip("`").lower() for at in range(0, len(column) - 2, 2))
            stars += [one for one in relations if is_called(one, path)]
        else:
            names += _column_name(column)
    return Query(tuple(names), tuple(stars))


def _column_name(column: Sequence[Item]) -> list[str]:
    """The name of a column in a SELECT, if the text has one."""
    last = column[-1] if column else None
    if not isinstance(last, Piece) or not is_name(last):
        return []
    name = last.written.strip("`")
    if len(column) == 1 or word_at(column, len(column) - 2) == "AS":
        return [name] if len(column) > 1 or may_be_alias(last) else []
    before = column[-2]
    if isinstance(before, Piece) and before.text == ".":
        names, dots = column[::2], column[1::2]
        is_path = all(isinstance(one, Piece) and is_name(one) for one in names) and all(dot == before for dot in dots)
        return [name] if is_path else []
    ends_value = isinstance(before, tuple) or before.text == "END" or may_be_alias(before) or _is_literal(before)
    return [name] if ends_value and may_be_alias(last) else []


def _is_literal(piece: Piece) -> bool:
    return piece.text[:1].isdigit() or piece.text[:1] in ("'", '"')


def _columns_in(items: Sequence[Item], at: int) -> tuple[str, ...]:
    """The names of ``(a, b)``; empty for anything else."""
    inner = items[at] if at < len(items) else None
    if not isinstance(inner, tuple) or is_query(inner):
        return ()
    return tuple(one.written.strip("`") for one in inner if isinstance(one, Piece) and is_name(one))
