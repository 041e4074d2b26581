"""Parts of the patterns by which statements are recognized that no parser of an engine knows."""

from __future__ import annotations

import re

__all__ = ["BLANK", "FLAGS", "NAME", "PART", "statement_pattern"]

FLAGS = re.IGNORECASE | re.DOTALL
BLANK = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)"
"""White space, or a comment."""
PART = r"(?:`(?:[^`]|``)*`|\w+)"
"""A name, in quotes or not."""
NAME = rf"{PART}(?:{BLANK}*\.{BLANK}*{PART})*"
"""A name with those of what it is in."""


def statement_pattern(text: str) -> re.Pattern[str]:
    """The pattern of a statement, in which `` +`` and `` *`` stand for blanks."""
    return re.compile(f"{BLANK}*{text.replace(' +', f'{BLANK}+').replace(' *', f'{BLANK}*')}", FLAGS)
