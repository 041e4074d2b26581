"""Public names: each module says what is public, and ``connector_spi`` shows all of the SPI once."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import connector_spi
from tests.paths import PROJECT

SPI_MODULES = sorted(
    path.stem if path.is_file() else path.name
    for path in (PROJECT / "connector_spi").iterdir()
    if (path.suffix == ".py" and path.stem != "__init__")
    or ((path / "__init__.py").exists() and path.name != "testing")
)
PACKAGES = ("connector_spi", "connectors", "catalog", "lakeport")
EXPORTING = sorted(
    path
    for package in PACKAGES
    for path in (PROJECT / package).rglob("*.py")
    if "_thrift" not in path.parts and "__all__ = " in path.read_text(encoding="utf-8")
)


def test_the_spi_shows_the_public_names_of_all_its_modules() -> None:
    public = [name for module in SPI_MODULES for name in importlib.import_module(f"connector_spi.{module}").__all__]
    assert sorted(connector_spi.__all__) == sorted(public)
    assert len(set(public)) == len(public)


@pytest.mark.parametrize("path", EXPORTING, ids=lambda path: str(path.relative_to(PROJECT)))
def test_what_a_module_exports_is_there_and_is_sorted(path: Path) -> None:
    dotted = ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(dotted)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert module.__all__ == sorted(module.__all__, key=_order)


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as ruff's RUF022 sorts."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
