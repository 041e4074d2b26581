"""The generated pages are what the code gives, and every code of an error says what to do."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from tests.paths import PROJECT


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PROJECT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up the names of types
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["properties", "errors"])
def test_the_page_is_current(kind: str) -> None:
    module = script(f"write_{kind}_page")
    page = (PROJECT / "docs" / f"{kind}.md").read_text(encoding="utf-8")
    assert page == getattr(module, f"{kind}_page")(), f"docs/{kind}.md is not current: run make docs"


def test_every_code_says_what_it_means() -> None:
    assert [f"{code.name} at {code.where}" for code in script("write_errors_page").documented_codes()
            if not code.meaning] == []  # fmt: skip
