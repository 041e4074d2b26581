r"""Context-aware completion in SQL and in the shell's own commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from connector_spi.names import quote_identifier
from lakeport.shell.completion.keywords import USUAL_FUNCTIONS, keywords
from lakeport.shell.completion.names import NO_NAMES, NameCache, SortedNames
from lakeport.shell.sql.context import Expected, SqlContext, sql_context
from lakeport.shell.sql.scopes import Query, Relation, is_called

__all__ = ["Argument", "ShellCompleter", "SqlCompleter"]

_MOST = 200
"""Most names in the menu; more would be slow to draw."""
_SYSTEM_SCHEMA = "system"
_COMMAND = re.compile(r"\s*(\\[\w?+!]*)(\s+)?(.*)", re.DOTALL)

Current = Callable[[], tuple[str | None, str | None]]
"""Returns the current catalog and schema; ``None`` where there is none."""


class Argument(Enum):
    """Kinds of arguments of the shell's commands."""

    NOTHING = "nothing"
    RELATION = "a table"
    SCHEMA = "a schema"
    FILE = "a file"
    SETTING = "a setting"
    FORMAT = "a format"
    ENGINE = "an engine"
    SWITCH = "on or off"
    STATEMENT = "a statement"


class SqlCompleter(Completer):
    """Completes the word before the cursor, without slow calls.

    Args:
        names: Provides the names.
        current: Returns the current catalog and schema.
    """

    def __init__(self, names: NameCache, current: Current) -> None:
        self._names = names
        self._current = current

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """At most 200 completions, names before keywords."""
        context = sql_context(document.text, document.cursor_position)
        if context.expected is Expected.NOTHING:
            return
        if not context.word and not context.before and not complete_event.completion_requested:
            return
        yield from self._complete(context)

    def relations(self, typed: str) -> Iterator[Completion]:
        """Tables whose name begins with a text."""
        return self._of_kind(typed, Expected.RELATION)

    def schemas(self, typed: str) -> Iterator[Completion]:
        """Schemas whose name begins with a text."""
        return self._of_kind(typed, Expected.SCHEMA)

    def _of_kind(self, typed: str, expected: Expected) -> Iterator[Completion]:
        at = sql_context(typed, len(typed))
        return self._complete(SqlContext(expected, at.before, at.word, at.written))

    def _complete(self, context: SqlContext) -> Iterator[Completion]:
        shown: set[str] = set()
        for names, meta in self._sources(context):
            for name in names.matching(context.word, _MOST):
                if name in shown or len(shown) >= _MOST:
                    continue
                shown.add(name)
                bare = meta in ("setting", "function")
                written = name if bare else quote_identifier(name)
                yield Completion(written, start_position=-len(context.written), display=name, display_meta=meta)
        if not context.before and (context.word or context.expected is Expected.KEYWORD):
            yield from keywords(context)

    def _sources(self, context: SqlContext) -> Iterator[tuple[SortedNames, str]]:
        """Names that are valid at the cursor, with a word for each kind."""
        if context.expected is Expected.SETTING:
            yield self._settings(context)
        elif context.expected is Expected.PROCEDURE:
            yield from self._procedures(context)
        elif context.expected is Expected.SCHEMA:
            yield from self._schemas(context)
        elif context.expected is Expected.RELATION:
            yield from self._tables(context)
        elif context.expected is Expected.EXPRESSION:
            yield from self._expression(context)
        elif context.before:
            yield from self._tables(context)

    def _settings(self, context: SqlContext) -> tuple[SortedNames, str]:
        """Session properties; their names are dotted, so each is completed from the part being typed."""
        prefix = ".".join(context.before) + "." if context.before else ""
        rest = (name[len(prefix) :] for name in self._names.settings().names if name.startswith(prefix))
        return SortedNames.of(rest), "setting"

    def _procedures(self, context: SqlContext) -> Iterator[tuple[SortedNames, str]]:
        catalogs = self._names.catalogs()
        if not context.before:
            yield catalogs, "catalog"
        elif len(context.before) == 1 and context.before[0] in catalogs.keys:
            yield SortedNames.of([_SYSTEM_SCHEMA]), "schema"
        elif len(context.before) == 2 and context.before[0] in catalogs.keys:
            yield self._names.procedures(context.before[0]), "procedure"

    def _schemas(self, context: SqlContext) -> Iterator[tuple[SortedNames, str]]:
        catalogs = self._names.catalogs()
        if not context.before:
            ours = self._ours()
            yield catalogs, "catalog"
            yield self._names.schemas(ours) if ours else NO_NAMES, "schema"
        elif len(context.before) == 1 and context.before[0] in catalogs.keys:
            yield self._names.schemas(context.before[0]), "schema"

    def _tables(self, context: SqlContext) -> Iterator[tuple[SortedNames, str]]:
        catalogs, ours = self._names.catalogs(), self._ours()
        schema = self._current()[1]
        before = context.before
        if not before:
            yield SortedNames.of(context.scope.queries), "query"
            if ours and schema:
                yield self._in_schema(ours, schema, context.word), "table"
            yield catalogs, "catalog"
            yield self._names.schemas(ours) if ours else NO_NAMES, "schema"
        elif len(before) == 1 and before[0] in catalogs.keys:
            yield self._names.schemas(before[0]), "schema"
        if len(before) == 1 and ours:
            yield self._in_schema(ours, before[0], context.word), "table"
        elif len(before) == 2 and before[0] in catalogs.keys:
            yield self._in_schema(before[0], before[1], context.word), "table"

    def _in_schema(self, catalog: str, schema: str, word: str) -> SortedNames:
        """Tables, or after a ``$`` the system tables of one of them."""
        if "$" not in word:
            return self._names.tables(catalog, schema)
        table = word.partition("$")[0]
        return SortedNames.of(f"{table}${kind}" for kind in self._names.system_table_kinds(catalog).names)

    def _expression(self, context: SqlContext) -> Iterator[tuple[SortedNames, str]]:
        if not context.before:
            columns = [_usual_first(self._columns(relation)) for relation in context.scope.relations]
            yield from ((usual, "column") for usual, _ in columns)
            called = (one.alias or "".join(one.name[-1:]) for one in context.scope.relations)
            yield SortedNames.of(name for name in called if name), "table"
            yield from ((others, "column") for _, others in columns)
            known = self._names.functions()
            yield known if known.names else USUAL_FUNCTIONS, "function"
            return
        named = [one for one in context.scope.relations if is_called(one, context.before)]
        columns = [_usual_first(self._columns(relation)) for relation in named]
        yield from ((usual, "column") for usual, _ in columns)
        yield from ((others, "column") for _, others in columns)
        if not named:
            yield from self._tables(context)

    def _columns(self, relation: Relation, *, hidden: bool = True) -> SortedNames:
        if relation.query is not None:
            return self._result(relation.query)
        catalog, schema = self._current()
        missing = 3 - len(relation.name)
        if missing < 0 or None in (catalog, schema)[:missing]:
            return NO_NAMES
        full = [str(part) for part in (catalog, schema)[:missing]] + list(relation.name)
        if full[0] not in self._names.catalogs().keys:
            return NO_NAMES
        return self._names.columns(full[0], full[1], full[2], hidden=hidden)

    def _result(self, query: Query) -> SortedNames:
        stars = (name for relation in query.stars for name in self._columns(relation, hidden=False).names)
        return SortedNames.of([*query.names, *stars])

    def _ours(self) -> str | None:
        catalog = self._current()[0]
        return catalog if catalog is not None and catalog in self._names.catalogs().keys else None


class ShellCompleter(Completer):
    """Completes SQL, and after a backslash the shell's commands and their arguments.

    Args:
        sql: Completer for SQL.
        commands: The commands with their backslash, and the kind of argument of each.
        values: The values of arguments with fixed values, such as settings and formats.
    """

    def __init__(
        self, sql: SqlCompleter, commands: Mapping[str, Argument], values: Mapping[Argument, Iterable[str]]
    ) -> None:
        self._sql = sql
        self._commands = commands
        self._values = {kind: SortedNames.of(names) for kind, names in values.items()}
        self._files = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The completions at the cursor."""
        match = _COMMAND.fullmatch(document.text_before_cursor)
        if match is None:
            yield from self._sql.get_completions(document, complete_event)
            return
        command, blank, typed = match.groups()
        if blank is None:
            for name in self._commands:
                if name.startswith(command):
                    yield Completion(name, start_position=-len(command), display_meta=self._commands[name].value)
            return
        yield from self._argument(self._commands.get(command, Argument.NOTHING), typed, complete_event)

    def _argument(self, kind: Argument, typed: str, event: CompleteEvent) -> Iterable[Completion]:
        if kind is Argument.RELATION:
            yield from self._sql.relations(typed)
        elif kind is Argument.SCHEMA:
            yield from self._sql.schemas(typed)
        elif kind is Argument.FILE:
            yield from self._files.get_completions(Document(typed), event)
        elif kind is Argument.STATEMENT:
            yield from self._sql.get_completions(Document(typed), event)
        else:
            word = typed.split(" ")[-1]
            names = self._values.get(kind, NO_NAMES)
            yield from (Completion(name, start_position=-len(word)) for name in names.matching(word.lower(), _MOST))


def _usual_first(columns: SortedNames) -> tuple[SortedNames, SortedNames]:
    """A table's columns in two parts: those of the user, and those that a format or the catalog added."""
    others = {name for name in columns.names if name.startswith(("$", "_"))}
    return SortedNames.of(name for name in columns.names if name not in others), SortedNames.of(others)
