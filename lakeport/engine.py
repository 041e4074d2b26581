"""What runs SQL over the catalogs, whichever library does the work."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest

__all__ = ["ENGINES", "Engine", "FunctionUsage", "check_engine", "default_engine"]

ENGINES = ("spark", "duckdb")
"""Names of the engines; the first is the default where it can run."""
_LOCAL_LIBRARIES = ("duckdb", "sqlglot")


@dataclass(frozen=True, slots=True)
class FunctionUsage:
    """How a function is called.

    Attributes:
        name: Lower case.
        signature: Its arguments as the engine's documentation has them: ``fmt, ts``; empty where there are none.
        description: One sentence.
    """

    name: str
    signature: str
    description: str


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

    @abstractmethod
    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        """How functions are called, in the order of the names."""


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


def default_engine() -> str:
    """The engine of who names none: ``duckdb`` where there is no Java and DuckDB is installed, else ``spark``."""
    has_java = bool(os.environ.get("JAVA_HOME")) or shutil.which("java") is not None
    return "spark" if has_java or not all(map(find_spec, _LOCAL_LIBRARIES)) else "duckdb"
