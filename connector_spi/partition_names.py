"""How Hive and Hudi write keys and values into the names of partitions (Hive's ``FileUtils``)."""

from __future__ import annotations

import re

__all__ = ["DEFAULT_PARTITION", "escape_path_name", "unescape_path_name"]

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""Stands for NULL, and for the empty text, in a partition's name."""

# FileUtils.charToEscape. Hive escapes '{' and leaves '}'.
_TO_ESCAPE = frozenset(map(chr, range(1, 0x20))) | frozenset("\"#%'*/:=?\\\x7f{[]^")
_ESCAPE = re.compile("[" + re.escape("".join(sorted(_TO_ESCAPE))) + "]")
_ESCAPED = re.compile("%([0-9A-Fa-f]{2})")


def escape_path_name(text: str) -> str:
    """Escapes a key or value for a partition's name; an empty text becomes ``DEFAULT_PARTITION``."""
    if not text:
        return DEFAULT_PARTITION
    return _ESCAPE.sub(lambda match: f"%{ord(match.group()):02X}", text)


def unescape_path_name(text: str) -> str:
    """Undoes ``escape_path_name``: ``%`` and two hexadecimal digits give that character; any other ``%`` stays.

    Each escape is one UTF-16 unit below 256, not a byte of UTF-8: Hive escapes ASCII only.
    """
    if "%" not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)
