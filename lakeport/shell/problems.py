"""Reports errors to the user, and determines the exit code."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import traceback
from typing import TextIO

from connector_spi.errors import ConnectorError, ErrorType
from lakeport.shell.diagnosis import Diagnosis, diagnose, error_of_ours, java_free_text
from lakeport.shell.sql.source_text import SourceText

__all__ = ["CANCELLED", "EXTERNAL", "INTERNAL", "USER", "exit_code", "headline", "render", "report"]

USER, EXTERNAL, INTERNAL, CANCELLED = 1, 2, 3, 130
"""Exit codes; the last is a shell's for SIGINT."""

_CODES = {
    ErrorType.USER_ERROR: USER,
    ErrorType.EXTERNAL: EXTERNAL,
    ErrorType.INSUFFICIENT_RESOURCES: EXTERNAL,
    ErrorType.INTERNAL_ERROR: INTERNAL,
}
# Classes of SQLSTATE: failures of a system, a connection, a file, or a limit; and Spark's own defects.
_EXTERNAL_STATES = ("08", "53", "54", "57", "58", "KD", "HV")
_INTERNAL_STATES = ("XX",)

_LAST_FAILURE = re.compile(r"Lost task [^\n]*?\): (?P<what>[^\n]+)")
_STATE = re.compile(r"\.? SQLSTATE: \w+")
_JAVA_CLASS = re.compile(r"^(?:[a-z]\w*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)")
_POSITION = re.compile(r"(?:;? line (\d+),? pos(?:ition)? (\d+);?|\(line (\d+), pos(?:ition)? (\d+)\))\s*$")
_CONTEXT = re.compile(r"== SQL \(line (\d+), position (\d+)\) ==")
_MAX_LINE = 600


def headline(error: BaseException) -> str:
    """The error in one line, without plans and Java stacks."""
    if isinstance(error, ConnectorError):
        return str(error)
    name = type(error).__name__
    text = java_free_text(error)
    if not text:
        return name
    failure = list(_LAST_FAILURE.finditer(text))
    line = failure[-1].group("what") if failure else text.splitlines()[0]
    line = _JAVA_CLASS.sub("", _STATE.sub("", line)).strip()
    position = _POSITION.search(line)
    if position is not None:
        row, column = (int(number) for number in position.groups() if number is not None)
        line = f"{line[: position.start()].rstrip('.; ')} (line {row}, column {column + 1})"
    else:
        context = _CONTEXT.search(text)
        if context is not None:
            line = f"{line} (line {context.group(1)}, column {context.group(2)})"
    return _bounded(line)


def exit_code(error: BaseException) -> int:
    """The exit code: 1 for a user error, 2 for an external error, 3 for a defect."""
    if isinstance(error, ConnectorError):
        return _CODES[error.code.type]
    if isinstance(error, KeyboardInterrupt):
        return CANCELLED
    ours = error_of_ours(error)
    if ours is not None:
        return _CODES[ours.code.type]
    state, condition = _ask(error, "getSqlState"), _ask(error, "getCondition")
    if condition.startswith("INTERNAL_ERROR") or state.startswith(_INTERNAL_STATES):
        return INTERNAL
    if state.startswith(_EXTERNAL_STATES) or condition.startswith("FAILED_READ_FILE"):
        return EXTERNAL
    if state or condition:
        return USER
    kind = type(error).__name__
    if kind in ("AnalysisException", "ParseException", "IllegalArgumentException", "UnsupportedOperationException"):
        return USER
    return EXTERNAL if kind == "Py4JJavaError" or isinstance(error, OSError) else INTERNAL


def report(
    error: BaseException, *, debug: bool = False, prefix: str = "error: ", source: SourceText | None = None
) -> None:
    """Prints an error to the standard error.

    Args:
        error: The error.
        debug: Print the traceback as well.
        prefix: Prefix of the line, if there is no statement to show.
        source: The statement that failed; it is shown with the position, if known.
    """
    if debug:
        traceback.print_exception(error)
    if source is not None:
        shown = render(
            diagnose(error, source), source, colours=_takes_colours(sys.stderr), columns=_columns(sys.stderr)
        )
        print(shown, file=sys.stderr, flush=True)
        return
    for line in (f"{prefix}{headline(error)}", *getattr(error, "__notes__", ())):
        print(_fitted(line, _columns(sys.stderr)), file=sys.stderr, flush=True)


def render(diagnosis: Diagnosis, source: SourceText, *, colours: bool = False, columns: int | None = None) -> str:
    """The text of a diagnosis in the style of Rust's compiler: message, location, line, caret, help.

    Args:
        diagnosis: The analysed error.
        source: The statement.
        colours: Use terminal escape sequences.
        columns: Columns of the terminal, to wrap long texts between words.
    """
    red, blue, bold, plain = ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m") if colours else ("", "", "", "")
    code = f"[{diagnosis.code}]" if diagnosis.code else ""
    head = _fitted(f"error{code}: {_bounded(diagnosis.message)}", columns).removeprefix(f"error{code}")
    lines = [f"{red}error{code}{plain}{bold}{head}{plain}"]
    gutter = "  "
    if diagnosis.span is None and source.name:
        lines.append(f"{gutter[1:]}{blue}-->{plain} {source.name}:{source.line}")
    if diagnosis.span is not None:
        excerpt = source.excerpt(diagnosis.span)
        number = str(excerpt.number)
        gutter = " " * (len(number) + 1)
        place = f"{source.name}:{number}:{excerpt.column}" if source.name else f"line {number}, column {excerpt.column}"
        lines += [
            f"{gutter[1:]}{blue}-->{plain} {place}",
            f"{gutter}{blue}|{plain}",
            f"{blue}{number} |{plain} {excerpt.line}",
            f"{gutter}{blue}|{plain} {' ' * excerpt.indent}{red}{'^' * excerpt.carets}{plain}",
        ]
    for one in diagnosis.helps:
        text = _fitted(f"{gutter}= help: {_bounded(one)}", columns, len(gutter) + 2).removeprefix(f"{gutter}= help")
        lines.append(f"{gutter}{blue}={plain} {bold}help{plain}{text}")
    return "\n".join(lines)


def _bounded(line: str) -> str:
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 3] + "..."


def _fitted(text: str, columns: int | None, indent: int = 2) -> str:
    """A text wrapped between words for a terminal."""
    if columns is None or len(text) <= columns:
        return text
    lines = textwrap.wrap(text, columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def _columns(stream: TextIO) -> int | None:
    return shutil.get_terminal_size((80, 24)).columns if stream.isatty() else None


def _takes_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _ask(error: BaseException, method: str) -> str:
    asked = getattr(error, method, None)
    try:
        return str((asked() if asked is not None else None) or "")
    except Exception:
        return ""  # Java has ended, and the error's details with it
