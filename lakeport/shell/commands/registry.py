"""The shell's own commands, which begin with a backslash: names, arguments and functions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest
from lakeport.shell.commands import describe, files, system
from lakeport.shell.commands.describe import unquoted
from lakeport.shell.commands.watching import watch
from lakeport.shell.completion.completer import Argument
from lakeport.shell.shell_session import LeaveShell, ShellSession
from lakeport.shell.sql.help import sql_help
from lakeport.shell.variables import interpolate

__all__ = ["COMMANDS", "KEYS", "Command", "arguments_of_commands", "run_command"]

Run = Callable[[ShellSession, str], None]


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        names: Names with the backslash; the help shows the first.
        usage: Syntax of the arguments.
        does: Description.
        argument: Kind of argument, for completion.
        run: Function that gets the shell and the text after the name.
    """

    names: tuple[str, ...]
    usage: str
    does: str
    argument: Argument
    run: Run


_ENDS = "Statements end with a semicolon, or with \\G or \\gx for one column on each line; they may take several lines."
_LEAST_WORDS = 24
"""Columns of the screen for what a command does; on a narrower one the lines are longer than the screen."""

KEYS = (
    ("Enter", "runs a statement that ends in a semicolon, else begins a new line; Alt-Enter always begins one"),
    ("Tab", "completes; Up and Down choose, Enter takes"),
    ("Ctrl-R, Ctrl-S", "search the history of all sessions"),
    ("Right", "accepts the rest of a line from the history, which is shown in grey"),
    ("Ctrl-C", "cancels the running statement, or drops the input"),
    ("Ctrl-D", "leaves, on an empty line"),
    ("Ctrl-X Ctrl-E", "edits the input in $EDITOR"),
)
"""Keys of the prompt and what they do."""


def run_command(shell: ShellSession, text: str) -> None:
    """Runs a command.

    Raises:
        InvalidArgumentError: The command does not exist; the message names similar ones. Or its arguments are wrong.
        LeaveShell: The command leaves the shell.
    """
    # As in other shells, the program may follow the exclamation mark at once.
    text = text.rstrip("; \t").replace("\\!", "\\! ", 1) if text.startswith("\\!") else text.rstrip("; \t")
    name, _, rest = text.partition(" ")
    command = _BY_NAME.get(name)
    if command is None:
        raise InvalidArgumentError(f"there is no command {name}{closest(name, _BY_NAME)}; \\? lists them")
    keeps_colons = command.argument is Argument.STATEMENT
    command.run(shell, rest.strip() if keeps_colons else interpolate(rest.strip(), shell.variables))


def arguments_of_commands() -> dict[str, Argument]:
    """All names, with the kind of argument of each."""
    return {name: command.argument for command in COMMANDS for name in command.names}


def _help(shell: ShellSession, topic: str) -> None:
    uses = [(f"{command.names[0]} {command.usage}".rstrip(), command.does) for command in COMMANDS]
    width = max(len(use) for use, _ in (*uses, *KEYS))
    columns = max(width + _LEAST_WORDS, shell.display.size()[0] - 1)
    lines = textwrap.wrap(_ENDS, columns)
    for use, does in (*uses, *KEYS):
        first = f"  {use.ljust(width)}  "
        lines += textwrap.wrap(does, columns, initial_indent=first, subsequent_indent=" " * len(first))
    shell.display.print_text("\n".join(lines) + "\n")


def _leave(shell: ShellSession, rest: str) -> None:
    raise LeaveShell


def _setting(name: str) -> Run:
    def run(shell: ShellSession, value: str) -> None:
        shell.display.settings = shell.display.settings.with_text(name, unquoted(value))
        print(f"{name} is {dict(shell.display.settings.items())[name]}", flush=True)

    return run


def _pset(shell: ShellSession, rest: str) -> None:
    name, _, value = rest.partition(" ")
    if not name:
        print("\n".join(f"{key} is {value}" for key, value in shell.display.settings.items()), flush=True)
        return
    _setting(name)(shell, value.strip())


def _set(shell: ShellSession, rest: str) -> None:
    name, _, value = rest.partition(" ")
    if not name:
        print("\n".join(f"{key} = {value}" for key, value in sorted(shell.variables.items())), flush=True)
        return
    if not name.isidentifier():
        raise InvalidArgumentError(f"'{name}' is not a variable name; expected letters, digits and underscores")
    shell.variables[name] = unquoted(value.strip())


def _unset(shell: ShellSession, name: str) -> None:
    if shell.variables.pop(name, None) is None:
        raise InvalidArgumentError(f"there is no variable '{name}'{closest(name, shell.variables)}")


def _echo(shell: ShellSession, text: str) -> None:
    print(unquoted(text), flush=True)


def _sql_help(shell: ShellSession, topic: str) -> None:
    shell.display.print_text(sql_help(topic) + "\n")


def _use(shell: ShellSession, name: str) -> None:
    if not name:
        print(".".join(part for part in shell.current if part) or "no catalog is selected", flush=True)
        return
    shell.execute(f"USE {name}")


def _engine(shell: ShellSession, name: str) -> None:
    if name:
        shell.choose_engine(name)
    print(f"engine is {shell.session.engine.name}", flush=True)


COMMANDS = (
    Command(("\\?",), "", "shows this help; so does help", Argument.NOTHING, _help),
    Command(("\\h",), "[STATEMENT]", "how a statement of SQL is written", Argument.NOTHING, _sql_help),
    Command(("\\q",), "", "leaves the shell; so do quit, exit and Ctrl-D", Argument.NOTHING, _leave),
    Command(("\\l",), "", "catalogs", Argument.NOTHING, describe.catalogs),
    Command(("\\dn",), "[CATALOG.][PATTERN]", "schemas", Argument.SCHEMA, describe.schemas),
    Command(
        ("\\dnS",), "[CATALOG.][PATTERN]", "information_schema and other schemas about the catalog, too",
        Argument.SCHEMA, describe.all_schemas,
    ),
    Command(("\\dt",), "[CATALOG.SCHEMA.][PATTERN]", "tables and views", Argument.RELATION, describe.tables),
    Command(
        ("\\dt+",), "[CATALOG.SCHEMA.][PATTERN]", "their types, formats and locations, too", Argument.RELATION,
        describe.tables_in_detail,
    ),
    Command(
        ("\\dtS",), "[CATALOG.SCHEMA.][PATTERN]", "tables about the catalog, too", Argument.RELATION,
        describe.all_tables,
    ),
    Command(("\\dv",), "[CATALOG.SCHEMA.][PATTERN]", "views", Argument.RELATION, describe.views),
    Command(("\\d",), "[NAME]", "columns, keys and location of a table", Argument.RELATION, describe.describe),
    Command(
        ("\\d+",), "[NAME]", "its hidden columns and properties, too", Argument.RELATION, describe.describe_all
    ),
    Command(
        ("\\df",), "[PATTERN]", "functions and procedures, and how they are called", Argument.NOTHING,
        describe.functions,
    ),
    Command(("\\c", "\\use"), "[CATALOG.SCHEMA]", "USE, or shows the current schema", Argument.SCHEMA, _use),
    Command(("\\engine",), "[spark|duckdb]", "what runs statements; names and SET stay", Argument.ENGINE, _engine),
    Command(("\\conninfo",), "", "the catalogs, the current schema, the engine", Argument.NOTHING, system.connection),
    Command(
        ("\\x",), "[on|off|auto]", "one column on each line; auto: if a row is too wide", Argument.SWITCH,
        _setting("expanded"),
    ),
    Command(("\\format",), "[FORMAT]", "aligned, csv, json, markdown ...", Argument.FORMAT, _setting("format")),
    Command(("\\pager",), "[on|off]", "a pager for results longer than the screen", Argument.SWITCH, _setting("pager")),
    Command(("\\timing",), "[on|off]", "time and bytes read, below a result", Argument.SWITCH, _setting("timing")),
    Command(("\\pset",), "[NAME [VALUE]]", "all settings: also null and progress", Argument.SETTING, _pset),
    Command(("\\o",), "[FILE]", "sends results to a file; without FILE to the screen", Argument.FILE,
            files.output),
    Command(
        ("\\copy",), "(QUERY)|TABLE TO 'FILE'", "writes a result in the format of the file's ending",
        Argument.STATEMENT, files.copy,
    ),
    Command(("\\i",), "FILE", "runs a file of statements and commands", Argument.FILE, files.include),
    Command(("\\e",), "[FILE]", "edits the last input, or a file, in $EDITOR", Argument.FILE, files.edit),
    Command(("\\watch",), "[SECONDS]", "repeats the last statement", Argument.NOTHING, watch),
    Command(("\\set",), "[NAME [VALUE]]", "a variable: then :NAME, :'NAME' as text, :\"NAME\" as name",
            Argument.NOTHING, _set),
    Command(("\\unset",), "NAME", "removes a variable", Argument.NOTHING, _unset),
    Command(("\\echo",), "TEXT", "prints a text", Argument.NOTHING, _echo),
    Command(("\\cd",), "[DIR]", "changes the current directory", Argument.FILE, system.change_directory),
    Command(("\\!",), "[COMMAND]", "runs a command of the operating system", Argument.FILE, system.run_program),
)  # fmt: skip
"""All commands, in the order of the help."""

_BY_NAME = {name: command for command in COMMANDS for name in command.names}
