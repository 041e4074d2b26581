"""The page of properties is the one that the descriptors give."""

from __future__ import annotations

import importlib.util

from tests.paths import PROJECT


def test_the_page_is_current() -> None:
    script = PROJECT / "scripts" / "write_properties_page.py"
    spec = importlib.util.spec_from_file_location("write_properties_page", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (PROJECT / "docs" / "properties.md").read_text(encoding="utf-8")
    assert page == module.properties_page(), "docs/properties.md is not current: run make docs"
