"""The magics ``%lakeport`` and ``%%lakeport`` of IPython and Jupyter: ``%load_ext lakeport``."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, cast

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import HTML, display

from connector_spi.errors import InvalidArgumentError
from lakeport.catalog_session import AnySession, CatalogSession
from lakeport.connection import connect
from lakeport.engine import ENGINES, Work, default_engine
from lakeport.notebook.completing import MagicCompleter, offer_in
from lakeport.notebook.magic_line import MagicLine, parse_magic
from lakeport.notebook.progress_bar import Bar, run_with_progress
from lakeport.notebook.query_result import QueryResult, all_rows
from lakeport.notebook.statements import cell_statements, shown_briefly, statement_errors
from lakeport.shell.sql.source_text import SourceText

__all__ = ["LakeportMagics", "load_ipython_extension"]


_CONNECTIONS: dict[str, Callable[[str | None], AnySession]] = {
    "spark": lambda catalogs: connect(catalogs=catalogs),
    "duckdb": lambda catalogs: connect(catalogs=catalogs, engine="duckdb"),
}


class _Handle(Protocol):
    def update(self, shown: object) -> None: ...


@magics_class
class LakeportMagics(Magics):  # type: ignore[misc]  # IPython is an extra
    """The magics and their session, which the first magic that needs one connects."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._session: AnySession | None = None
        self._own: list[AnySession] = []
        self._catalogs: str | None = None
        self.completer = MagicCompleter(self._look_up)
        atexit.register(self.close)

    @line_cell_magic  # type: ignore[untyped-decorator]
    def lakeport(self, line: str, cell: str | None = None) -> object:
        """Runs SQL: ``%lakeport SELECT ...`` or, below ``%%lakeport``, statements with semicolons between them.

        ``rows = %lakeport SELECT ...`` assigns the result of the last one. Options, before the SQL:

        -o VAR               puts the result into a variable instead of showing it
        --format FORMAT      table (shown, the default), arrow, pandas, polars; spark and duckdb: the engine's own
        --rows N             how many rows are shown: 20
        --catalogs DIR       connects to the catalog files of a directory, instead of ./etc/catalog
        --engine ENGINE      connects to spark or duckdb; duckdb is the default where there is no Java
        --session VAR        uses a session that a variable holds
        --no-progress        shows no progress bar
        """
        try:
            asked = parse_magic(line, cell)
            session = self._choose(asked)
        except statement_errors() as error:
            raise shown_briefly(error, SourceText.of("")) from None
        sources = cell_statements(asked.sql)
        if not sources:
            sys.stdout.write(f"catalogs: {', '.join(session.catalogs.names())}; %lakeport? shows the options\n")
            return None
        for source in sources[:-1]:
            shown = self._run(session, source, replace(asked, format="table"))
            if shown is not None:
                display(shown)
        found = self._run(session, sources[-1], asked)
        if asked.output is None:
            return found
        self.shell.push({asked.output: found})
        return None

    def close(self) -> None:
        """Closes the sessions that the magics connected."""
        self.completer.close()
        while self._own:
            self._own.pop().close()

    def _look_up(self, name: str | None) -> AnySession | None:
        """The session that a magic would use, without connecting one."""
        found = self._session if name is None else self.shell.user_ns.get(name)
        return found if isinstance(found, CatalogSession) else None

    def _choose(self, asked: MagicLine) -> AnySession:
        if asked.session is not None:
            given = self.shell.user_ns.get(asked.session)
            if not isinstance(given, CatalogSession):
                raise InvalidArgumentError(
                    f"the variable {asked.session} is not a session: {asked.session} = lakeport.connect(...)"
                )
            self._session = given
        elif asked.catalogs is not None or asked.engine is not None or self._session is None:
            # What was not said stays as it was.
            self._catalogs = asked.catalogs or self._catalogs
            engine = asked.engine or (self._session.engine.name if self._session is not None else default_engine())
            self._session = _CONNECTIONS[engine](self._catalogs)
            self._own.append(self._session)
        return self._session

    def _run(self, session: AnySession, source: SourceText, asked: MagicLine) -> object:
        """The result of a statement; ``None`` for one that has none, such as ``USE``."""

        if asked.format in ENGINES and asked.format != session.engine.name:
            raise shown_briefly(_no_native(asked.format, session), source) from None

        def action(work: Work) -> object:
            result = session.plan(source.statement)
            work.watch(result)
            if asked.format == session.engine.name:
                return result.native
            if not result.columns:
                return None
            if asked.format in (None, "table"):
                return QueryResult(result, asked.rows)
            rows = all_rows(result)
            if asked.format == "pandas":
                return rows.to_pandas()
            if asked.format == "polars":
                import polars  # the import takes a tenth of a second

                return polars.DataFrame(rows)
            return rows

        bar = _NotebookBar() if asked.progress and getattr(self.shell, "kernel", None) is not None else None
        try:
            return run_with_progress(session.engine, action, bar)
        except statement_errors() as error:
            raise shown_briefly(error, source) from None


def _no_native(asked: str, session: AnySession) -> InvalidArgumentError:
    name = session.engine.name
    return InvalidArgumentError(f"--format {asked} is a result of the engine {asked}; this session's is {name}")


class _NotebookBar(Bar):
    """A display of a cell that changes while the cell runs."""

    def __init__(self) -> None:
        self._handle: _Handle | None = None

    def show(self, html: str) -> None:
        if self._handle is None:
            self._handle = cast(_Handle, display(HTML(html), display_id=True))
        else:
            self._handle.update(HTML(html))


def load_ipython_extension(shell: InteractiveShell) -> None:
    """The function that ``%load_ext lakeport`` calls."""
    magics = LakeportMagics(shell)
    shell.register_magics(magics)
    offer_in(shell, magics.completer)
