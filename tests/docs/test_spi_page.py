"""docs/spi.md shows all that the SPI exports."""

from __future__ import annotations

import importlib
import re

import connector_spi
import connector_spi.testing
from tests.paths import PROJECT

PAGE = (PROJECT / "docs" / "spi.md").read_text()
MODULES = re.findall(r"^\.\. automodule:: (\S+)\n((?:   :.*\n)*)", PAGE, re.MULTILINE)


def test_every_exported_name_is_on_the_page() -> None:
    shown = {name for module, _ in MODULES for name in importlib.import_module(module).__all__}
    missing = ({*connector_spi.__all__, *connector_spi.testing.__all__}) - shown
    assert not missing


def test_methods_that_a_connector_writes_are_shown_though_they_are_special() -> None:
    options = dict(MODULES)
    assert "__next__" in options["connector_spi.page_source"]
    assert "__iter__" in options["connector_spi.splits"]
