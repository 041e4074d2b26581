"""Modules and functions stay small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.paths import PROJECT

MODULE_LINES = 400
FUNCTION_LINES = 60

SOURCES = sorted(
    path
    for package in ("connector_spi", "connectors", "catalog", "lakeport", "tests", "benchmarks", "demo")
    for path in (PROJECT / package).rglob("*.py")
    if "_thrift" not in path.parts
)


def test_modules_and_functions_are_small() -> None:
    assert len(SOURCES) > 1000
    assert [too_large for path in SOURCES for too_large in _too_large(path)] == []


def test_packages_hold_no_code_in_init() -> None:
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    for path in SOURCES:
        # lakeport looks its names up on first use, so that tasks can import parts of it.
        if path.name == "__init__.py" and path.parent != PROJECT / "lakeport":
            kinds = [type(node).__name__ for node in ast.parse(path.read_text()).body if not isinstance(node, allowed)]
            assert kinds == [], path


def _too_large(path: Path) -> Iterator[str]:
    name, text = path.relative_to(PROJECT), path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > MODULE_LINES:
        yield f"{name}: {lines} lines"
    # No function is longer than its module: most need not be parsed.
    for node in ast.walk(ast.parse(text)) if lines > FUNCTION_LINES else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{name}, {node.name}: {lines} lines"
