"""Parses the options and SQL of ``%lakeport`` and ``%%lakeport``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest
from lakeport.engine import ENGINES, check_engine

__all__ = ["FORMATS", "OPTIONS", "MagicLine", "parse_magic", "read_options"]

FORMATS = ("table", "arrow", "pandas", "polars", *ENGINES)
"""Result formats of a query; the first is shown, the others are objects of these libraries and engines."""

_WORD = re.compile(r"""\s*(--?[A-Za-z][A-Za-z-]*)(?:=|\s+|$)""")
_VALUE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")


@dataclass(frozen=True, slots=True)
class MagicLine:
    """Statements and how to run them.

    Attributes:
        sql: One or more statements, with semicolons between them; empty without one.
        output: The variable to assign the result to, instead of showing it.
        format: One of ``FORMATS``; ``None`` if not given.
        rows: Number of rows to show.
        catalogs: A directory of catalog files to connect to.
        engine: What runs the statements of the session that is connected; ``None`` if not given.
        session: The variable with the session to use.
        progress: Whether to show a progress bar.
    """

    sql: str = ""
    output: str | None = None
    format: str | None = None
    rows: int = 20
    catalogs: str | None = None
    engine: str | None = None
    session: str | None = None
    progress: bool = True


def parse_magic(line: str, cell: str | None) -> MagicLine:
    """Parses options up to the first word that is not one; the rest is SQL.

    Args:
        line: The text after the magic's name.
        cell: The lines below; ``None`` for a line magic.

    Raises:
        InvalidArgumentError: An option is unknown, or a value is missing or invalid.
    """
    found, begin = read_options(line)
    sql = "\n".join(part for part in (line[begin:], cell) if part is not None and part.strip())
    return replace(found, sql=sql.strip().removesuffix(";").rstrip())


def read_options(line: str) -> tuple[MagicLine, int]:
    """Parses the options of a line, and finds the start of its SQL; raises the errors of ``parse_magic``."""
    found = MagicLine()
    rest = line
    while (word := _WORD.match(rest)) is not None and not word[1].startswith("---"):
        rest = rest[word.end() :]
        name = word[1]
        if name == "--no-progress":
            found = replace(found, progress=False)
            continue
        if name not in _OPTIONS:
            raise InvalidArgumentError(f"no option {name}{closest(name, OPTIONS)}; there are: {', '.join(OPTIONS)}")
        value = _VALUE.match(rest)
        if value is None:
            raise InvalidArgumentError(f"{name} needs a value")
        rest = rest[value.end() :]
        found = _OPTIONS[name](found, next(text for text in value.groups() if text is not None))
    return found, len(line) - len(rest)


def _output(found: MagicLine, text: str) -> MagicLine:
    if not text.isidentifier():
        raise InvalidArgumentError(f"-o is '{text}'; expected the name of a variable")
    return replace(found, output=text)


def _format(found: MagicLine, text: str) -> MagicLine:
    if text not in FORMATS:
        raise InvalidArgumentError(f"--format is '{text}'; expected {', '.join(FORMATS)}{closest(text, FORMATS)}")
    return replace(found, format=text)


def _engine(found: MagicLine, text: str) -> MagicLine:
    return replace(found, engine=check_engine(text))


def _rows(found: MagicLine, text: str) -> MagicLine:
    if not text.isdecimal():
        raise InvalidArgumentError(f"--rows is '{text}'; expected a whole number")
    return replace(found, rows=int(text))


_OPTIONS: dict[str, Callable[[MagicLine, str], MagicLine]] = {
    "-o": _output,
    "--output": _output,
    "-f": _format,
    "--format": _format,
    "--rows": _rows,
    "--catalogs": lambda found, text: replace(found, catalogs=text),
    "--engine": _engine,
    "--session": lambda found, text: replace(found, session=text),
}

OPTIONS = (*_OPTIONS, "--no-progress")
"""All options."""
