r"""The shell's display settings, which ``\pset`` and its short forms change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.output.themes import THEMES

__all__ = ["ShellSettings"]

_SWITCH = {"on": "on", "true": "on", "1": "on", "off": "off", "false": "off", "0": "off"}


@dataclass(frozen=True, slots=True)
class ShellSettings:
    """The settings.

    Attributes:
        format: A name of ``FORMATS``.
        expanded: ``on`` shows one column on each line, ``off`` never does, ``auto`` if a row is wider than the screen
            even with cut values.
        null: Text of NULL in tables.
        pager: ``on`` uses a pager for output longer than the screen, ``off`` never does.
        timing: Whether the footer shows the time and the bytes read.
        progress: Whether to show a progress line.
        theme: Colours of the prompt: a name of ``THEMES``.
    """

    format: str = "aligned"
    expanded: str = "auto"
    null: str = "NULL"
    pager: str = "on"
    timing: str = "on"
    progress: str = "on"
    theme: str = "terminal"

    def with_text(self, name: str, value: str) -> ShellSettings:
        """The settings with another value.

        Args:
            name: Name of an attribute.
            value: The value as text; an empty one toggles between ``on`` and ``off``.

        Raises:
            InvalidArgumentError: The setting or the value does not exist; the message lists those that do.
        """
        given = _as_mapping(self)
        if name not in given:
            raise InvalidArgumentError(
                f"there is no setting '{name}'{closest(name, given)}; there are {', '.join(given)}"
            )
        parsed = _VALUES[name](value, given[name])
        return replace(self, **{name: parsed})

    def items(self) -> list[tuple[str, str]]:
        """Names and values."""
        return list(_as_mapping(self).items())


def _as_mapping(settings: ShellSettings) -> dict[str, str]:
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def _switch(value: str, before: str) -> str:
    if not value:
        return "off" if before == "on" else "on"
    return _one_of(_SWITCH, value, "on or off")


def _expanded(value: str, before: str) -> str:
    if not value:
        return "off" if before == "on" else "on"
    return _one_of({**_SWITCH, "auto": "auto"}, value, "on, off or auto")


def _format(value: str, before: str) -> str:
    if not value:
        return before
    if value.lower() not in FORMATS:
        raise InvalidArgumentError(
            f"there is no format '{value}'{closest(value.lower(), FORMATS)}; there are {', '.join(FORMATS)}"
        )
    return value.lower()


def _theme(value: str, before: str) -> str:
    if not value:
        return before
    if value.lower() not in THEMES:
        raise InvalidArgumentError(
            f"there is no theme '{value}'{closest(value.lower(), THEMES)}; there are {', '.join(THEMES)}"
        )
    return value.lower()


def _one_of(known: Mapping[str, str], value: str, expected: str) -> str:
    found = known.get(value.lower())
    if found is None:
        raise InvalidArgumentError(f"met '{value}', expected {expected}")
    return found


_VALUES: dict[str, Callable[[str, str], str]] = {
    "format": _format,
    "expanded": _expanded,
    "null": lambda value, before: value,
    "pager": _switch,
    "timing": _switch,
    "progress": _switch,
    "theme": _theme,
}
