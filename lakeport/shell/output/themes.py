"""Colours of the statement that is being typed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.styles import BaseStyle

__all__ = ["THEMES", "prompt_style"]

_PYGMENTS = {"dark": "native", "light": "friendly"}
"""Themes with colours of their own, and the styles of Pygments that they are."""
THEMES = ("terminal", "dark", "light", "none")
"""``terminal`` has the colours that the terminal gives to names such as green, which fit its background."""

_TERMINAL = {
    "pygments.keyword": "bold",
    "pygments.name.builtin": "ansicyan",
    "pygments.name.function": "ansicyan",
    "pygments.literal.string": "ansigreen",
    # Words in double quotes are texts in Spark, as those in single quotes are.
    "pygments.literal.string.symbol": "ansigreen",
    "pygments.literal.number": "ansimagenta",
    "pygments.comment": "italic",
}


@cache
def prompt_style(theme: str) -> BaseStyle:
    """The style of a theme; what it leaves open has the terminal's own colour."""
    # Not at the top: only the prompt needs it.
    from prompt_toolkit.styles import Style, style_from_pygments_cls
    from pygments.styles import get_style_by_name

    if theme in _PYGMENTS:
        return style_from_pygments_cls(get_style_by_name(_PYGMENTS[theme]))
    return Style.from_dict(_TERMINAL if theme == "terminal" else {})
