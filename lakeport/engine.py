"""What runs SQL over the catalogs, whichever library does the work."""

from __future__ import annotations

from abc import ABC, abstractmethod

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest

__all__ = ["ENGINES", "Engine", "check_engine"]

ENGINES = ("spark", "duckdb")
"""Names of the engines; the first is the default."""


class Engine(ABC):
    """An engine as far as a session and the shell know it."""

    @abstractmethod
    def current_catalog(self) -> str:
        """The catalog of names that say none."""

    @abstractmethod
    def current_schema(self) -> str:
        """The schema of names that say none, joined by dots; empty where the catalog has none."""

    @abstractmethod
    def function_names(self) -> list[str]:
        """Functions to complete, in no order."""


def check_engine(name: str) -> str:
    """The engine of a name.

    Raises:
        InvalidArgumentError: There is no such engine.
    """
    if name not in ENGINES:
        raise InvalidArgumentError(
            f"unknown engine '{name}'{closest(name, ENGINES)}; expected one of {', '.join(ENGINES)}"
        )
    return name
