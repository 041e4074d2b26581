"""Defaults of all properties of the connectors that come along, as `lakeport catalogs show --defaults` has them."""

from __future__ import annotations

import pytest

from catalog.plugins import discover_plugins


@pytest.mark.parametrize("connector", ["hive", "hudi", "memory"])
def test_each_default_can_be_written_to_a_file(connector: str) -> None:
    for prop in discover_plugins().factory(connector, "the test").config_properties:
        if prop.default_text:
            assert prop.parse(prop.default_text) == prop.default, prop.name
