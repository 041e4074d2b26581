"""Public names: each module says what is public, and ``connector_spi`` shows all of the SPI once."""

from __future__ import annotations

import importlib

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


def test_what_a_module_exports_is_there_and_is_sorted() -> None:
    names = [".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__") for path in EXPORTING]
    assert len(names) > 500
    modules = [importlib.import_module(name) for name in names]
    missing = [f"{one.__name__}.{name}" for one in modules for name in one.__all__ if not hasattr(one, name)]
    assert missing == []
    assert [one.__name__ for one in modules if one.__all__ != sorted(one.__all__, key=_order)] == []


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as ruff's RUF022 sorts."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
