"""Single values of JSON as Jackson's ``JsonNode`` gives them to Hive's ``HiveJsonReader``. Executor side.

Sources: ``asText``, ``asInt``, ``asLong``, ``asDouble``, ``asBoolean``, ``binaryValue`` and ``NumberInput`` of
jackson-databind 2.16, which Hive 4.0 brings.
"""

from __future__ import annotations

import base64
import json
import math
import re
from decimal import Decimal

__all__ = [
    "JsonNumber",
    "base64_bytes",
    "java_double_text",
    "node_boolean",
    "node_decimal",
    "node_double",
    "node_integer",
    "node_text",
]

# Java's String.trim takes all of them off.
_BLANKS = "".join(map(chr, range(0x21)))
_DIGITS = re.compile(r"-?[0-9]*")
_FLOAT = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))")
_SUFFIX = re.compile(r"(?<=[0-9.])[fFdD]$")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9]{3,}$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LETTERS = r"[A-Za-z0-9+/]"
_BASE64 = re.compile(rf"(?:[\x00-\x20]*(?:{_LETTERS}{{4}}|{_LETTERS}{{3}}=|{_LETTERS}{{2}}==))*")
_BASE64_PART = re.compile(rf"{_LETTERS}+={{0,2}}")
# A backslash that was written twice is taken first, so that what follows it is no escape.
_ESCAPE = re.compile(r"\\\\|\\u00[01][0-9a-f]")


class JsonNumber(str):
    """The text of a number that is no integer."""

    __slots__ = ()


def java_double_text(value: float) -> str:
    """A number as Java's ``Double.toString`` writes it."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = repr(value)
        if "e" not in text:
            return text
    _, digits, _ = (number := Decimal(repr(value))).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    return f"{'-' if value < 0 else ''}{text[0]}.{text[1:] or '0'}E{number.adjusted()}"


def node_text(node: object) -> str:
    """``asText`` of a value, ``toString`` of an object or array."""
    if isinstance(node, JsonNumber):
        return java_double_text(float(node))
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, (dict, list)):
        return _whole(_compact(node))
    return _whole(str(node))


def node_decimal(node: object) -> str:
    """The text of a number with all its digits, where Hive goes through a double."""
    if isinstance(node, JsonNumber):
        # Of such Hive knows no decimal but 0.
        return java_double_text(float(node)) if _LONG_EXPONENT.search(node) else str(node)
    return node_text(node)


def node_integer(node: object, bits: int) -> int:
    """``asInt`` or ``asLong``, of which Java cuts off the upper bits: what is no number is 0."""
    wide = 64 if bits == 64 else 32
    if isinstance(node, JsonNumber):
        number = _saturated(float(node), wide)
    elif isinstance(node, (bool, int)):
        number = int(node)
    else:
        number = _parsed_integer(str(node), wide)
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def node_double(node: object) -> float:
    """``asDouble``: what is no number is 0."""
    if isinstance(node, JsonNumber):
        return float(node)
    if isinstance(node, str):
        return _parsed_double(node.strip(_BLANKS))
    # Of an integer beyond all doubles float() makes an error, but not of its text.
    return float(str(int(node))) if isinstance(node, (bool, int)) else 0.0


def node_boolean(node: object) -> bool:
    """``asBoolean``: numbers but 0 and those with a fraction, and the word true."""
    if isinstance(node, JsonNumber):
        return False
    return node.strip(_BLANKS) == "true" if isinstance(node, str) else bool(node)


def base64_bytes(text: str) -> bytes:
    """What ``Base64Variants.MIME_NO_LINEFEEDS`` decodes: blanks before groups of four, and groups behind a padding.

    Raises:
        ValueError: It is no base64.
    """
    trimmed = text.strip(_BLANKS)
    if _BASE64.fullmatch(trimmed) is None:
        raise ValueError("no base64")
    return b"".join(base64.b64decode(part) for part in _BASE64_PART.findall(trimmed))


def _whole(text: str) -> str:
    """Java writes a question mark for half of a pair of surrogates."""
    return text if text.isascii() or _SURROGATE.search(text) is None else text.encode("utf-8", "replace").decode()


def _compact(node: object) -> str:
    if isinstance(node, dict):
        return "{" + ",".join(f"{_compact(key)}:{_compact(value)}" for key, value in node.items()) + "}"
    if isinstance(node, list):
        return "[" + ",".join(map(_compact, node)) + "]"
    if node is None:
        return "null"
    if isinstance(node, JsonNumber):
        number = float(node)
        return java_double_text(number) if math.isfinite(number) else f'"{java_double_text(number)}"'
    if isinstance(node, str):
        # Jackson writes hexadecimal digits in upper case.
        escaped = json.dumps(node, ensure_ascii=False)
        return _ESCAPE.sub(lambda found: found.group()[:4] + found.group()[4:].upper(), escaped)
    return node_text(node)


def _parsed_integer(text: str, bits: int) -> int:
    trimmed = text.strip(_BLANKS).removeprefix("+")
    if _DIGITS.fullmatch(trimmed) is None:
        return _saturated(_parsed_double(trimmed), bits)
    digits = trimmed.removeprefix("-").lstrip("0")
    number = int(trimmed) if 0 < len(digits) < 20 else 0
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else 0


def _saturated(number: float, bits: int) -> int:
    """A double as Java's cast makes an integer of it."""
    most = (1 << (bits - 1)) - 1
    if math.isnan(number) or math.isinf(number):
        return 0 if math.isnan(number) else most if number > 0 else -most - 1
    return max(-most - 1, min(most, int(number)))


def _parsed_double(text: str) -> float:
    plain = _SUFFIX.sub("", text)
    if _FLOAT.fullmatch(plain):
        return float(plain)
    if _HEXADECIMAL.fullmatch(plain):
        try:
            return float.fromhex(plain)
        except OverflowError:
            return -math.inf if plain.startswith("-") else math.inf
    return 0.0
