"""Parses Java's properties syntax, as in Trino's catalog files, into keys and values with line numbers.

The rules are those of ``java.util.Properties.load``, with three differences: the text is UTF-8, blanks at the end
of a value are dropped, and a duplicate key is refused instead of the last one winning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from connector_spi.errors import InvalidPropertyError

__all__ = ["PropertyLine", "parse_properties_text"]

_BLANKS = " \t\f"
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# A key ends at the first '=', ':' or blank without a backslash before it.
_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PropertyLine:
    """One property; ``repr`` leaves out its value, since it may be a secret.

    Attributes:
        key: Name, unescaped.
        text: Value, unescaped.
        line: Number of its first line, from 1.
    """

    key: str
    text: str = field(repr=False)
    line: int


def parse_properties_text(text: str, file: str) -> tuple[PropertyLine, ...]:
    """Reads the text of a properties file.

    Args:
        text: All lines.
        file: Name of the file, for messages.

    Raises:
        InvalidPropertyError: A key is empty or duplicate, or an escape is invalid.
    """
    seen: dict[str, int] = {}
    found: list[PropertyLine] = []
    for number, logical in _logical_lines(text):
        where = f"{file}, line {number}"
        match = _KEY.match(logical)
        raw_key, raw_value = (match.group(1), logical[match.end() :]) if match else (logical, "")
        key = _unescape(raw_key, where)
        if not key:
            raise InvalidPropertyError(f"{where}: expected 'key=value', met a line without a key")
        if key in seen:
            raise InvalidPropertyError(f"{where}: property '{key}' is set already on line {seen[key]}; keep one")
        seen[key] = number
        found.append(PropertyLine(key, _unescape(raw_value.rstrip(), where), number))
    return tuple(found)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and empty lines; a backslash at the end of a line joins it with the next one."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    index = 0
    while index < len(lines):
        number = index + 1
        logical = lines[index].lstrip(_BLANKS)
        index += 1
        if not logical or logical[0] in "#!":
            continue
        while _continues(logical):
            logical = logical[:-1]
            if index == len(lines):
                break
            logical += lines[index].lstrip(_BLANKS)
            index += 1
        if logical:
            yield number, logical


def _continues(line: str) -> bool:
    """Whether a line ends in an odd number of backslashes: the last one escapes the line's end."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescape(raw: str, where: str) -> str:
    def replace(match: re.Match[str]) -> str:
        escaped = match.group(1)
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        if escaped == "u":
            raise InvalidPropertyError(f"{where}: expected four hexadecimal digits after '\\u'")
        return _LETTERS.get(escaped, escaped)

    return _ESCAPE.sub(replace, raw)
