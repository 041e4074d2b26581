"""Typed descriptors of properties: catalog files, sessions and tables use the same class.

Text forms are Trino's: a duration is a number and a unit (``30s``, ``1.5m``, ``250ms``), a data size likewise
(``64MB``, ``1GB``; 1kB = 1024 bytes).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar, overload

__all__ = [
    "PropertyMetadata",
    "boolean_property",
    "closest",
    "data_size_property",
    "duration_property",
    "enum_property",
    "integer_property",
    "string_list_property",
    "string_property",
]

T_co = TypeVar("T_co", covariant=True)

_DURATION = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = {"B": 1, "kB": 1 << 10, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


@dataclass(frozen=True, slots=True)
class PropertyMetadata(Generic[T_co]):
    """What a property is called, means and accepts. Its value is read by it: ``config.get(MAX_SPLIT_SIZE)``.

    Attributes:
        name: Lower-case; catalog properties use dots and dashes, session properties underscores.
        description: One sentence for the docs and for error messages.
        kind: What a value looks like, in words: ``duration such as 30s``.
        parse: From text to the value; raises ValueError with the reason.
        default: The value where none is given; ``None`` means not set.
        required: A missing value is an error.
        sensitive: The value is a secret: never printed.
        aliases: Older names that still work.
        session_name: The session property that overrides a property of the catalog; ``None`` where there is none.
        choices: All values, where only some are possible: an error names the closest one.
        write: From a value to a text that ``parse`` takes; ``None``: as Python writes it, lists with commas.
    """

    name: str
    description: str
    kind: str
    parse: Callable[[str], T_co]
    default: T_co | None = None
    required: bool = False
    sensitive: bool = False
    aliases: tuple[str, ...] = ()
    session_name: str | None = None
    choices: tuple[str, ...] = ()
    write: Callable[[float], str] | None = None

    @property
    def default_text(self) -> str:
        """The default as a file has it; empty where there is none."""
        value: object = self.default
        if self.write is not None and isinstance(value, int | float):
            return self.write(value)
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple | frozenset):
            return ", ".join(map(str, value if isinstance(value, tuple) else sorted(value)))
        return "" if value is None else str(value)

    @property
    def name_in_session(self) -> str:
        """What it is called among the session properties."""
        return self.session_name or self.name

    def for_session(self, default: object) -> PropertyMetadata[object]:
        """The session property that overrides this property of the catalog.

        Args:
            default: The catalog's value.
        """
        made: PropertyMetadata[object] = self
        return replace(made, name=self.name_in_session, default=default, required=False, aliases=())


@overload
def string_property(
    name: str,
    description: str,
    default: str,
    *,
    required: bool = False,
    sensitive: bool = False,
    aliases: tuple[str, ...] = (),
) -> PropertyMetadata[str]: ...


@overload
def string_property(
    name: str, description: str, *, required: Literal[True], sensitive: bool = False, aliases: tuple[str, ...] = ()
) -> PropertyMetadata[str]: ...


@overload
def string_property(
    name: str, description: str, default: None = None, *, sensitive: bool = False, aliases: tuple[str, ...] = ()
) -> PropertyMetadata[str | None]: ...


def string_property(
    name: str,
    description: str,
    default: str | None = None,
    *,
    required: bool = False,
    sensitive: bool = False,
    aliases: tuple[str, ...] = (),
) -> PropertyMetadata[str] | PropertyMetadata[str | None]:
    """A text taken as it is."""
    return PropertyMetadata(
        name=name,
        description=description,
        kind="text",
        parse=str,
        default=default,
        required=required,
        sensitive=sensitive,
        aliases=aliases,
    )


def string_list_property(
    name: str, description: str, default: tuple[str, ...] = (), *, lower: bool = False
) -> PropertyMetadata[tuple[str, ...]]:
    """Texts joined by commas; blanks around them are dropped. ``lower`` puts them into lower case."""

    def parse(text: str) -> tuple[str, ...]:
        return _parse_list(text.lower() if lower else text)

    return PropertyMetadata(name, description, "comma-separated list", parse, default)


def boolean_property(
    name: str, description: str, default: bool, *, session: str | None = None
) -> PropertyMetadata[bool]:
    """``true`` or ``false``, in any case; ``session`` is the name of the session property that overrides it."""
    return PropertyMetadata(name, description, "true or false", _parse_boolean, default, session_name=session)


@overload
def integer_property(
    name: str,
    description: str,
    default: int,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    session: str | None = None,
) -> PropertyMetadata[int]: ...


@overload
def integer_property(
    name: str, description: str, default: None = None, *, minimum: int | None = None, maximum: int | None = None
) -> PropertyMetadata[int | None]: ...


def integer_property(
    name: str,
    description: str,
    default: int | None = None,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    session: str | None = None,
) -> PropertyMetadata[int] | PropertyMetadata[int | None]:
    """A whole number inside of the bounds (both included); ``session`` as in ``boolean_property``."""

    def parse(text: str) -> int:
        return _bounded(int(text), minimum, maximum)

    kind = _bounds("whole number", minimum, maximum)
    return PropertyMetadata(name, description, kind, parse, default, session_name=session)


@overload
def duration_property(
    name: str, description: str, default: float, *, minimum: float | None = None
) -> PropertyMetadata[float]: ...


@overload
def duration_property(
    name: str, description: str, default: None = None, *, minimum: float | None = None
) -> PropertyMetadata[float | None]: ...


def duration_property(
    name: str, description: str, default: float | None = None, *, minimum: float | None = None
) -> PropertyMetadata[float] | PropertyMetadata[float | None]:
    """A time span such as ``30s``; the value is in seconds."""

    def parse(text: str) -> float:
        return _bounded(_quantity(text, _DURATION), minimum, None)

    kind = _quantity_kind("duration such as 30s", minimum, "s")
    return PropertyMetadata(name, description, kind, parse, default, write=_duration_text)


@overload
def data_size_property(
    name: str, description: str, default: int, *, minimum: int | None = None, session: str | None = None
) -> PropertyMetadata[int]: ...


@overload
def data_size_property(
    name: str, description: str, default: None = None, *, minimum: int | None = None
) -> PropertyMetadata[int | None]: ...


def data_size_property(
    name: str,
    description: str,
    default: int | None = None,
    *,
    minimum: int | None = None,
    session: str | None = None,
) -> PropertyMetadata[int] | PropertyMetadata[int | None]:
    """An amount of data such as ``64MB``; the value is in bytes; ``session`` as in ``boolean_property``."""

    def parse(text: str) -> int:
        return _bounded(int(_quantity(text, _SIZE)), minimum, None)

    kind = _quantity_kind("data size such as 64MB", minimum, "B")
    return PropertyMetadata(name, description, kind, parse, default, session_name=session, write=_size_text)


@overload
def enum_property(name: str, description: str, choices: Sequence[str], default: str) -> PropertyMetadata[str]: ...


@overload
def enum_property(
    name: str, description: str, choices: Sequence[str], default: None = None
) -> PropertyMetadata[str | None]: ...


def enum_property(
    name: str, description: str, choices: Sequence[str], default: str | None = None
) -> PropertyMetadata[str] | PropertyMetadata[str | None]:
    """One of ``choices``, in any case; the value is spelled as in ``choices``."""

    def parse(text: str) -> str:
        for choice in choices:
            if choice.lower() == text.strip().lower():
                return choice
        raise ValueError("not one of the choices")

    kind = "one of " + ", ".join(choices)
    return PropertyMetadata(name, description, kind, parse, default, choices=tuple(choices))


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


def _duration_text(seconds: float) -> str:
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"


def _size_text(size: float) -> str:
    unit = next(unit for unit in ("GB", "MB", "kB", "B") if size % _SIZE[unit] == 0) if size else "B"
    return f"{int(size) // _SIZE[unit]}{unit}"


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
