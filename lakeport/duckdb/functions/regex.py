"""Regular expressions of Java in the words of RE2.

Sources: ``java.util.regex.Pattern`` and RE2's syntax. Both take the first alternative that fits. What is not
listed here, such as other flags than (?diu) in front, references, look-around and possessive quantifiers, is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Regex", "RegexError"]

_CLASSES = {"d": "[0-9]", "D": "[^0-9]", "w": "[a-zA-Z_0-9]", "W": "[^a-zA-Z_0-9]",
            "s": r"[ \t\n\x{0B}\f\r]", "S": r"[^ \t\n\x{0B}\f\r]"}  # fmt: skip
_WITHIN = {"d": "0-9", "w": "a-zA-Z_0-9", "s": r" \t\n\x{0B}\f\r"}
_CONTROLS = "tnrf"
# Java's dot stops before the ends of lines, of which it knows more than RE2.
_ANY = r"[^\n\r\x{85}\x{2028}\x{2029}]"
# With the flag d it knows one end of lines, as RE2 does.
_ANY_BUT_LINE_FEED = r"[^\n]"
# Java's end is also before a last line's end.
_END = r"(?:(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z)"
_END_OR_LINE_FEED = r"(?:\n?\z)"
_FLAGS = re.compile(r"\(\?([diu]+)\)")
# Letters beside capital and small ones that Java takes for the same with the flags i and u.
_SAME_LETTERS = {"i": r"\x{130}\x{131}", "k": r"\x{212a}", "s": r"\x{17f}"}
_SPECIAL = frozenset(r"\^$.|?*+()[]{}")
_QUANTIFIER = re.compile(r"([*+?]|\{(\d{1,3})(?:(,)(\d{1,3})?)?\})(\?)?")
_SET_ITEM = re.compile(r"(?P<from>[^\[\]\\^&-])-(?P<to>[^\[\]\\^&-])|(?P<one>[^\[\]\\^&-])|\\(?P<escaped>.)")


class RegexError(ValueError):
    """A part that Java and RE2 may mean something else by."""


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression for RE2.

    Attributes:
        text: As RE2 has it.
        groups: Number of groups.
        may_be_empty: Whether an empty text has it.
    """

    text: str
    groups: int
    may_be_empty: bool

    @classmethod
    def of(cls, text: str, *, finds_only: bool) -> Regex:
        """The same as a pattern of Java.

        Args:
            text: The pattern.
            finds_only: What is found does not matter, only whether.

        Raises:
            RegexError: A part is not understood.
        """
        flags = _FLAGS.match(text)
        text = text if flags is None else text[flags.end() :]
        reader = _Reader(text, "" if flags is None else flags[1], finds_only=finds_only)
        found, empty = reader.alternatives()
        if reader.at < len(text):
            raise RegexError(f"'{text[reader.at :]}' in a regular expression")
        return cls(found, reader.groups, empty)


@dataclass(slots=True)
class _Reader:
    text: str
    flags: str
    finds_only: bool
    at: int = field(default=0)
    groups: int = field(default=0)

    @property
    def _unix_lines(self) -> bool:
        return "d" in self.flags

    def alternatives(self) -> tuple[str, bool]:
        found = [self._sequence()]
        while self._next("|"):
            found.append(self._sequence())
        return "|".join(text for text, _ in found), any(empty for _, empty in found)

    def _sequence(self) -> tuple[str, bool]:
        written, empty = [], True
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            part, part_empty, repeats = self._atom()
            quantifier = _QUANTIFIER.match(self.text, self.at)
            if quantifier is not None:
                if part_empty or not (repeats or quantifier[1] == "?"):
                    raise RegexError("a group, or what may be empty, is repeated in a regular expression")
                self.at = quantifier.end()
                part += quantifier[0]
                part_empty = quantifier[1] in "*?" or quantifier[2] == "0"
                if self.text[self.at : self.at + 1] in ("+", "*", "?", "{"):
                    raise RegexError("a possessive quantifier in a regular expression")
            written.append(part)
            empty = empty and part_empty
        return "".join(written), empty

    def _atom(self) -> tuple[str, bool, bool]:
        """A part, whether it may be empty, and whether it may be repeated."""
        if self._next("("):
            return self._group()
        if self._next("["):
            return self._set(), False, True
        if self._next("\\"):
            return self._escaped(), False, True
        if self._next("."):
            return _ANY_BUT_LINE_FEED if self._unix_lines else _ANY, False, True
        if self._next("^"):
            return r"\A", True, False
        if self._next("$"):
            if not self.finds_only:
                raise RegexError("$ in a regular expression whose finds are used, which may be before a line's end")
            return _END_OR_LINE_FEED if self._unix_lines else _END, True, False
        character = self.text[self.at]
        if character in _SPECIAL:
            raise RegexError(f"'{self.text[self.at :]}' in a regular expression")
        self.at += 1
        written = self._letters(character)
        return character if written == character else f"[{written}]", False, True

    def _group(self) -> tuple[str, bool, bool]:
        opened = "(?:" if self._next("?:") else "("
        if opened == "(":
            self.groups += 1
            if self.text[self.at : self.at + 1] == "?":
                raise RegexError("'(?' in a regular expression")
        inner, empty = self.alternatives()
        if not self._next(")"):
            raise RegexError("'(' without ')' in a regular expression")
        # What a repeated group captured last may differ.
        return f"{opened}{inner})", empty, opened == "(?:" or self.finds_only

    def _set(self) -> str:
        negated = "^" if self._next("^") else ""
        written: list[str] = []
        if self.text.startswith("-", self.at):
            written.append("\\-")
            self.at += 1
        while not self._next("]"):
            if written and self._next("-]"):
                # The last one is no range.
                written.append("\\-")
                break
            item = _SET_ITEM.match(self.text, self.at)
            if item is None:
                raise RegexError(f"'{self.text[self.at :]}' in a set of a regular expression")
            self.at = item.end()
            written.append(self._set_item(item))
        if not written:
            raise RegexError("an empty set in a regular expression")
        return f"[{negated}{''.join(written)}]"

    def _escaped(self) -> str:
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if character in _CLASSES:
            return _CLASSES[character]
        if character and character in _CONTROLS:
            return f"\\{character}"
        if character and character.isascii() and not character.isalnum():
            return f"\\{character}"
        raise RegexError(f"'\\{character}' in a regular expression")

    def _letters(self, first: str, last: str = "") -> str:
        """A character, or those from one to another, with those that the flag i makes the same."""
        found = first if not last else f"{first}-{last}"
        if "i" not in self.flags or not any(map(str.isalpha, map(chr, range(ord(first), ord(last or first) + 1)))):
            return found
        ends = first + (last or first)
        if not ends.isascii() or not ends.isalpha() or ends not in (ends.lower(), ends.upper()):
            if not ends.isascii() and not last and "u" not in self.flags:
                return found
            raise RegexError("other letters than those of ASCII, or a mixed range of them, without regard to case")
        more = {key: one for key, one in _SAME_LETTERS.items() if ends[0].lower() <= key <= ends[1].lower()}
        return found + found.swapcase() + ("".join(more.values()) if "u" in self.flags else "")

    def _set_item(self, item: re.Match[str]) -> str:
        escaped = item["escaped"]
        if escaped is None:
            return self._letters(item["one"] or item["from"], item["to"] or "")
        if escaped in _WITHIN:
            return _WITHIN[escaped]
        if escaped in _CONTROLS or (escaped.isascii() and not escaped.isalnum()):
            return f"\\{escaped}"
        raise RegexError(f"'\\{escaped}' in a set of a regular expression")

    def _next(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False
