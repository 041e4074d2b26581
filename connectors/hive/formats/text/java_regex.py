"""Java's regular expressions in Python and RE2, as far as they mean the same. Pure.

What is written alike and means something else, and what the others lack, is refused by name: better no row than a
wrong one. ``java.util.regex.Pattern`` is the source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes

__all__ = ["JavaRegex", "java_regex"]

_SAME_ESCAPES = frozenset("dDwWsStnrf")
_LITERAL = frozenset("\\.[]{}()*+?^$|/-\"'`~!@#%&=:;<>, _")
_CLASS = {"s": r"\t\n\x0b\f\r ", "d": "0-9", "w": "a-zA-Z_0-9"}
_NAME = re.compile(r"\?<([A-Za-z][A-Za-z0-9]*)>")
_QUANTIFIER = re.compile(r"[*+?]|\{[0-9]+(?:,[0-9]*)?\}")


@dataclass(frozen=True, slots=True)
class JavaRegex:
    """A pattern that has to match the whole of a text; a dot matches line ends, too.

    Attributes:
        pattern: For Python and RE2, its groups called ``g1``, ``g2``, ...
        groups: Number of groups.
        linear: RE2 can run it, and tells the same groups.
    """

    pattern: str
    groups: int
    linear: bool


def java_regex(text: str, where: str) -> JavaRegex:
    """Translates a pattern.

    Args:
        text: As ``Pattern.compile`` takes it.
        where: Names the table for messages.

    Raises:
        NotSupportedError: It holds what is not understood the same way.
    """
    return _Translation(text, where).run()


@dataclass(slots=True)
class _Group:
    counts: bool = False
    branches: bool = False
    groups: bool = False


class _Translation:
    def __init__(self, text: str, where: str) -> None:
        self._text = text
        self._where = where
        self._at = 0
        self._out: list[str] = []
        self._groups = 0
        self._names: dict[str, int] = {}
        self._linear = True
        # Of each open group, the whole first: whether it is one that counts, has branches, and has such groups inside.
        self._open: list[_Group] = [_Group()]
        self._closed = _Group()

    def run(self) -> JavaRegex:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._note_branches(self._open[-1])
        pattern = "".join(self._out)
        try:
            re.compile(pattern, re.DOTALL | re.ASCII)
        except re.error as error:
            raise self._refused(f"no pattern of Python's: {error}") from error
        return JavaRegex(pattern, self._groups, self._linear)

    def _step(self, char: str) -> None:
        if char == "\\":
            self._out.append(self._escape())
        elif char == "[":
            self._out.append(self._class())
        elif char == "(":
            self._open_group()
        elif char == ")":
            self._close_group()
        elif match := _QUANTIFIER.match(self._text, self._at):
            self._quantifier(match.group())
        elif char == "{":
            raise self._refused("'{' that is no count")
        else:
            self._open[-1].branches |= char == "|"
            self._out.append(r"\Z" if char == "$" else char)
            self._at += 1

    def _quantifier(self, text: str) -> None:
        if self._out and self._out[-1] == ")" and (self._closed.counts or self._closed.groups):
            # What a group holds of several turns, or of none, is Java's own.
            self._linear = False
        self._at += len(text)
        following = self._text[self._at : self._at + 1]
        if following in ("?", "+"):
            self._linear = self._linear and following == "?"
            text += following
            self._at += 1
        self._out.append(text)

    def _open_group(self) -> None:
        rest = self._text[self._at + 1 :]
        named = _NAME.match(rest)
        if named is not None or not rest.startswith("?"):
            self._groups += 1
            if named is not None:
                self._names[named.group(1)] = self._groups
            self._open.append(_Group(counts=True))
            self._out.append(f"(?P<g{self._groups}>")
            self._at += 1 + (named.end() if named is not None else 0)
            return
        for opening in ("?:", "?=", "?!", "?<=", "?<!", "?>"):
            if rest.startswith(opening):
                self._linear = self._linear and opening == "?:"
                self._open.append(_Group())
                self._out.append(f"({opening}")
                self._at += 1 + len(opening)
                return
        raise self._refused(f"the group ({rest[:3]}")

    def _close_group(self) -> None:
        if len(self._open) < 2:
            raise self._refused("')' that closes nothing")
        self._closed = self._open.pop()
        self._note_branches(self._closed)
        self._open[-1].groups |= self._closed.counts or self._closed.groups
        self._out.append(")")
        self._at += 1

    def _note_branches(self, group: _Group) -> None:
        # A branch leaves groups of the others without a value, and RE2 would say that they are empty.
        self._linear = self._linear and not (group.branches and group.groups)

    def _escape(self) -> str:
        char = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if char == "k" and (name := re.match(r"<([A-Za-z0-9]+)>", self._text[self._at :])):
            self._at += name.end()
            self._linear = False
            if name.group(1) in self._names:
                return f"(?P=g{self._names[name.group(1)]})"
            raise self._refused(f"a reference to the group {name.group(1)}, which is not there")
        if char in "123456789" and char:
            if int(char) > self._groups or self._text[self._at : self._at + 1].isdigit():
                raise self._refused(rf"the reference \{char}")
            self._linear = False
            return f"(?P=g{char})"
        return self._plain_escape(char)

    def _plain_escape(self, char: str) -> str:
        if char in ("s", "S"):
            return f"[{'^' if char == 'S' else ''}{_CLASS['s']}]"
        if char in _SAME_ESCAPES and char:
            return "\\" + char
        if char == "x" and re.match(r"[0-9a-fA-F]{2}", self._text[self._at :]):
            self._at += 2
            return rf"\x{self._text[self._at - 2 : self._at]}"
        if char in _LITERAL and char:
            return re.escape(char)
        raise self._refused(rf"\{char}")

    def _class(self) -> str:
        out = ["["]
        self._at += 1
        if self._text[self._at : self._at + 1] == "^":
            out.append("^")
            self._at += 1
        first = True
        while True:
            char = self._text[self._at : self._at + 1]
            if not char:
                raise self._refused("a class that does not end")
            if char == "]" and not first:
                self._at += 1
                return "".join(out) + "]"
            if char == "[" or char == "]" or self._text.startswith("&&", self._at):
                raise self._refused("a class inside of a class, or '&&', or ']' at its front")
            if char == "\\":
                out.append(self._class_escape())
            else:
                out.append("\\" + char if char in "^~|&" else char)
                self._at += 1
            first = False

    def _class_escape(self) -> str:
        char = self._text[self._at + 1 : self._at + 2]
        if char in _CLASS and char:
            self._at += 2
            return _CLASS[char]
        if char in ("S", "D", "W", "B", "b"):
            raise self._refused(rf"\{char} inside of a class")
        self._at += 2
        return self._plain_escape(char)

    def _refused(self, what: str) -> NotSupportedError:
        return NotSupportedError(
            f"{self._where} has the regular expression {self._text!r}, of which {what} is not read as Java does; "
            "write it otherwise in the SerDe's property input.regex",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
