"""Typed descriptors of properties: catalog files, sessions and tables use the same class.

Text forms are Trino's: a duration is a number and a unit (``30s``, ``1.5m``, ``250ms``), a data size likewise
(``64MB``, ``1GB``; 1kB = 1024 bytes).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from connector_spi.errors import InvalidPropertyError

__all__ = [
    "PropertyMetadata",
    "boolean_property",
    "closest",
    "data_size_property",
    "duration_property",
    "enum_property",
    "integer_property",
    "parse_properties",
    "string_list_property",
    "string_property",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_DURATION = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = {"B": 1, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


@dataclass(frozen=True, slots=True)
class PropertyMetadata(Generic[T_co]):
    """What a property is called, means and accepts.

    Attributes:
        name: Lower-case; catalog properties use dots and dashes, session properties underscores.
        description: One sentence for the docs and for error messages.
        kind: What a value looks like, in words: ``duration such as 30s``.
        parse: From text to the value; raises ValueError with the reason.
        default: The value where none is given; ``None`` means not set.
        required: An absent value is an error.
        sensitive: The value is a secret: never printed.
        aliases: Older names that still work.
    """

    name: str
    description: str
    kind: str
    parse: Callable[[str], T_co]
    default: T_co | None = None
    required: bool = False
    sensitive: bool = False
    aliases: tuple[str, ...] = ()


def string_property(
    name: str,
    description: str,
    default: str | None = None,
    *,
    required: bool = False,
    sensitive: bool = False,
    aliases: tuple[str, ...] = (),
) -> PropertyMetadata[str]:
    """A text taken as it is."""
    return PropertyMetadata(name, description, "text", str, default, required, sensitive, aliases)


def string_list_property(
    name: str, description: str, default: tuple[str, ...] = ()
) -> PropertyMetadata[tuple[str, ...]]:
    """Texts joined by commas; blanks around them are dropped."""
    return PropertyMetadata(name, description, "comma-separated list", _parse_list, default)


def boolean_property(name: str, description: str, default: bool) -> PropertyMetadata[bool]:
    """``true`` or ``false``, in any case."""
    return PropertyMetadata(name, description, "true or false", _parse_boolean, default)


def integer_property(
    name: str, description: str, default: int | None = None, *, minimum: int | None = None, maximum: int | None = None
) -> PropertyMetadata[int]:
    """A whole number inside of the bounds (both included)."""

    def parse(text: str) -> int:
        return _bounded(int(text), minimum, maximum)

    return PropertyMetadata(name, description, _bounds("whole number", minimum, maximum), parse, default)


def duration_property(
    name: str, description: str, default: float | None = None, *, minimum: float | None = None
) -> PropertyMetadata[float]:
    """A time span such as ``30s``; the value is in seconds."""

    def parse(text: str) -> float:
        return _bounded(_quantity(text, _DURATION), minimum, None)

    return PropertyMetadata(name, description, _quantity_kind("duration such as 30s", minimum, "s"), parse, default)


def data_size_property(
    name: str, description: str, default: int | None = None, *, minimum: int | None = None
) -> PropertyMetadata[int]:
    """An amount of data such as ``64MB``; the value is in bytes."""

    def parse(text: str) -> int:
        return _bounded(int(_quantity(text, _SIZE)), minimum, None)

    return PropertyMetadata(name, description, _quantity_kind("data size such as 64MB", minimum, "B"), parse, default)


def enum_property(
    name: str, description: str, choices: Sequence[str], default: str | None = None
) -> PropertyMetadata[str]:
    """One of ``choices``, in any case; the value is spelled as in ``choices``."""

    def parse(text: str) -> str:
        for choice in choices:
            if choice.lower() == text.strip().lower():
                return choice
        raise ValueError("not one of the choices")

    return PropertyMetadata(name, description, "one of " + ", ".join(choices), parse, default)


def parse_properties(
    descriptors: Iterable[PropertyMetadata[object]],
    given: Mapping[str, str],
    where: Callable[[str], str],
) -> dict[str, object]:
    """Checks and types what a file or a caller gives.

    Args:
        descriptors: All properties that are known.
        given: Text by name.
        where: Names the place of a property for messages, such as ``etc/catalog/hive.properties, line 3``.

    Returns:
        A value for each descriptor, under its name; defaults where nothing is given.

    Raises:
        InvalidPropertyError: An unknown name (with the closest known one), a wrong value, a missing required one,
            or a property given twice through an alias.
    """
    known = list(descriptors)
    by_name = {name: prop for prop in known for name in (prop.name, *prop.aliases)}
    values: dict[str, object] = {prop.name: prop.default for prop in known}
    seen: dict[str, str] = {}
    for name, text in given.items():
        found = by_name.get(name)
        if found is None:
            raise InvalidPropertyError(f"{where(name)}: unknown property '{name}'{closest(name, by_name)}")
        if found.name in seen:
            raise InvalidPropertyError(f"{where(name)}: '{name}' says again what '{seen[found.name]}' says; keep one")
        seen[found.name] = name
        values[found.name] = parse_value(found, text, where(name))
    for prop in known:
        if prop.required and prop.name not in seen:
            raise InvalidPropertyError(f"{where(prop.name)}: property '{prop.name}' is missing: {prop.description}")
    return values


def parse_value(prop: PropertyMetadata[T], text: str, where: str) -> T:
    """Types one value.

    Raises:
        InvalidPropertyError: The text is not a value of the property; a secret is not shown.
    """
    try:
        return prop.parse(text)
    except ValueError as error:
        met = "the value given" if prop.sensitive else repr(text)
        # The reason quotes the text, so it would show a secret in the trace.
        reason = None if prop.sensitive else error
        raise InvalidPropertyError(f"{where}: property '{prop.name}' expects {prop.kind}, met {met}") from reason


def closest(name: str, known: Iterable[str]) -> str:
    """Words for the known name nearest to ``name``: ``; did you mean 'x'?``, or nothing."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{found[0]}'?" if found else ""


def _parse_boolean(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("neither true nor false")
    return lowered == "true"


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _quantity(text: str, units: Mapping[str, float]) -> float:
    match = _QUANTITY.fullmatch(text)
    if match is None or match.group(2) not in units:
        raise ValueError(f"expected a number and one of {', '.join(units)}")
    return float(match.group(1)) * units[match.group(2)]


Number = TypeVar("Number", int, float)


def _bounded(value: Number, minimum: float | None, maximum: float | None) -> Number:
    if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):
        raise ValueError("out of bounds")
    return value


def _quantity_kind(kind: str, minimum: float | None, unit: str) -> str:
    return f"{kind}, at least {minimum}{unit}" if minimum else kind


def _bounds(kind: str, minimum: float | None, maximum: float | None) -> str:
    low = f" from {minimum}" if minimum is not None else ""
    return f"{kind}{low}" + (f" to {maximum}" if maximum is not None else "")
