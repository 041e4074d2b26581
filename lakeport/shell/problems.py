"""Errors on their way to the user: one or two lines, and an exit code."""

from __future__ import annotations

import re
import sys
import traceback

from connector_spi.errors import ConnectorError, ErrorType

__all__ = ["CANCELLED", "INTERNAL", "exit_code", "headline", "report"]

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
    """What went wrong, without plans and Java stacks."""
    if isinstance(error, ConnectorError):
        return str(error)
    name = type(error).__name__
    text = _text(error).strip()
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
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 3] + "..."


def exit_code(error: BaseException) -> int:
    """Who has to act: 1 the user, 2 somebody outside of this program, 3 its makers."""
    if isinstance(error, ConnectorError):
        return _CODES[error.code.type]
    if isinstance(error, KeyboardInterrupt):
        return CANCELLED
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


def report(error: BaseException, *, debug: bool = False, prefix: str = "error: ") -> None:
    """Prints an error to the standard error; with ``debug`` its trace too."""
    if debug:
        traceback.print_exception(error)
    print(f"{prefix}{headline(error)}", file=sys.stderr, flush=True)
    for note in getattr(error, "__notes__", ()):
        print(note, file=sys.stderr, flush=True)


def _text(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    if java is not None:
        # Py4JJavaError's own text is the whole Java stack.
        return str(java.toString())
    return str(error)


def _ask(error: BaseException, method: str) -> str:
    asked = getattr(error, method, None)
    try:
        return str((asked() if asked is not None else None) or "")
    except Exception:
        return ""  # Java is gone, and with it what it knew of the error
