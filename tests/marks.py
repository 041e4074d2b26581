"""Marks that are true: what a test needs is seen from its code, and what its code does not show, it may not do.

| mark | a test with it |
|---|---|
| ``spark`` | needs Java: a Spark session, a metastore of Hive, a command of ours that starts one of them |
| ``process`` | starts a process |
| ``corpus`` | needs tables of ``CONNECTOR_TEST_CORPUS`` or ``CONNECTOR_TEST_TABLES`` |
| ``slow`` | is for ``make test-all``: it says so itself, or ``sampling.py`` left its case out |

The first three follow from what the functions and fixtures of a test name, down through ``tests`` and
``connector_spi.testing``. A test whose need is hidden in a command or in Lakeport's own code carries the mark itself:
without it, starting a process is an error, and ``JAVA_HOME`` leads nowhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

from tests.paths import CORPUS, PROJECT, TABLES

__all__ = ["NO_JAVA", "add_marks", "held_to_its_marks", "watch_processes"]

NO_JAVA = "/nowhere: a test that needs Java has the mark spark"
"""``JAVA_HOME`` while a test runs that has not the mark ``spark``."""

# Functions of tests that start Spark, find Java and run Java's tools.
_JAVA_FUNCTIONS = {"spark", "_java", "_keytool"}
_PROCESS_MODULES = {"subprocess", "pexpect", "multiprocessing"}
_PROCESS_EVENTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"}
_TESTS = tuple(f"{PROJECT / folder}{os.sep}" for folder in ("tests", "connector_spi/testing"))

_running: list[pytest.Item] = []


def add_marks(item: pytest.Item) -> None:
    """Adds ``spark``, ``process`` and ``corpus`` to a test that needs them."""
    marks = set[str]().union(*(_needs(function) for function in _functions(item)))
    marks |= set[str]().union(*(_own_needs(value) for value in _parameters(item)))
    if item.get_closest_marker("integration"):
        # Their servers are Java's, and so is what they ask them with.
        marks.add("spark")
    if "spark" in marks or item.get_closest_marker("spark"):
        marks.add("process")
    for name in sorted(marks):
        item.add_marker(name)


@contextmanager
def held_to_its_marks(item: pytest.Item) -> Iterator[None]:
    """While a test runs: no Java without the mark ``spark``, and ``watch_processes`` looks at its marks."""
    home = os.environ.get("JAVA_HOME")
    if item.get_closest_marker("spark") is None:
        os.environ["JAVA_HOME"] = NO_JAVA
    _running.append(item)
    try:
        yield
    finally:
        _running.pop()
        if home is None:
            os.environ.pop("JAVA_HOME", None)
        else:
            os.environ["JAVA_HOME"] = home


def watch_processes() -> None:
    """From now on a test that starts a process without the mark ``process`` meets an error."""
    sys.addaudithook(_refuse_process)


def _refuse_process(event: str, _: tuple[object, ...]) -> None:
    if event in _PROCESS_EVENTS and _running and _running[-1].get_closest_marker("process") is None:
        raise RuntimeError(f"{_running[-1].nodeid} starts a process ({event}): give it the mark process")


def _functions(item: pytest.Item) -> Iterator[FunctionType]:
    """The test's function, its fixtures, and what the classes around it give it."""
    found = [getattr(item, "obj", None)]
    information = getattr(item, "_fixtureinfo", None)
    for definitions in getattr(information, "name2fixturedefs", {}).values():
        found += [definition.func for definition in definitions]
    for one in getattr(getattr(item, "cls", None), "__mro__", ()):
        found += [value for name, value in vars(one).items() if not name.startswith("test_")]
    functions = (getattr(one, "__func__", one) for one in found)
    return (one for one in functions if isinstance(one, FunctionType))


def _parameters(item: pytest.Item) -> Iterable[object]:
    return getattr(getattr(item, "callspec", None), "params", {}).values()


@cache
def _needs(function: FunctionType) -> frozenset[str]:
    needs: set[str] = set()
    seen: set[int] = set()
    waiting: list[object] = [function]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            needs |= _own_needs(one)
            waiting += _named_by(one)
    return frozenset(needs)


def _own_needs(value: object) -> set[str]:
    if isinstance(value, ModuleType):
        return {"process"} if value.__name__ in _PROCESS_MODULES else set()
    if isinstance(value, Path):
        return {"corpus"} if value.is_relative_to(CORPUS) or value.is_relative_to(TABLES) else set()
    if isinstance(value, FunctionType):
        return {"spark"} if value.__name__ in _JAVA_FUNCTIONS and _is_of_tests(value) else set()
    return set()


def _named_by(value: object) -> list[object]:
    """What a function or class of ``tests`` names; the members of a collection."""
    if isinstance(value, (list, tuple)):
        return list(value) if len(value) < 100 else []
    if isinstance(value, dict):
        return list(value.values())
    function = getattr(value, "__wrapped__", getattr(value, "__func__", value))
    if not _is_of_tests(function):
        return []
    if isinstance(function, type):
        return list(vars(function).values())
    if isinstance(function, property):
        return [function.fget]
    if isinstance(function, FunctionType):
        return [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]
    return []


def _is_of_tests(value: object) -> bool:
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    return str(getattr(module, "__file__", "")).startswith(_TESTS)


@cache
def _names(code: CodeType) -> frozenset[str]:
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return frozenset(code.co_names).union(*(_names(one) for one in inner))
