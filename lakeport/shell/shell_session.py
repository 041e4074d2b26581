"""The state and actions of an interactive shell, apart from its prompt."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import parse_name
from lakeport.catalog_session import AnySession
from lakeport.engine import check_engine
from lakeport.shell.completion.names import NameCache
from lakeport.shell.display import Display
from lakeport.shell.engines import EngineChoice
from lakeport.shell.problems import report
from lakeport.shell.runner import Runner
from lakeport.shell.running import use_statement
from lakeport.shell.sql.source_text import SourceText
from lakeport.shell.sql.statements import InputPart, PartKind, split_input
from lakeport.shell.variables import interpolate

__all__ = ["LeaveShell", "ShellSession"]

_MOVES = re.compile(r"\s*(USE|SET\s+CATALOG)\b", re.IGNORECASE)
_DEFINES = re.compile(r"\s*(CREATE|DROP|ALTER|CALL|MSCK)\b", re.IGNORECASE)


class LeaveShell(Exception):  # noqa: N818 - not an error
    """The user leaves the shell."""


class ShellSession:
    """Runs the user's input.

    Args:
        session: The session.
        display: Shows results.
        names: Names for completion; dropped when a statement changes them.
        run_command: Runs a command that begins with a backslash.
        debug: Errors show their traceback.

    Attributes:
        variables: Variables of ``\\set``.
        last: The last statement that was run; empty before the first.
        typed: The last input as typed.
        draft: Initial text of the next prompt.
        depth: Number of nested files that are running.
    """

    def __init__(
        self,
        session: AnySession,
        display: Display,
        names: NameCache,
        run_command: Callable[[ShellSession, str], None],
        *,
        debug: bool,
    ) -> None:
        self.session = session
        self.display = display
        self.names = names
        self.variables: dict[str, str] = {}
        self.last = ""
        self.typed = ""
        self.draft = ""
        self.depth = 0
        self.runner = Runner(session, sys.stdout.buffer)
        self._run_command = run_command
        self._debug = debug
        self._catalog: str | None = None
        self._schema: str | None = None
        self._pending: str | None = None
        self._ran = ""

    @property
    def current(self) -> tuple[str | None, str | None]:
        """The current catalog and schema; ``None`` before one is selected."""
        return self._catalog, self._schema

    def begin_in(self, catalog: str | None, schema: str | None) -> None:
        """Selects catalog and schema without waiting for the engine; the first statement checks that the schema exists.

        Raises:
            CatalogNotFoundError: The catalog does not exist.
        """
        self._pending = use_statement(catalog, schema)
        if catalog is not None and catalog not in self.session.engine.own_catalogs:
            self.session.catalogs.connector_name(catalog)
        self._catalog, self._schema = catalog, schema or ("default" if catalog is not None else None)

    def choose_engine(self, name: str) -> None:
        """Has another engine run what follows; catalog, schema and session properties stay.

        Raises:
            InvalidArgumentError: There is no such engine, or the session has one alone.
            NotSupportedError: The engine is not installed.
        """
        session = self.session
        if session.engine.name == check_engine(name):
            return
        if not isinstance(session, EngineChoice):
            raise InvalidArgumentError(f"this session has the engine {session.engine.name} alone")
        self.look_where()
        catalog, schema = self.current
        own = session.engine.own_catalogs
        session.choose(name)
        self.names.forget()
        self.begin_in(*((None, None) if catalog in own else (catalog, schema)))
        self.look_where()

    def run_input(self, text: str, name: str | None = None) -> bool:
        """Runs statements and commands until one fails; returns whether all succeeded.

        Args:
            text: The statements and commands.
            name: Of the file that they are from, for errors; ``None`` where the user typed them.

        Raises:
            LeaveShell: The user leaves the shell.
        """
        parts = split_input(text)
        for index, part in enumerate(parts):
            follows = parts[index + 1].text if index + 1 < len(parts) else ""
            if part.kind is not PartKind.COMMAND and follows.startswith("\\watch"):
                self.last = part.text
            elif not self._succeeds(part, SourceText(text, part.start, part.text, name)):
                return False
        return True

    def execute(self, statement: str, *, vertical: bool = False, title: str = "") -> None:
        """Runs one statement and shows its result.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            ConnectorError, PySparkException: The statement failed.
        """
        self.last = statement
        statement = self._ran = interpolate(statement, self.variables, self.session.dialect)
        self.settle()
        self.display.run(self.runner, statement, vertical=vertical, title=title)
        if _MOVES.match(statement):
            self._move()
        if _DEFINES.match(statement):
            self.names.forget()

    def full_name(self, name: str) -> tuple[str, ...]:
        """Catalog, schema and table of a name as written.

        Raises:
            InvalidArgumentError: The name has no catalog, and none is selected.
        """
        parts = tuple(part.lower() for part in parse_name(name))
        missing = 3 - len(parts)
        given = [self._catalog, self._schema][: max(0, missing)]
        if missing < 0 or None in given:
            raise InvalidArgumentError(
                f"'{name}' names no catalog; expected catalog.schema.table, or USE a schema first"
            )
        return tuple(str(part) for part in given) + parts

    def look_where(self) -> None:
        """Takes over the catalog and schema that the engine is in, if it runs: statements may have moved it."""
        if self.session.is_started and self._pending is None:
            self._move()

    def settle(self) -> None:
        """Makes the selected catalog and schema the engine's current ones; this starts it.

        Raises:
            ConnectorError, PySparkException: They do not exist.
        """
        pending, self._pending = self._pending, None
        if pending is None:
            return
        try:
            self.runner.run(pending, None)
        except BaseException:
            self._catalog = self._schema = None
            raise
        self._move()

    def _run_part(self, part: InputPart) -> None:
        if part.kind is PartKind.COMMAND:
            self._run_command(self, part.text)
        else:
            self.execute(part.text, vertical=part.kind is PartKind.VERTICAL)

    def _move(self) -> None:
        engine = self.session.engine
        self._catalog, self._schema = engine.current_catalog() or None, engine.current_schema() or None

    def _succeeds(self, part: InputPart, source: SourceText) -> bool:
        """Runs a part and reports its error; returns whether there was none."""
        try:
            self._run_part(part)
        except LeaveShell:
            raise
        except KeyboardInterrupt:
            print("cancelled", file=sys.stderr, flush=True)
            return False
        except Exception as error:
            if part.kind is PartKind.COMMAND:
                place = f"{source.name}:{source.line}: " if source.name else ""
                report(error, debug=self._debug, prefix=f"{place}error: ")
            else:
                report(error, debug=self._debug, source=source.with_statement(self._ran))
            return False
        return True
