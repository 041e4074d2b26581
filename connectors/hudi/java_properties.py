"""Java's properties text (``java.util.Properties.load``), which ``hoodie.properties`` and partition markers are."""

from __future__ import annotations

import re

__all__ = ["parse_java_properties"]

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SPACE = " \t\f"


def parse_java_properties(text: str) -> dict[str, str]:
    """Reads keys and values.

    Comments begin with ``#`` or ``!``; a key ends at the first unescaped ``=``, ``:`` or blank; a backslash at the
    end of a line continues it; ``\\uXXXX`` is a UTF-16 unit. The last of equal keys wins.

    Raises:
        ValueError: A ``\\u`` without four hexadecimal digits.
    """
    values: dict[str, str] = {}
    for line in _logical_lines(text):
        end = _key_end(line)
        rest = line[end:].lstrip(_SPACE)
        if rest[:1] in ("=", ":"):
            rest = rest[1:].lstrip(_SPACE)
        values[_unescape(line[:end])] = _unescape(rest)
    return values


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    continued = False
    for raw in re.split(r"\r\n|\n|\r", text):
        stripped = raw.lstrip(_SPACE)
        if not continued and (not stripped or stripped[0] in "#!"):
            continue
        slashes = len(stripped) - len(stripped.rstrip("\\"))
        continued = slashes % 2 == 1
        pending += stripped[:-1] if continued else stripped
        if not continued:
            lines.append(pending)
            pending = ""
    return [*lines, pending] if pending else lines


def _key_end(line: str) -> int:
    position = 0
    while position < len(line):
        if line[position] == "\\":
            position += 2
            continue
        if line[position] in "=:" + _SPACE:
            return position
        position += 1
    return len(line)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    if re.search(r"(?<!\\)(?:\\\\)*\\u(?![0-9A-Fa-f]{4})", text):
        raise ValueError(f"malformed \\uXXXX in {text!r}")
    unescaped = _ESCAPE.sub(_replacement, text)
    # Escapes outside of the basic plane come as two UTF-16 halves.
    return unescaped.encode("utf-16", "surrogatepass").decode("utf-16")


def _replacement(match: re.Match[str]) -> str:
    unit, letter = match.groups()
    if unit is not None:
        return chr(int(unit, 16))
    return _CONTROLS.get(letter, letter)
